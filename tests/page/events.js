// Events with their fields: each that rprof script prints, with its thread, its time and what it says.
"use strict";

const assert = require("node:assert/strict");

/**
 * @typedef {import("./checks.js").Tab} Tab
 * @typedef {{page: string, traced: [string, number, string][]}} Facts
 */

/** Time, thread and the process that was made, of the rows that are shown. @param {Tab} tab @returns {Promise<[string, number, string][]>} */
function shown(tab) {
  return tab.run(`(() => {
    const { profile, views } = rprofPage;
    return views.all.events.rows.map(({ time, thread, text }) => [
      String(BigInt(profile.head.start_ns) + BigInt(time)), profile.head.threads[thread][1], /child_pid=(\\d+)/.exec(text)[1],
    ]);
  })()`);
}

/** Lines of the chart: their names, and times of their events. @param {Tab} tab @returns {Promise<[string, string[]][]>} */
function linesOf(tab) {
  return tab.run(`(() => {
    const { profile, views } = rprofPage;
    const { rows, lines } = views.all.events.chart;
    return lines.map((line) => [line.name, line.rows.map((row) => String(BigInt(profile.head.start_ns) + BigInt(rows[row].time)))]);
  })()`);
}

/** Where an event of the chart's first line is in the window. @param {Tab} tab @param {number} at @returns {Promise<[number, number]>} */
function placeOf(tab, at) {
  return tab.run(`(() => {
    const { chart } = rprofPage.views.all.events;
    const { left, top } = chart.canvas.getBoundingClientRect();
    return [left + chart.scale.x(chart.timeOf(0, ${at})), top + 16 + 10];
  })()`);
}

/** The time in the first row of the table. @param {Tab} tab @returns {Promise<number>} */
function firstTime(tab) {
  return tab.run(`parseFloat(document.querySelector("#events-place tbody td").textContent)`);
}

/** Each event has a mark in the line of its thread; marks lead to rows, drags to ranges. @param {Tab} tab @param {Facts} facts */
async function chart(tab, facts) {
  const lines = await linesOf(tab);
  const marks = lines.flatMap(([, times]) => times);
  assert.deepEqual(marks.sort(), facts.traced.map(([time]) => time).sort());
  assert.equal(lines.length, new Set(facts.traced.map(([, tid]) => tid)).size);
  for (const [name, times] of lines) {
    const tid = Number(/ (\d+)$/.exec(name)?.[1]);
    assert.deepEqual(times, facts.traced.filter(([, one]) => one === tid).map(([time]) => time), name);
  }
  // Of the line with most events, the last one: by the pointer, and by keys.
  const times = await tab.run(`(() => {
    const { rows, lines } = rprofPage.views.all.events.chart;
    return lines[0].rows.map((row) => rows[row].time / 1e9);
  })()`);
  const last = times.length - 1;
  await tab.drag(await placeOf(tab, last));
  const [chosen, reach, isCut] = await tab.run(`(() => {
    const { chart, earlier } = rprofPage.views.all.events;
    return [parseFloat(document.querySelector("#events-place tbody td").textContent), 2e-9 / chart.scale.perNs, !earlier.hidden];
  })()`);
  assert.ok(isCut && Math.abs(chosen - times[last]) <= reach + 1e-6, `${chosen} of ${times}`);
  await tab.run(`rprofPage.views.all.events.chart.canvas.focus()`);
  await tab.press("End");
  assert.match(await tab.run(`document.getElementById("pointed").textContent`), /sched:sched_process_fork .*child_pid=/);
  await tab.press("Enter");
  assert.equal((await firstTime(tab)).toFixed(6), times[last].toFixed(6));
  await tab.press("Home");
  await tab.press("Enter");
  assert.equal((await firstTime(tab)).toFixed(6), times[0].toFixed(6));
  await tab.run(`rprofPage.views.all.events.earlier.click()`);
  assert.equal(await tab.run(`document.querySelectorAll("#events-place tbody tr").length`), facts.traced.length);
  // All of one event are one line.
  const choose = (/** @type {string} */ value) => tab.run(`(() => {
    const { lines } = rprofPage.views.all.events;
    lines.value = "${value}";
    lines.dispatchEvent(new Event("change"));
  })()`);
  await choose("event");
  assert.deepEqual((await linesOf(tab)).map(([name, times]) => [name, times.length]), [["sched:sched_process_fork", facts.traced.length]]);
  const [x, y] = await placeOf(tab, 0);
  await tab.drag([x - 6, y], [x + 6, y]);
  const [from, to] = await tab.run(`rprofPage.state.range`);
  const first = await tab.run(`rprofPage.views.all.events.all[0].time`);
  assert.ok(from <= first && to >= first, `${from} to ${to}: ${first}`);
  await tab.run(`rprofPage.set({ range: null })`);
  await choose("thread");
}

/** @param {Tab} tab @param {Facts} facts */
async function check(tab, facts) {
  await tab.run(`document.activeElement.blur()`);
  await tab.press("e", "e");
  assert.equal(await tab.run(`rprofPage.state.view`), "events");
  assert.deepEqual(await shown(tab), facts.traced);
  const n = facts.traced.length;
  assert.equal(await tab.run(`rprofPage.views.all.events.note.textContent`), `${n} events.`);
  const cells = await tab.run(`[...document.querySelectorAll("#events-place tbody tr")].map((row) => [...row.cells].map((one) => one.textContent))`);
  assert.equal(cells.length, n);
  for (const [at, [time, , event, fields]] of cells.entries()) {
    assert.match(time, /^\d+\.\d{6} s$/);
    assert.equal(event, "sched:sched_process_fork");
    assert.ok(fields.includes(`child_pid=${facts.traced[at][2]}`) && /parent_comm=\S/.test(fields), fields);
  }
  await chart(tab, facts);
  // They are searched, and follow ranges and threads.
  const [, , child] = facts.traced[n - 1];
  await tab.run(`rprofPage.find("child_pid=${child}\\\\b")`);
  assert.deepEqual(await shown(tab), facts.traced.filter(([, , one]) => one === child));
  await tab.run(`rprofPage.find("")`);
  const at = await tab.run(`rprofPage.views.all.events.all.map(({ time }) => time)`);
  await tab.run(`rprofPage.set({ range: [${at[0]}, ${at[0]}] })`);
  assert.deepEqual(await shown(tab), facts.traced.filter((_, one) => at[one] === at[0]));
  await tab.run(`rprofPage.set({ range: null })`);
  const [, tid] = facts.traced[0];
  await tab.run(`rprofPage.set({ transforms: [{ kind: "keep", grouping: "task", key: ${tid} }] })`);
  assert.deepEqual(await shown(tab), facts.traced.filter(([, one]) => one === tid));
  await tab.run(`rprofPage.set({ transforms: [] })`);
  // What has no room is said; what events say is text.
  const [said, text] = await tab.run(`(() => {
    const { head } = rprofPage.profile;
    const view = rprofPage.views.all.events;
    head.n_traced_left = 7;
    view.all[0] = { ...view.all[0], text: "<img src=x onerror=globalThis.broken=1>" };
    view.show();
    const said = view.note.textContent;
    const text = document.querySelector(".event-fields").textContent;
    head.n_traced_left = 0;
    view.all = null;
    rprofPage.set({ view: "flame" });
    return [said, text];
  })()`);
  assert.match(said, /the page has the first \d+; 7 later ones are left out/);
  assert.equal(text, "<img src=x onerror=globalThis.broken=1>");
}

module.exports = { check };
