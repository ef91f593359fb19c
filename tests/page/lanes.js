// Lanes: processes group their threads, CPUs say who ran, both are aligned with the strip; what they draw is what the rows
// weigh, counted here by hand.
"use strict";

const assert = require("node:assert/strict");

/** @typedef {import("./checks.js").Tab} Tab */
/** @typedef {import("./filters.js").Facts} Facts */

/** What lanes say: kind, key, depth, weight, threads. @param {Tab} tab */
const lanesOf = (tab) => tab.run(`rprofPage.views.all.threads.lanes.lanes.map(({ kind, key, depth, weight, threads }) =>
  ({ kind, key, depth, weight, threads }))`);

/**
 * What a key says: at once, before the pointer, wherever it is, says something else.
 * @param {Tab} tab
 * @param {string} canvas
 * @param {string} key
 */
const saidByKey = (tab, canvas, key) => tab.run(`(() => {
  ${canvas}.dispatchEvent(new KeyboardEvent("keydown", { key: "${key}", bubbles: true, cancelable: true }));
  return document.getElementById("pointed").textContent;
})()`);

/** @param {Tab} tab */
async function processesGroupTheirThreads(tab) {
  await tab.run(`rprofPage.set({ view: "threads", lanes: "threads", transforms: [], thread: null, range: null })`);
  const lanes = await lanesOf(tab);
  const threads = await tab.run(`rprofPage.profile.head.threads`);
  const shown = await tab.run(`rprofPage.counts.shown.weight`);
  const sum = (/** @type {any[]} */ list) => list.reduce((all, { weight }) => all + weight, 0);
  assert.equal(sum(lanes.filter((/** @type {any} */ { kind }) => kind === "thread")), shown);
  const processes = lanes.filter((/** @type {any} */ { kind }) => kind === "process");
  assert.ok(processes.length > 0);
  for (const process of processes) {
    const at = lanes.indexOf(process);
    const end = lanes.findIndex((/** @type {any} */ { depth }, /** @type {number} */ other) => other > at && depth === 0);
    const children = lanes.slice(at + 1, end < 0 ? lanes.length : end);
    assert.deepEqual(children.flatMap((/** @type {any} */ one) => one.threads), process.threads);
    assert.equal(sum(children), process.weight);
    for (const { key, depth } of children) {
      assert.equal(threads[key][0], process.key);
      assert.equal(depth, 1);
    }
  }
  assert.deepEqual(sum(lanes.filter((/** @type {any} */ { depth }) => depth === 0)), shown);
  // By keys: closed and open again.
  await tab.run(`rprofPage.views.all.threads.lanes.canvas.focus()`);
  await tab.press("Home");
  const first = lanes.indexOf(processes[0]);
  for (let at = 0; at < first; at++) await tab.press("ArrowDown");
  await tab.press("ArrowLeft");
  const below = lanes.slice(first + 1);
  const end = below.findIndex((/** @type {any} */ { depth }) => depth === 0);
  assert.equal((await lanesOf(tab)).length, lanes.length - (end < 0 ? below.length : end));
  const said = await tab.run(`(() => {
    const { lanes } = rprofPage.views.all.threads;
    return lanes.said(lanes.lanes[lanes.focused]);
  })()`);
  assert.match(said, /^process .* threads?: /);
  await tab.press("ArrowRight");
  assert.deepEqual(await lanesOf(tab), lanes);
  await tab.press("ArrowDown");
  await tab.press("Enter");
  assert.equal(await tab.run(`rprofPage.counts.shown.weight`), lanes[first + 1].weight);
  await tab.press("Enter");
  assert.deepEqual(await tab.run(`[rprofPage.state.thread, rprofPage.state.transforms]`), [null, []]);
  await tab.run(`document.getElementById("lanes-fold").click()`);
  assert.equal((await lanesOf(tab)).length, lanes.filter((/** @type {any} */ { depth }) => depth === 0).length);
  await tab.run(`document.getElementById("lanes-fold").click()`);
}

