// What is said of the selected box is of that box, in every view; what stands above the views is of what they show.
"use strict";

const assert = require("node:assert/strict");

/** @typedef {Awaited<ReturnType<import("./browser.js").Browser["tab"]>>} Tab */

/** Clicks the innermost box of a flame graph, and returns its function. @param {Tab} tab @returns {Promise<{name: string, key: number}>} */
async function click(tab) {
  await tab.run(`rprofPage.set({ view: "flame", zoom: [], span: null, inverted: false, order: "heavy" })`);
  const { x, y, name, key } = await tab.run(`(() => {
    const flame = rprofPage.views.all.flame.graph;
    const { boxes } = flame;
    const level = boxes.levels.length - 1;
    const box = boxes.levels[level][0];
    flame.place.scrollTop = level * 20;
    const rect = flame.canvas.getBoundingClientRect();
    const label = boxes.labels[box];
    return {
      x: rect.left + ((boxes.starts[box] + boxes.widths[box] / 2) / boxes.whole) * rect.width,
      y: rect.top + level * 20 + 8 - flame.place.scrollTop,
      name: rprofPage.profile.text(rprofPage.profile.names[label]),
      key: rprofPage.profile.functionOf[label],
    };
  })()`);
  await tab.drag([x, y]);
  assert.equal(await tab.run(`document.getElementById("chosen").textContent`), name);
  return { name, key };
}

/** @param {Tab} tab @param {string} view */
const openTab = (tab, view) => tab.run(`document.querySelector("[data-view=${view}]").click()`);

/** @param {Tab} tab */
const isPanelHidden = (tab) => tab.run(`document.getElementById("details").hidden`);

/** @param {Tab} tab */
async function callersAreThoseOfTheSelectedFunction(tab) {
  const { name, key } = await click(tab);
  await openTab(tab, "sandwich");
  const [focus, shown] = await tab.run(`[rprofPage.state.focus, document.getElementById("focus-name").textContent]`);
  assert.deepEqual([focus, shown], [key, name]);
  assert.equal(await isPanelHidden(tab), true);
  const lines = await tab.run(`[...document.querySelectorAll("#focus-lines li")].map((line) => line.textContent)`);
  const expected = await tab.run(`(() => {
    const { profile } = rprofPage;
    if (!profile.hasPlaces) return [];
    const rows = rprofPage.rows("line");
    return rows.filter((row) => profile.functionOf[row.key] === ${key} && profile.places[row.key] > 0)
      .map((row) => profile.text(profile.places[row.key] - 1));
  })()`);
  for (const place of expected) assert.ok(lines.some((/** @type {string} */ line) => line.endsWith(place)), `${place}: ${lines}`);
}

/** @param {Tab} tab */
async function thePanelIsOfTheViewItWasOpenedIn(tab) {
  for (const view of ["table", "threads", "heat"]) {
    await click(tab);
    assert.equal(await isPanelHidden(tab), false);
    await openTab(tab, view);
    assert.equal(await isPanelHidden(tab), true, view);
  }
  await openTab(tab, "flame");
}

/** @param {Tab} tab @param {{total: number}} facts */
async function aRangeIsAShareOfAll(tab, facts) {
  await tab.run(`rprofPage.set({ range: [0, rprofPage.profile.head.span_ns / 3] })`);
  const [said, weight] = await tab.run(`[document.querySelector("#chips .said").textContent, rprofPage.counts.shown.weight]`);
  assert.ok(weight > 0 && weight < facts.total);
  assert.ok(said.endsWith(`(${((100 * weight) / facts.total).toFixed(2)} % of all)`), said);
  await tab.run(`rprofPage.set({ range: null })`);
}

/** @param {Tab} tab */
async function samplesOfRowsAreTheirOwn(tab) {
  await tab.run(`rprofPage.set({ view: "table", grouping: "function", sort: "ownSamples" })`);
  const { samples, all, sorted } = await tab.run(`(() => {
    const { rows } = rprofPage.views.all.table.table;
    const at = [...document.querySelectorAll("#table-place thead th")].findIndex((cell) => cell.ariaSort === "descending");
    const cells = [...document.querySelectorAll("#table-place tbody tr")].map((line) => line.children[at].textContent);
    return {
      samples: rows.slice(0, cells.length).map((row, at) => [row.ownSamples, Number(cells[at].replace(/\\D/g, ""))]),
      all: [rows.reduce((sum, row) => sum + row.ownSamples, 0), rprofPage.counts.shown.samples],
      sorted: rows.map((row) => row.ownSamples),
    };
  })()`);
  for (const [own, cell] of samples) assert.equal(cell, own);
  assert.equal(all[0], all[1]);
  assert.deepEqual(sorted, [...sorted].sort((a, b) => b - a));
  await tab.run(`rprofPage.set({ view: "flame", sort: "self" })`);
}

/** @param {Tab} tab @param {{total: number}} facts */
async function check(tab, facts) {
  await callersAreThoseOfTheSelectedFunction(tab);
  await thePanelIsOfTheViewItWasOpenedIn(tab);
  await aRangeIsAShareOfAll(tab, facts);
  await samplesOfRowsAreTheirOwn(tab);
}

module.exports = { check };
