// Checks of a page of what changed: its numbers, words and colours are those of `rprof flame --against`.
"use strict";

const assert = require("node:assert/strict");

/**
 * @typedef {[string, string, string]} Box Its name, what is said of it, its colour.
 * @typedef {{page: string, stacks: [string, number, number][], shares: Box[], runs: Box[]}} Changes
 * @typedef {Awaited<ReturnType<import("./browser.js").Browser["tab"]>>} Tab
 */

/** What ends in each box, by its path; and what is said of each. */
const BOXES = `(() => {
  const page = rprofPage;
  const { boxes } = page.views.all.flame.graph;
  const own = { before: Array.from(boxes.sides.before.samples), after: Array.from(boxes.sides.after.samples) };
  for (let box = 0; box < boxes.n; box++) {
    const parent = boxes.parents[box];
    if (parent < 0) continue;
    own.before[parent] -= boxes.sides.before.samples[box];
    own.after[parent] -= boxes.sides.after.samples[box];
  }
  const stacks = [], said = [];
  for (let box = 0; box < boxes.n; box++) {
    const path = boxes.pathOf(box).reverse().map((label) => page.profile.nameOf(label));
    if (own.before[box] + own.after[box] > 0) stacks.push([path.join(";"), own.before[box], own.after[box]]);
    said.push([path.at(-1), page.sumOf(boxes, box), page.views.all.flame.graph.fill(box)]);
  }
  return { stacks, said };
})()`;

/** @param {Tab} tab @param {Changes} facts */
async function stacksAreThoseOfFlame(tab, facts) {
  assert.equal(await tab.run(`rprofPage.state.per`), "run", "as rprof diff");
  const { stacks } = await tab.run(BOXES);
  assert.deepEqual(stacks.sort(), facts.stacks.sort());
  assert.ok(facts.stacks.some(([, before, after]) => before > 0 && after === 0), "a path that vanished");
}

/** @param {Tab} tab @param {Changes} facts */
async function wordsAndColoursAreThoseOfThePicture(tab, facts) {
  await tab.run(`document.documentElement.dataset.theme === "dark" && rprofPage.toggleTheme()`);
  await tab.run(`rprofPage.set({ per: "event" })`);
  // Zero has no sign.
  const key = (/** @type {string[]} */ [name, text, fill]) =>
    [name, text.replaceAll("→", "->").replace(/-(0\.0+ )/g, "+$1"), fill.replaceAll(" ", ",")].join(" | ");
  const { said: shares } = await tab.run(BOXES);
  assert.deepEqual(shares.map(key).sort(), facts.shares.map(key).sort());
  // Amounts have other units in pictures.
  await tab.run(`rprofPage.set({ per: "run" })`);
  const { said: runs } = await tab.run(BOXES);
  const sure = await tab.run(`document.querySelector("#chips .said").textContent`);
  const isColoured = runs.some((/** @type {string[]} */ [, , fill]) => fill !== "rgb(225 225 225)");
  assert.match(sure, /; (no function|\d+ functions?) changed significantly(, (all|none|\d+) of them by self)?$/);
  assert.ok(isColoured || sure.includes("no function"), sure);
  const colour = (/** @type {string[]} */ [name, , fill]) => `${name} | ${fill.replaceAll(" ", ",")}`;
  assert.deepEqual(runs.map(colour).sort(), facts.runs.map(colour).sort());
}

/** A function may be in several images: none is said, whatever the first name of the profile is. @param {Tab} tab */
async function noThreadIsTakenForAnImage(tab) {
  const said = await tab.run(`(() => {
    const { profile, views: { all: { flame: { graph: { boxes } } } } } = rprofPage;
    return Array.from({ length: boxes.n }, (_, box) => [profile.nameOf(boxes.labels[box]).slice(0, 500), rprofPage.describe(boxes, box)]);
  })()`);
  for (const [name, text] of said) assert.ok(text.startsWith(`${name} — `), text);
}

