// Threads that changed their names, that waited all the time, or that have no samples; keys of views and of the timeline.
"use strict";

const assert = require("node:assert/strict");

/** @typedef {import("./checks.js").Tab} Tab */
/** @typedef {import("./filters.js").Facts} Facts */

/** The first look at the stack chart is drawn, with a flat axis. @param {Tab} tab */
async function theStackChartIsDrawnAtOnce(tab) {
  await tab.run(`document.getElementById("chart-tab").click()`);
  const [axis, place, canvas] = await tab.run(`["#chart .axis", "#chart-place", "#chart-place canvas"]
    .map((one) => document.querySelector(one).clientHeight)`);
  assert.equal(axis, 16);
  assert.ok(place > 100 && canvas > 100, `${place} ${canvas}`);
}

/** @param {Tab} tab @param {Facts} facts */
async function theZoomOfTheChartIsInTheLink(tab, facts) {
  const [hash, start, width] = await tab.run(`(() => {
    const { chart } = rprofPage.views.all;
    const { whole } = chart.graph.boxes;
    chart.graph.view(Math.floor(whole / 4), Math.floor(whole / 8));
    chart.zoomed();
    rprofPage.address.rememberNow();
    return [location.hash, chart.graph.start, chart.graph.width];
  })()`);
  await tab.open(`file://${facts.page}${hash}`);
  assert.deepEqual(await tab.run(`[rprofPage.views.all.chart.graph.start, rprofPage.views.all.chart.graph.width]`), [start, width]);
  await tab.run(`document.getElementById("chart-all").click()`);
  assert.equal(await tab.run(`rprofPage.state.chart`), null);
}

/** What a thread counts of everything is what its rows count. @param {Tab} tab */
async function aThreadCountsItsRows(tab) {
  const [n, wrong] = await tab.run(`(() => {
    const page = rprofPage;
    const { profile } = page;
    const { threads, has_cpus } = profile.head;
    const said = ({ total, shown, weights, samples }) => JSON.stringify([total, shown, [...weights], [...samples]]);
    page.set({ view: "flame", range: null, thread: null, transforms: [] });
    const [{ key }] = page.functions();
    const filters = [[], [{ kind: "drop", grouping: "function", key }], [{ kind: "merge", grouping: "function", key }]];
    if (has_cpus) filters.push([{ kind: "drop", grouping: "cpu", key: profile.cpus[0] - 1 }]);
    const wrong = [];
    for (const transforms of filters) {
      for (let thread = 0; thread < Math.min(20, threads.length); thread++) {
        page.set({ thread: null, transforms });
        page.set({ thread });
        const { counts } = page;
        if (said(counts) !== said(counts.constructor.of(profile, page.state))) wrong.push([thread, transforms]);
      }
    }
    page.set({ thread: null, transforms: [] });
    return [filters.length, wrong];
  })()`);
  assert.ok(n >= 3);
  assert.deepEqual(wrong, []);
}

/** Bars of waits are seen on the paper. @param {Tab} tab */
async function barsOfWaitsAreSeen(tab) {
  const ratios = await tab.run(`(() => {
    const { theme, profile } = rprofPage;
    const of = (colour) => {
      const [r, g, b] = colour.match(/\\d+/g).map((part) => part / 255)
        .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
      return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
    };
    const ratios = [];
    for (let n = 0; n < 2; n++) {
      const paper = theme.isDark ? of("rgb(22 24 29)") : 1.05;
      for (const label of profile.waitLabels) {
        const one = of(theme.waitBar(label));
        ratios.push(Math.max(one, paper) / Math.min(one, paper));
      }
      theme.toggle();
    }
    return ratios;
  })()`);
  assert.ok(ratios.every((/** @type {number} */ ratio) => ratio >= 2.95), String(ratios));
}

/** Lanes of CPUs are seen on the paper, and names on them. @param {Tab} tab */
async function lanesOfCpusAreSeen(tab) {
  const ratios = await tab.run(`(() => {
    const { theme } = rprofPage;
    const of = (colour) => luminanceOf(colour.match(/\\d+/g).map(Number));
    const luminanceOf = (parts) => {
      const [r, g, b] = parts.map((part) => part / 255).map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
      return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
    };
    const hex = (colour) => luminanceOf([1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16)));
    const ratio = (one, other) => Math.max(one, other) / Math.min(one, other);
    const ratios = [];
    for (let n = 0; n < 2; n++) {
      const { paper, ink } = theme.colours;
      for (let hue = 0; hue < 360; hue += 2) ratios.push([ratio(of(theme.lane(hue)), hex(paper)), ratio(of(theme.lane(hue)), hex(ink))]);
      theme.toggle();
    }
    return ratios;
  })()`);
  for (const [paper, ink] of ratios) assert.ok(paper >= 2.95 && ink >= 4.45, `${paper} ${ink}`);
}

