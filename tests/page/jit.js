// JIT code without bytes: the view of code says which functions are hotter than what it shows, and why it has none of them.
"use strict";

const assert = require("node:assert/strict");

/** @typedef {import("./checks.js").Tab} Tab */
/** @typedef {{page: string, jit: string}} Facts why there is no code */

/** @param {Tab} tab @param {Facts} facts */
async function hotterFunctionsWithoutCodeAreSaid(tab, { jit: why }) {
  await tab.run(`rprofPage.set({ view: "code" })`);
  await tab.run(`new Promise((resolve) => {
    const look = () => rprofPage.views.all.code.code !== null ? resolve(true) : setTimeout(look, 5);
    look();
  })`);
  const { hotter, rows, shown } = await tab.run(`(() => {
    const rows = rprofPage.rows("function").map(({ key, name, image, self }) => ({ key, name, image, self }));
    rows.sort((a, b) => b.self - a.self);
    const share = ({ name, self }) => name + " " + (100 * self / rprofPage.whole).toFixed(2) + " %";
    return {
      hotter: [...document.querySelectorAll("#code-hotter li")].map(({ textContent }) => textContent),
      rows: rows.map((row) => ({ ...row, share: share(row) })),
      shown: document.getElementById("code-said").textContent,
    };
  })()`);
  const [total, price] = ["long shop.Orders.total(shop.Orders$Order[])", "Lshop/Orders$Item;::price(Z)D"]
    .map((name) => rows.find((/** @type {any} */ row) => row.name === name));
  assert.deepEqual(rows.slice(0, 2), [total, price]);
  assert.match(shown, /^compiled /);
  assert.deepEqual(hotter, [`Hotter: ${total.share}, ${price.share}: no code, because ${why}`]);
  // What counts less than that says nothing.
  const compiled = rows.find((/** @type {any} */ { name }) => name === "compiled").key;
  await tab.run(`rprofPage.set({ transforms: [{ kind: "focus", grouping: "function", key: ${compiled} }] })`);
  assert.equal(await tab.run(`document.getElementById("code-hotter").textContent`), "");
  // Nor has a terminal any code of it.
  await tab.run(`rprofPage.set({ transforms: [], focus: ${price.key}, listing: null })`);
  const said = await tab.run(`document.getElementById("code-said").textContent`);
  assert.equal(said, `The page has no code of ${price.name}, because ${why}`);
  await tab.run(`rprofPage.set({ focus: null, view: "flame" })`);
}

/** @param {Tab} tab @param {Facts} facts */
async function check(tab, facts) {
  await hotterFunctionsWithoutCodeAreSaid(tab, facts);
}

module.exports = { check };
