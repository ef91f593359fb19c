// Code: instructions and source lines count what rprof annotate says, of all samples and of what is selected.
"use strict";

const assert = require("node:assert/strict");
const { execFileSync } = require("node:child_process");

/** @typedef {import("./checks.js").Tab} Tab */
/** @typedef {import("./checks.js").Facts & {file: string, rprof: string, root: string | null}} Facts */

/** Functions as rprof annotate has them. @param {Facts} facts @param {string[]} args */
function annotated(facts, args) {
  const root = facts.root === null ? [] : ["--symfs", facts.root];
  const words = ["annotate", "-q", "--no-debuginfod", "--format", "json", "--share", "100", "--percent-limit", "0", ...root, ...args];
  const out = execFileSync(facts.rprof, [...words, "-i", facts.file], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  return JSON.parse(out).functions;
}

/** Shows the view, whose code is unpacked at first. @param {Tab} tab @param {object} state */
async function show(tab, state) {
  await tab.run(`rprofPage.set(${JSON.stringify({ ...state, view: "code" })})`);
  await tab.run(`new Promise((resolve) => {
    const look = () => rprofPage.views.all.code.code !== null ? resolve(true) : setTimeout(look, 5);
    look();
  })`);
}

/** What the page counts in each function that has code. @param {Tab} tab @returns {Promise<any[]>} */
function shown(tab) {
  return tab.run(`(() => {
    const page = rprofPage;
    const view = page.views.all.code;
    const counts = view.counts(view.code);
    return view.code.functions.map((code) => {
      const instructions = code.head.texts.map((text, at) =>
        [code.address(at), text, counts.samples[code.first + at], counts.weights[code.first + at]]);
      const lines = counts.lines(code).map((sum, line) => {
        const { path, line: number, text } = code.line(line);
        return [path + ":" + number, text, sum.samples];
      });
      const { samples } = counts.functions[view.code.functions.indexOf(code)];
      return { name: code.head.name, samples, image: code.head.image, instructions, lines, isWhole: counts.isWhole };
    });
  })()`);
}

/** @param {any} counts */
const first = (counts) => counts[0] ?? { samples: 0, weight: 0 };

/** By where they are: the page escapes characters of names that JSON has. @param {any} shown @param {any} other */
function isSame(shown, other) {
  // Of a long function the page has a part.
  const begin = BigInt(`0x${shown.instructions[0][0]}`);
  return shown.image === other.image && other.instructions.some((/** @type {any} */ { address }) => BigInt(address) === begin);
}

/** @param {any[]} page @param {any[]} functions */
function areEqual(page, functions) {
  let n = 0;
  for (const one of page) {
    const same = functions.find((other) => isSame(one, other));
    const key = (/** @type {any} */ it) => [BigInt(it.address).toString(16), first(it.counts).samples, first(it.counts).weight].join(" ");
    const counted = (same?.instructions ?? []).filter((/** @type {any} */ it) => it.counts.length > 0).map(key);
    const own = one.instructions.filter((/** @type {any} */ it) => it[2] > 0);
    assert.deepEqual(own.map(([address, , samples, weight]) => [address, samples, weight].join(" ")), counted, one.name);
    n += own.length;
    if (same === undefined) continue;
    const all = same.instructions.reduce((/** @type {number} */ sum, /** @type {any} */ it) => sum + first(it.counts).samples, 0);
    assert.equal(one.samples, all, one.name);
    // Of a long function the page has a part, and the lines of that.
    const isPart = same.instructions.length > one.instructions.length;
    const places = new Set(one.lines.map((/** @type {any[]} */ [place]) => place));
    const there = same.lines.filter((/** @type {any} */ line) => !isPart || places.has(`${line.file}:${line.line}`));
    const lines = there.map((/** @type {any} */ line) =>
      [`${line.file}:${line.line}`, line.text ?? null, first(line.counts).samples].join("\n"));
    assert.deepEqual(one.lines.map((/** @type {any} */ line) => line.join("\n")).sort(), lines.sort(), one.name);
  }
  // What has no code in the page is not said to have any.
  const without = functions.filter((one) => !page.some((other) => isSame(other, one)));
  assert.deepEqual(without.map(({ name }) => name), []);
  return n;
}

/** What is inlined into a function is told from what it counts of its own, as rows of functions have it. @param {Tab} tab */
async function inlinedCodeIsSaid(tab) {
  await show(tab, { focus: null, listing: null, transforms: [], range: null, thread: null });
  const found = await tab.run(`(() => {
    const page = rprofPage;
    const { profile } = page;
    const { code } = page.views.all.code;
    const found = code.functions.map((one, listing) => {
      const rows = page.rows("function").filter(({ name }) => name === one.head.name);
      const key = rows[0]?.key ?? null;
      page.set({ focus: key, listing });
      const said = document.getElementById("code-said").textContent;
      const isWhole = rows.length === 1 && code.of(profile, key)?.listings.length === 1 && !said.includes("in all of it");
      return [said, isWhole ? (100 * rows[0].self) / page.whole : null];
    });
    page.set({ focus: null, listing: null });
    return found;
  })()`);
  for (const [said, self] of found) {
    const parts = /, ([\d.]+) % \(self ([\d.]+) %, inlined ([\d.]+) %\)/.exec(said)?.slice(1).map(Number);
    const total = Number(/, ([\d.]+) %/.exec(said)?.[1]);
    if (parts !== undefined) assert.ok(Math.abs(parts[0] - parts[1] - parts[2]) < 0.02, said);
    if (self !== null) assert.ok(Math.abs((parts?.[1] ?? total) - self) < 0.02, `${said}: ${self}`);
  }
}

/** Functions with code and those without count all samples that have a stack. @param {Tab} tab */
async function functionsWithoutCodeCountTheRest(tab) {
  const wrong = await tab.run(`(() => {
    const page = rprofPage;
    const view = page.views.all.code;
    const { parents } = page.profile;
    const wrong = [];
    const half = [0, Math.floor(page.profile.head.span_ns / 2)];
    for (const range of [null, half]) {
      page.set({ range });
      const { functions, others } = view.counts(view.code);
      const sum = functions.reduce((sum, { weight }) => sum + weight, 0) + [...others.values()].reduce((a, b) => a + b, 0);
      const own = page.counts.weights.reduce((sum, weight, node) => sum + (parents[node] < 0 ? 0 : weight), 0);
      if (sum !== own) wrong.push([sum, own]);
    }
    page.set({ range: null });
    return wrong;
  })()`);
  assert.deepEqual(wrong, []);
}

/** @param {Tab} tab @param {Facts} facts */
async function check(tab, facts) {
  const whole = annotated(facts, []);
  if (whole.length === 0) return assert.equal(await tab.run(`document.getElementById("code-tab").hidden`), true);
  await show(tab, { focus: null });
  assert.ok(areEqual(await shown(tab), whole) > 0);
  await inlinedCodeIsSaid(tab);
  await show(tab, { focus: null });
  const span = await tab.run(`rprofPage.profile.head.span_ns`);
  const start = BigInt(await tab.run(`rprofPage.profile.head.start_ns`));
  const time = (/** @type {number} */ ns) => {
    const at = start + BigInt(Math.round(ns));
    return `${at / 1000000000n}.${(at % 1000000000n).toString().padStart(9, "0")}`;
  };
  const half = [0, Math.floor(span / 2)];
  await show(tab, { range: half });
  areEqual(await shown(tab), annotated(facts, ["--time", half.map(time).join(",")]));
  const [, tid] = await tab.run(`rprofPage.profile.head.threads[0]`);
  await show(tab, { range: null, thread: 0 });
  const threads = await tab.run(`rprofPage.profile.head.threads.filter(([, tid]) => tid === ${tid}).length`);
  if (threads === 1) areEqual(await shown(tab), annotated(facts, ["--tid", String(tid)]));
  await show(tab, { thread: null });
  await functionsWithoutCodeCountTheRest(tab);
  await theListHasTheHottestFirst(tab);
  await aFunctionIsOneStepAway(tab, facts);
  await rowsSayWhatIsCounted(tab);
  await coloursCanBeRead(tab);
  await callsLeadToTheirFunctions(tab);
  await rowsThatAreSeenAreThere(tab);
  await whatHasNoCodeSaysHowToSeeIt(tab);
  await tab.run(`rprofPage.set({ view: "flame", focus: null, listing: null })`);
}

/** Of all parts of code, in both themes; they are found when a row is shown, and change no text. @param {Tab} tab */
async function coloursCanBeRead(tab) {
  const parts = ["keyword", "string", "number", "comment", "register", "symbol"];
  for (const theme of ["light", "dark"]) {
    const colours = await tab.run(`(() => {
      const { theme } = rprofPage;
      theme.chosen = "${theme}";
      theme.apply();
      const place = document.getElementById("code-place");
      const read = (of, property) => {
        const one = document.createElement("span");
        one.className = of;
        if (property === "backgroundColor") one.style.background = of;
        place.append(one);
        const [r, g, b] = getComputedStyle(one)[property].match(/\\d+/g).map(Number);
        one.remove();
        return [r, g, b];
      };
      const grounds = ["var(--paper)", "var(--panel)"].map((ground) => read(ground, "backgroundColor"));
      return [grounds, ${JSON.stringify(parts)}.map((part) => read("token-" + part, "color"))];
    })()`);
    const [grounds, inks] = colours;
    for (const ground of grounds) {
      for (const [at, ink] of inks.entries()) {
        const [low, high] = [luminance(ground), luminance(ink)].sort((a, b) => a - b);
        assert.ok((high + 0.05) / (low + 0.05) >= 4.5, `${theme}, ${parts[at]}: ${ink} on ${ground}`);
      }
    }
  }
  await tab.run(`(() => {
    rprofPage.theme.chosen = null;
    rprofPage.theme.apply();
  })()`);
  for (const codeRows of ["instruction", "line"]) {
    await tab.run(`rprofPage.set({ listing: 0, focus: null, codeRows: "${codeRows}" })`);
    const texts = await tab.run(`(() => {
      const { table, rows } = rprofPage.views.all.code;
      return rows.map((row) => [row.text, table.textOf(row).textContent]);
    })()`);
    // Code without debug information has no lines.
    assert.ok(texts.length > 0 || codeRows === "line");
    for (const [text, shown] of texts) assert.equal(shown, text);
  }
  assert.ok(await tab.run(`rprofPage.set({ codeRows: "instruction" }), document.querySelectorAll("#code-place .token-keyword").length > 0`));
}

/** A hex digit of sRGB as a share of light. @param {number[]} colour */
function luminance([r, g, b]) {
  const [red, green, blue] = [r, g, b].map((part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** A call of a function that the page has code of is a link to it, and a jump to where it goes. @param {Tab} tab */
async function callsLeadToTheirFunctions(tab) {
  const wrong = await tab.run(`(() => {
    const view = rprofPage.views.all.code;
    const { code } = view;
    const wrong = [];
    const starts = new Map(code.functions.map(({ head, parts }, number) => [head.image + " " + parts[0].address.toString(16), number]));
    code.functions.forEach((one, listing) => {
      rprofPage.set({ listing, focus: null, codeRows: "instruction" });
      for (const row of view.rows.filter(({ kind }) => kind === "instruction")) {
        const link = view.linkOf(row);
        const [, address] = /^(?:call|bl)\\S*\\s+(?:0x)?([0-9a-f]+) </.exec(row.text) ?? [];
        const called = starts.get(one.head.image + " " + address);
        if (called === undefined) continue;
        link?.follow();
        if (rprofPage.state.listing !== called && called !== listing) wrong.push([row.text, called, rprofPage.state.listing]);
        rprofPage.set({ listing, focus: null });
      }
    });
    // A call that the compiler may have left out of a fixture.
    rprofPage.set({ listing: 0, focus: null });
    const [first] = code.functions;
    // Longer lines are shown as they are.
    const last = [...code.functions].reverse().find(({ parts }) => parts[0].symbol.length < 500);
    const text = first.head.texts[0];
    const target = first.head.targets[0];
    first.head.texts[0] = "call   " + last.parts[0].address.toString(16) + " <" + last.parts[0].symbol + ">";
    first.head.targets[0] = 0;
    const image = last.head.image;
    const isThere = code.byAddress.get(image + "\\n" + last.parts[0].address.toString(16));
    code.byAddress.set(first.head.image + "\\n" + last.parts[0].address.toString(16), isThere);
    view.shown = { listing: -1, codeRows: "" };
    rprofPage.show();
    const row = view.rows.find(({ kind, at }) => kind === "instruction" && at === 0);
    view.table.textOf(row).querySelector("button").click();
    if (rprofPage.state.listing !== isThere) wrong.push(["made", isThere, rprofPage.state.listing]);
    first.head.texts[0] = text;
    first.head.targets[0] = target;
    view.shown = { listing: -1, codeRows: "" };
    rprofPage.set({ listing: 0, focus: null });
    // A jump within the function.
    const jump = first.head.targets.findIndex((to) => to > 0);
    if (jump >= 0) {
      view.linkOf({ kind: "instruction", at: jump }).follow();
      const { kind, at } = view.rows[view.table.current];
      if (kind !== "instruction" || at !== first.head.targets[jump] - 1) wrong.push(["jump", kind, at]);
    }
    return wrong;
  })()`);
  assert.deepEqual(wrong, []);
}

/** Rows come and go as the code scrolls, each where it belongs. @param {Tab} tab */
async function rowsThatAreSeenAreThere(tab) {
  const wrong = await tab.run(`(async () => {
    const { code, table } = rprofPage.views.all.code;
    const { place, space } = table;
    const longest = code.functions.reduce((most, { n }, at) => (n > code.functions[most].n ? at : most), 0);
    rprofPage.set({ focus: null, listing: longest, codeRows: "instruction" });
    const wrong = [];
    for (const top of [null, 0, 100, 1e6, 500, 450, 0]) {
      if (top !== null) place.scrollTop = top;
      await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 0)));
      const lines = [...table.body.querySelectorAll("[aria-rowindex]")];
      const numbers = lines.map((line) => Number(line.getAttribute("aria-rowindex")) - 2);
      const first = Math.max(0, Math.floor(place.scrollTop / 18) - 1);
      const last = Math.min(table.rows.length, Math.floor((place.scrollTop + place.clientHeight) / 18)) - 1;
      if (!(numbers[0] <= first && numbers.at(-1) >= last)) wrong.push([top, first, last, numbers[0], numbers.at(-1)]);
      const start = space.getBoundingClientRect().top;
      lines.forEach((line, at) => {
        const number = numbers[0] + at;
        const isThere = Math.abs(line.getBoundingClientRect().top - start - (number + 1) * 18) < 1;
        const isSame = line.querySelector(".code-text").textContent === table.rows[number].text;
        if (numbers[at] !== number || !isThere || !isSame) wrong.push([top, number, numbers[at], isThere, isSame]);
      });
      if (lines.filter((line) => line.classList.contains("code-current")).length > 1) wrong.push([top, "current"]);
    }
    return wrong;
  })()`);
  assert.deepEqual(wrong, []);
}

/** @param {Tab} tab */
async function whatHasNoCodeSaysHowToSeeIt(tab) {
  const [name, said] = await tab.run(`(() => {
    const view = rprofPage.views.all.code;
    const { functions } = view.code;
    const byName = new Map(view.code.byName);
    // Without any, it is one that has no code.
    view.code.byName.clear();
    rprofPage.set({ focus: 0, listing: null });
    view.code.byName = byName;
    return [functions.length > 0 && rprofPage.profile.nameOf(rprofPage.profile.frameOfFunction[0]), document.getElementById("code-said").textContent];
  })()`);
  assert.ok(said.startsWith("The page has no code of "), said);
  // Names in brackets are of no function.
  assert.equal(/rprof annotate -i \S+\.data /.test(said), !/code of \[|\\/.test(said), said);
  if (/^\w{1,50}$/.test(name)) assert.ok(said.includes(`rprof annotate -i ${await tab.run("rprofPage.profile.head.recording")} ${name}`), said);
  await tab.run(`rprofPage.set({ focus: null, listing: 0 })`);
}

/** Whether or not the page shows the instructions. @param {Tab} tab */
async function theListHasTheHottestFirst(tab) {
  const [samples, listed, first] = await tab.run(`(() => {
    const view = rprofPage.views.all.code;
    const { functions } = view.counts(view.code);
    const listed = [...view.functions.options].map(({ value }) => functions[value].weight);
    // Instructions of the hottest are left out.
    const { weights } = view.known.code;
    const hottest = view.code.functions[view.functions.options[0].value];
    weights.fill(0, hottest.first, hottest.first + hottest.n);
    rprofPage.show();
    const options = [...view.functions.options].map(({ value }) => functions[value].weight);
    view.known = null;
    return [functions.map(({ weight }) => weight), listed, options];
  })()`);
  samples.sort((/** @type {number} */ a, /** @type {number} */ b) => b - a);
  assert.deepEqual(listed, samples);
  assert.deepEqual(first, samples);
}

/** From a row's menu, and by its key. @param {Tab} tab @param {Facts} facts */
async function aFunctionIsOneStepAway(tab, facts) {
  const [hot] = [...facts.rows].sort((a, b) => b.self - a.self);
  await tab.run(`(() => {
    const page = rprofPage;
    page.set({ view: "table", grouping: "function", sort: "self", up: false });
    const row = page.views.all.table.table.rows.findIndex(({ name }) => name === ${JSON.stringify(hot.name)});
    const button = document.querySelectorAll("#table-place tbody .name button")[row];
    button.dispatchEvent(new MouseEvent("contextmenu", { bubbles: true, cancelable: true, clientX: 9, clientY: 9 }));
    [...document.querySelectorAll("#menu button")].find((one) => one.textContent === "Show code").click();
  })()`);
  assert.equal(await tab.run(`rprofPage.state.view`), "code");
  const said = await tab.run(`document.getElementById("code-said").textContent`);
  assert.ok(said.includes(hot.name.slice(0, 50)), said);
  await tab.run(`rprofPage.views.all.table.table.events.choose(rprofPage.functions().find(({ name }) =>
    name === ${JSON.stringify(hot.name)})); rprofPage.set({ view: "flame" }); document.activeElement.blur()`);
  await tab.run(`rprofPage.details.choose({ labels: [rprofPage.profile.frameOfFunction[rprofPage.state.focus]], sum: "" })`);
  await tab.press("a", "a");
  assert.equal(await tab.run(`rprofPage.state.view`), "code");
}

/** @param {Tab} tab */
async function rowsSayWhatIsCounted(tab) {
  await tab.run(`rprofPage.set({ focus: null, listing: 0, codeRows: "instruction", codeShares: "function" })`);
  const sums = await tab.run(`(() => {
    const { table, rows } = rprofPage.views.all.code;
    const shares = rows.filter(({ kind }) => kind === "instruction").map((row) => table.cells(row).share);
    const lines = rows.filter(({ kind }) => kind === "line").map((row) => table.cells(row).share);
    return [shares.reduce((a, b) => a + b, 0), lines.reduce((a, b) => a + b, 0), rows.some(({ kind }) => kind === "loop")];
  })()`);
  assert.ok(Math.abs(sums[0] - 1) < 1e-9, String(sums));
  // The rows that are seen are there, and the hottest is one of them.
  const there = await tab.run(`[...document.querySelectorAll("#code-place .code-instruction .code-share")].map((one) => one.textContent)`);
  const most = await tab.run(`(() => {
    const { table, rows } = rprofPage.views.all.code;
    return rows.filter(({ kind }) => kind === "instruction").map((row) => table.cells(row)).sort((a, b) => b.share - a.share)[0].self;
  })()`);
  assert.ok(there.includes(most), `${most}: ${there}`);
  await tab.run(`rprofPage.set({ codeRows: "line", codeShares: "all" })`);
  const totals = await tab.run(`(() => {
    const page = rprofPage;
    const view = page.views.all.code;
    const code = view.code.functions[0];
    const lines = view.counts(view.code).lines(code).map(({ weight }) => weight);
    return view.rows.filter(({ kind, line }) => kind === "source" && line >= 0)
      .map((row) => [parseFloat(view.table.cells(row).total || "0"), 100 * lines[row.line] / page.counts.total.weight]);
  })()`);
  // Code without debug information has no lines.
  assert.equal(totals.length, await tab.run(`rprofPage.views.all.code.code.functions[0].head.places.length / 2`));
  for (const [total, self] of totals) assert.ok(total + 0.006 >= self, String([total, self]));
  // Of the function, they are shares of what it counts including callees.
  const [name, shares] = await tab.run(`(() => {
    const page = rprofPage;
    const view = page.views.all.code;
    const totals = () => view.rows.filter(({ kind, line }) => kind === "source" && line >= 0).map((row) => parseFloat(view.table.cells(row).total || "0"));
    page.set({ codeShares: "function" });
    return [view.code.functions[0].head.name, totals()];
  })()`);
  const share = await tab.run(`rprofPage.rows("function").filter(({ name }) => name === ${JSON.stringify(name)})
    .reduce((sum, { total }) => sum + total, 0) / rprofPage.counts.total.weight`);
  for (const [at, one] of shares.entries()) {
    assert.ok(one <= 100 && Math.abs(one * share - totals[at][0]) < 0.02, `${name}: ${one} of ${share}, not ${totals[at][0]}`);
  }
  await tab.run(`rprofPage.set({ codeRows: "instruction" })`);
}

module.exports = { check };