/** @param {Tab} tab */
async function theSelectedThreadIsAnOption(tab) {
  const wrong = await tab.run(`(() => {
    const { profile } = rprofPage;
    const wrong = [];
    // No thread has a sample in so short a range.
    for (const range of [null, [1, 2]]) {
      for (let thread = 0; thread < profile.head.threads.length; thread++) {
        rprofPage.set({ view: "chart", thread, range });
        const value = document.getElementById("chart-thread").value;
        if (value !== String(thread)) wrong.push([thread, range, value]);
      }
    }
    rprofPage.set({ thread: null, range: null, view: "threads" });
    return wrong;
  })()`);
  assert.deepEqual(wrong, []);
}

/** The summary, and lanes, count threads by their ids; those that only woke others are none. @param {Tab} tab */
async function threadsAreCountedById(tab) {
  const [expected, said, lanes] = await tab.run(`(() => {
    const { profile, state } = rprofPage;
    const { head, starts, events, waits } = profile;
    rprofPage.set({ view: "summary" });
    const ids = new Set();
    head.threads.forEach(([, tid], thread) => {
      let n = waits.starts[thread + 1] - waits.starts[thread];
      for (let row = starts[thread]; row < starts[thread + 1]; row++) n += !head.has_events || events[row] === state.event ? 1 : 0;
      if (n > 0) ids.add(tid);
    });
    const names = [...document.querySelectorAll("#summary dt")];
    const said = names.find(({ textContent }) => textContent === "Threads").nextElementSibling.textContent;
    rprofPage.set({ view: "threads", lanes: "threads" });
    const { lanes } = rprofPage.views.all.threads;
    return [ids.size, said, lanes.lanes.filter(({ kind }) => kind === "process").map((lane) =>
      [lanes.said(lane), new Set(lane.threads.map((thread) => head.threads[thread][1])).size])];
  })()`);
  assert.equal(Number(said.split(" ")[0].replace(",", "")), expected, said);
  for (const [text, n] of lanes) assert.match(text, new RegExp(`, ${n} threads?: `));
}

/** Each thread that waits within a range has a lane, unless it is left out. @param {Tab} tab */
async function whoWaitsHasALane(tab) {
  const wrong = await tab.run(`(() => {
    const { profile } = rprofPage;
    const { waits, head } = profile;
    const wrong = [];
    for (const share of [0.1, 0.3, 0.5, 0.7, 0.9]) {
      const range = [Math.floor(head.span_ns * share), Math.floor(head.span_ns * (share + 0.01))];
      rprofPage.set({ view: "threads", lanes: "threads", range, transforms: [] });
      const { laneOf } = rprofPage.views.all.threads.lanes;
      for (let thread = 0; thread < head.threads.length; thread++) {
        if (waits.hasAny(thread, range) && !laneOf.has(thread)) wrong.push([share, thread]);
      }
      const [pid] = head.threads[0];
      rprofPage.set({ transforms: [{ kind: "drop", grouping: "process", key: pid }] });
      for (const thread of rprofPage.views.all.threads.lanes.laneOf.keys()) if (head.threads[thread][0] === pid) wrong.push(["dropped", thread]);
    }
    rprofPage.set({ range: null, transforms: [] });
    return wrong;
  })()`);
  assert.deepEqual(wrong, []);
}

