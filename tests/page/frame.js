// What is around the views: the browser's Back, help, labels, numbers, and what stands there where scripts do not run.
"use strict";

const assert = require("node:assert/strict");

/** @typedef {Awaited<ReturnType<import("./browser.js").Browser["tab"]>>} Tab */

/** @param {Tab} tab @param {"back" | "forward"} way @returns {Promise<any>} */
const go = (tab, way) => tab.run(`new Promise((resolve) => {
  addEventListener("hashchange", () => resolve(rprofPage.state), { once: true });
  history.${way}();
})`);

/** @param {Tab} tab */
async function backLeadsToWhatWasSeenBefore(tab) {
  await tab.run(`rprofPage.set({ view: "table" })`);
  await tab.run(`rprofPage.set({ grouping: "image" })`);
  // What is typed is no step of its own.
  for (const search of ["a", "ab", "abc"]) await tab.run(`rprofPage.find("${search}"); rprofPage.address.rememberNow()`);
  await tab.run(`rprofPage.set({ view: "sandwich", focus: 0 }); rprofPage.address.rememberNow()`);
  assert.deepEqual(await go(tab, "back").then(({ view, grouping, search }) => [view, grouping, search]), ["table", "image", "abc"]);
  assert.deepEqual(await go(tab, "back").then(({ view, grouping }) => [view, grouping]), ["table", "function"]);
  assert.equal((await go(tab, "back")).view, "flame");
  assert.equal(await tab.run(`document.getElementById("flame").hidden`), false);
  assert.equal((await go(tab, "forward")).view, "table");
  await tab.run(`rprofPage.set({ view: "flame", search: "" })`);
}

/** Whatever their kinds are: the last one first. @param {Tab} tab */
async function escapeTakesTheLastStepBack(tab) {
  const first = await tab.run(`(() => {
    rprofPage.set({ view: "flame", search: "", keep: "" });
    rprofPage.steps.forget();
    return JSON.stringify(rprofPage.state);
  })()`);
  const span = await tab.run(`rprofPage.profile.head.span_ns`);
  const part = (/** @type {number} */ from, /** @type {number} */ to) => JSON.stringify([Math.floor(span * from), Math.floor(span * to)]);
  const steps = [
    `rprofPage.set({ range: ${part(0.4, 0.9)} })`,
    `rprofPage.addTransform({ kind: "drop", grouping: "function", key: 0 })`,
    `rprofPage.set({ view: "tree" })`,
    `rprofPage.set({ thread: 0 })`,
    `rprofPage.set({ range: ${part(0.5, 0.8)} })`,
    `rprofPage.ranges.compareWith(${part(0.1, 0.2)})`,
    `document.getElementById("swap-ranges").click()`,
    `rprofPage.find("a")`,
    `rprofPage.set({ keep: "." })`,
  ];
  const states = [first];
  for (const step of steps) states.push(await tab.run(`${step}; JSON.stringify(rprofPage.state)`));
  const plain = (/** @type {string} */ state) => ({ ...JSON.parse(state), asked: undefined, span: null, zoom: [] });
  for (const state of states.slice(0, -1).reverse()) {
    await tab.press("Escape");
    assert.deepEqual(plain(await tab.run(`JSON.stringify(rprofPage.state)`)), plain(state));
  }
  await tab.press("Escape");
  assert.deepEqual(plain(await tab.run(`JSON.stringify(rprofPage.state)`)), plain(first));
  // What is removed by its chip is not taken back again.
  await tab.run(`rprofPage.set({ thread: 0 }); rprofPage.set({ range: ${part(0, 0.5)} }); rprofPage.set({ thread: null })`);
  await tab.press("Escape");
  assert.deepEqual(await tab.run(`[rprofPage.state.range, rprofPage.state.thread]`), [null, null]);
}

/** Keys are those of the page after a choice, too. @param {Tab} tab */
async function aChoiceKeepsNoKeys(tab) {
  await tab.run(`rprofPage.set({ view: "flame", range: [0, 1e6] }); document.getElementById("order").focus()`);
  await tab.press("Escape");
  assert.equal(await tab.run(`rprofPage.state.range`), null);
  await tab.press("2", "2");
  assert.equal(await tab.run(`rprofPage.state.view`), "table");
  await tab.run(`document.activeElement.blur(); rprofPage.set({ view: "flame" })`);
}

