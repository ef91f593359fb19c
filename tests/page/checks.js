// Walks through pages as a user does, and compares their sums with those of the reports.
//
// node checks.js FACTS: a JSON file with pages and what is to come out of them. Each check prints a line; the first
// that fails ends the process.
"use strict";

const assert = require("node:assert/strict");
const { readFileSync } = require("node:fs");
const { Browser } = require("./browser.js");
const ahead = require("./ahead.js");
const callTree = require("./call_tree.js");
const code = require("./code.js");
const colours = require("./colours.js");
const difference = require("./difference.js");
const events = require("./events.js");
const filters = require("./filters.js");
const frame = require("./frame.js");
const hostile = require("./hostile.js");
const inTime = require("./in_time.js");
const jit = require("./jit.js");
const lanes = require("./lanes.js");
const old = require("./old.js");
const typed = require("./typed.js");
const panel = require("./panel.js");
const ranges = require("./ranges.js");
const save = require("./save.js");
const summary = require("./summary.js");
const processes = require("./processes.js");
const threads = require("./threads.js");
const transforms = require("./transforms.js");
const waits = require("./waits.js");
const wakes = require("./wakes.js");

/**
 * @typedef {{page: string, total: number, levels: number[], rows: {name: string, image: string, self: number,
 *   total: number}[], inTime: [number, number, number, string][], lacks?: boolean}} Facts
 * @typedef {Awaited<ReturnType<Browser["tab"]>>} Tab
 */

/** @param {Tab} tab @param {Facts} facts */
async function sumsAreTheReports(tab, facts) {
  const flame = await tab.run(`(() => {
    const { boxes } = rprofPage.views.all.flame.graph;
    const sum = (list, column) => list.reduce((a, box) => a + column[box], 0);
    return {
      whole: boxes.whole,
      samples: boxes.levels.map((list) => sum(list, boxes.samples)),
      widths: boxes.levels.map((list) => sum(list, boxes.widths)),
      own: boxes.levels.map((list) => sum(list, boxes.own)),
    };
  })()`);
  assert.equal(flame.whole, facts.total);
  assert.deepEqual(flame.samples, facts.levels);
  for (const [level, width] of flame.widths.entries()) {
    const ended = flame.own.slice(0, level).reduce((/** @type {number} */ a, /** @type {number} */ b) => a + b, 0);
    assert.equal(width + ended, facts.total, `level ${level}`);
  }
  await tab.run(`rprofPage.set({ inverted: true })`);
  const inverted = await tab.run(`rprofPage.views.all.flame.graph.boxes.levels.map((list) =>
    list.reduce((a, box) => a + rprofPage.views.all.flame.graph.boxes.samples[box], 0))`);
  assert.deepEqual(inverted, facts.levels);
  await tab.run(`rprofPage.set({ inverted: false, order: "time" })`);
  const ordered = await tab.run(`rprofPage.views.all.flame.graph.boxes.levels.map((list) =>
    list.reduce((a, box) => a + rprofPage.views.all.flame.graph.boxes.samples[box], 0))`);
  assert.deepEqual(ordered, facts.levels);
  await tab.run(`rprofPage.set({ order: "heavy" })`);
}

/** @param {Tab} tab @param {Facts} facts */
async function rowsAreTheReports(tab, facts) {
  await tab.press("2", "2");
  /** @type {Facts["rows"]} */
  const rows = await tab.run(`rprofPage.views.all.table.table.rows`);
  const key = (/** @type {Facts["rows"][0]} */ row) => `${row.name} ${row.image} ${row.self} ${row.total}`;
  assert.deepEqual(rows.map(key).sort(), facts.rows.map(key).sort());
  // Rows below those that are seen come after the frame.
  const cells = await tab.run(`new Promise((resolve) => requestAnimationFrame(() => requestIdleCallback(() =>
    resolve(document.querySelectorAll("#table-place tbody tr th[scope=row]").length))))`);
  assert.equal(cells, rows.length);
  await tab.run(`document.querySelectorAll("#table-place thead button")[1].click()`);
  assert.equal(await tab.run(`rprofPage.state.sort`), "total");
  assert.equal(await tab.run(`document.querySelectorAll("#table-place th")[1].getAttribute("aria-sort")`), "descending");
  await tab.run(`rprofPage.set({ sort: "self" })`);
}

