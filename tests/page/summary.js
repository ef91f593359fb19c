// The summary: its tables are the report's, and the command that it shows reads the samples that the page shows.
"use strict";

const assert = require("node:assert/strict");
const { execFileSync } = require("node:child_process");

/** @typedef {import("./checks.js").Tab} Tab */
/** @typedef {import("./checks.js").Facts & {file: string, rprof: string, root: string | null}} Facts */

/** What is shown, and the command. @param {Tab} tab */
function shown(tab) {
  return tab.run(`({ samples: rprofPage.counts.shown.samples,
    command: document.querySelector("#summary code").textContent,
    lacks: document.querySelector("#summary .lacks")?.textContent ?? "" })`);
}

/** Samples that a command finds. @param {Facts} facts @param {string} command */
function samplesOf(facts, command) {
  const rows = rowsOf(facts, command, "--no-children -n");
  return rows.reduce((/** @type {number} */ sum, /** @type {any} */ row) => sum + row.sample, 0);
}

/** Rows of a command, which a shell reads. @param {Facts} facts @param {string} command @returns {any[]} */
function rowsOf(facts, command, flags = "-s dso,sym") {
  // Files of a fixture are beside it.
  const root = facts.root === null ? "" : ' --symfs "$2"';
  const words = command.replace(/^rprof report -i \S+/, `"$0" report --no-debuginfod${root} -i "$1"`);
  assert.notEqual(words, command);
  const script = `${words} --format json -g none ${flags}`;
  const out = execFileSync("sh", ["-c", script, facts.rprof, facts.file, facts.root ?? ""], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  return JSON.parse(out).events[0].rows;
}

/** @param {Tab} tab @param {Facts} facts */
async function check(tab, facts) {
  await tab.press("7", "7");
  const rows = await tab.run(`[...document.querySelector("#summary table").querySelectorAll("tr")].map((row) =>
    [row.querySelector("th").textContent, row.querySelector("td").lastChild.textContent, row.querySelector("small")?.textContent])`);
  const share = (/** @type {number} */ weight) => `${((100 * weight) / facts.total).toFixed(2)} %`;
  const self = facts.rows.filter((row) => row.self > 0).sort((a, b) => b.self - a.self);
  assert.deepEqual(rows.map((/** @type {string[]} */ row) => row[1]), self.slice(0, 10).map((row) => share(row.self)));
  assert.equal(rows[0][0], self[0].name);
  // Times are beside shares, if that is what is counted.
  const times = await tab.run(`(() => {
    const { kind } = rprofPage.profile.head.events[0];
    const size = (text) => parseFloat(text) * { s: 1e9, ms: 1e6, "µs": 1e3, ns: 1 }[text.split(" ")[1]];
    return kind.endsWith("-time") ? [...document.querySelector("#summary table").querySelectorAll("small")].map((one) => size(one.textContent)) : null;
  })()`);
  for (const [at, time] of (times ?? []).entries()) assert.ok(Math.abs(time - self[at].self) <= 0.01 * self[at].self, `${time} ${self[at].self}`);
  // Where CPU time is an estimate, it says of what.
  const [isEstimated, said] = await tab.run(`(() => {
    const [{ kind, each }] = rprofPage.profile.head.events;
    return [kind === "cpu-time" && each !== null, document.querySelector("#summary .facts").textContent];
  })()`);
  if (isEstimated) assert.match(said, /Total[\d.]+ m?s: \d+ samples of [\d.]+ .?s each/);
  const span = await tab.run(`rprofPage.profile.head.span_ns`);
  const part = (/** @type {number} */ share) => Math.floor(span * share);
  const parted = { range: [0, part(0.9)], parts: [0, part(0.2), part(0.4), part(0.6), part(0.7), part(0.9)] };
  const states = [{}, { thread: 0 }, { range: [0, part(1 / 3)] }, { range: [span / 2, span], thread: 0 }, parted, { ...parted, thread: 0 }];
  for (const state of states) {
    await tab.run(`rprofPage.set(${JSON.stringify({ range: null, thread: null, ...state })})`);
    const { samples, command, lacks } = await shown(tab);
    assert.equal(samplesOf(facts, command), samples, command);
    assert.equal(lacks, "");
  }
  await tab.run(`rprofPage.set({ range: null, thread: null })`);
  // Threads by their names, whatever these are; what only the page can do is said.
  const comms = await tab.run(`[...new Set(rprofPage.profile.head.threads.map(([, , comm]) => comm))].length`);
  for (let comm = 0; comm < comms; comm++) {
    await tab.run(`rprofPage.set({ transforms: [{ kind: "keep", grouping: "thread", key: ${comm} }] })`);
    const { samples, command, lacks } = await shown(tab);
    if (lacks === "" && !/\\x/.test(command)) assert.equal(samplesOf(facts, command), samples, command);
  }
  // Stacks by names and patterns, as far as reports read them alike.
  const pattern = (/** @type {string} */ kind, /** @type {string} */ text) => ({ kind, grouping: "pattern", key: 0, text });
  const rest = { kind: "drop", grouping: "function", key: 0 };
  for (const transforms of [[pattern("keep", "A|E")], [pattern("drop", "^.a")], [rest], [pattern("keep", "a"), pattern("drop", "e.*e"), rest]]) {
    await tab.run(`rprofPage.set({ transforms: ${JSON.stringify(transforms)} })`);
    const { samples, command, lacks } = await shown(tab);
    if (lacks === "") {
      assert.match(command, /--keep-stacks/);
      assert.equal(samplesOf(facts, command), samples, command);
    } else assert.match(lacks, /with(out)? /);
  }
  const merged = { kind: "merge", grouping: "function", key: 0 };
  await tab.run(`rprofPage.set({ transforms: ${JSON.stringify([merged, rest])} })`);
  assert.match((await shown(tab)).lacks, /merged: .*without /);
  await whatRanInItselfIsTheReports(tab, facts);
  await tab.run(`rprofPage.set({ transforms: [], view: "flame" })`);
  await threadsOfOneNameAreToldApart(tab);
}

/**
 * What is left if the own samples of a shared object, or of a function, are left out: rows of the page, and of the command
 * that it shows.
 * @param {Tab} tab @param {Facts} facts
 */
async function whatRanInItselfIsTheReports(tab, facts) {
  let n = 0;
  for (const grouping of ["image", "function"]) {
    const keys = await tab.run(`rprofPage.set({ transforms: [] }) ?? rprofPage.rows("${grouping}").sort((a, b) => b.self - a.self).slice(0, 3).map(({ key }) => key)`);
    for (const key of keys) {
      await tab.run(`rprofPage.set({ view: "summary", shares: "all", transforms: [{ kind: "omit", grouping: "${grouping}", key: ${key} }] })`);
      const { command, lacks } = await shown(tab);
      const [chip, title, whole, rows] = await tab.run(`(() => {
        const chip = document.querySelector(".chip");
        const rows = rprofPage.rows("function").map(({ name, image, self, total }) => [name, image, self, total].join("\\n"));
        return [chip.textContent, chip.title, rprofPage.profile.head.events[0].weight, rows.sort()];
      })()`);
      assert.match(chip, /^not in .* itself ✕$/s);
      assert.match(title, /own samples \(self\)/);
      // Names that a report could read otherwise are not said.
      if (lacks !== "") continue;
      n++;
      assert.match(command, grouping === "image" ? / -d '!/ : / -S '!/);
      const own = rowsOf(facts, command).map((row) => {
        const weight = (/** @type {number | null} */ share) => Math.round(((share ?? row.overhead) * whole) / 100);
        return [row.sym.replace(/^\[.\] /, ""), row.dso, weight(row.overhead), weight(row.overhead_children)].join("\n");
      });
      assert.deepEqual(rows, own.sort(), command);
    }
  }
  assert.ok(n > 1, String(n));
  await tab.run(`rprofPage.set({ shares: "shown", transforms: [] })`);
}

/** Threads that share a name are told apart if they have most of the time. @param {Tab} tab */
async function threadsOfOneNameAreToldApart(tab) {
  const { shown, names, tasks } = await tab.run(`(() => {
    rprofPage.set({ view: "summary" });
    const table = [...document.querySelectorAll("#summary-place table")].find((one) => one.caption.textContent === "Threads by total");
    const rows = (grouping) => rprofPage.rows(grouping).filter(({ total }) => total > 0).map(({ name, total }) => [name, total]);
    const shown = table && [...table.querySelectorAll("tbody .name")].map(({ textContent }) => textContent);
    const found = { shown, names: rows("thread"), tasks: rprofPage.profile.head.by_name ? [] : rows("task") };
    rprofPage.set({ view: "flame" });
    return found;
  })()`);
  if (shown === undefined) return;
  const all = names.reduce((/** @type {number} */ sum, /** @type {[string, number]} */ [, total]) => sum + total, 0);
  const isOneName = names.some((/** @type {[string, number]} */ [, total]) => 2 * total > all);
  const expected = isOneName && tasks.length > names.length ? tasks : names;
  assert.equal(shown.length, Math.min(10, expected.length));
  const known = new Set(expected.map((/** @type {[string, number]} */ [name]) => name));
  for (const name of shown) assert.ok(known.has(name), name);
}

module.exports = { check };
