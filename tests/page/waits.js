// What threads wait for: its own boxes, colours that letters can be read on, lanes that last as long as the waits.
"use strict";

const assert = require("node:assert/strict");

/**
 * @typedef {Awaited<ReturnType<import("./browser.js").Browser["tab"]>>} Tab
 * @typedef {{page: string, waits: {[cause: string]: number}}} Facts
 */

/** @param {Tab} tab @param {Facts} facts */
async function boxesAreTheReports(tab, facts) {
  const sums = await tab.run(`(() => {
    const { profile } = rprofPage;
    const { boxes } = rprofPage.views.all.flame.graph;
    const sums = {};
    for (let box = 0; box < boxes.n; box++) {
      const label = boxes.labels[box];
      if (label < 0 || (profile.flags[label] & 64) === 0) continue;
      const name = profile.nameOf(label).slice(1, -1);
      sums[name] = (sums[name] ?? 0) + boxes.own[box];
    }
    return sums;
  })()`);
  for (const [cause, ns] of Object.entries(facts.waits)) assert.equal(sums[cause], ns, cause);
  const legend = await tab.run(`document.querySelector("#flame .waits").textContent`);
  for (const cause of Object.keys(facts.waits)) assert.ok(legend.includes(` ${cause} `), `${cause}: ${legend}`);
  const causes = await tab.run(`Object.fromEntries(rprofPage.rows("cause").map(({ name, total }) => [name, total]))`);
  for (const [cause, ns] of Object.entries(facts.waits)) assert.equal(causes[cause], ns, cause);
  // Of functions, the time is that of the function that waits.
  const rows = await tab.run(`rprofPage.rows("function").map((row) => row.name)`);
  assert.ok(!rows.some((/** @type {string} */ name) => name === "[pipe]"), String(rows));
}

/** @param {Tab} tab */
async function lettersCanBeRead(tab) {
  for (const theme of ["light", "dark"]) {
    const colours = await tab.run(`(() => {
      const { theme, profile } = rprofPage;
      theme.chosen = ${JSON.stringify(theme)};
      theme.apply();
      const context = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
      const parts = (colour) => {
        context.fillStyle = colour;
        context.fillRect(0, 0, 1, 1);
        return [...context.getImageData(0, 0, 1, 1).data].slice(0, 3);
      };
      const waits = profile.head.waits.filter(([label]) => label >= 0);
      const lanes = waits.map(([label]) => [parts(theme.waitInk(label)), parts(theme.waitArea(label))]);
      return [parts(theme.colours.ink), lanes, ...waits.map(([label]) => parts(theme.fill(label)))];
    })()`);
    const [lanes] = colours.splice(1, 1);
    for (const pair of lanes) {
      const [low, high] = pair.map(luminance).sort((/** @type {number} */ a, /** @type {number} */ b) => a - b);
      assert.ok((high + 0.05) / (low + 0.05) >= 4.5, `${theme}: ${pair}`);
    }
    const [ink, ...fills] = colours.map(luminance);
    assert.ok(fills.length > 5, String(colours));
    for (const [nth, fill] of fills.entries()) {
      const [low, high] = [Math.min(ink, fill), Math.max(ink, fill)];
      assert.ok((high + 0.05) / (low + 0.05) >= 4.5, `${theme}: ${colours[nth + 1]}`);
    }
  }
  await tab.run(`rprofPage.theme.chosen = null, rprofPage.redraw()`);
}

/**
 * Relative luminance (WCAG 2.2).
 * @param {number[]} colour
 */