/** @param {Tab} tab @param {Facts} facts */
async function aFunctionHasItsCallersAndCallees(tab, facts) {
  for (const row of facts.rows) {
    const sums = await tab.run(`(() => {
      const page = rprofPage;
      const row = page.views.all.table.table.rows.find((row) =>
        row.name === ${JSON.stringify(row.name)} && row.total === ${row.total});
      page.set({ view: "sandwich", focus: row.key });
      return [page.views.all.sandwich.callers.boxes.whole, page.views.all.sandwich.callees.boxes.whole];
    })()`);
    assert.deepEqual(sums, [row.total, row.total], row.name);
  }
  await tab.run(`rprofPage.set({ view: "flame" })`);
}

/** Boxes around a function that unfold are those that count all of its stacks. @param {Tab} tab */
async function boxesAroundAFunctionAreWhole(tab) {
  const [n, wrong] = await tab.run(`(() => {
    const page = rprofPage;
    const view = page.views.all.sandwich;
    const said = ({ callers, callees }) => JSON.stringify([callers, callees].map((boxes) => boxes.levels.map((level) => [...level].map((box) =>
      [boxes.pathOf(box).join(" "), boxes.widths[box], boxes.samples[box], boxes === callees ? boxes.own[box] : 0].join(":")).sort())));
    const rows = page.functions();
    return [rows.length, rows.filter(({ key }) => said(view.unfolded(key)) !== said(view.compared(key))).map(({ name }) => name)];
  })()`);
  assert.ok(n > 0);
  assert.deepEqual(wrong, []);
}

/** @param {Tab} tab */
async function aClickZoomsAndEscapeGoesBack(tab) {
  const [x, y, width] = await tab.run(`(() => {
    const flame = rprofPage.views.all.flame.graph;
    const level = flame.boxes.levels.findIndex((list) => flame.boxes.widths[list[0]] < flame.boxes.whole);
    const box = flame.boxes.levels[level][0];
    const rect = flame.canvas.getBoundingClientRect();
    return [rect.left + 3, rect.top + level * 20 + 8, flame.boxes.widths[box]];
  })()`);
  await tab.drag([x, y]);
  assert.equal(await tab.run(`rprofPage.views.all.flame.graph.width`), width);
  assert.equal(await tab.run(`document.getElementById("details").hidden`), false);
  await tab.run(`rprofPage.address.rememberNow()`);
  const fragment = await tab.run(`location.hash`);
  assert.match(fragment, /zoom=/);
  await tab.press("Escape");
  assert.notEqual(await tab.run(`rprofPage.views.all.flame.graph.width`), width);
  return { fragment, width };
}

/** @param {Tab} tab @param {Facts} facts */
async function searchMarksAndKeeps(tab, facts) {
  const [row] = [...facts.rows].sort((a, b) => b.self - a.self);
  const pattern = `^${row.name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}$`;
  await tab.press("/", "/");
  await tab.type(pattern);
  const share = `${((100 * row.total) / facts.total).toFixed(2)} %`;
  assert.ok((await tab.run(`document.getElementById("found").textContent`)).startsWith(share));
  await tab.press("Enter");
  assert.equal(await tab.run(`rprofPage.counts.shown.weight`), row.total);
  assert.equal(await tab.run(`document.querySelectorAll(".chip").length`), 1);
  await tab.run(`rprofPage.search.blur(); document.querySelector(".chip").click()`);
  assert.equal(await tab.run(`rprofPage.counts.shown.weight`), facts.total);
}

/** What is kept of a row counts what the row says, whatever else is called so. @param {Tab} tab */
async function rowsThatAreKeptCountWhatTheySay(tab) {
  await tab.press("2", "2");
  for (const grouping of ["function", "image", "thread"]) {
    await tab.run(`rprofPage.set({ grouping: ${JSON.stringify(grouping)} })`);
    const n = await tab.run(`rprofPage.views.all.table.table.rows.slice(0, 20).length`);
    for (let at = 0; at < n; at++) {
      const [total, shown] = await tab.run(`(() => {
        const { total } = rprofPage.views.all.table.table.rows[${at}];
        document.querySelectorAll("tbody .name button")[${at}].click();
        if (rprofPage.state.transforms.length === 0) document.getElementById("keep-this").click();
        return [total, rprofPage.counts.shown.weight];
      })()`);
      assert.equal(shown, total, grouping);
      assert.equal(await tab.run(`document.querySelectorAll(".chip").length`), 1);
      await tab.press("Escape");
      assert.deepEqual(await tab.run(`rprofPage.state.transforms`), []);
    }
  }
  await tab.run(`rprofPage.set({ grouping: "function", view: "flame" })`);
}

