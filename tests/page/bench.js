// What a page takes in a real browser: until it is ready, and each thing that a user does, until the frame that shows it.
//
// node bench.js PAGE: prints one object. `cargo xtask bench page` makes pages and a table of it.
"use strict";

const { statSync } = require("node:fs");
const { Browser } = require("./browser.js");

/** @typedef {Awaited<ReturnType<Browser["tab"]>>} Tab */

/** How often each is done, each time with something else where there is something else. */
const TIMES = 40;

/**
 * What users do; `at` counts up. Each is a function body in the page, which the picture of the page follows.
 * @type {[string, string][]}
 */
const DONE = [
  ["zoom into a box", `zoomed(at)`],
  ["zoom out", `page.set({ view: "flame", zoom: [], span: null })`],
  ["pan", `graph.view(graph.boxes.whole * (at % 20) / 40, graph.boxes.whole / 2)`],
  ["hover", `hover(at)`],
  ["search, marked", `page.find(words[at % words.length])`],
  ["end of a search", `page.find("")`],
  ["a time range", `page.set({ range: [span * (at % 10) / 20, span * (at % 10 + 5) / 20] })`],
  ["all times", `page.set({ range: null })`],
  ["a thread", `page.set({ thread: at % page.profile.head.threads.length })`],
  ["all threads", `page.set({ thread: null })`],
  ["keep stacks with a name", `page.set({ keep: words[at % words.length] })`],
  ["all stacks", `page.set({ keep: "" })`],
  ["inverted", `page.set({ inverted: at % 2 === 0 })`],
  ["right way up", `page.set({ inverted: false })`],
  ["frames by line", `page.set({ frames: at % 2 === 0 ? "line" : "function" })`],
  ["frames by function", `page.set({ frames: "function" })`],
  ["time order", `page.set({ order: "time" })`],
  ["heaviest first", `page.set({ order: "heavy" })`],
  ["drop stacks with a function", `page.set({ transforms: [{ kind: "drop", grouping: "function", key: hot[at % hot.length] }] })`],
  ["merge a function into its callers", `page.set({ transforms: [{ kind: "merge", grouping: "function", key: hot[at % hot.length] }] })`],
  ["no transforms", `page.set({ transforms: [] })`],
  ["table", `page.set({ view: "table", grouping: ["function", "image", "thread"][at % 3] })`],
  ["search in the table", `page.find(words[at % words.length])`],
  ["end of a search in the table", `page.find("")`],
  ["callers and callees", `page.set({ view: "sandwich", focus: hot[at % hot.length] })`],
  ["call tree", `page.set({ view: "tree" })`],
  ["a row of the call tree opens", `page.views.all.tree.toggle(page.views.all.tree.rows()[at % 20] ?? 0)`],
  ["summary", `page.set({ view: "summary" })`],
  ["heat map", `has("heat") && page.set({ view: "heat" })`],
  ["threads", `has("threads") && page.set({ view: "threads" })`],
  ["code of a function", `has("code") && page.set({ view: "code", focus: null, listing: at % 50 })`],
  ["code scrolls", `document.getElementById("code-place")?.scrollBy(0, 200)`],
  ["code by source line", `has("code") && page.set({ view: "code", codeRows: at % 2 === 0 ? "line" : "instruction" })`],
  ["light and dark", `page.toggleTheme()`],
  ["flame graph", `page.set({ view: "flame" })`],
];

/** In the page: what the bodies above need. */
const PREPARED = `(() => {
  const page = rprofPage;
  const { profile } = page;
  const graph = page.views.all.flame.graph;
  const span = profile.head.span_ns;
  const hot = [...page.functions()].sort((a, b) => b.self - a.self).slice(0, 20).map(({ key }) => key);
  const words = ["a", "std", "core", "alloc", "read", "page", "mutex", "parse", "eval", "main"];
  const has = (name) => page.views.all[name] !== undefined && !document.getElementById(name + "-tab").hidden;
  const zoomed = (at) => {
    const level = graph.boxes.lists[Math.min(at % 12, graph.boxes.lists.length - 1)];
    graph.zoomTo(level[at % Math.min(3, level.length)]);
    page.views.all.flame.zoomed();
  };
  const hover = (at) => {
    const { left, top } = graph.canvas.getBoundingClientRect();
    const where = { clientX: left + (at * 97) % 1000, clientY: top + (at * 31) % 300, bubbles: true };
    graph.canvas.dispatchEvent(new MouseEvent("mousemove", where));
  };
  const shown = () => new Promise((resolve) => requestAnimationFrame(() => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => resolve(performance.now());
    channel.port2.postMessage(0);
  }));
  globalThis.bench = async (body, at) => {
    // Evaluated by the debugger: the page's policy lets nothing else.
    await shown();
    const start = performance.now();
    body({ page, graph, span, hot, words, has, zoomed, hover, at });
    const script = performance.now() - start;
    return [await shown() - start, script];
  };
})()`;

/** Times of each, in milliseconds: until the next frame, and of the script alone. @param {Tab} tab */
async function interactions(tab) {
  /** @type {{[what: string]: [number, number][]}} */
  const all = {};
  for (let at = 0; at < TIMES; at++) {
    for (const [what, body] of DONE) {
      const times = await tab.run(`bench(({ page, graph, span, hot, words, has, zoomed, hover, at }) => { ${body} }, ${at})`);
      (all[what] ??= []).push(times);
    }
    if (at === 0) await tab.run(`new Promise((resolve) => {
      // The code is unpacked once; what is measured is the view.
      const view = rprofPage.views.all.code;
      const look = () => !view?.isAsked || view.code !== null ? resolve(true) : setTimeout(look, 5);
      look();
    })`);
  }
  return all;
}

/** Milliseconds between frames while lanes scroll, and how long each drawing took. @param {Tab} tab */
function lanes(tab) {
  return tab.run(`(async () => {
    const page = rprofPage;
    if (document.getElementById("threads-tab").hidden) return null;
    page.set({ view: "threads", range: null, thread: null });
    const place = document.getElementById("lanes-place");
    const draws = [];
    const lanes = page.views.all.threads.lanes;
    const draw = lanes.draw;
    lanes.draw = function () {
      const start = performance.now();
      draw.call(this);
      draws.push(performance.now() - start);
    };
    const frames = [];
    let before = await new Promise(requestAnimationFrame);
    for (let at = 0; at < 300; at++) {
      place.scrollBy(0, 60);
      const now = await new Promise(requestAnimationFrame);
      frames.push(now - before);
      before = now;
    }
    lanes.draw = draw;
    return { lanes: lanes.lanes.length, frames, draws };
  })()`);
}

async function main() {
  const [, , page] = process.argv;
  const browser = new Browser();
  try {
    const tab = await browser.tab();
    await tab.size(1400, 900);
    const ready = [];
    const painted = [];
    for (let at = 0; at < 5; at++) {
      await tab.open(`file://${page}`);
      ready.push(await tab.run(`performance.getEntriesByName("rprof-ready")[0].startTime`));
      painted.push(await tab.run(`performance.getEntriesByName("first-paint")[0]?.startTime ?? 0`));
    }
    await tab.run(PREPARED);
    const done = await interactions(tab);
    const scrolled = await lanes(tab);
    console.log(JSON.stringify({ bytes: statSync(page).size, ready, painted, done, lanes: scrolled }));
  } finally {
    await browser.close();
  }
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