/** @param {Tab} tab */
async function cpusSayWhoRan(tab) {
  await tab.run(`rprofPage.set({ lanes: "cpus" })`);
  const lanes = await lanesOf(tab);
  const rows = await tab.run(`rprofPage.rows("cpu").map(({ key, total }) => [key, total])`);
  assert.deepEqual(lanes.map((/** @type {any} */ { key, weight }) => [key, weight]), rows.sort((/** @type {number[]} */ a, /** @type {number[]} */ b) => a[0] - b[0]));
  const wrong = await tab.run(`(() => {
    const { profile, state } = rprofPage;
    const { lanes } = rprofPage.views.all.threads;
    const n = 40;
    const ran = lanes.cpuSlots(n);
    lanes.ran = null;
    const event = profile.head.events[state.event];
    const width = profile.head.span_ns / n;
    for (const { key: cpu } of lanes.lanes) {
      for (let slot = 0; slot < n; slot++) {
        const sums = new Map();
        for (let thread = 0; thread + 1 < profile.starts.length; thread++) {
          for (let row = profile.starts[thread]; row < profile.starts[thread + 1]; row++) {
            if (profile.head.has_events && profile.events[row] !== state.event) continue;
            if (profile.cpus[row] !== cpu + 1 || profile.stacks[row] <= 0 || profile.isWait(profile.stacks[row] - 1)) continue;
            const weight = profile.head.has_weights ? profile.weights[row] : event.each;
            const [begin, end] = [profile.times[row] - weight, profile.times[row]];
            const part = Math.min(end, (slot + 1) * width) - Math.max(begin, slot * width);
            if (part > 0) sums.set(thread, (sums.get(thread) ?? 0) + part);
          }
        }
        const all = [...sums.values()].reduce((a, b) => a + b, 0);
        const slots = ran.get(cpu);
        if (Math.abs(slots.all[slot] - all) > 1) return { cpu, slot, all, drawn: slots.all[slot] };
        const most = Math.max(0, ...sums.values());
        const who = slots.who[slot];
        if (who < 0 ? most > 1 : Math.abs((sums.get(who) ?? 0) - most) > 1) return { cpu, slot, who, sums: [...sums] };
      }
    }
    return null;
  })()`);
  assert.equal(wrong, null, JSON.stringify(wrong));
  // A click filters, another one undoes that.
  const firstLane = () => tab.run(`(() => {
    // The strip above may become higher or lower once it is counted.
    void rprofPage.overview.slots;
    const rect = rprofPage.views.all.threads.lanes.canvas.getBoundingClientRect();
    return [rect.left + 30, rect.top + 16 + 10];
  })()`);
  await tab.drag(await firstLane());
  assert.deepEqual(await tab.run(`rprofPage.state.transforms`), [{ kind: "keep", grouping: "cpu", key: lanes[0].key }]);
  assert.equal(await tab.run(`rprofPage.counts.total.weight`), lanes[0].weight);
  // What is filtered has a line above the lanes now.
  await tab.drag(await firstLane());
  assert.deepEqual(await tab.run(`rprofPage.state.transforms`), []);
  await tab.run(`rprofPage.set({ lanes: "threads" })`);
}

/** Times are at the same place in the strip and in the lanes. @param {Tab} tab */
async function lanesAreAlignedWithTheStrip(tab) {
  for (const width of [1280, 360]) {
    await tab.size(width, 800);
    await tab.run(`rprofPage.redraw()`);
    const [strip, lanes] = await tab.run(`(() => {
      const { overview, views } = rprofPage;
      const { lanes } = views.all.threads;
      const ends = ({ canvas, scale }) => [scale.x(0), scale.x(1e8)].map((x) => canvas.getBoundingClientRect().left + x);
      return [ends(overview), ends(lanes)];
    })()`);
    assert.deepEqual(strip, lanes);
  }
  await tab.size(1280, 800);
}

