// Names of threads and of what they wait for that could run in a page, wherever waits are shown: they are text.
"use strict";

const assert = require("node:assert/strict");
const { readFileSync, writeFileSync } = require("node:fs");
const { deflateSync, inflateSync } = require("node:zlib");

/** @typedef {import("./checks.js").Tab} Tab */

const HOSTILE = "<img src=x onerror=globalThis.broken=1></button></td><b>'\"`&amp;";

/** Writes a page in which all names of another begin so. @param {string} page @returns {string} */
function withHostileNames(page) {
  const html = readFileSync(page, "utf8").replace(/(id="profile">)([^<]*)/, (_, before, packed) => {
    const plain = inflateSync(Buffer.from(packed, "base64"));
    // Behind the magic is how long the JSON is, seven bits in each byte.
    let [length, at, shift] = [0, 8, 0];
    for (; plain[at] >= 0x80; at++, shift += 7) length += (plain[at] & 0x7f) << shift;
    length += plain[at++] << shift;
    const head = JSON.parse(plain.toString("utf8", at, at + length));
    // What is waited for keeps its brackets.
    head.strings = head.strings.map((/** @type {string} */ text) => text.replace(/^\[?/, (bracket) => bracket + HOSTILE));
    const json = Buffer.from(JSON.stringify(head));
    const digits = [];
    let left = json.length;
    for (; left >= 0x80; left >>>= 7) digits.push((left & 0x7f) | 0x80);
    digits.push(left);
    const parts = [plain.subarray(0, 8), Buffer.from(digits), json, plain.subarray(at + length)];
    return before + deflateSync(Buffer.concat(parts)).toString("base64");
  });
  const hostile = page.replace(/\.html$/, "-hostile.html");
  writeFileSync(hostile, html);
  return hostile;
}

/** @param {Tab} tab */
async function theTableOfWaits(tab) {
  await tab.run(`rprofPage.set({ view: "waits" })`);
  for (const isByWaker of [false, true]) {
    const [threads, causes, wakers] = await tab.run(`(() => {
      const box = document.getElementById("waits-wakers");
      if (!box.disabled && box.checked !== ${isByWaker}) box.click();
      const cells = (at) => [...document.querySelectorAll("#waits-place tbody tr")].map((line) => line.children[at]?.textContent ?? "");
      return [cells(0), cells(1), cells(7)];
    })()`);
    assert.ok(threads.length > 0);
    for (const name of [...threads, ...causes]) assert.ok(name.startsWith(HOSTILE), name);
    if (isByWaker) assert.ok(wakers.some((/** @type {string} */ name) => name.startsWith(HOSTILE)), String(wakers));
  }
}

/** The longest wait, and its thread. @param {Tab} tab @returns {Promise<[number, number]>} */
function longestWait(tab) {
  return tab.run(`(() => {
    const { waits, head } = rprofPage.profile;
    let found = [-1, -1];
    head.threads.forEach((_, thread) => waits.each(thread, [0, head.span_ns], (wait) => {
      if (found[0] < 0 || waits.lengths[wait] > waits.lengths[found[0]]) found = [wait, thread];
    }));
    return found;
  })()`);
}

/** Legends, the threads to choose from, and the times of threads. @param {Tab} tab @param {number} thread one that waits */
async function whatStandsBesideViews(tab, thread) {
  const legends = await tab.run(`["flame", "threads", "chart"].map((view) => {
    rprofPage.set({ view, thread: view === "chart" ? ${thread} : null });
    return [...document.querySelectorAll("#" + view + " .legend.waits")].map((one) => one.textContent).join("");
  })`);
  // In the flame graph there are waits only if they are counted.
  for (const text of legends.slice(1)) assert.ok(text.includes(` ${HOSTILE}`), text);
  const threads = await tab.run(`[...document.getElementById("chart-thread").options].map((one) => one.textContent)`);
  for (const name of threads) assert.ok(name.startsWith(HOSTILE), name);
  await tab.run(`rprofPage.set({ thread: null })`);
  const isOfWaits = await tab.run(`rprofPage.profile.head.waits !== undefined`);
  if (!isOfWaits) return;
  assert.ok(legends[0].includes(` ${HOSTILE}`), legends[0]);
  const times = await tab.run(`rprofPage.set({ view: "summary" }), document.querySelector("#summary .times").textContent`);
  assert.ok(times.includes(HOSTILE), times);
  const chip = await tab.run(`(() => {
    rprofPage.set({ view: "flame" });
    [...document.querySelectorAll("#flame .legend.waits button")].at(-1).click();
    return document.querySelector(".chip").textContent;
  })()`);
  assert.ok(chip.includes("<img "), chip);
  await tab.run(`rprofPage.set({ transforms: [] })`);
}

/** @param {Tab} tab @param {[number, number]} longest a wait, and its thread */
async function theTipOfALane(tab, [wait, thread]) {
  const [x, y] = await tab.run(`(() => {
    rprofPage.set({ view: "threads", lanes: "threads" });
    const { lanes } = rprofPage.views.all.threads;
    const { waits } = rprofPage.profile;
    const at = lanes.lanes.findIndex(({ kind, key }) => kind === "thread" && key === ${thread});
    const rect = lanes.canvas.getBoundingClientRect();
    const [from, to] = [Math.max(0, waits.begins[${wait}]), Math.min(lanes.times[1], waits.endOf(${wait}))];
    return [rect.left + lanes.scale.x((from + to) / 2), rect.top + lanes.topOf(at, 0) + 10];
  })()`);
  await tab.ask("Input.dispatchMouseEvent", { type: "mouseMoved", x, y });
  const tip = await tab.run(`document.getElementById("tip").textContent`);
  assert.ok(tip.includes(`[${HOSTILE}`), tip);
}

/** A page that has waits. @param {Tab} tab @param {{page: string}} facts */
async function check(tab, { page }) {
  await tab.open(`file://${withHostileNames(page)}`);
  await theTableOfWaits(tab);
  const longest = await longestWait(tab);
  await whatStandsBesideViews(tab, longest[1]);
  await theTipOfALane(tab, longest);
}

module.exports = { check };
