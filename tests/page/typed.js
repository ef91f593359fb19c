// What is typed: a time range, a function whose callers are looked for, letters of a menu.
"use strict";

const assert = require("node:assert/strict");

/** @typedef {import("./checks.js").Tab} Tab */

/** @param {Tab} tab @param {string} text */
async function typeRange(tab, text) {
  await tab.run(`document.getElementById("type-range").click(); document.getElementById("typed-range").value = ""`);
  await tab.type(text);
  await tab.press("Enter");
  return tab.run(`rprofPage.state.range`);
}

/** @param {Tab} tab */
async function rangesAreTyped(tab) {
  const span = await tab.run(`rprofPage.set({ view: "flame", range: null }), Math.max(1, rprofPage.profile.head.span_ns)`);
  assert.deepEqual(await typeRange(tab, "25%-50%"), [Math.round(span / 4), Math.round(span / 2)]);
  assert.deepEqual(await typeRange(tab, "10 – 60 ms"), [1e7, 6e7]);
  assert.deepEqual(await typeRange(tab, "0.02 to .05 s"), [2e7, 5e7]);
  // What is shown can be edited, and says all digits.
  await tab.run(`document.getElementById("type-range").click()`);
  assert.equal(await tab.run(`document.activeElement.value`), "0.02 s - 0.05 s");
  await tab.press("Escape");
  assert.deepEqual(await tab.run(`[rprofPage.state.range, document.getElementById("typed-range")]`), [[2e7, 5e7], null]);
  // An end that is left out is that of the recording, as is one after it.
  assert.deepEqual(await typeRange(tab, "30ms-"), [3e7, span]);
  assert.deepEqual(await typeRange(tab, "10ms - 5 h"), [1e7, span]);
  // What is no range changes nothing, and says what one is.
  for (const text of ["soon", "-", "5-4 ms", "9 h - 10 h"]) {
    assert.deepEqual(await typeRange(tab, text), [1e7, span], text);
    assert.match(await tab.run(`document.getElementById("typed-range").validationMessage`), /^No time range within .* 30%-35%$/);
    await tab.press("Escape");
  }
  // Several are one selection; what overlaps is one of them.
  await typeRange(tab, "30 - 40 ms + 0-10ms + 35ms-50ms");
  assert.deepEqual(await tab.run(`[rprofPage.state.range, rprofPage.state.parts]`), [[0, 5e7], [0, 1e7, 3e7, 5e7]]);
  await tab.run(`document.getElementById("type-range").click()`);
  assert.equal(await tab.run(`document.activeElement.value`), "0 s - 0.01 s + 0.03 s - 0.05 s");
  await tab.press("Escape");
  assert.deepEqual(await typeRange(tab, "10 - 20 ms + soon"), [0, 5e7]);
  assert.match(await tab.run(`document.getElementById("typed-range").validationMessage`), /^No time range within/);
  await tab.press("Escape");
  assert.equal(await typeRange(tab, ""), null);
  assert.deepEqual(await tab.run(`rprofPage.state.parts`), []);
}

/** What is clicked is under the pointer until the click is over. @param {Tab} tab */
async function aClickBesideTheFieldIsNotLost(tab) {
  await tab.run(`rprofPage.addTransform({ kind: "types", grouping: "all", key: 0 }); document.getElementById("type-range").click()`);
  const chip = await tab.run(`(() => {
    const { left, top, width, height } = document.querySelector(".chip").getBoundingClientRect();
    return [left + width - 8, top + height / 2];
  })()`);
  await tab.drag(chip);
  assert.deepEqual(await tab.run(`rprofPage.state.transforms`), []);
  await tab.run(`new Promise((resolve) => setTimeout(resolve, 0))`);
  assert.equal(await tab.run(`document.getElementById("typed-range")`), null);
  // Who leaves it by a key is where the key leads.
  await tab.run(`document.getElementById("type-range").click()`);
  await tab.run(`rprofPage.search.focus()`);
  await tab.run(`new Promise((resolve) => setTimeout(resolve, 0))`);
  assert.deepEqual(await tab.run(`[document.getElementById("typed-range"), document.activeElement.id]`), [null, "search"]);
  await tab.run(`rprofPage.search.blur()`);
}

