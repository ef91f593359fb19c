// Processes as a level of the graph, and a lane for each thread: their numbers are those of `rprof report -s pid` and `-s tid`.
"use strict";

const assert = require("node:assert/strict");
const { execFileSync } = require("node:child_process");

/** @typedef {import("./checks.js").Tab} Tab */
/** @typedef {import("./filters.js").Facts} Facts */

/**
 * What a report counts by a sort key, by the numbers in its cells.
 * @param {Facts} facts
 * @param {string} key
 * @param {string[]} flags
 * @returns {[number, number][]}
 */
function reported(facts, key, flags) {
  const args = ["report", "--no-debuginfod", "-i", facts.file, ...facts.flags, ...flags, "--format", "json", "-g", "none", "-s", key];
  const { weight, rows } = JSON.parse(execFileSync(facts.rprof, args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] })).events[0];
  /** @type {Map<number, number>} */
  const sums = new Map();
  for (const row of rows) {
    const id = Number(/-?\d+/.exec(String(row[key]).replace(/^.*\s/, ""))?.[0]);
    sums.set(id, (sums.get(id) ?? 0) + Math.round((row.overhead * weight) / 100));
  }
  return [...sums].filter(([, sum]) => sum > 0).sort(([a], [b]) => a - b);
}

/** @param {[number, number][]} rows */
const sorted = (rows) => rows.sort(([a], [b]) => a - b);

/** @param {Tab} tab @param {Facts} facts */
async function processesAreOutermost(tab, facts) {
  const ofGraph = () => tab.run(`(() => {
    const { profile, views } = rprofPage;
    const { boxes } = views.all.flame.graph;
    const [lowest = [], next = []] = boxes.levels;
    const pidOf = (box) => profile.processes[-1 - boxes.labels[box] - profile.n_comms];
    const sum = (list) => [...list].reduce((all, box) => all + boxes.widths[box], 0);
    return [[...lowest].map((box) => [pidOf(box), boxes.widths[box]]), sum(lowest), sum(next), rprofPage.counts.shown.weight];
  })()`);
  await tab.run(`rprofPage.set({ view: "flame", roots: "processes", transforms: [], range: null, thread: null })`);
  const [rows, lowest, next, shown] = await ofGraph();
  assert.deepEqual(sorted(rows), reported(facts, "pid", []));
  assert.deepEqual([lowest, next], [shown, shown], "on each process are its threads");
  // Of a function, and of a process, as the filters of the table.
  const filters = await tab.run(`(() => {
    const { processes } = rprofPage.profile;
    const [{ key }] = [...rprofPage.functions()].sort((a, b) => b.self - a.self);
    return [{ kind: "keep", grouping: "process", key: processes[0] }, { kind: "drop", grouping: "function", key }];
  })()`);
  for (const filter of filters) {
    await tab.run(`rprofPage.set({ transforms: [${JSON.stringify(filter)}] })`);
    const [left] = await ofGraph();
    assert.deepEqual(sorted(left), await tab.run(`rprofPage.rows("process").filter(({ total }) => total > 0).map(({ key, total }) => [key, total]).sort((a, b) => a[0] - b[0])`));
  }
  await tab.run(`rprofPage.set({ transforms: [] })`);
  // Inverted, they are the outermost frames of the same functions.
  const [functions, all] = await tab.run(`(() => {
    const own = () => {
      const { boxes } = rprofPage.views.all.flame.graph;
      return [...boxes.levels[0]].map((box) => [boxes.labels[box], boxes.widths[box], boxes.samples[box]]).sort((a, b) => a[0] - b[0]);
    };
    rprofPage.set({ inverted: true });
    const grouped = own();
    rprofPage.set({ roots: "threads" });
    return [grouped, own()];
  })()`);
  assert.deepEqual(functions, all);
  await tab.run(`rprofPage.set({ inverted: false })`);
}

