// Two ranges of a recording: each side counts what the range alone counts; what is marked is what `rprof diff` marks, by the
// same numbers.
"use strict";

const assert = require("node:assert/strict");
const { execFileSync } = require("node:child_process");
const { readFileSync } = require("node:fs");
const path = require("node:path");
const vm = require("node:vm");

/** @typedef {import("./checks.js").Tab} Tab */
/** @typedef {import("./filters.js").Facts} Facts */
/** @typedef {{pages: string[], files: string[], rprof: string}} Runs */

/** @param {Tab} tab @param {Facts} facts */
async function sidesAreTheirRanges(tab, facts) {
  await tab.open(`file://${facts.page}`);
  const span = await tab.run(`rprofPage.profile.head.span_ns`);
  const [a, b] = [[0, Math.floor(span / 3)], [Math.floor(span / 2), Math.floor(span * 0.9)]];
  const alone = [];
  for (const range of [a, b]) {
    alone.push(await tab.run(`(() => {
      rprofPage.set({ range: ${JSON.stringify(range)} });
      const { total, shown } = rprofPage.counts;
      return { total, shown, rows: rprofPage.rows("function").map(({ name, image, key, self, total }) => [key, name, image, self, total]) };
    })()`));
  }
  // As a user does it: the range to compare with is the next one that is drawn.
  await tab.run(`document.getElementById("compare-range").click()`);
  const [left, top, width] = await tab.run(`(() => {
    const { canvas, scale } = rprofPage.overview;
    const rect = canvas.getBoundingClientRect();
    return [rect.left + scale.left, rect.top, scale.width];
  })()`);
  const x = (/** @type {number} */ share) => left + width * share;
  await tab.drag([x(0.05), top + 20], [x(0.2), top + 20], [x(0.3), top + 20]);
  const drawn = await tab.run(`rprofPage.state.against`);
  assert.ok(drawn !== null && drawn[0] > 0 && drawn[1] > drawn[0]);
  assert.equal(await tab.run(`rprofPage.state.per`), "time", "ranges differ in length: amounts per second");
  await tab.run(`rprofPage.ranges.compareWith(${JSON.stringify(a)})`);
  const both = await tab.run(`(() => {
    const { counts } = rprofPage;
    return {
      before: counts.before.shown, after: counts.shown,
      rows: rprofPage.rows("function").map((row) => [row.key, row.selfBefore, row.selfAfter, row.totalBefore, row.totalAfter]),
    };
  })()`);
  assert.deepEqual([both.before, both.after], [alone[0].shown, alone[1].shown]);
  const of = (/** @type {any} */ side) => new Map(side.rows.map((/** @type {any[]} */ [key, , , self, total]) => [key, [self, total]]));
  const [before, after] = alone.map(of);
  assert.equal(both.rows.length, new Set([...before.keys(), ...after.keys()]).size);
  for (const [key, selfBefore, selfAfter, totalBefore, totalAfter] of both.rows) {
    assert.deepEqual([selfBefore, totalBefore], before.get(key) ?? [0, 0]);
    assert.deepEqual([selfAfter, totalAfter], after.get(key) ?? [0, 0]);
  }
  const said = await tab.run(`document.querySelector("#ranges .said").textContent`);
  assert.match(said, / → .*(No function's self changed significantly|(More|Less) self in B: )/);
  await sharesAreSaid(tab);
  // What changed is marked by more than its colour.
  const marks = await tab.run(`(() => {
    const { graph } = rprofPage.views.all.flame;
    const { degrees } = graph.boxes;
    return [...degrees].every((degree, box) => graph.mark(box) === (degree === 0 ? "" : degree > 0 ? "▲ " : "▼ "));
  })()`);
  assert.ok(marks);
  for (const view of ["table", "flame", "tree", "sandwich", "heat", "threads", "summary"]) {
    await tab.run(`rprofPage.set({ view: "${view}" })`);
  }
  await noiseIsThatOfAllFunctions(tab);
  await theLinkHasBoth(tab, facts, both);
  await rangesThatOverlapAreNotJudged(tab, span);
}

/** What amounts do not show is said of shares, and a button leads there. @param {Tab} tab */
async function sharesAreSaid(tab) {
  const { most, isMarked, said, isHidden } = await tab.run(`(() => {
    const { functions } = rprofPage.comparison;
    const said = document.querySelector("#ranges .said").textContent;
    const isHidden = document.getElementById("by-shares").hidden;
    rprofPage.set({ per: "event" });
    const own = rprofPage.rows("function").filter(({ ownDirections }) => ownDirections !== 0);
    own.sort((a, b) => Math.abs(b.selfChange) - Math.abs(a.selfChange));
    rprofPage.set({ per: "time" });
    return { most: own[0]?.name, isMarked: own.length > 0 && (functions[own[0].key] & 3) !== 0, said, isHidden };
  })()`);
  assert.equal(isHidden, most === undefined || isMarked);
  assert.equal(said.includes(" By shares of each side, "), !isHidden);
  if (isHidden) return;
  await tab.run(`document.getElementById("by-shares").click()`);
  assert.deepEqual(await tab.run(`[rprofPage.state.per, document.getElementById("by-shares").hidden]`), ["event", true]);
  await tab.run(`rprofPage.set({ per: "time" })`);
}

/** Functions that are shown alone are judged by how all of them vary. @param {Tab} tab */
async function noiseIsThatOfAllFunctions(tab) {
  const [whole, ...moved] = await tab.run(`(() => {
    const [{ key }] = rprofPage.rows("function");
    const [{ key: cpu }] = rprofPage.rows("cpu");
    const learned = (transforms) => {
      rprofPage.set({ transforms });
      const { inflation, shared } = rprofPage.ranges.changes(rprofPage.counts, rprofPage.state).judgeOf("time");
      return { inflation, shared, parents: rprofPage.profile.parents.length };
    };
    // Other filters stay.
    const kept = { kind: "drop", grouping: "cpu", key: cpu };
    const found = [[], ...["merge", "collapse", "self"].map((kind) => [{ kind, grouping: "function", key }]),
      [{ kind: "show", grouping: "pattern", key: 0, text: "[aeiou]" }]].map((moved) => [moved, [kept, ...moved]].map(learned));
    rprofPage.set({ transforms: [] });
    return found;
  })()`);
  assert.equal(moved.length, 4);
  for (const filters of moved) {
    filters.forEach((/** @type {any} */ { inflation, shared }, /** @type {number} */ at) => {
      assert.deepEqual([inflation, shared], [whole[at].inflation, whole[at].shared]);
    });
  }
  assert.ok(moved.some(([{ parents }]) => parents < whole[0].parents), "stacks are others");
}

/** Samples that both sides have are no two measurements. @param {Tab} tab @param {number} span */
async function rangesThatOverlapAreNotJudged(tab, span) {
  const of = (/** @type {number} */ from) => tab.run(`(() => {
    rprofPage.set({ view: "table", range: [${Math.floor(span / 2)}, ${span}] });
    rprofPage.ranges.compareWith([${from}, ${Math.floor(span * 0.6)}]);
    const { comparison } = rprofPage;
    const marks = comparison.functions.some((one) => one !== 0) || comparison.total !== 0;
    const said = document.querySelector("#ranges .said").textContent;
    return [marks, said.endsWith("A and B overlap, so nothing is tested for significance."), rprofPage.said().split("; ")[1]];
  })()`);
  assert.deepEqual(await of(0), [false, true, "not tested for significance"]);
  const apart = await tab.run(`(() => {
    rprofPage.ranges.compareWith([0, ${Math.floor(span / 2)}]);
    return document.querySelector("#ranges .said").textContent;
  })()`);
  assert.doesNotMatch(apart, /overlap/);
  await tab.run(`rprofPage.set({ view: "flame", range: null })`);
}

/** @param {Tab} tab @param {Facts} facts @param {any} both */
async function theLinkHasBoth(tab, facts, both) {
  await tab.run(`rprofPage.set({ view: "table" }); rprofPage.address.rememberNow()`);
  const fragment = await tab.run(`location.hash`);
  await tab.open(`file://${facts.page}${fragment}`);
  assert.deepEqual(await tab.run(`[rprofPage.counts.before.shown, rprofPage.counts.shown]`), [both.before, both.after]);
  const { sort, per } = await tab.run(`rprofPage.state`);
  assert.deepEqual({ sort, per }, { sort: "selfChange", per: "time" });
  const chips = await tab.run(`[...document.querySelectorAll(".chip")].map((one) => one.textContent)`);
  assert.match(chips.join(" "), /^B: .* compared with A: /);
  await tab.run(`document.getElementById("swap-ranges").click()`);
  assert.deepEqual(await tab.run(`[rprofPage.counts.shown, rprofPage.counts.before.shown]`), [both.before, both.after]);
  await tab.run(`document.querySelectorAll(".chip")[1].click(); rprofPage.address.rememberNow()`);
  const { range, against } = await tab.run(`rprofPage.state`);
  assert.ok(range !== null && against === null);
  assert.equal(await tab.run(`rprofPage.comparison`), null);
  await tab.run(`new Promise((resolve) => { addEventListener("hashchange", resolve, { once: true }); history.back(); })`);
  assert.ok(await tab.run(`rprofPage.comparison !== null`), "Back");
  await tab.run(`rprofPage.set({ range: null })`);
  assert.equal(await tab.run(`rprofPage.state.against`), null, "nothing is compared with nothing");
  await tab.run(`rprofPage.set({ view: "flame" })`);
}

/** The earlier range is A, whichever is drawn first, until they are swapped. @param {Tab} tab */
async function theEarlierRangeIsA(tab) {
  const pairs = await tab.run(`(() => {
    const { ranges, state } = rprofPage;
    const span = rprofPage.profile.head.span_ns;
    const part = (from, to) => [Math.floor(span * from), Math.floor(span * to)];
    const [first, middle, last] = [part(0, 0.2), part(0.3, 0.5), part(0.6, 0.9)];
    const pair = () => [rprofPage.state.against, rprofPage.state.range];
    rprofPage.set({ range: middle, against: null });
    ranges.compareWith(last);
    const pairs = [[pair(), [middle, last]]];
    rprofPage.set(ranges.showing(first));
    pairs.push([pair(), [first, middle]]);
    document.getElementById("swap-ranges").click();
    pairs.push([pair(), [middle, first]]);
    ranges.compareWith(last);
    pairs.push([pair(), [last, first]]);
    rprofPage.set({ range: null });
    return pairs;
  })()`);
  for (const [found, expected] of pairs) assert.deepEqual(found, expected);
}

/** What a page counts by function and block of time, of all of its recording. @param {Tab} tab @param {string} page */
async function blocksOf(tab, page) {
  await tab.open(`file://${page}`);
  return tab.run(`(() => {
    const { profile } = rprofPage;
    const all = [0, profile.head.span_ns];
    rprofPage.set({ range: all });
    rprofPage.ranges.compareWith(all);
    const { rows, total, rowOf } = rprofPage.ranges.known.changes;
    const plain = ({ after: { weight, samples, blocks } }) => ({ weight, samples, blocks: [...blocks] });
    const nameOf = (one) => {
      const frame = profile.frameOfFunction[one];
      return profile.text(profile.names[frame]) + " " + profile.imageOfFrame(frame);
    };
    return {
      span: profile.head.span_ns,
      total: plain(total),
      rows: rows.filter(({ children }) => children.after.samples > 0).map(({ row, own, children }) =>
        [nameOf(rowOf.indexOf(row)), plain(own), plain(children)]),
    };
  })()`);
}

/** The test of noise is that of `rprof diff`. @param {Tab} tab @param {Runs} runs */
async function marksAreThoseOfDiff(tab, runs) {
  const [before, after] = [await blocksOf(tab, runs.pages[0]), await blocksOf(tab, runs.pages[1])];
  const script = readFileSync(path.join(__dirname, "../../crates/export/src/page/assets/noise.js"), "utf8");
  const { Judge, divisorOf, adjusted } = vm.runInNewContext(`${script}; ({ Judge, divisorOf, adjusted })`);
  const none = { weight: 0, samples: 0, blocks: [] };
  const names = [...new Set([...before.rows, ...after.rows].map(([name]) => name))];
  const [was, is] = [before, after].map(({ rows }) => new Map(rows.map((/** @type {any[]} */ [name, own, children]) => [name, { own, children }])));
  const rows = names.map((name) => {
    const [a, b] = [was.get(name) ?? { own: none, children: none }, is.get(name) ?? { own: none, children: none }];
    return { name, own: { before: a.own, after: b.own }, children: { before: a.children, after: b.children } };
  });
  const total = { before: before.total, after: after.total };
  let n = 0;
  for (const per of ["time", "run", "event"]) {
    const out = execFileSync(runs.rprof, ["diff", ...runs.files, "--no-debuginfod", "--per", per, "--format", "json"], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
    const [event] = JSON.parse(out).events;
    const judge = new Judge(total, {
      before: divisorOf(per, total.before, (before.span + 1) / 1e9),
      after: divisorOf(per, total.after, (after.span + 1) / 1e9),
    });
    judge.learn(rows.map(({ own }) => own));
    const tests = [...rows.flatMap(({ own, children }) => [own, children]), ...(per === "event" ? [] : [total])];
    const tested = tests.filter((one) => judge.pValue(one) !== null);
    const bounds = adjusted(tested.map((one) => judge.pValue(one)));
    for (const row of event.rows) {
      const name = `${row.sym.split("] ").slice(1).join("] ")} ${row.dso}`;
      const own = rows.find((one) => one.name === name);
      // Names of `f` and `f.part.0` are one in diff; of few samples nothing is said.
      if (own === undefined && row.before.samples + row.after.samples < 10) continue;
      assert.ok(own !== undefined, name);
      for (const [judged, expected] of [[own.own, row.own], [own.children, row.children]]) {
        const value = judge.pValue(judged);
        if (value === null) {
          assert.equal(expected.is_sure, false);
          continue;
        }
        const near = (/** @type {number} */ found, /** @type {number} */ wanted) =>
          assert.ok(Math.abs(found - wanted) < 1e-3 * wanted + 1e-9, `${per} ${name}: ${found}, not ${wanted}`);
        near(value, expected.p_value);
        near(bounds[tested.indexOf(judged)], expected.q_value);
        n++;
      }
    }
  }
  assert.ok(n > 10, String(n));
}

/** @param {Tab} tab @param {Facts} facts */
async function check(tab, facts) {
  await sidesAreTheirRanges(tab, facts);
  await theEarlierRangeIsA(tab);
  await severalRangesCountTogether(tab);
  await theEndIsTheEnd(tab);
}

/** Several ranges count what each of them does; each is a chip, and all are in the link. @param {Tab} tab */
async function severalRangesCountTogether(tab) {
  const result = await tab.run(`(() => {
    const page = rprofPage;
    const { profile } = page;
    const span = profile.head.span_ns;
    const part = (share) => Math.floor(span * share);
    const of = (state) => {
      page.set({ view: "flame", against: null, thread: null, transforms: [], range: null, ...state }, "restored");
      return { ...page.counts.shown };
    };
    const ranges = [[part(0.1), part(0.3)], [part(0.45), part(0.5)], [part(0.6), part(0.95)]];
    const single = ranges.map((range) => of({ range }));
    const all = of({ range: [ranges[0][0], ranges[2][1]], parts: ranges.flat() });
    // By hand: a row counts once, and as much of a wait as is within.
    let n = 0;
    const { stacks, times, begins, ends } = profile;
    for (let row = 0; row < stacks.length; row++) {
      if (stacks[row] <= 0 || (profile.head.has_events && profile.events[row] !== page.state.event)) continue;
      const end = ends?.ends[row] ?? 0;
      const isIn = ([from, to]) => (end > 0 ? Math.min(end, to) > Math.max(begins[row], from) : times[row] >= from && times[row] <= to);
      if (ranges.some(isIn)) n += profile.samplesOf(row);
    }
    const sum = (what) => single.reduce((sum, one) => sum + one[what], 0);
    const flame = page.views.all.flame.graph.boxes.whole;
    page.set({ roots: "processes" }, "restored");
    const grouped = page.views.all.flame.graph.boxes.whole;
    page.set({ roots: "threads", order: "time" }, "restored");
    const inTime = page.views.all.flame.boxesInTime().whole;
    page.set({ order: "heavy" }, "restored");
    const chips = [...document.querySelectorAll(".chip")].map((one) => one.textContent);
    return { all, weight: sum("weight"), n, flame, grouped, inTime, chips, compares: !page.ranges.bar.hidden };
  })()`);
  const { all, weight, n, flame, grouped, inTime, chips, compares } = result;
  assert.deepEqual([Math.round(all.weight), all.samples], [Math.round(weight), n]);
  for (const whole of [flame, grouped, inTime]) assert.ok(Math.abs(whole - weight) <= 1e-9 * weight, `${whole} ${weight}`);
  assert.equal(chips.length, 3);
  assert.equal(compares, false);
  // Ctrl and a drag add one; its chip takes it away; the link and Escape have all.
  await tab.run(`rprofPage.set({ range: null }); rprofPage.steps.forget()`);
  const place = await tab.run(`(() => {
    const { left, top } = rprofPage.overview.canvas.getBoundingClientRect();
    const { scale } = rprofPage.overview;
    return [left + scale.left, top + 30, scale.width];
  })()`);
  const drag = async (/** @type {number} */ from, /** @type {number} */ to, /** @type {number} */ modifiers) => {
    const at = (/** @type {number} */ share) => ({ x: place[0] + share * place[2], y: place[1], button: "left", clickCount: 1, modifiers });
    await tab.ask("Input.dispatchMouseEvent", { type: "mousePressed", ...at(from) });
    await tab.ask("Input.dispatchMouseEvent", { type: "mouseMoved", ...at(to), buttons: 1 });
    await tab.ask("Input.dispatchMouseEvent", { type: "mouseReleased", ...at(to) });
  };
  await drag(0.1, 0.2, 0);
  const first = await tab.run(`rprofPage.state.range`);
  await drag(0.5, 0.6, 2);
  const { range, parts } = await tab.run(`rprofPage.state`);
  assert.deepEqual([parts.length, parts[0], range[1]], [4, first[0], parts[3]]);
  assert.equal(await tab.run(`rprofPage.ranges.compareWith([0, 1]), rprofPage.state.against`), null);
  await tab.run(`rprofPage.address.rememberNow()`);
  const fragment = await tab.run(`location.hash`);
  await tab.press("Escape");
  assert.deepEqual(await tab.run(`[rprofPage.state.range, rprofPage.state.parts]`), [first, []]);
  await tab.run(`rprofPage.address.rememberNow()`);
  await tab.run(`new Promise((resolve) => {
    addEventListener("hashchange", () => setTimeout(resolve, 0), { once: true });
    location.hash = ${JSON.stringify(fragment)};
  })`);
  assert.deepEqual(await tab.run(`[rprofPage.state.range, rprofPage.state.parts]`), [range, parts]);
  await tab.run(`document.querySelector(".chip").click()`);
  assert.deepEqual(await tab.run(`[rprofPage.state.range, rprofPage.state.parts]`), [parts.slice(2), []]);
  // What a link says wrongly is left out.
  for (const words of ["parts=5.1.2.3&range=5.3", "parts=1.2.3&range=1.3", "parts=1.2.5.9&range=1.8", "parts=0.x.2.3&range=0.3"]) {
    await tab.run(`new Promise((resolve) => {
      addEventListener("hashchange", () => setTimeout(resolve, 0), { once: true });
      location.hash = "#${words}";
    })`);
    assert.deepEqual(await tab.run(`rprofPage.state.parts`), [], words);
  }
  await tab.run(`rprofPage.set({ range: null }); rprofPage.address.rememberNow()`);
}

/** Time after the end is not drawn, near the end of the timeline its end is meant, and what was pointed at is left. @param {Tab} tab */
async function theEndIsTheEnd(tab) {
  const { drawn, last, end, range, said } = await tab.run(`(() => {
    rprofPage.set({ view: "heat", range: null });
    const { map } = rprofPage.views.all.heat;
    let drawn = 0;
    const count = { fillStyle: "", fillRect: () => drawn++ };
    map.drawCells(count, 10, 5);
    const { overview, profile } = rprofPage;
    const { scale } = overview;
    const range = scale.range(scale.left + 1, scale.left + scale.width - 1);
    rprofPage.details.say("a moment");
    overview.canvas.dispatchEvent(new MouseEvent("mouseleave"));
    const said = document.getElementById("pointed").textContent;
    rprofPage.set({ view: "flame" });
    return { drawn, last: map.last, end: (profile.head.span_ns * 50) / map.unit, range: [...range, profile.head.span_ns], said };
  })()`);
  assert.equal(last, Math.floor(end));
  assert.equal(drawn, last + 1);
  assert.deepEqual(range.slice(0, 2), [0, range[2]]);
  assert.equal(said, "");
}

module.exports = { check, marksAreThoseOfDiff };