/** @param {Tab} tab */
async function aBrushChoosesARangeOfTime(tab) {
  const [left, top, width] = await tab.run(`(() => {
    const { canvas, scale } = rprofPage.overview;
    const rect = canvas.getBoundingClientRect();
    return [rect.left + scale.left, rect.top, scale.width];
  })()`);
  await tab.drag([left + width * 0.25, top + 20], [left + width * 0.5, top + 20], [left + width * 0.6, top + 20]);
  const [range, shown, counted] = await tab.run(`(() => {
    const { profile, state, counts } = rprofPage;
    const [from, to] = state.range;
    const inRange = [...profile.times].filter((time) => time >= from && time <= to).length;
    return [state.range, counts.total.samples, inRange];
  })()`);
  assert.ok(range[0] > 0 && range[1] > range[0]);
  assert.equal(shown, counted);
  await tab.press("Escape");
  await tab.press("Escape");
  assert.equal(await tab.run(`rprofPage.state.range`), null);

  await tab.press("5", "5");
  const [x, y, cellNs] = await tab.run(`(() => {
    const rect = rprofPage.views.all.heat.map.canvas.getBoundingClientRect();
    const heat = rprofPage.views.all.heat.map;
    return [rect.left + 48 + heat.cellWidth / 2, rect.top + heat.cellHeight * 49.5, heat.unit / 50];
  })()`);
  await tab.drag([x, y], [x, y - 30]);
  const ends = await tab.run(`rprofPage.state.range`);
  assert.ok(ends[0] === 0 && ends[1] > cellNs, String(ends));
  assert.equal(await tab.run(`rprofPage.state.view`), "flame");
  await tab.run(`rprofPage.set({ range: null })`);

  await tab.press("4", "4");
  const [laneX, laneY, weight] = await tab.run(`(() => {
    const { lanes } = rprofPage.views.all.threads;
    const rect = lanes.canvas.getBoundingClientRect();
    const at = lanes.lanes.findIndex(({ kind }) => kind === "thread");
    return [rect.left + 30, rect.top + lanes.topOf(at, 0) + 10, lanes.lanes[at].weight];
  })()`);
  await tab.drag([laneX, laneY]);
  assert.equal(await tab.run(`rprofPage.counts.shown.weight`), weight);
  await tab.run(`rprofPage.set({ thread: null, view: "flame" })`);
}

/** @param {Tab} tab */
async function keysGoFromBoxToBox(tab) {
  await tab.run(`rprofPage.views.all.flame.graph.canvas.focus()`);
  for (const key of ["ArrowDown", "ArrowDown", "ArrowDown", "ArrowUp"]) await tab.press(key);
  const depth = await tab.run(`rprofPage.views.all.flame.graph.boxes.depths[rprofPage.views.all.flame.graph.selected]`);
  assert.equal(depth, 1);
  await tab.press("Enter");
  await tab.press("?", "?");
  assert.equal(await tab.run(`document.getElementById("help").open`), true);
  await tab.run(`document.getElementById("help").close()`);
  const theme = await tab.run(`document.documentElement.dataset.theme`);
  await tab.press("t", "t");
  assert.notEqual(await tab.run(`document.documentElement.dataset.theme`), theme);
}

/** @param {Tab} tab @param {Facts} facts @param {{fragment: string, width: number}} zoomed */
async function theAddressRestoresWhatWasSeen(tab, facts, { fragment, width }) {
  await tab.open(`file://${facts.page}${fragment}`);
  assert.equal(await tab.run(`rprofPage.views.all.flame.graph.width`), width);
  const words = "view=table&sort=name&up=true&range=0.50000000&search=a&grouping=image&inverted=true";
  await tab.open(`file://${facts.page}#${words}`);
  const { view, sort, up, range, search, grouping, inverted } = await tab.run(`rprofPage.state`);
  assert.deepEqual({ view, sort, up, range, search, grouping, inverted }, {
    view: "table", sort: "name", up: true, range: [0, 5e7], search: "a", grouping: "image", inverted: true,
  });
  // What no profile has is as if it was not said.
  await tab.open(`file://${facts.page}#view=nothing&event=99&thread=-1&focus=1e9&range=9.1&zoom=5.x.77777&search=(`);
  assert.equal(await tab.run(`rprofPage.views.all.flame.graph.boxes.whole`), facts.total);
}

/** The state that a link leads to from where the page is. @param {Tab} tab @param {string} words */
const follow = (tab, words) => tab.run(`new Promise((resolve) => {
  addEventListener("hashchange", () => resolve(rprofPage.state), { once: true });
  location.hash = ${JSON.stringify(words)};
})`);

