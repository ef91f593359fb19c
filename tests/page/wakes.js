// When threads waited and who woke them: waits last as long as the report says, tips and arrows name the waker, and the stack
// chart has a gap for each.
"use strict";

const assert = require("node:assert/strict");

/** @typedef {import("./checks.js").Tab} Tab */

/** Of the reader: its thread, its waits by cause, and who ended those for the pipe. @param {Tab} tab */
function readersWaits(tab) {
  return tab.run(`(() => {
    const { profile } = rprofPage;
    const { waits, waitLabels, head } = profile;
    const causes = {};
    const wakers = [];
    head.threads.forEach(([, , comm], thread) => {
      if (profile.text(comm) !== "reader") return;
      waits.each(thread, [-Infinity, Infinity], (wait) => {
        const name = profile.text(profile.names[waitLabels[waits.causeOf(wait)]]);
        causes[name] = (causes[name] ?? 0) + waits.lengths[wait];
        if (name === "[pipe]" && waits.isWoken(wait)) wakers.push(waits.wakerOf(wait) < 0 ? "" : profile.nameOfThread(waits.wakerOf(wait)));
      });
    });
    return { n: waits.n, causes, wakers };
  })()`);
}

/** Where samples are of waits, too, both say the same. @param {Tab} tab */
async function waitsLastAsLongAsTheirSamples(tab) {
  const wrong = await tab.run(`(() => {
    const { profile } = rprofPage;
    const { waits, waitLabels, head, begins } = profile;
    if (begins === null || waits.n === 30000) return [];
    const wrong = [];
    for (let thread = 0; thread < head.threads.length; thread++) {
      const sums = new Map();
      const add = (label, length, sign) => sums.set(label, (sums.get(label) ?? 0) + sign * length);
      waits.each(thread, [-Infinity, Infinity], (wait) => add(profile.names[waitLabels[waits.causeOf(wait)]], waits.lengths[wait], 1));
      let all = 0;
      for (let row = profile.starts[thread]; row < profile.starts[thread + 1]; row++) {
        const node = profile.recorded.stacks[row] - 1;
        if (node < 0 || !profile.isWait(node)) continue;
        add(profile.names[profile.labels[node]], profile.weights[row], -1);
        all += profile.weights[row];
      }
      for (const [label, rest] of sums) if (Math.abs(rest) > 1e-6 * all + 1) wrong.push([profile.nameOfThread(thread), profile.text(label), rest, all]);
    }
    return wrong;
  })()`);
  assert.deepEqual(wrong, []);
}

/** @param {Tab} tab */
async function arrowsGoFromTheWakerToTheWoken(tab) {
  await tab.run(`rprofPage.set({ view: "threads", lanes: "threads", transforms: [], range: null, thread: null })`);
  const arrows = await tab.run(`(() => {
    const { lanes } = rprofPage.views.all.threads;
    return lanes.arrows.map(({ wait, from, to }) => [lanes.lanes[from].name.split(" ")[0], lanes.lanes[to].name.split(" ")[0], rprofPage.profile.waits.lengths[wait]]);
  })()`);
  assert.ok(arrows.some((/** @type {any[]} */ [from, to]) => from === "writer" && to === "reader"), JSON.stringify(arrows));
  const lengths = arrows.map((/** @type {any[]} */ [, , length]) => length);
  assert.deepEqual(lengths, [...lengths].sort((a, b) => b - a), "the longest first");
  const said = await tab.run(`(() => {
    const { lanes } = rprofPage.views.all.threads;
    const { waits } = rprofPage.profile;
    const lane = lanes.lanes.find(({ kind, name }) => kind === "thread" && name.startsWith("reader"));
    const { wait } = lanes.arrows.find(({ to, from }) => lanes.lanes[to] === lane && lanes.lanes[from].name.startsWith("writer"));
    const x = lanes.scale.x(waits.begins[wait] + waits.lengths[wait] / 2);
    return lanes.saidAt(lane, { clientX: lanes.canvas.getBoundingClientRect().left + x });
  })()`);
  assert.match(said, /: \[\w+\] .*, woken by writer \d+\/\d+ at \d+\.\d{6} s$/);
}

