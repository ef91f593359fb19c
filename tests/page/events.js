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