/** Sums of waits are of all of them, or there are none. @param {Tab} tab */
async function sumsOfWaitsAreWhole(tab) {
  const [all, ofCpu, ofPart] = await tab.run(`(() => {
    const { profile } = rprofPage;
    const { times } = rprofPage.views.all.threads;
    const said = () => (times.element.hidden ? null : times.element.textContent);
    const set = (transforms) => rprofPage.set({ view: "threads", lanes: "threads", transforms });
    set([]);
    const all = said();
    const cpu = profile.cpus.find((one) => one > 0);
    set(cpu === undefined ? [] : [{ kind: "keep", grouping: "cpu", key: cpu - 1 }]);
    const ofCpu = cpu === undefined ? null : said();
    set([]);
    const n = profile.head.n_all_waits;
    profile.head.n_all_waits = profile.waits.n + 1000;
    times.show([...rprofPage.views.all.threads.lanes.laneOf.keys()], [0, profile.head.span_ns]);
    const ofPart = said();
    profile.head.n_all_waits = n;
    return [all, ofCpu, ofPart];
  })()`);
  if (all === null) return;
  assert.match(all, /\d m?s/);
  if (ofCpu !== null) assert.match(ofCpu, /^\D*\(waits are not filtered\)$/);
  assert.match(ofPart, /^\D*\([\d,]+ longest of [\d,]+ waits\)$/);
}

/** Of all waits, or of the longest. @param {Tab} tab */
async function sumsByWakerSayOfWhichWaits(tab) {
  const [part, all] = await tab.run(`(() => {
    const { head } = rprofPage.profile;
    const before = head.n_all_waits;
    rprofPage.set({ view: "waits" });
    const view = rprofPage.views.all.waits;
    view.wakers.checked = true;
    head.n_all_waits = rprofPage.profile.waits.n + 5;
    view.show();
    const part = view.note.textContent;
    head.n_all_waits = before;
    view.show();
    const all = view.note.textContent;
    view.wakers.checked = false;
    rprofPage.set({ view: "flame" });
    return [part, all];
  })()`);
  assert.match(part, /^All numbers are of the \d+ longest of \d+ waits/);
  assert.doesNotMatch(all, /longest/);
}

/** By cause alone they are the same waits, and a cause without samples narrows the table. @param {Tab} tab */
async function waitsAreSummedByCause(tab) {
  const { sums, labels, chosen, transforms, unknown } = await tab.run(`(() => {
    rprofPage.set({ view: "waits" });
    const view = rprofPage.views.all.waits;
    const tick = (threads, wakers) => {
      view.threads.checked = threads;
      view.wakers.checked = wakers;
      view.show();
      return view.rows;
    };
    const sums = [[true, true], [false, true]].map(([a, b]) => tick(a, b).reduce((all, { sum }) => all + sum, 0));
    const wakers = view.rows.map((row) => [row.queue, row.waker, view.nameOfWaker(row)]);
    const labels = tick(false, false).map(({ label }) => label);
    let [chosen, transforms] = [null, []];
    if (rprofPage.profile.head.waits === undefined) {
      sums.push(view.rows.reduce((all, { sum }) => all + sum, 0));
      document.querySelector("#waits-place tbody button").click();
      chosen = view.rows.map(({ label }) => label === labels[0]);
      ({ transforms } = rprofPage.state);
      view.remove.click();
    }
    tick(true, rprofPage.profile.head.waits === undefined);
    rprofPage.set({ view: "flame" });
    return { sums, labels, chosen, transforms, unknown: wakers.filter(([queue, waker]) => waker === 0 && queue !== "preempted").map(([, , said]) => said) };
  })()`);
  for (const sum of sums) assert.ok(Math.abs(sum - sums[0]) <= 1e-9 * sums[0], String(sums));
  assert.equal(new Set(labels).size, labels.length);
  if (chosen !== null) assert.deepEqual([chosen, transforms], [[true], []]);
  for (const said of unknown) assert.equal(said, "[unknown]");
}

/** A thread is in one place at a time. @param {Tab} tab */
async function noMoreThreadsThanThereAre(tab) {
  const most = await tab.run(`(() => {
    const { overview, profile } = rprofPage;
    const all = new Set(profile.head.threads.map(([, tid]) => tid)).size;
    const most = [];
    for (const thread of [null, 0]) {
      rprofPage.set({ thread });
      most.push(overview.slots.mostAtOnce);
    }
    rprofPage.set({ thread: null });
    return [...most, all];
  })()`);
  assert.equal(most[1], 1);
  assert.ok(most[0] <= most[2], String(most));
}