/** Each of these may take for ever: a link's is not searched for before that is asked for. @param {Tab} tab @param {Facts} facts */
async function aLinkHoldsNothingUp(tab, facts) {
  const slow = ["(x+x+)+y", "(x|x)*y", "x*x*x*x*y", "(?=x+x+x+)y", "x{1,9}x{1,9}y", "(.*)\\1y", `${"x?".repeat(60)}y`];
  for (const word of ["search", "keep"]) {
    await tab.open(`file://${facts.page}#${word}=${encodeURIComponent(slow[0])}`);
    const opened = await tab.run(`rprofPage.state`);
    assert.deepEqual([opened.search, opened.keep, opened.asked?.[word]], ["", "", slow[0]]);
    await tab.run(`rprofPage.address.rememberNow()`);
    assert.match(await tab.run(`location.hash`), new RegExp(`${word}=`));
    for (const pattern of slow.slice(1)) {
      const { search, keep, asked } = await follow(tab, `${word}=${encodeURIComponent(pattern)}`);
      assert.deepEqual([search, keep, asked?.[word]], ["", "", pattern]);
      await tab.run(`rprofPage.address.rememberNow()`);
      assert.match(await tab.run(`location.hash`), new RegExp(`${word}=`));
    }
  }
  for (const pattern of ["hot", "^a.*b$", "a.*|b+|\\(c\\)", "[a-z(]+x"]) {
    assert.equal((await follow(tab, `search=${encodeURIComponent(pattern)}`)).search, pattern);
  }
  const [row] = [...facts.rows].sort((a, b) => b.self - a.self);
  const pattern = `^(${row.name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")})$`;
  await follow(tab, `keep=${encodeURIComponent(pattern)}`);
  assert.equal(await tab.run(`rprofPage.counts.shown.weight`), facts.total);
  await tab.run(`document.querySelector(".chip").click()`);
  assert.equal(await tab.run(`rprofPage.counts.shown.weight`), row.total);
}

/** However many names there are, and however long: nothing is searched for long before that is asked for. @param {Tab} tab @param {Facts} facts */
async function manyLongNamesHoldNothingUp(tab, facts) {
  await tab.open(`file://${facts.page}`);
  // The names of the recording stay the first ones.
  const others = (/** @type {number} */ n, /** @type {string} */ name) => `(() => {
    const { strings } = rprofPage.profile.head;
    strings.length = rprofPage.ownNames ??= strings.length;
    for (let at = 0; at < ${n}; at++) strings.push(${name});
    rprofPage.profile.matched = rprofPage.profile.found = null;
  })()`;
  const link = (/** @type {string} */ words) => tab.run(`new Promise((resolve) => {
    addEventListener("hashchange", () => resolve([rprofPage.state.search, rprofPage.state.asked?.search ?? ""]), { once: true });
    location.hash = ${JSON.stringify(words)};
  })`);
  await tab.run(others(400, `"a".repeat(16384)`));
  assert.deepEqual(await link("search=.*!"), [".*!", ""]);
  await tab.run(others(400, `"a".repeat(500) + "!"`));
  assert.deepEqual(await link("search=a!"), ["a!", ""]);
  const found = await tab.run(`rprofPage.profile.matched.has.reduce((sum, one) => sum + one, 0)`);
  assert.equal(found, 0, "what is beyond 500 characters is not searched");
  await tab.run(others(1e4, `"a".repeat(16384)`));
  assert.deepEqual(await link("search=.*!!"), ["", ".*!!"]);
  await tab.run(others(0, `""`));
}

/**
 * A recording without times and call chains.
 * @param {Tab} tab
 */
async function whatIsNotThereIsSaid(tab) {
  const notes = await tab.run(`document.getElementById("notes").textContent`);
  assert.match(notes, /The recording has no times.*The recording has no call chains/);
  await tab.run(`document.activeElement.blur(); rprofPage.view("table")`);
  for (const key of ["4", "5"]) await tab.press(key, key);
  assert.equal(await tab.run(`rprofPage.state.view`), "table");
  const hidden = await tab.run(`["overview", "threads-tab", "heat-tab"].every((id) => document.getElementById(id).hidden)`);
  assert.ok(hidden);
  const url = await tab.run(`location.href.split("#")[0]`);
  await tab.open(`${url}#view=heat&order=time&range=1.5`);
  const { view, order, range } = await tab.run(`rprofPage.state`);
  assert.deepEqual({ view, order, range }, { view: "flame", order: "heavy", range: null });
}