/** What was pointed at in another view is not said of this one. @param {Tab} tab */
async function whatIsPointedAtIsThere(tab) {
  await tab.run(`rprofPage.details.say("a box"); rprofPage.set({ view: "table" })`);
  assert.equal(await tab.run(`document.getElementById("pointed").textContent`), "");
  await tab.run(`rprofPage.details.say("a row"); rprofPage.set({ view: "flame" })`);
  assert.equal(await tab.run(`document.getElementById("pointed").textContent`), "");
  assert.match(await tab.run(`document.querySelector("#notes li").textContent`), /^Whole recording: \d+ samples/);
}

/** @param {Tab} tab */
async function helpHasRoom(tab) {
  await tab.run(`document.getElementById("help").showModal()`);
  const widths = await tab.run(`[...document.querySelectorAll("#help dd")].map((one) => one.getBoundingClientRect().width)`);
  assert.ok(widths.every((/** @type {number} */ width) => width > 240), String(widths));
  await tab.run(`document.getElementById("help").close()`);
}

/** @param {Tab} tab */
async function labelsOfTheHeatMapAreWhole(tab) {
  await tab.run(`rprofPage.set({ view: "heat" })`);
  const [right, ends] = await tab.run(`(() => {
    const heat = rprofPage.views.all.heat.map;
    const before = { columns: heat.columns, cells: heat.cells, unit: heat.unit };
    // So many that the last one has a label.
    heat.columns = 1101;
    heat.unit = 1e9;
    heat.cells = new Float64Array(heat.columns * 50);
    const ends = [];
    const fillText = CanvasRenderingContext2D.prototype.fillText;
    CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
      ends.push([text, x + this.measureText(text).width]);
      fillText.call(this, text, x, y);
    };
    heat.draw();
    CanvasRenderingContext2D.prototype.fillText = fillText;
    Object.assign(heat, before);
    return [heat.place.clientWidth, ends];
  })()`);
  assert.ok(ends.some((/** @type {[string, number]} */ [text]) => text === "1100 s"), String(ends));
  for (const [text, end] of ends) assert.ok(end <= right, `${text} ends at ${end} of ${right}`);
  await tab.run(`rprofPage.set({ view: "flame" })`);
}

/** Those of notes are of the report. @param {Tab} tab */
async function numbersHaveOneForm(tab) {
  const said = await tab.run(`(() => {
    const { shown } = rprofPage.counts;
    const { samples } = shown;
    shown.samples = 237062;
    const said = rprofPage.said();
    shown.samples = samples;
    return said;
  })()`);
  assert.match(said, /^237062 samples/);
}

/** @param {Tab} tab @param {string} url */
async function withoutScriptsThePageSaysWhatIsMissing(tab, url) {
  await tab.ask("Emulation.setScriptExecutionDisabled", { value: true });
  await tab.ask("Page.navigate", { url: "about:blank" });
  await tab.ask("Page.navigate", { url });
  let text = "";
  while (!text.includes("rprof report")) text = await tab.run(`document.readyState === "loading" ? "" : document.body.innerText`);
  assert.match(text, /needs JavaScript/);
  assert.doesNotMatch(text, /Reading the profile/);
  await tab.ask("Emulation.setScriptExecutionDisabled", { value: false });
}

/** @param {Tab} tab @param {{page: string}} facts */
async function check(tab, facts) {
  await backLeadsToWhatWasSeenBefore(tab);
  await escapeTakesTheLastStepBack(tab);
  await aChoiceKeepsNoKeys(tab);
  await whatIsPointedAtIsThere(tab);
  await helpHasRoom(tab);
  await labelsOfTheHeatMapAreWhole(tab);
  await numbersHaveOneForm(tab);
  await withoutScriptsThePageSaysWhatIsMissing(tab, `file://${facts.page}`);
  await tab.open(`file://${facts.page}`);
}

module.exports = { check };
