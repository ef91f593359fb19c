// What a page finds in idle time, before somebody asks for it, is what it finds when asked.
"use strict";

const assert = require("node:assert/strict");

/** @typedef {import("./checks.js").Tab} Tab */

/** Boxes of the flame graph, as paths with what they count. */
const BOXES = `(() => {
  const { boxes } = rprofPage.views.all.flame.graph;
  return boxes.levels.flatMap((level) => [...level].map((box) => [boxes.pathOf(box).join(" "), boxes.widths[box]]));
})()`;

/** @param {Tab} tab */
async function check(tab) {
  // A busy browser has no idle time.
  await tab.run(`while (rprofPage.ahead.length > 0) rprofPage.ahead.shift()()`);
  const [columns, ranks, hasPlaces] = await tab.run(`(({ rowColumns, ranks, hasPlaces }) => [rowColumns.length, ranks.length, hasPlaces])(rprofPage.profile)`);
  assert.equal(columns, hasPlaces ? 4 : 3);
  // Names of functions are in order once a graph is shown.
  assert.equal(ranks, hasPlaces ? 2 : 1);
  const prepared = await tab.run(`(() => {
    const { boxes } = rprofPage.boxes.list[1];
    rprofPage.set({ inverted: true });
    return rprofPage.views.all.flame.graph.boxes === boxes;
  })()`);
  assert.ok(prepared);
  const shown = await tab.run(BOXES);
  await tab.run(`rprofPage.boxes.list = []; rprofPage.show()`);
  assert.deepEqual(await tab.run(BOXES), shown);
  assert.ok(shown.length > 1);
  await tab.run(`rprofPage.set({ inverted: false })`);
}

module.exports = { check };
