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
  await theLinkHasBoth(tab, facts, both);
  await rangesThatOverlapAreNotJudged(tab, span);
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
}

module.exports = { check, marksAreThoseOfDiff };