/** @param {Tab} tab */
async function nothingOfOthersRuns(tab) {
  assert.equal(await tab.run(`typeof globalThis.broken`), "undefined");
  assert.equal(await tab.run(`document.querySelectorAll("img, iframe, b, object, embed, link").length`), 0);
  // Beside the profile and the code, which are no scripts.
  assert.equal(await tab.run(`document.querySelectorAll("script:not([type='application/octet-stream'])").length`), 1);
  assert.deepEqual(tab.complaints(), []);
}

async function main() {
  /** @type {Facts[]} */
  const pages = JSON.parse(readFileSync(process.argv[2], "utf8"));
  const browser = new Browser();
  try {
    const tab = await browser.tab();
    await tab.size(1280, 800);
    for (const facts of pages) {
      if ("twoRuns" in facts) {
        await ranges.marksAreThoseOfDiff(tab, /** @type {any} */ (facts.twoRuns));
        continue;
      }
      if ("empty" in facts) {
        await threads.nothingIsDrawnOfNothing(tab, facts.page);
        await nothingOfOthersRuns(tab);
        continue;
      }
      await tab.open(`file://${facts.page}`);
      if ("stacks" in facts) {
        await difference.check(tab, /** @type {any} */ (facts));
        await nothingOfOthersRuns(tab);
        console.log(`as expected: ${facts.page}`);
        continue;
      }
      if ("lanes" in facts) {
        await filters.check(tab, /** @type {any} */ (facts));
        await lanes.check(tab, /** @type {any} */ (facts));
        await ranges.check(tab, /** @type {any} */ (facts));
        await wakes.check(tab, /** @type {any} */ (facts));
        await threads.check(tab, /** @type {any} */ (facts));
        await processes.check(tab, /** @type {any} */ (facts));
        await nothingOfOthersRuns(tab);
        if (await tab.run(`!document.getElementById("waits-tab").hidden`)) {
          await hostile.check(tab, facts);
          await nothingOfOthersRuns(tab);
        }
        console.log(`as expected: ${facts.page}`);
        continue;
      }
      if ("jit" in facts) {
        await jit.check(tab, /** @type {any} */ (facts));
        await nothingOfOthersRuns(tab);
        console.log(`as expected: ${facts.page}`);
        continue;
      }
      if ("manyWaits" in facts) {
        await waits.numbersAreOfAll(tab, /** @type {any} */ (facts));
        await nothingOfOthersRuns(tab);
        console.log(`as expected: ${facts.page}`);
        continue;
      }
      if ("traced" in facts) {
        await events.check(tab, /** @type {any} */ (facts));
        await nothingOfOthersRuns(tab);
        console.log(`as expected: ${facts.page}`);
        continue;
      }
      if ("waits" in facts) {
        await waits.check(tab, /** @type {any} */ (facts));
        await transforms.check(tab);
        await nothingOfOthersRuns(tab);
        console.log(`as expected: ${facts.page}`);
        continue;
      }
      await ahead.check(tab);
      await sumsAreTheReports(tab, facts);
      await rowsAreTheReports(tab, facts);
      await aFunctionHasItsCallersAndCallees(tab, facts);
      await boxesAroundAFunctionAreWhole(tab);
      if (facts.lacks) {
        await whatIsNotThereIsSaid(tab);
        await nothingOfOthersRuns(tab);
        continue;
      }
      await inTime.check(tab, facts);
      const zoomed = await aClickZoomsAndEscapeGoesBack(tab);
      await searchMarksAndKeeps(tab, facts);
      await rowsThatAreKeptCountWhatTheySay(tab);
      await aBrushChoosesARangeOfTime(tab);
      await panel.check(tab, facts);
      await typed.check(tab);
      await transforms.check(tab);
      await callTree.check(tab, facts);
      await save.check(tab, facts);
      await summary.check(tab, /** @type {any} */ (facts));
      await code.check(tab, /** @type {any} */ (facts));
      await colours.check(tab);
      await keysGoFromBoxToBox(tab);
      await theAddressRestoresWhatWasSeen(tab, facts, zoomed);
      await aLinkHoldsNothingUp(tab, facts);
      await manyLongNamesHoldNothingUp(tab, facts);
      await frame.check(tab, facts);
      await nothingOfOthersRuns(tab);
      await old.check(tab, facts);
      console.log(`as expected: ${facts.page}`);
    }
  } finally {
    await browser.close();
  }
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