/** What is drawn of a thread is what its rows weigh, but for the first sample, which stands for time before. @param {Tab} tab */
async function heightsAreWeights(tab) {
  const wrong = await tab.run(`(() => {
    const { lanes } = rprofPage.views.all.threads;
    const { head } = rprofPage.profile;
    const event = head.events[rprofPage.state.event];
    if (event.kind !== "cpu-time") return [];
    return lanes.lanes.map((lane) => {
      const sum = lanes.slots(lane, 613).all.reduce((a, b) => a + b, 0);
      return [lane.name, sum, lane.weight];
    }).filter(([, sum, weight]) => sum > weight + 1 || sum < weight - lanes.lanes.length * (event.each ?? weight) - 1);
  })()`);
  assert.deepEqual(wrong, []);
}

/** Lowest are functions, each once, as wide as the table's self; apart, the names of threads. @param {Tab} tab */
async function theInvertedGraphMergesThreads(tab) {
  const [merged, apart, rows, threads] = await tab.run(`(() => {
    const lowest = () => {
      const { boxes } = rprofPage.views.all.flame.graph;
      return [...boxes.levels[0]].map((box) => [rprofPage.profile.nameOf(boxes.labels[box]), boxes.widths[box]]).sort();
    };
    const sums = (list) => {
      const sums = new Map();
      for (const [name, weight] of list) sums.set(name, (sums.get(name) ?? 0) + weight);
      return [...sums].filter(([, weight]) => weight > 0).sort();
    };
    rprofPage.set({ view: "flame", inverted: true, threads: "alike" });
    const merged = lowest();
    const rows = sums(rprofPage.rows("function").map(({ name, self }) => [name, self]));
    rprofPage.set({ threads: "apart" });
    const apart = lowest();
    const threads = sums(rprofPage.rows("thread").map(({ name, total }) => [name, total]));
    rprofPage.set({ threads: "alike", inverted: false });
    return [sums(merged), apart, rows, threads];
  })()`);
  assert.deepEqual(merged, rows);
  assert.deepEqual(apart, threads);
}

/** Each other event has a strip that counts all of it; a sample fills the time that it stands for. @param {Tab} tab */
async function stripsCountTheirEvents(tab) {
  const { counters, events, empty } = await tab.run(`(() => {
    const { profile, overview, state } = rprofPage;
    const { slots, span } = overview;
    const event = profile.head.events[state.event];
    let empty = 0;
    for (let row = 0; row < profile.times.length && event.kind === "cpu-time"; row++) {
      if (profile.head.has_events && profile.events[row] !== state.event) continue;
      const middle = profile.times[row] - event.each / 2;
      if (middle >= 0 && !(slots.all[Math.floor((middle / span) * slots.n)] > 0)) empty++;
    }
    const counters = overview.counters.list.map(({ event, slots }) => [event, slots.all.reduce((a, b) => a + b, 0)]);
    return { counters, events: profile.head.events.map(({ samples, weight }) => [samples, weight]), empty };
  })()`);
  assert.equal(empty, 0);
  // Selected, an event has the numbers that its strip has.
  const said = await tab.run(`(() => {
    const { overview } = rprofPage;
    const strips = overview.counters.list.map(({ event, slots }) => [event, slots.n, Math.max(...slots.all)]);
    const selected = strips.map(([event]) => {
      rprofPage.set({ event });
      const { slots } = overview;
      return [event, slots.n, Math.max(...slots.all)];
    });
    rprofPage.set({ event: 0 });
    return [strips, selected];
  })()`);
  assert.deepEqual(said[0], said[1]);
  const others = events.map(([samples, weight], /** @type {number} */ event) => ({ samples, weight, event }))
    .filter((/** @type {any} */ { samples, event }) => event > 0 && samples > 0);
  assert.deepEqual(counters.map(([event]) => event), others.map((/** @type {any} */ { event }) => event));
  for (const [event, sum] of counters) {
    const { weight } = others.find((/** @type {any} */ one) => one.event === event);
    assert.ok(Math.abs(sum - weight) <= 1e-6 * weight, `${event}: ${sum} of ${weight}`);
  }
}