/** @param {Tab} tab */
async function keysOfTheTimeline(tab) {
  const result = await tab.run(`(() => {
    const { canvas } = rprofPage.overview;
    const press = (key, more) => {
      const event = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more });
      canvas.dispatchEvent(event);
      return event.defaultPrevented;
    };
    const span = rprofPage.profile.head.span_ns;
    const range = [Math.floor(span / 2), Math.floor(span * 0.6)];
    rprofPage.set({ range });
    const back = ["altKey", "ctrlKey", "metaKey"].map((key) => press("ArrowLeft", { [key]: true }));
    const same = JSON.stringify(rprofPage.state.range) === JSON.stringify(range) && rprofPage.state.against === null;
    const taken = press("PageDown");
    const { against } = rprofPage.state;
    rprofPage.set({ against: null, range: null });
    return { back, same, taken, against };
  })()`);
  assert.deepEqual([result.back, result.same, result.taken], [[false, false, false], true, true]);
  assert.ok(result.against !== null);
  const keys = await tab.run(`rprofPage.views.list.map(({ entry }) => entry.key)`);
  assert.equal(new Set(keys).size, keys.length, String(keys));
}

/** Of one thread, the sentence about two ranges has that thread's sums. @param {Tab} tab */
async function theSentenceIsOfWhatIsShown(tab) {
  const [said, expected, compared] = await tab.run(`(() => {
    const { profile } = rprofPage;
    const span = profile.head.span_ns;
    rprofPage.set({ view: "table", range: [Math.floor(span / 2), span], thread: 0 });
    rprofPage.ranges.compareWith([0, Math.floor(span / 2)]);
    const { counts, comparison } = rprofPage;
    const expected = comparison.text({ before: counts.before.shown, after: counts.shown });
    const said = document.querySelector("#ranges .said").textContent;
    rprofPage.set({ view: "flame", order: "time" });
    const compared = [document.getElementById("order").value, document.getElementById("order").options[2].disabled];
    rprofPage.set({ view: "flame", order: "heavy", against: null, range: null, thread: null });
    return [said, expected, compared];
  })()`);
  assert.ok(said.includes(expected), `${said} / ${expected}`);
  assert.deepEqual(compared, ["heavy", true], "two ranges have no common time");
}

/** On narrow screens ids of lanes go before names are cut. @param {Tab} tab */
async function namesOfLanesGoBeforeIds(tab) {
  const names = await tab.run(`(() => {
    rprofPage.set({ view: "threads", lanes: "threads" });
    const { lanes } = rprofPage.views.all.threads;
    const letters = { measureText: (text) => ({ width: text.length }) };
    const within = (name) => [20, 12, 8, 4].map((room) => lanes.nameWithin(letters, name, room));
    return [...["reader 1871/1875", "reader 1871", "a 1 1871/1875", "1871"].map(within), lanes.profile.head.by_name];
  })()`);
  assert.deepEqual(names, [
    ["reader 1871/1875", "reader 1875", "reader", "r…r"],
    ["reader 1871", "reader 1871", "reader", "r…r"],
    ["a 1 1871/1875", "a 1 1875", "a 1 1875", "a 1"],
    ["1871", "1871", "1871", "1871"],
    false,
  ]);
}

/** A recording without samples has an empty chart. @param {Tab} tab @param {string} page */
async function nothingIsDrawnOfNothing(tab, page) {
  await tab.open(`file://${page}`);
  const views = await tab.run(`(() => {
    for (const { entry } of rprofPage.views.list) rprofPage.view(entry.name);
    return [rprofPage.profile.head.threads.length, document.getElementById("chart-note").textContent];
  })()`);
  assert.deepEqual(views, [0, "No samples."]);
}

/** @param {Tab} tab @param {Facts} facts */
async function check(tab, facts) {
  await tab.open(`file://${facts.page}`);
  await theStackChartIsDrawnAtOnce(tab);
  await theZoomOfTheChartIsInTheLink(tab, facts);
  await theSelectedThreadIsAnOption(tab);
  await barsOfWaitsAreSeen(tab);
  await lanesOfCpusAreSeen(tab);
  await aThreadCountsItsRows(tab);
  await threadsAreCountedById(tab);
  await whoWaitsHasALane(tab);
  await sumsOfWaitsAreWhole(tab);
  if (await tab.run(`rprofPage.profile.waits.n > 0 && rprofPage.views.all.waits !== undefined`)) {
    await sumsByWakerSayOfWhichWaits(tab);
    await waitsAreSummedByCause(tab);
  }
  await noMoreThreadsThanThereAre(tab);
  await keysOfTheTimeline(tab);
  await namesOfLanesGoBeforeIds(tab);
  await theSentenceIsOfWhatIsShown(tab);
}

module.exports = { check, nothingIsDrawnOfNothing };