/** What two ranges count of each process is what either of them counts. @param {Tab} tab */
async function rangesAreComparedByProcess(tab) {
  const [both, apart] = await tab.run(`(() => {
    const { profile } = rprofPage;
    const span = profile.head.span_ns;
    const [first, second] = [[0, Math.floor(span * 0.5)], [Math.floor(span * 0.5) + 1, span]];
    const rows = (range) => {
      rprofPage.set({ range, against: null, view: "table", grouping: "process" });
      return rprofPage.rows("process").map(({ key, total }) => [key, total]).sort((a, b) => a[0] - b[0]);
    };
    const apart = [rows(first), rows(second)];
    rprofPage.set({ view: "flame", grouping: "function", roots: "processes" });
    rprofPage.ranges.compareWith(first);
    const { boxes } = rprofPage.views.all.flame.graph;
    const side = ({ weights }) => [...Array(boxes.n).keys()].filter((box) => boxes.parents[box] < 0 && weights[box] > 0)
      .map((box) => [profile.processes[-1 - boxes.labels[box] - profile.n_comms], weights[box]]).sort((a, b) => a[0] - b[0]);
    const both = [side(boxes.sides.before), side(boxes.sides.after)];
    rprofPage.set({ roots: "threads", against: null, range: null });
    return [both, apart];
  })()`);
  assert.deepEqual(both, apart.map((/** @type {[number, number][]} */ rows) => rows.filter(([, sum]) => sum > 0)));
}

/** A thread that changed its name has one lane, with the last of its names. @param {Tab} tab @param {Facts} facts */
async function eachThreadHasOneLane(tab, facts) {
  const lanes = await tab.run(`(() => {
    rprofPage.set({ view: "threads", lanes: "threads", transforms: [], range: null, thread: null });
    const { head } = rprofPage.profile;
    const { lanes } = rprofPage.views.all.threads;
    return lanes.lanes.filter(({ kind }) => kind === "thread").map((lane) => ({
      ids: [...new Set(lane.threads.map((thread) => head.threads[thread].slice(0, 2).join("/")))],
      tid: head.threads[lane.key][1], weight: lane.weight, name: lane.name, said: lanes.said(lane), n: lane.threads.length,
    }));
  })()`);
  const ids = lanes.flatMap((/** @type {any} */ lane) => lane.ids);
  assert.equal(new Set(ids).size, lanes.length);
  assert.equal(ids.length, lanes.length);
  const rows = lanes.filter((/** @type {any} */ { weight }) => weight > 0).map((/** @type {any} */ { tid, weight }) => [tid, weight]);
  assert.deepEqual(sorted(rows), reported(facts, "tid", []));
  const renamed = lanes.filter((/** @type {any} */ { n }) => n > 1);
  assert.ok(renamed.length > 0, "a thread of the program changes its name");
  for (const { said, name } of renamed) assert.match(said, new RegExp(`^${name} \\(earlier: .+\\): `));
  // Its chart is of all of it, and it is one choice.
  const [parts, options, choices, other] = await tab.run(`(() => {
    const { lanes } = rprofPage.views.all.threads;
    const chosen = lanes.lanes.find(({ kind, threads }) => kind === "thread" && threads.length > 1);
    const { threads } = chosen;
    // Another one takes its place, and choosing that again selects all.
    const other = lanes.lanes.find(({ kind, threads }) => kind === "thread" && threads.length === 1);
    const choices = other === undefined ? [] : [chosen, other, other].map((lane) => {
      rprofPage.views.all.threads.choose(lane);
      return [rprofPage.state.thread ?? null, rprofPage.state.transforms.length];
    });
    rprofPage.set({ view: "chart" });
    rprofPage.views.all.threads.choose(chosen);
    const shown = [rprofPage.views.all.chart.threads.length >= threads.length, rprofPage.counts.shown.weight, lanes.lanes.length];
    const options = [...document.getElementById("chart-thread").options].filter((one) => threads.includes(Number(one.value))).length;
    rprofPage.set({ view: "flame", transforms: [], thread: null });
    return [shown, options, choices, other?.key];
  })()`);
  assert.ok(parts[0]);
  assert.equal(parts[1], renamed[0].weight);
  if (choices.length > 0) assert.deepEqual(choices, [[null, 1], [other, 0], [null, 0]]);
  assert.equal(options, 1);
}

/** @param {Tab} tab @param {Facts} facts */
async function check(tab, facts) {
  await tab.open(`file://${facts.page}`);
  await processesAreOutermost(tab, facts);
  await rangesAreComparedByProcess(tab);
  await eachThreadHasOneLane(tab, facts);
  await tab.open(`file://${facts.page}#roots=processes`);
  assert.deepEqual(await tab.run(`[rprofPage.state.roots, document.getElementById("roots").value]`), ["processes", "processes"]);
}

module.exports = { check };
