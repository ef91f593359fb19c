// The call tree: its rows are the boxes of the flame graph, wherever they open.
"use strict";

const assert = require("node:assert/strict");

/** @typedef {import("./checks.js").Tab} Tab */
/** @typedef {import("./checks.js").Facts} Facts */

/** Cells of each row. @param {Tab} tab */
function rows(tab) {
  return tab.run(`[...document.querySelectorAll("#tree-place tbody tr")].map((row) => ({
    level: Number(row.getAttribute("aria-level")),
    open: row.getAttribute("aria-expanded"),
    cells: [...row.querySelectorAll("td")].map((cell) => cell.lastChild?.textContent ?? ""),
    name: row.querySelector("th span + span").textContent,
    hasFocus: row === document.activeElement,
  }))`);
}

/** @param {Tab} tab @param {Facts} facts */
async function check(tab, facts) {
  await tab.run(`rprofPage.set({ view: "tree", threads: "apart", zoom: [], span: null })`);
  await tab.run(`(() => {
    const { tree } = rprofPage.views.all;
    for (const box of tree.boxes.levels[0]) tree.openAll(box);
    tree.limit = 1e6;
    tree.draw();
  })()`);
  const all = await rows(tab);
  // Samples of each level are those that the report has.
  const levels = facts.levels.map((_, level) => all
    .filter((/** @type {any} */ row) => row.level === level + 1)
    .reduce((/** @type {number} */ sum, /** @type {any} */ row) => sum + Number(row.cells[2]), 0));
  assert.deepEqual(levels, facts.levels);
  const share = (/** @type {number} */ weight) => `${((100 * weight) / facts.total).toFixed(2)} %`;
  for (const { name, total } of facts.rows) {
    const own = all.filter((/** @type {any} */ row) => row.name === name);
    assert.ok(own.length > 0, name);
    if (own.length === 1) assert.equal(own[0].cells[0], share(total), name);
  }
  await keysOpenAndClose(tab);
  await halfAMillionSiblingsAreRows(tab);
  await arrowsGoFromTabToTab(tab);
  await aSearchOpensTheWay(tab, facts);
  await tab.run(`rprofPage.set({ view: "flame", threads: "alike" })`);
  await columnsHoldTheirTexts(tab);
}

/** @param {Tab} tab */
async function keysOpenAndClose(tab) {
  await tab.run(`(() => {
    const { tree } = rprofPage.views.all;
    tree.open.clear();
    tree.draw();
    tree.choose(tree.boxes.levels[0][0]);
  })()`);
  await tab.press("ArrowRight");
  let now = await rows(tab);
  assert.equal(now[0].open, "true");
  assert.equal(now[1].level, 2);
  await tab.press("ArrowRight");
  now = await rows(tab);
  assert.ok(now[1].hasFocus);
  await tab.press("ArrowLeft");
  await tab.press("ArrowLeft");
  now = await rows(tab);
  assert.ok(now[0].hasFocus);
  assert.equal(now[0].open, "false");
  assert.ok(now.every((/** @type {any} */ row) => row.level === 1));
}

/** @param {Tab} tab */
async function arrowsGoFromTabToTab(tab) {
  await tab.run(`document.getElementById("tree-tab").focus()`);
  await tab.press("ArrowRight");
  assert.equal(await tab.run(`rprofPage.state.view`), "summary");
  assert.equal(await tab.run(`document.activeElement.id`), "summary-tab");
  // From the last to the first, and back.
  const last = await tab.run(`(() => {
    const tab = [...document.querySelectorAll("#tabs [role=tab]")].filter(({ hidden }) => !hidden).at(-1);
    tab.focus();
    tab.click();
    return rprofPage.state.view;
  })()`);
  await tab.press("ArrowRight");
  assert.equal(await tab.run(`rprofPage.state.view`), "flame");
  await tab.press("ArrowLeft");
  assert.equal(await tab.run(`rprofPage.state.view`), last);
  await tab.run(`rprofPage.set({ view: "tree" })`);
}

/** Recordings of strangers may have as many functions as they like. @param {Tab} tab */
async function halfAMillionSiblingsAreRows(tab) {
  const n = await tab.run(`(() => {
    const { tree } = rprofPage.views.all;
    const { boxes, open } = tree;
    const none = new Uint32Array(0);
    const all = Uint32Array.from({ length: 500_000 }, (_, at) => at);
    Object.assign(tree, { boxes: { childrenOf: (box) => (box < 0 ? all : none) }, open: new Set() });
    const n = tree.rows().length;
    Object.assign(tree, { boxes, open });
    return n;
  })()`);
  assert.equal(n, 500_000);
}

/** @param {Tab} tab @param {Facts} facts */
async function aSearchOpensTheWay(tab, facts) {
  const [row] = [...facts.rows].sort((a, b) => b.self - a.self);
  const pattern = `^${row.name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}$`;
  await tab.run(`rprofPage.find(${JSON.stringify(pattern)})`);
  const found = await tab.run(`[...document.querySelectorAll("#tree-place .found")].map((one) => one.textContent)`);
  assert.ok(found.includes(row.name), JSON.stringify(found));
  await tab.run(`rprofPage.find("")`);
}

/** Shares end where their columns do, and headings stay in one line whatever rows are sorted by. @param {Tab} tab */
async function columnsHoldTheirTexts(tab) {
  await tab.size(1280, 800);
  const [ends, heights] = await tab.run(`(() => {
    rprofPage.set({ view: "tree" });
    const range = document.createRange();
    const ends = [...document.querySelectorAll("#tree-place tbody td.share")].map((cell) => {
      range.selectNodeContents(cell);
      return range.getBoundingClientRect().right - cell.getBoundingClientRect().right;
    });
    rprofPage.set({ view: "table" });
    const heights = ["self", "total", "ownSamples", "name", "image"].map((sort) => {
      rprofPage.set({ sort });
      return document.querySelector("#table-place thead").getBoundingClientRect().height;
    });
    rprofPage.set({ view: "flame", sort: "self" });
    return [ends, heights];
  })()`);
  assert.ok(ends.length > 0);
  for (const end of ends) assert.ok(end <= 0, String(ends));
  assert.equal(new Set(heights).size, 1, String(heights));
}

module.exports = { check };