function luminance(colour) {
  const [red, green, blue] = colour.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** @param {Tab} tab */
async function lanesLastAsLongAsWaits(tab) {
  await tab.run(`rprofPage.set({ view: "threads" })`);
  const threads = await tab.run(`(() => {
    const { profile } = rprofPage;
    const { lanes } = rprofPage.views.all.threads;
    const found = [];
    for (const lane of lanes.lanes) {
      if (lane.kind !== "thread") continue;
      const { name } = lane;
      if (!name.startsWith("in_")) continue;
      const slots = lanes.slots(lane, 777);
      const drawn = [...slots.waits.values()].flatMap((one) => [...one]).reduce((a, b) => a + b, 0);
      let weight = 0;
      // When the last waits began, and how long they took: what is after the last sample is not drawn.
      let last = { time: 0, weight: 0 };
      // Under all its names.
      for (const thread of lane.threads) {
        for (let row = profile.starts[thread]; row < profile.starts[thread + 1]; row++) {
          if (profile.stacks[row] <= 0 || !profile.isWait(profile.stacks[row] - 1)) continue;
          weight += profile.weights[row];
          if (profile.times[row] > last.time) last = { time: profile.times[row], weight: 0 };
          if (profile.times[row] === last.time) last.weight += profile.weights[row];
        }
      }
      weight -= Math.max(0, last.time + last.weight - profile.head.span_ns);
      found.push([name, drawn, weight]);
    }
    return found;
  })()`);
  assert.ok(threads.length >= 10, String(threads));
  for (const [name, drawn, weight] of threads) {
    assert.ok(weight > 0 && Math.abs(drawn - weight) <= weight * 1e-6, `${name}: ${drawn} of ${weight}`);
  }
  const said = await tab.run(`(() => {
    const { lanes } = rprofPage.views.all.threads;
    const lane = lanes.lanes.find(({ kind, name }) => kind === "thread" && name.startsWith("in_pipe"));
    const left = lanes.canvas.getBoundingClientRect().left;
    const slots = lanes.slots(lane, Math.floor(lanes.scale.width));
    // Nothing else, which may be longer, is there.
    const isPipe = (slot) => slots.parts(slot).length > 0 &&
      slots.parts(slot).every(([label]) => label >= 0 && rprofPage.profile.nameOf(label) === "[pipe]");
    const at = slots.all.findIndex((_, slot) => [slot - 1, slot, slot + 1].every((one) => one >= 0 && one < slots.n && isPipe(one)));
    return lanes.saidAt(lane, { clientX: left + lanes.scale.left + 0.5 + at });
  })()`);
  assert.match(said, /\[pipe\] /);
}

/**
 * The heat map shows who ran: threads that wait often are not busy.
 * @param {Tab} tab
 */
async function heatIsOfWhatRuns(tab) {
  const cellsOf = (/** @type {number[]} */ states) => tab.run(`(() => {
    rprofPage.set({ view: "heat", transforms: ${JSON.stringify(states.map((key) => ({ kind: "keep", grouping: "state", key })))} });
    const { map } = rprofPage.views.all.heat;
    return [map.cells.reduce((a, b) => a + b, 0), map.nouns[1]];
  })()`);
  const [all, running, waiting] = [await cellsOf([]), await cellsOf([0]), await cellsOf([1])];
  assert.ok(running[0] > 0 && waiting[0] > 0);
  assert.deepEqual(all, running);
  assert.equal(running[1], "samples of running threads");
  assert.equal(waiting[1], "waits");
  await tab.run(`rprofPage.set({ view: "flame", transforms: [] })`);
}

/** @param {Tab} tab @param {Facts} facts */
async function check(tab, facts) {
  await boxesAreTheReports(tab, facts);
  await lettersCanBeRead(tab);
  await lanesLastAsLongAsWaits(tab);
  await heatIsOfWhatRuns(tab);
}

/**
 * Where the page has only the longest waits one by one, its numbers are those of the report all the same.
 * @param {Tab} tab @param {{manyWaits: any[], total: number}} facts
 */
async function numbersAreOfAll(tab, { manyWaits, total }) {
  const { n, all, first, tables, filtered, range } = await tab.run(`(() => {
    const page = rprofPage;
    const { profile } = page;
    page.set({ view: "waits" });
    const view = page.views.all.waits;
    const rows = () => view.rows.map(({ thread, label, ...row }) =>
      ({ ...row, tid: thread < 0 ? null : profile.head.threads[thread][1], cause: profile.text(profile.names[label]).slice(1, -1) }));
    const table = (threads, wakers) => {
      view.threads.checked = threads;
      view.wakers.checked = wakers;
      view.show();
      return { rows: rows(), note: view.note.textContent };
    };
    const tables = [[true, false], [true, true], [false, false], [false, true]].map(([threads, wakers]) => table(threads, wakers));
    // Of whom the page has a wait that began before the first sample, which the page leaves out.
    const first = [];
    profile.head.threads.forEach(([, tid], thread) => profile.waits.each(thread, [-Infinity, Infinity], (wait) => {
      if (profile.waits.begins[wait] < 0) first.push(tid);
    }));
    // Filters of stacks do not apply to waits.
    page.set({ transforms: [{ kind: "keep", grouping: "function", key: page.functions()[0].key }] });
    const filtered = [[true, false], [true, true], [false, false], [false, true]].map(([threads, wakers]) => table(threads, wakers).rows);
    page.set({ transforms: [], range: [0, profile.head.span_ns] });
    const range = table(true, false);
    page.set({ range: null, view: "flame" });
    return { n: profile.waits.n, all: profile.head.n_all_waits, first, tables, filtered, range };
  })()`);
  assert.equal(n, 30000);
  assert.ok(all > n, `${all} waits`);
  const isWhole = (/** @type {number} */ tid) => !first.includes(tid);
  const key = (/** @type {any} */ row) => [row.tid, row.cause, row.count ?? row.sample, Math.round(row.sum ?? (row.overhead * total) / 100)].join(" ");
  const report = manyWaits.map((row) => ({ ...row, tid: parseInt(row.tid) })).filter(({ tid }) => isWhole(tid));
  const [byThread, byBoth] = tables;
  assert.deepEqual(byThread.rows.filter((/** @type {any} */ { tid }) => isWhole(tid)).map(key).sort(), report.map(key).sort());
  assert.ok(report.some(({ cause, sample }) => cause === "pipe" && sample > 10000), JSON.stringify(report));
  // However they are told apart, they are the same waits.
  const sums = (/** @type {any[]} */ rows) => [rows.reduce((all, { count }) => all + count, 0), rows.reduce((all, { sum }) => all + sum, 0)];
  for (const { rows, note } of tables) {
    assert.deepEqual(sums(rows), sums(byThread.rows));
    assert.doesNotMatch(note, /longest/);
    for (const { median, longest, sum, count } of rows) assert.ok(median > 0 && median <= longest && sum <= count * longest);
  }
  assert.deepEqual(filtered, tables.map(({ rows }) => rows));
  assert.ok(byBoth.rows.some((/** @type {any} */ { waker }) => waker > 0), "somebody wakes");
  // Of a range they are not.
  assert.match(range.note, /^All numbers are of the 30000 longest of \d+ waits in the recording: /);
  const most = (/** @type {any[]} */ rows) => rows.reduce((most, row) => (row.count > most.count ? row : most));
  const [whole, part] = [most(byThread.rows), most(range.rows)];
  assert.ok(part.count < whole.count && part.median >= whole.median, JSON.stringify([whole, part]));
}

module.exports = { numbersAreOfAll, check };