/** @param {Tab} tab */
async function keysChooseARangeInTheHeatMap(tab) {
  await tab.run(`rprofPage.set({ view: "heat", range: null }); rprofPage.views.all.heat.map.canvas.focus()`);
  const said = await saidByKey(tab, "rprofPage.views.all.heat.map.canvas", "ArrowRight");
  assert.match(said, /^.* to .*: \d+ samples?( of running threads)?$/);
  for (const key of ["ArrowRight", "ArrowUp", "Enter"]) await tab.press(key);
  const [range, unit] = await tab.run(`[rprofPage.state.range, rprofPage.views.all.heat.map.unit]`);
  assert.ok(range !== null && Math.abs(range[1] - range[0] - unit / 50) < 2, `${range} ${unit}`);
  await tab.run(`rprofPage.set({ view: "flame", range: null })`);
}

/** @param {Tab} tab */
async function phonesReachAllTabs(tab) {
  await tab.size(360, 640);
  const names = await tab.run(`[...document.querySelectorAll("#tabs [role=tab]")].filter(({ hidden }) => !hidden).map(({ id }) => id)`);
  for (const name of names) {
    const [left, right, width, isChosen] = await tab.run(`(() => {
      const tab = document.getElementById("${name}");
      tab.click();
      const { left, right } = tab.getBoundingClientRect();
      return [left, right, document.documentElement.clientWidth, tab.getAttribute("aria-selected")];
    })()`);
    assert.ok(left >= 0 && right <= width && isChosen === "true", `${name}: ${left} ${right} ${width}`);
  }
  // Options are folded until they are asked for.
  const isThere = `rprofPage.set({ view: "flame" }), document.getElementById("order").getBoundingClientRect().height > 0`;
  assert.equal(await tab.run(isThere), false);
  await tab.run(`document.getElementById("fold").click()`);
  assert.equal(await tab.run(isThere), true);
  await tab.run(`document.getElementById("fold").click()`);
  await tab.size(1280, 800);
}

/** What has no room scrolls to its end, and what is drawn stays where it is seen. @param {Tab} tab */
async function whatHasNoRoomScrolls(tab) {
  await tab.size(1280, 330);
  for (const [view, id] of [["flame", "flame-place"], ["threads", "lanes-place"]]) {
    const [height, space, top, scrolled, room] = await tab.run(`(async () => {
      rprofPage.set({ view: "${view}", lanes: "threads", transforms: [], range: null, thread: null });
      await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 0)));
      const place = document.getElementById("${id}");
      const [canvas, space] = place.children;
      place.scrollTop = 1e6;
      const top = canvas.getBoundingClientRect().top - place.getBoundingClientRect().top;
      const found = [place.scrollHeight, parseFloat(space.style.height), top, place.scrollTop, place.clientHeight];
      place.scrollTop = 0;
      return found;
    })()`);
    assert.ok(space > room, `${view}: ${space} in ${room}`);
    assert.ok(Math.abs(height - space) <= 1 && Math.abs(scrolled - (space - room)) <= 1, `${view}: ${height} of ${space}`);
    assert.ok(Math.abs(top) <= 1, `${view}: ${top}`);
  }
  await tab.size(1280, 800);
}

/** @param {Tab} tab @param {Facts} facts */
async function check(tab, facts) {
  await tab.open(`file://${facts.page}`);
  await processesGroupTheirThreads(tab);
  await whatHasNoRoomScrolls(tab);
  await heightsAreWeights(tab);
  await cpusSayWhoRan(tab);
  await lanesAreAlignedWithTheStrip(tab);
  await stripsCountTheirEvents(tab);
  await keysChooseARangeInTheHeatMap(tab);
  await phonesReachAllTabs(tab);
  if (facts.flags.length === 0) await theInvertedGraphMergesThreads(tab);
  await tab.open(`file://${facts.page}#view=threads&lanes=cpus`);
  assert.deepEqual(await tab.run(`[rprofPage.state.lanes, document.getElementById("lanes-of").value]`), ["cpus", "cpus"]);
}

module.exports = { check };
