// Filters by process, thread, CPU and time, alone, several at a time, and with transforms of stacks: rows and totals are
// those of the command that the summary shows, and what each row counts that is looked at alone.
"use strict";

const assert = require("node:assert/strict");
const { execFileSync } = require("node:child_process");

/**
 * @typedef {import("./checks.js").Tab} Tab
 * @typedef {{page: string, file: string, rprof: string, flags: string[], pairs?: boolean, hasKernel?: boolean}} Facts
 * @typedef {{kind: string, grouping: string, key: number}} Transform
 */

/**
 * Rows of functions of a report, and its total.
 * @param {Facts} facts
 * @param {string} command
 * @param {number} event
 */
function reported(facts, command, event) {
  const words = command.replace(/^rprof report -i perf\.data/, '"$0" report --no-debuginfod -i "$1"');
  assert.notEqual(words, command);
  const script = `${words} --format json -g none -s dso,sym`;
  const out = execFileSync("sh", ["-c", script, facts.rprof, facts.file], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  const { weight, rows } = JSON.parse(out).events[event];
  const whole = (/** @type {number} */ share) => Math.round((share * weight) / 100);
  const functions = rows.map((/** @type {any} */ row) =>
    [`${row.sym.split("] ").slice(1).join("] ")} ${row.dso}`, whole(row.overhead), whole(row.overhead_children)]);
  const most = Math.max(0, ...rows.map((/** @type {any} */ row) => row.overhead)).toFixed(6);
  return { weight, functions: functions.sort(), most };
}

/** What the page says of the same: functions of one name and image are one in reports. @param {Tab} tab */
function shown(tab) {
  return tab.run(`(() => {
    rprofPage.set({ view: "summary", grouping: "function" });
    const rows = new Map();
    for (const { name, image, self, total } of rprofPage.rows("function")) {
      const key = name + " " + image;
      const sums = rows.get(key) ?? [key, 0, 0];
      sums[1] += self;
      sums[2] += total;
      rows.set(key, sums);
    }
    return {
      command: document.querySelector("#summary code").textContent,
      lacks: document.querySelector("#summary .lacks")?.textContent ?? "",
      weight: rprofPage.whole,
      functions: [...rows.values()].sort(),
      most: (100 * Math.max(0, ...[...rows.values()].map(([, self]) => self)) / (rprofPage.whole || 1)).toFixed(6),
    };
  })()`);
}

/**
 * Runs in the page: filters of what it has.
 * @param {any} page
 */
function candidates(page) {
  const { profile } = page;
  const ids = (/** @type {number} */ at) => [...new Set(profile.head.threads.map((/** @type {number[]} */ one) => one[at]))];
  const cpus = [...new Set(profile.cpus)].filter((/** @type {any} */ cpu) => cpu > 0).map((/** @type {any} */ cpu) => cpu - 1);
  const of = { process: ids(0), task: ids(1), cpu: cpus, state: profile.head.waits === undefined ? [] : [0, 1] };
  return Object.entries(of).flatMap(([grouping, keys]) => keys.map((key) => ({ kind: "keep", grouping, key })));
}

/**
 * Runs in the page: what is counted, with transforms of each stack by hand. Rows of one thread, CPU and stack are one.
 * @param {any} page
 */
function byHand(page) {
  const { profile, state } = page;
  const { parents, labels, stacks, flags, functionOf, head } = profile.recorded;
  const isWait = (/** @type {number} */ node) => node >= 0 && parents[node] >= 0 && (flags[labels[node]] & 64) !== 0;
  const functionsOf = (/** @type {number} */ last) => {
    const functions = new Set();
    for (let node = last; node >= 0 && parents[node] >= 0; node = parents[node]) functions.add(functionOf[labels[node]]);
    return functions;
  };
  const groups = new Map();
  for (let thread = 0; thread + 1 < profile.starts.length; thread++) {
    for (let row = profile.starts[thread]; row < profile.starts[thread + 1]; row++) {
      if (head.has_events && profile.events[row] !== state.event) continue;
      const [cpu, node] = [profile.cpus[row] - 1, stacks[row] - 1];
      const key = `${thread} ${cpu} ${node}`;
      if (!groups.has(key)) {
        const [process, task] = head.threads[thread];
        const ids = { process, task, cpu, state: isWait(node) ? 1 : 0 };
        groups.set(key, { ids, hasStack: node >= 0, functions: functionsOf(node), weight: 0 });
      }
      groups.get(key).weight += head.has_weights ? profile.weights[row] : head.events[state.event].each;
    }
  }
  return (/** @type {Transform[]} */ transforms) => {
    let [total, sum] = [0, 0];
    for (const { ids, hasStack, functions, weight } of groups.values()) {
      const accepts = (/** @type {string} */ name) => {
        const of = transforms.filter(({ grouping }) => grouping === name);
        const kept = of.filter(({ kind }) => kind === "keep");
        return (kept.length === 0 || kept.some(({ key }) => key === ids[name])) && !of.some(({ kind, key }) => kind === "drop" && key === ids[name]);
      };
      if (!accepts("cpu")) continue;
      total += weight;
      if (!hasStack || !["process", "task", "state"].every(accepts)) continue;
      const isKept = transforms.every(({ kind, grouping, key }) => grouping !== "function" || functions.has(key) === (kind !== "drop"));
      if (isKept) sum += weight;
    }
    return [total, sum];
  };
}

/** @param {Tab} tab @param {Facts} facts */
async function numbersAreTheReports(tab, facts) {
  const all = await tab.run(`(${candidates})(rprofPage)`);
  /** @type {Transform[]} */
  const single = all.filter((/** @type {Transform} */ { grouping, key }) => grouping !== "state" && key >= 0);
  const of = (/** @type {string} */ name) => single.filter(({ grouping }) => grouping === name);
  assert.ok(of("process").length > 1 && of("task").length > 3 && of("cpu").length > 0, JSON.stringify(single));
  const span = await tab.run(`rprofPage.profile.head.span_ns`);
  const [process, task, cpu] = [of("process"), of("task"), of("cpu")];
  /** @type {{transforms: Transform[], range?: [number, number]}[]} */
  const states = [
    ...single.map((one) => ({ transforms: [one] })),
    // Several of one kind are a list; of several kinds, all have to fit.
    { transforms: process.slice(0, 2) },
    { transforms: task.slice(-2) },
    { transforms: [...process.slice(0, 1), ...task.slice(0, 3), ...cpu] },
    ...process.map((one) => ({ transforms: [one, ...cpu.slice(0, 1)] })),
  ];
  const pattern = (/** @type {string} */ kind, /** @type {string} */ text) => ({ kind, grouping: "pattern", key: 0, text });
  states.push(
    { transforms: [pattern("keep", "SOL.E|parse")] },
    { transforms: [pattern("drop", "^pri"), ...cpu.slice(0, 1)] },
    { transforms: [pattern("keep", "^both$"), pattern("drop", "rint"), pattern("drop", "solve"), task[0]] },
  );
  if (facts.flags.length === 0) states.push({ transforms: [task[1], cpu[0]], range: [Math.floor(span / 4), Math.floor(span / 2)] });
  for (const { transforms, range } of states) {
    await tab.run(`rprofPage.set(${JSON.stringify({ transforms, range: range ?? null })})`);
    const { command, lacks, ...found } = await shown(tab);
    assert.equal(lacks, "", command);
    assert.deepEqual(found, reported(facts, command, 0), command);
  }
  // The same as shares of the whole recording, where a report has these.
  await tab.run(`rprofPage.set({ transforms: ${JSON.stringify(process.slice(0, 1))}, range: null, shares: "all" })`);
  const { command, lacks, ...found } = await shown(tab);
  assert.equal(lacks, "");
  assert.doesNotMatch(command, /relative/);
  assert.deepEqual(found, reported(facts, command, 0), command);
  await tab.run(`rprofPage.set({ range: [0, ${Math.floor(span / 2)}] })`);
  assert.match((await shown(tab)).lacks, /percentages of the whole recording/);
  await tab.run(`rprofPage.set({ transforms: [], range: null, shares: "shown" })`);
}

/** What runs, and what waits: rows of a state, or of time off the CPU. @param {Tab} tab @param {Facts} facts */
async function statesAreTheReports(tab, facts) {
  if (!facts.flags.includes("--wall")) return;
  for (const [kind, key] of [["keep", 0], ["keep", 1], ["drop", 0], ["drop", 1]]) {
    const isRunning = (kind === "keep") === (key === 0);
    if (kind === "keep") await tab.run(`document.querySelectorAll(".only button")[${key + 1}].click()`);
    else await tab.run(`rprofPage.set({ transforms: [{ kind: "${kind}", grouping: "state", key: ${key} }] })`);
    const pressed = await tab.run(`document.querySelector(".only [aria-pressed=true]").textContent`);
    assert.equal(pressed, isRunning ? "Running" : "Waiting");
    const { command, lacks, functions } = await shown(tab);
    assert.equal(lacks, "");
    assert.equal(command.includes("--off-cpu"), !isRunning, command);
    const words = command.replace(/^rprof report -i perf\.data/, '"$0" report --no-debuginfod -i "$1"');
    const script = isRunning ? `${words.replace("state,sym", "state,dso,sym")} --format json -g none` : `${words} --format json -g none -s dso,sym`;
    const out = execFileSync("sh", ["-c", script, facts.rprof, facts.file], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
    const { weight, rows } = JSON.parse(out).events[0];
    const whole = (/** @type {number} */ share) => Math.round((share * weight) / 100);
    const expected = rows.filter((/** @type {any} */ row) => !isRunning || row.state === "running").map((/** @type {any} */ row) =>
      [`${row.sym.split("] ").slice(1).join("] ")} ${row.dso}`, whole(row.overhead), whole(row.overhead_children)]);
    assert.deepEqual(functions, expected.sort(), command);
  }
  await tab.run(`document.querySelector(".only button").click()`);
  assert.deepEqual(await tab.run(`rprofPage.state.transforms`), []);
}

/** Waits by thread and cause. @param {Tab} tab @param {Facts} facts */
async function waitsInTheTableAreTheReports(tab, facts) {
  if (!facts.flags.includes("--wall")) return;
  const args = ["report", "--no-debuginfod", "-i", facts.file, "--off-cpu", "-s", "tid,cause", "-n", "-g", "none", "--no-children", "--format", "json"];
  const out = execFileSync(facts.rprof, args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  const { weight, rows } = JSON.parse(out).events[0];
  /** @type {Map<string, number[]>} */
  const expected = new Map();
  // A thread that changed its name is one row.
  for (const { tid, cause, sample, overhead } of rows) {
    const key = `${parseInt(tid, 10)} ${cause}`;
    const [n, ns] = expected.get(key) ?? [0, 0];
    expected.set(key, [n + sample, ns + Math.round((overhead * weight) / 100)]);
  }
  await tab.run(`document.activeElement.blur()`);
  await tab.press("w", "w");
  const found = await tab.run(`rprofPage.views.all.waits.rows.map(({ thread, label, count, sum, lengths }) => {
    const { profile } = rprofPage;
    const key = profile.head.threads[thread][1] + " " + profile.nameOf(label).slice(1, -1);
    return [key, count, sum, lengths.length, lengths.reduce((a, b) => a + b, 0)];
  })`);
  const sorted = (/** @type {any[]} */ list) => list.sort(([one], [other]) => (one < other ? -1 : 1));
  assert.deepEqual(sorted(found.map((/** @type {any[]} */ row) => row.slice(0, 3))), sorted([...expected].map(([key, sums]) => [key, ...sums])));
  for (const [key, count, sum, n, all] of found) assert.deepEqual([n, all], [count, sum], key);
  const shown = await tab.run(`document.querySelectorAll("#waits-place tbody tr").length`);
  assert.equal(shown, found.length);
  // Those whose wakers are known are some of them.
  const part = await tab.run(`(document.getElementById("waits-wakers").click(),
    rprofPage.views.all.waits.rows.reduce((sum, { count }) => sum + count, 0))`);
  assert.ok(part > 0 && part <= await tab.run(`rprofPage.counts.waits(rprofPage.profile)`), String(part));
  await tab.run(`document.getElementById("waits-wakers").click(); rprofPage.set({ view: "flame" })`);
}

/** Whatever is selected, lanes are in the same order, and the stack chart is of the same thread. @param {Tab} tab */
async function lanesStayInTheirOrder(tab) {
  const span = await tab.run(`rprofPage.profile.head.span_ns`);
  const shown = (/** @type {[number, number] | null} */ range) => tab.run(`(() => {
    rprofPage.set({ view: "threads", lanes: "threads", range: ${JSON.stringify(range)} });
    const lanes = rprofPage.views.all.threads.lanes.lanes.map(({ kind, key }) => kind + key);
    rprofPage.set({ view: "chart" });
    return { lanes, charts: [...document.getElementById("chart-thread").options].map(({ value }) => value) };
  })()`);
  const all = await shown(null);
  for (const [from, to] of [[0, 0.3], [0.3, 0.6], [0.7, 1]]) {
    const part = await shown([Math.floor(span * from), Math.floor(span * to)]);
    // A process with one thread left is that thread's lane.
    const threads = (/** @type {string[]} */ list) => list.filter((one) => one.startsWith("thread"));
    assert.deepEqual(threads(part.lanes), threads(all.lanes).filter((one) => part.lanes.includes(one)));
    assert.deepEqual(part.charts, all.charts.filter((/** @type {string} */ one) => part.charts.includes(one)));
  }
  await tab.run(`rprofPage.set({ view: "flame", range: null })`);
}

/** What each thread did is what is shown of it. @param {Tab} tab */
async function timesOfThreadsAreTheirs(tab) {
  const wrong = await tab.run(`(() => {
    if (rprofPage.profile.head.waits === undefined) return [];
    rprofPage.set({ view: "summary" });
    const { profile } = rprofPage;
    const rows = new Map(rprofPage.rows("task").map(({ key, total }) => [key, total]));
    const table = document.querySelector("#summary .times");
    const size = (text) => text === "" ? 0 : parseFloat(text) * { s: 1e9, ms: 1e6, "µs": 1e3, ns: 1 }[text.split(" ")[1]];
    return [...table.querySelectorAll("tbody tr")].flatMap((line) => {
      const name = line.querySelector("th").textContent;
      const thread = profile.head.threads.findIndex((_, at) => profile.nameOfThread(at) === name);
      const sum = [...line.querySelectorAll("td")].reduce((all, { textContent }) => all + size(textContent), 0);
      const total = rows.get(profile.head.threads[thread][1]);
      return Math.abs(sum - total) <= 0.02 * total ? [] : [[name, sum, total]];
    });
  })()`);
  assert.deepEqual(wrong, []);
}

/** Of a wait, only what is within the range counts, wherever it begins. @param {Tab} tab @param {Facts} facts */
async function waitsAreCutToTheRange(tab, facts) {
  const [span, knows] = await tab.run(`[rprofPage.profile.head.span_ns, rprofPage.profile.begins !== null]`);
  if (!knows) return;
  // Only the code of programs is sampled: the kernel is where threads wait.
  const isWait = (/** @type {any[]} */ [name]) => name.endsWith(" [kernel.kallsyms]");
  let n = 0;
  for (const [from, to] of [[0.2, 0.5], [0.3, 0.35], [0.6, 0.62]]) {
    const range = [Math.floor(span * from), Math.floor(span * to)];
    await tab.run(`rprofPage.set({ transforms: [], range: ${JSON.stringify(range)} })`);
    const { command, functions } = await shown(tab);
    const expected = reported(facts, command, 0).functions.filter(isWait);
    assert.deepEqual(functions.filter(isWait), expected, command);
    n += expected.length;
    // The blocks of two ranges are all of them, and lanes are what is counted.
    const [blocks, total, lanes, shownWeight] = await tab.run(`(() => {
      const sum = (list) => list.reduce((a, b) => a + b, 0);
      rprofPage.set({ view: "threads", lanes: "threads" });
      const lanes = rprofPage.views.all.threads.lanes.lanes.filter(({ kind }) => kind === "thread");
      const { counts } = rprofPage;
      rprofPage.ranges.compareWith(rprofPage.state.range);
      const { blocks } = rprofPage.ranges.known.changes.total.after;
      rprofPage.set({ against: null });
      return [sum([...blocks]), counts.total.weight, sum(lanes.map(({ weight }) => weight)), counts.shown.weight];
    })()`);
    assert.ok(Math.abs(blocks - total) < 1, `${blocks} ${total}`);
    assert.equal(lanes, shownWeight);
  }
  if (n === 0) console.log("skipped: stacks of waits need the right to record the kernel's");
  await tab.run(`rprofPage.set({ range: null })`);
}

/** What a thread is called: the name that it had last, of rows and of waits. @param {Tab} tab */
async function lastNamesAreTheLatest(tab) {
  const wrong = await tab.run(`(() => {
    const { profile } = rprofPage;
    const { waits, starts, times, head } = profile;
    const last = head.threads.map((_, thread) => {
      let last = -Infinity;
      for (let row = starts[thread]; row < starts[thread + 1]; row++) last = Math.max(last, times[row]);
      for (let wait = waits.starts[thread]; wait < waits.starts[thread + 1]; wait++) last = Math.max(last, waits.endOf(wait));
      return last;
    });
    return rprofPage.rows("task").flatMap(({ key: tid, name }) => {
      const same = [...head.threads.keys()].filter((thread) => head.threads[thread][1] === tid);
      const latest = Math.max(...same.map((thread) => last[thread]));
      const names = same.filter((thread) => last[thread] === latest).map((thread) => profile.text(head.threads[thread][2]) + " " + tid);
      return names.includes(name) ? [] : [[name, names]];
    });
  })()`);
  assert.deepEqual(wrong, []);
}

/** @param {Tab} tab */
async function filtersGoWithTransforms(tab) {
  const result = await tab.run(`(() => {
    const candidates = ${candidates};
    const page = rprofPage;
    page.set({ view: "table", grouping: "function" });
    const expect = (${byHand})(page);
    const rows = page.rows("function").slice().sort((a, b) => b.total - a.total).slice(0, 3);
    const stacks = rows.flatMap(({ key }) => ["keep", "drop", "focus"].map((kind) => ({ kind, grouping: "function", key })));
    const filters = candidates(page).flatMap((one) => [one, { ...one, kind: "drop" }]);
    // Filters of rows are in no order; what stacks become is.
    const pairs = filters.flatMap((one, at) => [
      ...filters.slice(at).map((other) => [one, other]),
      ...stacks.flatMap((other) => [[one, other], [other, one]]),
    ]);
    for (const transforms of pairs) {
      page.set({ transforms }, "restored");
      const { total, shown } = page.counts;
      const expected = expect(transforms);
      if (total.weight !== expected[0] || shown.weight !== expected[1]) {
        return { transforms, total: total.weight, shown: shown.weight, expected };
      }
    }
    page.set({ transforms: [] }, "restored");
    return { n: pairs.length };
  })()`);
  assert.ok(result.n > 50, JSON.stringify(result));
}

/** @param {Tab} tab @param {Facts} facts */
async function rowsAreWhatTheirFiltersKeep(tab, facts) {
  const groupings = await tab.run(`["process", "task", "cpu", "level", "state", "cause"].filter((one) =>
    [...document.getElementById("grouping").options].some(({ value, hidden }) => value === one && !hidden))`);
  assert.equal(groupings.includes("level"), facts.hasKernel !== false);
  for (const grouping of groupings) {
    await tab.run(`rprofPage.set({ view: "table", grouping: ${JSON.stringify(grouping)} })`);
    const rows = await tab.run(`rprofPage.views.all.table.table.rows.map(({ key, total }) => [key, total])`);
    const names = await tab.run(`rprofPage.views.all.table.table.rows.map(({ name }) => name)`);
    assert.ok(rows.length > 0);
    const sum = rows.reduce((/** @type {number} */ all, /** @type {number[]} */ [, total]) => all + total, 0);
    assert.equal(sum, await tab.run(`rprofPage.counts.shown.weight`));
    for (let at = 0; at < rows.length; at++) {
      await tab.run(`document.querySelectorAll("#table-place tbody .name button")[${at}].click()`);
      assert.deepEqual(await tab.run(`[rprofPage.state.transforms.length, document.getElementById("chosen").textContent]`), [0, names[at]]);
      await tab.run(`document.getElementById("keep-this").click()`);
      const [transforms, shown] = await tab.run(`[rprofPage.state.transforms, rprofPage.counts.shown.weight]`);
      assert.deepEqual(transforms, [{ kind: "keep", grouping, key: rows[at][0] }]);
      assert.equal(shown, rows[at][1]);
      await tab.press("Escape");
    }
  }
}

/** @param {Tab} tab @param {Facts} facts */
async function chipsAreInTheLinkAndUndone(tab, facts) {
  const [process, task] = await tab.run(`(() => {
    const [pid, tid] = rprofPage.profile.head.threads[1];
    return [{ kind: "keep", grouping: "process", key: pid }, { kind: "keep", grouping: "task", key: tid }];
  })()`);
  await tab.run(`rprofPage.set({ transforms: [], view: "flame" })`);
  for (const one of [process, task]) await tab.run(`rprofPage.addTransform(${JSON.stringify(one)})`);
  const other = await tab.run(`rprofPage.profile.head.threads[0][1]`);
  await tab.run(`rprofPage.addTransform({ kind: "keep", grouping: "task", key: ${other} })`);
  const chips = await tab.run(`[...document.querySelectorAll(".chip")].map((one) => one.textContent)`);
  assert.equal(chips.length, 3);
  assert.match(chips[0], new RegExp(`^process .* ${process.key} ✕$`));
  assert.match(chips[1], new RegExp(`^thread .* ${task.key} ✕$`));
  assert.match(chips[2], /^or thread /);
  await tab.run(`rprofPage.address.rememberNow()`);
  const [fragment, shown] = await tab.run(`[location.hash, rprofPage.counts.shown.weight]`);
  await tab.run(`document.querySelectorAll(".chip")[2].click(); rprofPage.address.rememberNow()`);
  assert.equal(await tab.run(`rprofPage.state.transforms.length`), 2);
  await tab.run(`new Promise((resolve) => { addEventListener("hashchange", resolve, { once: true }); history.back(); })`);
  assert.equal(await tab.run(`rprofPage.state.transforms.length`), 3, "Back undoes");
  await tab.open(`file://${facts.page}${fragment}`);
  assert.equal(await tab.run(`rprofPage.counts.shown.weight`), shown);
  await tab.open(`file://${facts.page}#transforms=keep.process.999999999~keep.cpu.4096~merge.cpu.0~keep.task.-1`);
  assert.deepEqual(await tab.run(`rprofPage.state.transforms`), []);
}

/** @param {Tab} tab @param {Facts} facts */
async function check(tab, facts) {
  await numbersAreTheReports(tab, facts);
  await statesAreTheReports(tab, facts);
  await waitsInTheTableAreTheReports(tab, facts);
  await lanesStayInTheirOrder(tab);
  await timesOfThreadsAreTheirs(tab);
  await waitsAreCutToTheRange(tab, facts);
  await lastNamesAreTheLatest(tab);
  // Waits that are no samples change nothing of it.
  if (facts.pairs !== false) await filtersGoWithTransforms(tab);
  await rowsAreWhatTheirFiltersKeep(tab, facts);
  await chipsAreInTheLinkAndUndone(tab, facts);
}

module.exports = { check };