/** Its legend has the colours of its boxes. @param {Tab} tab */
async function theLegendHasTheColoursOfTheChart(tab) {
  const [boxes, legend] = await tab.run(`(() => {
    rprofPage.set({ view: "chart", thread: null });
    const { chart, times } = rprofPage.views.all.chart;
    const { profile, theme } = rprofPage;
    const element = document.createElement("i");
    const colour = (text) => (element.style.background = text, element.style.background);
    const boxes = {};
    for (const box of chart.waitOf.keys()) boxes[profile.nameOf(chart.boxes.labels[box]).slice(1, -1)] = colour(theme.fill(chart.boxes.labels[box]));
    const legend = times.has ? [...times.element.querySelectorAll("i")].map((swatch) => [swatch.nextSibling.textContent.trim().split(" ")[0], swatch.style.background]) : [];
    rprofPage.set({ view: "flame" });
    return [boxes, legend];
  })()`);
  for (const [name, colour] of legend) if (boxes[name] !== undefined) assert.equal(colour, boxes[name], name);
}

/** @param {Tab} tab */
async function theStackChartHasGaps(tab) {
  const chart = await tab.run(`(() => {
    const { profile } = rprofPage;
    const thread = profile.head.threads.findIndex(([, , comm], at) => profile.text(comm) === "reader" && profile.starts[at + 1] > profile.starts[at]);
    rprofPage.set({ view: "chart", thread });
    const { chart, graph } = rprofPage.views.all.chart;
    const { boxes } = chart;
    const ends = (box) => boxes.starts[box] + boxes.widths[box];
    const wrong = [];
    boxes.levels.forEach((level, depth) => level.forEach((box, at) => {
      if (at > 0 && boxes.starts[box] < ends(level[at - 1])) wrong.push(["overlaps", depth, at]);
      if (boxes.starts[box] < 0 || ends(box) > boxes.whole + 1) wrong.push(["outside", depth, at]);
      const parent = boxes.parents[box];
      if (parent >= 0 && (boxes.starts[box] < boxes.starts[parent] || ends(box) > ends(parent))) wrong.push(["beside its parent", depth, at]);
    }));
    const pipes = [];
    let drawn = 0;
    for (let box = 0; box < boxes.n; box++) {
      if (profile.nameOf(boxes.labels[box]) !== "[pipe]") continue;
      drawn += boxes.widths[box];
      pipes.push(rprofPage.views.all.chart.said(box));
    }
    return { wrong, pipes, drawn, width: graph.width };
  })()`);
  assert.deepEqual(chart.wrong, []);
  assert.ok(chart.pipes.some((/** @type {string} */ text) => /^\[pipe\] .*woken by writer/.test(text)), JSON.stringify(chart.pipes));
  await tab.run(`rprofPage.set({ view: "flame", thread: null })`);
  return chart.drawn;
}

/** @param {Tab} tab @param {{page: string}} facts */
async function check(tab, facts) {
  await tab.open(`file://${facts.page}`);
  const { n, causes, wakers } = await readersWaits(tab);
  if (n === 0 || !(causes["[pipe]"] > 0) || wakers.length === 0) return console.log("skipped: who woke is not recorded");
  // Who woke may be lost.
  const known = wakers.filter((/** @type {string} */ name) => name !== "");
  assert.ok(known.every((/** @type {string} */ name) => name.startsWith("writer")), String(wakers));
  if (known.length === 0) return console.log("skipped: who woke is lost");
  await waitsLastAsLongAsTheirSamples(tab);
  await arrowsGoFromTheWakerToTheWoken(tab);
  await theLegendHasTheColoursOfTheChart(tab);
  const drawn = await theStackChartHasGaps(tab);
  assert.ok(drawn > 0.9 * causes["[pipe]"] && drawn <= causes["[pipe]"] + 1, `${drawn} of ${causes["[pipe]"]}`);
}

module.exports = { check };