/** @param {Tab} tab @param {Changes} facts */
async function rowsAreSumsOfStacks(tab, facts) {
  /** @type {Map<string, number[]>} */
  const expected = new Map();
  const row = (/** @type {string} */ name) => {
    if (!expected.has(name)) expected.set(name, [0, 0, 0, 0]);
    return /** @type {number[]} */ (expected.get(name));
  };
  for (const [stack, before, after] of facts.stacks) {
    const frames = stack.split(";").slice(1);
    for (const name of new Set(frames)) {
      row(name)[2] += before;
      row(name)[3] += after;
    }
    const own = row(frames[frames.length - 1]);
    own[0] += before;
    own[1] += after;
  }
  await tab.run(`document.activeElement.blur(); rprofPage.view("table")`);
  const rows = await tab.run(`rprofPage.views.all.table.table.rows.map(({ name, own, all }) => [name,
    own.before.samples, own.after.samples, all.before.samples, all.after.samples])`);
  assert.deepEqual(rows.sort(), [...expected].map(([name, sums]) => [name, ...sums]).sort());
  // Significant changes first, then by size.
  const changes = await tab.run(`rprofPage.views.all.table.table.rows.map((row) =>
    [rprofPage.comparison.degree(row.own, row.ownDirections) === 0 ? 0 : 1, Math.abs(row.selfChange)])`);
  assert.deepEqual(changes, [...changes].sort(([one, a], [other, b]) => other - one || b - a));
  assert.equal(await tab.run(`document.querySelectorAll("#table-place thead th").length`), 7);
  // Those that are marked, alone: by self, they are the functions of the report.
  const [left, marked, shown] = await tab.run(`(() => {
    const { comparison, views: { all: { table } } } = rprofPage;
    const marked = table.table.rows.filter(({ own, all, ownDirections, directions }) =>
      comparison.degree(own, ownDirections) !== 0 || comparison.degree(all, directions) !== 0).map(({ name }) => name);
    document.getElementById("significant").click();
    const lines = [...document.querySelectorAll("#table-place tbody tr")];
    const left = table.table.rows.map(({ name }) => name);
    const shown = [lines.length, lines.filter((line) => line.querySelector(".rise, .fall") !== null).length];
    document.getElementById("significant").click();
    return [left, marked, shown];
  })()`);
  assert.deepEqual(left, marked);
  assert.ok(left.length > 0);
  const led = await tab.run(`(() => {
    rprofPage.set({ view: "flame" });
    const has = !document.getElementById("widths").parentElement.hidden;
    document.getElementById("show-changed").click();
    const { view, significant, up } = rprofPage.state;
    const names = rprofPage.views.all.table.table.rows.map(({ name }) => name);
    const lacks = document.getElementById("widths").parentElement.hidden && document.getElementById("show-changed") === null;
    rprofPage.set({ significant: false, sort: "selfChange" });
    return { has, view, significant, up, names: names.sort(), lacks };
  })()`);
  assert.deepEqual(led, { has: true, view: "table", significant: true, up: false, names: [...marked].sort(), lacks: true });
  assert.equal(shown[0], shown[1]);
  await tab.run(`rprofPage.view("flame")`);
}

/** @param {Tab} tab */
async function levelsAreAsWideAsTheOnesBelow(tab) {
  for (const widths of ["before", "change", "after"]) {
    for (const inverted of [true, false]) {
      const [whole, levels] = await tab.run(`(() => {
        rprofPage.set({ widths: "${widths}", inverted: ${inverted} });
        const { boxes } = rprofPage.views.all.flame.graph;
        const sum = (list, column) => list.reduce((a, box) => a + column[box], 0);
        return [boxes.whole, boxes.levels.map((list) => [sum(list, boxes.widths), sum(list, boxes.own)])];
      })()`);
      let ended = 0;
      for (const [width, own] of levels) {
        assert.ok(Math.abs(width + ended - whole) < whole * 1e-9, `${widths} ${width} ${ended} ${whole}`);
        ended += own;
      }
    }
  }
}

/** @param {Tab} tab */
async function viewsOfTimeAreNotThere(tab) {
  for (const key of ["4", "5"]) await tab.press(key, key);
  assert.equal(await tab.run(`rprofPage.state.view`), "flame");
  const hidden = await tab.run(`["overview", "threads-tab", "heat-tab"].every((id) => document.getElementById(id).hidden)`);
  assert.ok(hidden);
  assert.equal(await tab.run(`document.getElementById("measure").hidden`), false);
}

/** @param {Tab} tab @param {Changes} facts */
async function searchSaysBothSides(tab, facts) {
  const [stack] = facts.stacks.reduce((most, one) => (one[1] > most[1] ? one : most));
  const name = stack.split(";").at(-1) ?? "";
  const pattern = `^${name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}$`;
  const sum = (/** @type {1 | 2} */ side) =>
    facts.stacks.reduce((all, one) => all + (one[0].split(";").includes(name) ? one[side] : 0), 0);
  await tab.run(`rprofPage.set({ keep: ${JSON.stringify(pattern)} })`);
  const shown = await tab.run(`[rprofPage.counts.before.shown.samples, rprofPage.counts.shown.samples]`);
  assert.deepEqual(shown, [sum(1), sum(2)]);
  await tab.run(`rprofPage.set({ keep: "" }); rprofPage.find(${JSON.stringify(pattern)})`);
  assert.match(await tab.run(`document.getElementById("found").textContent`), / → /);
  await tab.run(`rprofPage.find("")`);
}

/** @param {Tab} tab @param {Changes} facts */
async function check(tab, facts) {
  await stacksAreThoseOfFlame(tab, facts);
  await wordsAndColoursAreThoseOfThePicture(tab, facts);
  await noThreadIsTakenForAnImage(tab);
  await rowsAreSumsOfStacks(tab, facts);
  await levelsAreAsWideAsTheOnesBelow(tab);
  await viewsOfTimeAreNotThere(tab);
  await searchSaysBothSides(tab, facts);
  await tab.open(`file://${facts.page}#widths=change&per=event&view=table&sort=totalAfter`);
  const { widths, per, view, sort } = await tab.run(`rprofPage.state`);
  assert.deepEqual({ widths, per, view, sort }, { widths: "change", per: "event", view: "table", sort: "totalAfter" });
}

module.exports = { check };