/** @param {Tab} tab */
async function functionsAreChosenByName(tab) {
  await tab.run(`rprofPage.set({ view: "sandwich" })`);
  const rows = await tab.run(`rprofPage.functions().map(({ key, name, total }) => ({ key, name: name.slice(0, 500), total })).sort((a, b) => b.total - a.total)`);
  for (const { name } of rows.slice(0, 5)) {
    await tab.run(`document.getElementById("focus-picker").focus()`);
    const offered = await tab.run(`[...document.getElementById("focus-names").options].map(({ value }) => value)`);
    assert.ok(offered.includes(name), name);
    await tab.type(name);
    await tab.press("Enter");
    const { key } = rows.find((/** @type {any} */ row) => row.name === name);
    assert.equal(await tab.run(`rprofPage.state.focus`), key, name);
  }
  await tab.run(`document.getElementById("focus-picker").focus()`);
  await tab.type("no such function");
  await tab.press("Enter");
  assert.match(await tab.run(`document.getElementById("pointed").textContent`), /^No function is called no such function/);
  await tab.run(`document.getElementById("focus-picker").value = ""; document.activeElement.blur(); rprofPage.set({ view: "flame", focus: null })`);
}

/** @param {Tab} tab */
async function lettersChooseInMenus(tab) {
  const key = await tab.run(`(() => {
    const { key } = rprofPage.functions()[0];
    rprofPage.set({ view: "table", grouping: "function" });
    const at = rprofPage.views.all.table.table.rows.findIndex((row) => row.key === key);
    const button = document.querySelectorAll("#table-place tbody .name button")[at];
    button.dispatchEvent(new MouseEvent("contextmenu", { bubbles: true, cancelable: true, clientX: 9, clientY: 9 }));
    return key;
  })()`);
  const letters = await tab.run(`[...document.querySelectorAll("#menu button")].map(({ dataset }) => dataset.key)`);
  assert.equal(new Set(letters).size, letters.length, letters.join(" "));
  await tab.press("d", "d");
  assert.deepEqual(await tab.run(`rprofPage.state.transforms`), [{ kind: "drop", grouping: "function", key }]);
  await tab.run(`rprofPage.set({ transforms: [], view: "flame" })`);
}

/** Rows wherever they are clicked, and what legends name. @param {Tab} tab */
async function menusOpenWithARightClick(tab) {
  const said = await tab.run(`(() => {
    const menu = document.getElementById("menu");
    const texts = (place) => {
      place.dispatchEvent(new MouseEvent("contextmenu", { bubbles: true, cancelable: true, clientX: 9, clientY: 9 }));
      return [menu.hidden, ...[...menu.querySelectorAll("button")].map(({ textContent }) => textContent)];
    };
    rprofPage.set({ view: "table", grouping: "image" });
    const row = texts(document.querySelector("#table-place tbody td"));
    const chosen = rprofPage.details.chosen.row.key === rprofPage.views.all.table.table.rows[0].key;
    rprofPage.menu.close();
    rprofPage.set({ view: "flame", grouping: "function" });
    const entry = texts(document.querySelector("#flame .modules .entry"));
    rprofPage.menu.close();
    rprofPage.details.choose(null);
    return { row, chosen, entry };
  })()`);
  assert.ok(said.chosen);
  for (const [isHidden, keep, drop, omit] of [said.row, said.entry]) {
    assert.equal(isHidden, false);
    assert.match(keep, /^Keep stacks with shared object .* anywhere$/);
    assert.match(drop, /^Drop stacks with shared object .* anywhere$/);
    assert.match(omit, /^Drop what ran in shared object .* itself$/);
  }
}

/** Whole names, and letters beside them. @param {Tab} tab */
async function menusFitNarrowScreens(tab) {
  await tab.size(390, 800);
  const [wide, cut] = await tab.run(`(() => {
    rprofPage.set({ view: "table", grouping: "function" });
    const cell = document.querySelector("#table-place tbody td");
    cell.dispatchEvent(new MouseEvent("contextmenu", { bubbles: true, cancelable: true, clientX: 380, clientY: 300 }));
    const menu = document.getElementById("menu");
    const { left, right } = menu.getBoundingClientRect();
    const room = document.documentElement.clientWidth;
    const cut = [...menu.querySelectorAll("button")].filter((one) => one.scrollWidth > one.clientWidth);
    rprofPage.menu.close();
    rprofPage.details.choose(null);
    rprofPage.set({ view: "flame" });
    return [left >= 0 && right <= room ? "" : left + " to " + right + " of " + room, cut.map(({ textContent }) => textContent)];
  })()`);
  assert.deepEqual([wide, cut], ["", []]);
  await tab.size(1280, 800);
}

/** @param {Tab} tab */
async function check(tab) {
  await menusFitNarrowScreens(tab);
  await rangesAreTyped(tab);
  await aClickBesideTheFieldIsNotLost(tab);
  await functionsAreChosenByName(tab);
  await lettersChooseInMenus(tab);
  await menusOpenWithARightClick(tab);
}

module.exports = { check };
