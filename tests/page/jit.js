// JIT code without bytes: the view of code says which functions are hotter than what it shows, and why it has none of them.
"use strict";

const assert = require("node:assert/strict");
const { readFileSync } = require("node:fs");
const path = require("node:path");
const vm = require("node:vm");

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

/** Names as they are cut, the longest first. */
const CUT = {
  "long shop.Orders.total(shop.Orders$Order[], java.lang.String)": [
    "shop.Orders.total(shop.Orders$Order[], java.lang.String)", "shop.Orders.total(Orders$Order[], String)",
    "Orders.total(Orders$Order[], String)", "Orders.total(…)", "Orders.total", "Orde….total", "O….total", "Ord…al",
  ],
  "Lcom/shop/Orders$Item;::price(ZLcom/shop/Item;)D": [
    "com.shop.Orders$Item::price(ZLcom/shop/Item;)D", "Orders$Item::price(ZLcom/shop/Item;)D", "Orders$Item::price(…)",
    "Orders$Item::price", "Orders…::price",
  ],
  "Lcom/shop/Orders;<init>(I)V": ["com.shop.Orders.<init>(I)V", "Orders.<init>(I)V", "Orders.<init>(…)", "Orders.<init>", "Or….<init>"],
  "void Orders$$Lambda$14/0x00000008400.accept() Orders.java:12": ["Orders$$Lambda$14/0x00000008400.accept() Orders.java:12", "Orde….accept Orders.java:12"],
  "void std::swap<int>(int&, int&)": ["void std::sw…int&, int&)"],
  "core::fmt::Formatter::pad": ["core::fm…ter::pad"],
};

/** Class and method of Java stay, in boxes and in rows, whatever the room. @param {Tab} tab */
async function classAndMethodStay(tab) {
  const script = readFileSync(path.join(__dirname, "../../crates/export/src/page/assets/text.js"), "utf8");
  const middleCut = vm.runInNewContext(`${script}; middleCut`);
  for (const [name, cuts] of Object.entries(CUT)) {
    for (const cut of cuts) assert.equal(middleCut(name, cut.length), cut);
  }
  await tab.size(700, 800);
  const { cut, rows } = await tab.run(`(() => {
    const page = rprofPage;
    const { graph } = page.views.all.flame;
    const context = graph.canvas.getContext("2d");
    const cut = page.rows("function").map(({ key }) => graph.cut(context, page.profile.frameOfFunction[key], graph.charWidth * 24));
    const rows = [];
    for (const [view, place] of [["table", "#table-place"], ["tree", "#tree-place"], ["summary", "#summary-place"]]) {
      page.set({ view, grouping: "function", inverted: true });
      for (const name of document.querySelectorAll(place + " .cut")) {
        if (!/shop.Orders/.test(name.textContent)) continue;
        const isCut = (one) => one.scrollWidth > one.clientWidth + 1;
        const parts = [...name.children];
        rows.push([view, name.textContent, isCut(name) || parts.slice(1, 3).some(isCut)]);
      }
    }
    page.set({ view: "flame", inverted: false });
    return { cut, rows };
  })()`);
  for (const name of ["Orders.total(…)", "Orders$Item::price(Z)D"]) assert.ok(cut.includes(name), cut.join("; "));
  for (const view of ["table", "tree", "summary"]) assert.ok(rows.some((/** @type {any} */ [one]) => one === view), view);
  assert.deepEqual(rows.filter((/** @type {any} */ [, , isCut]) => isCut), []);
  await tab.size(1280, 800);
}

/** Whatever was shown before, and whatever transforms leave. @param {Tab} tab */
async function recursionIsSaid(tab) {
  const [wrong, recursive] = await tab.run(`(() => {
    const page = rprofPage;
    const { profile } = page;
    const view = page.views.all.sandwich;
    const isRecursive = (key) => {
      const { parents, labels, functionOf } = profile;
      const { samples } = page.counts.totals(profile);
      const is = (node) => parents[node] >= 0 && functionOf[labels[node]] === key;
      return [...parents.keys()].some((node) => {
        if (!is(node) || samples[node] === 0) return false;
        for (let at = parents[node]; at >= 0; at = parents[at]) if (is(at)) return true;
        return false;
      });
    };
    const keys = page.functions().map(({ key }) => key);
    const without = keys.map((key) => [{ kind: "recursion", grouping: "function", key }]);
    const wrong = [];
    const recursive = new Set();
    for (const transforms of [[], ...without, []]) {
      page.set({ view: "sandwich", transforms }, "restored");
      for (const focus of [...keys, ...keys]) {
        page.set({ focus }, "restored");
        if (isRecursive(focus)) recursive.add(profile.nameOf(profile.frameOfFunction[focus]));
        if ((view.recursive.textContent !== "") !== isRecursive(focus)) wrong.push([focus, transforms, view.recursive.textContent]);
      }
    }
    page.set({ view: "flame", focus: null, transforms: [] }, "restored");
    return [wrong, [...recursive]];
  })()`);
  assert.deepEqual([wrong, recursive], [[], ["compiled"]]);
}

/** In a page of these functions alone. @param {Tab} tab @param {Facts} facts */
async function pagesWithoutAnyCodeSayWhy(tab, { jit: why }) {
  const [isThere, ...said] = await tab.run(`(async () => {
    const page = rprofPage;
    page.set({ view: "code" });
    const { code } = page.views.all;
    while (code.code === null) await new Promise((resolve) => setTimeout(resolve, 5));
    const text = (id) => document.getElementById(id).textContent;
    const all = [!document.getElementById("code-tab").hidden && code.bar.hidden, text("code-said"), text("code-hotter")];
    const price = page.rows("function").find(({ name }) => name.includes("price"));
    page.set({ focus: price.key });
    return [...all, text("code-said"), text("code-hotter")];
  })()`);
  assert.equal(isThere, true);
  const [all, functions, one, others] = said;
  assert.equal(all, "The page has no code.");
  assert.match(functions, /^long shop\.Orders\.total\(shop\.Orders\$Order\[\]\) [\d.]+ %, Lshop\/Orders\$Item;::price\(Z\)D [\d.]+ %: /);
  assert.ok(functions.endsWith(`: no code, because ${why}`), functions);
  assert.equal(one, `The page has no code of Lshop/Orders$Item;::price(Z)D, because ${why}`);
  assert.equal(others, "");
}

/** @param {Tab} tab @param {Facts & {isAll: boolean}} facts */
async function check(tab, facts) {
  if (!facts.isAll) return pagesWithoutAnyCodeSayWhy(tab, facts);
  await classAndMethodStay(tab);
  await recursionIsSaid(tab);
  await hotterFunctionsWithoutCodeAreSaid(tab, facts);
}

module.exports = { check };
