// Order of time: the page's boxes are those that `rprof flame --flamechart` draws.
"use strict";

const assert = require("node:assert/strict");

/** @typedef {Awaited<ReturnType<import("./browser.js").Browser["tab"]>>} Tab */

/** @typedef {[number, number, number, string][]} Boxes Level, start, width and name of each. */

/** In order of levels, from left to right. @param {Boxes} boxes */
function inOrder(boxes) {
  return boxes.sort((a, b) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2]);
}

/**
 * Boxes in order, those that follow each other on the same box under one name as one: pictures have names only, as of
 * `_start`, which the loader has as well as the program.
 *
 * @param {Boxes} boxes
 */
function byName(boxes) {
  /** @type {Boxes} */
  let below = [];
  /** @type {Boxes} */
  let here = [];
  /** @type {Boxes} */
  const all = [];
  const parent = (/** @type {number} */ at) => below.findIndex(([, start, width]) => start <= at && at < start + width);
  let last = -1;
  for (const [level, start, width, name] of boxes) {
    if (level !== last) [below, here, last] = [here, [], level];
    const before = here.at(-1);
    const follows = before !== undefined && before[1] + before[2] === start && before[3] === name;
    if (follows && parent(before[1]) === parent(start)) {
      before[2] += width;
    } else {
      here.push([level, start, width, name]);
      all.push(here[here.length - 1]);
    }
  }
  return all;
}

/** Names are those of pictures, which colour what is inlined. @param {Tab} tab @returns {Promise<Boxes>} */
function drawn(tab) {
  return tab.run(`(() => {
    const { boxes } = rprofPage.views.all.flame.graph;
    return Array.from({ length: boxes.n }, (_, box) =>
      [boxes.depths[box], boxes.starts[box], boxes.widths[box], rprofPage.profile.nameOf(boxes.labels[box]).replace(/ \\(inlined\\)$/, "").replaceAll(";", ":")]);
  })()`);
}

/** Of many rows, a first picture is there at once; the whole one follows. @param {Tab} tab */
async function aFirstPictureIsFollowedByAllOfIt(tab) {
  await tab.run(`rprofPage.set({ order: "time" })`);
  const all = await drawn(tab);
  const [isFirst, whole] = await tab.run(`(() => {
    const { flame } = rprofPage.views.all;
    rprofPage.set({ order: "heavy" });
    rprofPage.boxes.list = [];
    flame.rowsAtOnce = 0;
    rprofPage.set({ order: "time" });
    return [flame.graph.boxes.isFirst, flame.graph.boxes.whole];
  })()`);
  assert.ok(isFirst);
  await tab.run(`new Promise((resolve) => {
    const look = () => (rprofPage.views.all.flame.graph.boxes.isFirst ? setTimeout(look, 5) : resolve(true));
    look();
  })`);
  assert.deepEqual(await drawn(tab), all);
  assert.equal(await tab.run(`rprofPage.views.all.flame.graph.boxes.whole`), whole);
  // Nobody waits for what is not shown any more.
  const [left, placing] = await tab.run(`(async () => {
    const { flame } = rprofPage.views.all;
    rprofPage.boxes.list = [];
    rprofPage.set({ order: "time" });
    rprofPage.set({ order: "heavy" });
    // What comes after the frame does so in order.
    await new Promise((resolve) => requestAnimationFrame(() => requestIdleCallback(resolve)));
    flame.rowsAtOnce = 30000;
    return [rprofPage.boxes.list.filter(({ boxes }) => boxes.isFirst).length, flame.graph.boxes.isFirst];
  })()`);
  assert.deepEqual([left, placing], [0, false]);
}

/** What no eye sees has its place for whoever asks, and once it is zoomed into. @param {Tab} tab */
async function narrowBoxesArePlacedWhenTheyAreSeen(tab) {
  const [first, zoomed, within, asked, all] = await tab.run(`(() => {
    const { graph } = rprofPage.views.all.flame;
    const { first } = graph.boxes.constructor;
    const before = { ...first };
    const said = (levels) => {
      const { labels, starts, widths } = graph.boxes;
      return levels.map((level) => [...level].map((box) => [labels[box], starts[box], widths[box]]));
    };
    const all = said(graph.boxes.levels);
    Object.assign(first, { most: 0, parts: () => 0.5 });
    rprofPage.boxes.list = [];
    rprofPage.set({ order: "name" });
    rprofPage.set({ order: "heavy" });
    const placed = said(graph.boxes.lists);
    // From twice as narrow on.
    Object.assign(first, { parts: () => 2 });
    const box = graph.boxes.lists[0][0];
    const [start, end] = [graph.boxes.starts[box], graph.boxes.endOf(box)];
    graph.zoomTo(box);
    // What is beside it may have its place, too.
    const within = (levels) => levels[1].filter(([, from, width]) => from >= start && from + width <= end);
    const zoomed = within(said(graph.boxes.lists));
    const asked = said(graph.boxes.levels);
    Object.assign(first, before);
    graph.zoomOut();
    return [placed, zoomed, within(all), asked, all];
  })()`);
  assert.ok(first.flat().length < all.flat().length);
  assert.deepEqual(zoomed, within);
  assert.deepEqual(asked, all);
}

/** @param {Tab} tab @param {{inTime: Boxes}} facts */
async function check(tab, { inTime }) {
  await narrowBoxesArePlacedWhenTheyAreSeen(tab);
  await aFirstPictureIsFollowedByAllOfIt(tab);
  await tab.run(`rprofPage.set({ order: "time" })`);
  const all = inOrder(await drawn(tab));
  assert.deepEqual(byName(all), inOrder(inTime));

  // Where boxes are too many, neighbours count for what they have in common.
  await tab.run(`rprofPage.views.all.flame.maxTimeBoxes = ${all.length - 1}`);
  await tab.run(`rprofPage.set({ order: "heavy" }); rprofPage.set({ order: "time" })`);
  const joined = inOrder(await drawn(tab));
  assert.ok(joined.length < all.length, `${joined.length} of ${all.length}`);
  const lowest = (/** @type {Boxes} */ boxes) => boxes.filter(([level]) => level === 0);
  assert.deepEqual(lowest(joined), lowest(all));
  const said = await tab.run(`document.getElementById("flame-note").textContent`);
  assert.match(said, /^\d+ consecutive samples are merged into their common frames/);
  // What samples have in common, all of them have.
  for (const [level, start, width, name] of joined) {
    const within = all.filter((one) => one[0] === level && one[3] === name && one[1] < start + width && one[1] + one[2] > start);
    const sum = within.reduce((sum, one) => sum + Math.min(one[1] + one[2], start + width) - Math.max(one[1], start), 0);
    assert.equal(sum, width, `${name} at ${level}, ${start}`);
  }
  await tab.run(`rprofPage.views.all.flame.maxTimeBoxes = 2e6; rprofPage.set({ order: "heavy" })`);
}

module.exports = { check };
