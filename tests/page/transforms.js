// Transforms of stacks, alone and in pairs: what the flame graph, the table and the time order count then is what comes
// out where each stack is transformed by itself, as a list of names.
"use strict";

const assert = require("node:assert/strict");
const { readFileSync } = require("node:fs");
const path = require("node:path");
const vm = require("node:vm");

/** @typedef {import("./checks.js").Tab} Tab */

/**
 * Runs in the page: transforms as a user would do them by hand, stack by stack.
 * @param {any} page
 */
function transformed(page) {
  const { profile } = page;
  // The stacks that count, as lists of frames from the thread inwards.
  const recorded = () => {
    const known = new Map();
    const { parents, labels, stacks, flags, functionOf, frameOfFunction, names, images, head } = profile.recorded;
    const { has_events: hasEvents, has_weights: hasWeights } = head;
    for (let row = 0; row < stacks.length; row++) {
      if (stacks[row] === 0 || (hasEvents && profile.events[row] !== page.state.event)) continue;
      const weight = hasWeights ? profile.weights[row] : profile.samplesOf(row) * head.events[page.state.event].each;
      const found = known.get(stacks[row]);
      if (found !== undefined) {
        found.weight += weight;
        continue;
      }
      const stack = [];
      for (let node = stacks[row] - 1; node >= 0; node = parents[node]) {
        const label = labels[node];
        const frame = frameOfFunction[functionOf[label]];
        stack.unshift(parents[node] < 0
          ? { thread: label, name: head.strings[head.comms[label]] }
          : { function: functionOf[label], image: images[frame], name: head.strings[names[frame]], isWait: (flags[frame] & 64) !== 0 });
      }
      known.set(stacks[row], { weight, stack });
    }
    return [...known.values()];
  };
  const withoutTypes = (name) => name
    .replace(/([^<(&* [,])<[^<>]*>/g, "$1<...>")
    .replace(/([^<(&* [,])<[^<>]*$/, "$1<...");
  const is = ({ grouping, key, text }) => (frame) =>
    (grouping === "pattern" ? new RegExp(text, "i").test(frame.name) : frame[grouping] === key && !frame.isWait);
  const isOnPath = (stack, { path }) => stack[0].thread === path[0] && path.slice(1).every((one, at) => stack[at + 1]?.function === one);
  // Where in a stack a node or a function is.
  const isOf = (one) => (frame) => (one.grouping !== "pattern" || frame.thread === undefined) && is(one)(frame);
  const placeOf = (stack, one) => (one.path === undefined ? stack.findIndex(isOf(one)) : isOnPath(stack, one) ? one.path.length - 1 : -1);
  const apply = {
    keep: (stack, one) => (stack.some(is(one)) ? stack : null),
    drop: (stack, one) => (stack.some(is(one)) ? null : stack),
    omit: (stack, one) => {
      const last = stack.findLast(({ isWait }) => !isWait);
      return is(one)(last) ? null : stack;
    },
    focus: (stack, one) => {
      const at = placeOf(stack, one);
      return at < 0 ? null : [stack[0], ...stack.slice(at)];
    },
    merge: (stack, one) => {
      if (one.path !== undefined) return stack.filter((_, at) => at !== placeOf(stack, one));
      const hides = one.grouping === "pattern" ? (frame) => frame.thread === undefined && !frame.isWait && is(one)(frame) : is(one);
      return stack.filter((frame) => !hides(frame));
    },
    show: ([thread, ...stack], one) => {
      if (!stack.some(is(one))) return null;
      return [thread, ...stack.filter((frame) => frame.isWait || is(one)(frame))];
    },
    self: (stack, one) => {
      const last = stack.findLastIndex(({ isWait }) => !isWait);
      const isSelf = one.path === undefined ? is(one)(stack[last]) : placeOf(stack, one) === last;
      return isSelf ? [stack[0], ...stack.slice(last)] : null;
    },
    collapse: (stack, one) => {
      if (one.grouping === "function") {
        const at = stack.findIndex(is(one));
        return at < 0 ? stack : [...stack.slice(0, at + 1), ...stack.slice(at + 1).filter(({ isWait }) => isWait)];
      }
      const image = { image: one.key, name: profile.head.strings[one.key] };
      const kept = [];
      for (const frame of stack) {
        if (!is(one)(frame)) kept.push(frame);
        else if (!kept.length || !is(one)(kept[kept.length - 1])) kept.push(image);
      }
      return kept;
    },
    recursion: (stack, one) => {
      const [first, last] = [stack.findIndex(is(one)), stack.findLastIndex(is(one))];
      return first < 0 ? stack : [...stack.slice(0, first), ...stack.slice(last)];
    },
    types: ([thread, ...stack]) => [thread, ...stack.map((frame) => ({ ...frame, name: withoutTypes(frame.name) }))],
  };
  const key = (stack) => stack.map(({ name, image }) => (image === undefined ? name : `${name} ${profile.head.strings[image]}`)).join("\n");
  const rows = recorded();
  return (transforms) => {
    const sums = {};
    for (const { weight, stack } of rows) {
      const left = transforms.reduce((now, one) => now && apply[one.kind](now, one), stack);
      if (left !== null) sums[key(left)] = (sums[key(left)] ?? 0) + weight;
    }
    return sums;
  };
}

/** Runs in the page: what ends in each box of the flame graph, by the same keys. @param {any} page */
function counted(page) {
  const { boxes } = page.views.all.flame.graph;
  const sums = {};
  for (const level of boxes.levels) {
    for (const box of level) {
      if (boxes.own[box] === 0) continue;
      const path = boxes.pathOf(box).reverse();
      const name = (label) => page.profile.nameOf(label) + (label < 0 ? "" : ` ${page.profile.imageOfFrame(label)}`);
      const key = path.map(name).join("\n");
      sums[key] = (sums[key] ?? 0) + boxes.own[box];
    }
  }
  return sums;
}

/** Runs in the page: transforms of the heaviest functions, images and threads. @param {any} page @param {number} n */
function candidates(page, n) {
  const all = [{ kind: "types", grouping: "all", key: 0 }];
  const few = (grouping) => page.rows(grouping).slice().sort((a, b) => b.total - a.total).slice(0, n).map(({ key }) => key);
  const kinds = {
    function: ["keep", "drop", "omit", "focus", "merge", "self", "collapse", "recursion"],
    image: ["keep", "drop", "omit", "merge", "collapse"],
    thread: ["keep", "drop"],
  };
  for (const [grouping, names] of Object.entries(kinds)) {
    for (const key of few(grouping)) for (const kind of names) all.push({ kind, grouping, key });
  }
  // Nodes on the heaviest path, and what is at its end.
  const { boxes } = page.views.all.flame.graph;
  const isCode = (box) => boxes.labels[box] >= 0 && (page.profile.flags[boxes.labels[box]] & 64) === 0;
  let [box] = boxes.childrenOf(-1);
  for (let depth = 0; box !== undefined; depth++) {
    const next = boxes.childrenOf(box).find(isCode);
    if (depth > 0 && (depth === 2 || (next === undefined && n > 1))) {
      const [thread, ...frames] = boxes.pathOf(box).reverse();
      const path = [-1 - thread, ...frames.map((frame) => page.profile.functionOf[frame])];
      for (const kind of ["focus", "merge", "self"]) all.push({ kind, grouping: "path", key: 0, path });
    }
    box = next;
  }
  const [heaviest] = page.rows("function").slice().sort((a, b) => b.self - a.self);
  const text = /\w{2,}/.exec(heaviest.name)?.[0].toUpperCase() ?? ".";
  for (const kind of ["keep", "drop", "focus", "merge", "show"]) all.push({ kind, grouping: "pattern", key: 0, text });
  return all;
}

/**
 * Returns the first that does not agree.
 * @param {any} page
 */
function compared(page) {
  page.set({ view: "flame", threads: "apart", order: "heavy", inverted: false, zoom: [], span: null });
  const expect = transformed(page);
  const single = candidates(page, 2);
  // Where threads wait, stacks are many.
  const first = page.profile.head.waits === undefined ? single : candidates(page, 1);
  const pairs = single.flatMap((one) => first.map((other) => [one, other]));
  let n = 0;
  for (const transforms of [...single.map((one) => [one]), ...pairs]) {
    // Browsers let an address change only so often.
    page.set({ transforms }, "restored");
    const [own, expected] = [counted(page), expect(transforms)];
    const names = new Set([...Object.keys(own), ...Object.keys(expected)]);
    for (const name of names) if (own[name] !== expected[name]) return { transforms, name, own: own[name], expected: expected[name] };
    const shown = Object.values(expected).reduce((a, b) => a + b, 0);
    if (page.counts.shown.weight !== shown) return { transforms, shown, counted: page.counts.shown.weight };
    n++;
  }
  page.set({ transforms: [] }, "restored");
  return { n };
}

/** The examples of `without_type_arguments` in crates/base, which the page does alike. */
function examples() {
  const file = readFileSync(path.join(__dirname, "../../crates/base/src/type_arguments.rs"), "utf8");
  const [, tests] = file.split("for (name, expected) in [");
  const texts = [...tests.split("] {")[0].matchAll(/"([^"]*)"/g)].map(([, text]) => text);
  assert.ok(texts.length > 16 && texts.length % 2 === 0);
  return texts.flatMap((name, at) => (at % 2 === 0 ? [[name, texts[at + 1]]] : []));
}

function namesLoseTheirTypeArguments() {
  const script = path.join(__dirname, "../../crates/export/src/page/assets/transforms.js");
  const withoutTypes = vm.runInNewContext(`${readFileSync(script, "utf8")}; withoutTypes`);
  for (const [name, left] of examples()) assert.equal(withoutTypes(name), left);
}

/** @param {Tab} tab */
async function check(tab) {
  namesLoseTheirTypeArguments();
  const script = [transformed, counted, candidates, compared].join("\n");
  const result = await tab.run(`(() => { ${script}; return compared(rprofPage); })()`);
  assert.ok(result.n > 20, JSON.stringify(result));
  await chipsAreUndoneAlone(tab);
  await nodesHaveTransformsOfTheirOwn(tab);
  await patternsAreUsedForMore(tab);
}

/** @param {Tab} tab */
async function chipsAreUndoneAlone(tab) {
  const whole = await tab.run(`rprofPage.counts.shown.weight`);
  // The menu of a box does what it says.
  const [x, y] = await tab.run(`(() => {
    const flame = rprofPage.views.all.flame.graph;
    const rect = flame.canvas.getBoundingClientRect();
    return [rect.left + 3, rect.top + 20 + 8];
  })()`);
  await tab.run(`(() => {
    const { canvas } = rprofPage.views.all.flame.graph;
    canvas.dispatchEvent(new MouseEvent("contextmenu", { clientX: ${x}, clientY: ${y}, button: 2, bubbles: true, cancelable: true }));
  })()`);
  const items = await tab.run(`[...document.querySelectorAll("#menu [role=menuitem]")].map((one) => one.textContent)`);
  assert.ok(items.some((/** @type {string} */ text) => /^Drop stacks with .* anywhere$/.test(text)), items.join("; "));
  assert.equal(await tab.run(`document.activeElement.getAttribute("role")`), "menuitem");
  await tab.run(`[...document.querySelectorAll("#menu button")].find((one) => one.textContent.startsWith("Drop stacks")).click()`);
  assert.equal(await tab.run(`document.getElementById("menu").hidden`), true);
  const dropped = await tab.run(`rprofPage.counts.shown.weight`);
  assert.ok(dropped < whole);
  await tab.run(`rprofPage.addTransform({ kind: "types", grouping: "all", key: 0 })`);
  assert.equal(await tab.run(`document.querySelectorAll(".chip").length`), 2);
  // A link has them all, and Back undoes one.
  await tab.run(`rprofPage.address.rememberNow()`);
  const fragment = await tab.run(`location.hash`);
  assert.match(fragment, /transforms=drop\.function\.\d+%7Etypes\.all\.0/);
  await tab.run(`document.querySelector(".chip").click()`);
  assert.equal(await tab.run(`rprofPage.counts.shown.weight`), whole);
  assert.deepEqual(await tab.run(`rprofPage.state.transforms.map(({ kind }) => kind)`), ["types"]);
  await tab.run(`document.querySelector(".chip").click()`);
  assert.equal(await tab.run(`document.querySelectorAll(".chip").length`), 0);
  assert.equal(await tab.run(`rprofPage.counts.shown.weight`), whole);
  // What a link says wrongly is left out.
  await tab.run(`location.hash = "#transforms=drop.function.999999~eat.function.0~merge.thread.0~keep.line~types.all.1"`);
  await tab.run(`new Promise((done) => setTimeout(done, 0))`);
  assert.deepEqual(await tab.run(`rprofPage.state.transforms`), []);
}

/** Of functions, and of lines. @param {Tab} tab */
async function nodesHaveTransformsOfTheirOwn(tab) {
  const hasLines = await tab.run(`rprofPage.profile.hasPlaces`);
  for (const frames of hasLines ? ["function", "line"] : ["function"]) {
    await tab.run(`rprofPage.set({ view: "flame", frames: "${frames}", transforms: [], threads: "alike", inverted: false, order: "heavy" })`);
    const [items, total, own, whole] = await tab.run(`(() => {
      const flame = rprofPage.views.all.flame.graph;
      const { boxes } = flame;
      let [box] = boxes.childrenOf(-1);
      // A node that counts more than of its own.
      for (let next = box; next !== undefined && boxes.own[box] === 0; [next] = boxes.childrenOf(box)) box = next;
      flame.choose(box);
      document.getElementById("transform").click();
      const items = [...document.querySelectorAll("#menu [role=menuitem]")].map((one) => one.textContent);
      return [items, boxes.widths[box], boxes.own[box], boxes.whole];
    })()`);
    const chosen = ["Focus on subtree only", "Merge node only", "Focus on self time of this node only"];
    for (const text of chosen) assert.ok(items.includes(text), items.join("; "));
    for (const [text, weight] of [[chosen[0], total], [chosen[1], whole], [chosen[2], own]]) {
      await tab.run(`document.getElementById("transform").click();
        [...document.querySelectorAll("#menu button")].find((one) => one.textContent === "${text}").click()`);
      assert.equal(await tab.run(`rprofPage.counts.shown.weight`), weight, text);
      assert.equal(await tab.run(`document.querySelectorAll(".chip").length`), 1);
      // The link says the same node.
      const [fragment, transforms] = await tab.run(`(rprofPage.address.rememberNow(), [location.hash, rprofPage.state.transforms])`);
      assert.match(fragment, frames === "line" ? /\.lines\.\d+-\d+/ : /\.path\.\d+-\d+/);
      await tab.run(`rprofPage.set({ transforms: [] }); rprofPage.address.rememberNow()`);
      await tab.run(`new Promise((resolve) => {
        addEventListener("hashchange", () => setTimeout(resolve, 0), { once: true });
        location.hash = ${JSON.stringify(fragment)};
      })`);
      assert.deepEqual(await tab.run(`rprofPage.state.transforms`), transforms);
      await tab.run(`document.querySelector(".chip").click()`);
      assert.equal(await tab.run(`rprofPage.counts.shown.weight`), whole);
      await tab.run(`(() => {
        const flame = rprofPage.views.all.flame.graph;
        let [box] = flame.boxes.childrenOf(-1);
        for (let next = box; next !== undefined && flame.boxes.own[box] === 0; [next] = flame.boxes.childrenOf(box)) box = next;
        flame.choose(box);
      })()`);
    }
    await tab.run(`rprofPage.details.choose(null)`);
  }
  await tab.run(`rprofPage.set({ frames: "function", threads: "apart" })`);
  // Callers of a box are not what leads to it in an inverted graph.
  const inverted = await tab.run(`(() => {
    rprofPage.set({ inverted: true });
    const { boxes } = rprofPage.views.all.flame.graph;
    const path = boxes.pathFromRoot(boxes.lists[0][0]);
    rprofPage.set({ inverted: false });
    return path ?? null;
  })()`);
  assert.equal(inverted, null);
  await tab.run(`location.hash = "#transforms=focus.path.0~merge.path.0-99999999~self.path.0-x~show.pattern.~drop.pattern.%25E0~focus.lines."`);
  await tab.run(`new Promise((done) => setTimeout(done, 0))`);
  assert.deepEqual(await tab.run(`rprofPage.state.transforms`), []);
}

/** What is searched for is kept, dropped, merged, or shown alone. @param {Tab} tab */
async function patternsAreUsedForMore(tab) {
  const text = "(a|~.<&)";
  await tab.run(`rprofPage.search.focus(); rprofPage.search.value = ""`);
  await tab.type(text);
  const items = await tab.run(`(() => {
    document.getElementById("keep-more").click();
    return [...document.querySelectorAll("#menu button")].map((one) => one.textContent);
  })()`);
  assert.deepEqual(items, ["Keep stacks with a match", "Drop stacks with a match", "Begin stacks at a match", "Merge matches into callers", "Show only matches"]);
  const whole = await tab.run(`rprofPage.counts.shown.weight`);
  await tab.press("d", "d");
  const [state, search] = await tab.run(`[rprofPage.state.transforms, rprofPage.state.search]`);
  assert.deepEqual([state, search], [[{ kind: "drop", grouping: "pattern", key: 0, text }], ""]);
  const dropped = await tab.run(`rprofPage.counts.shown.weight`);
  await tab.run(`rprofPage.set({ transforms: [], keep: ${JSON.stringify(text)} })`);
  assert.equal(await tab.run(`rprofPage.counts.shown.weight`) + dropped, whole);
  await tab.run(`rprofPage.set({ keep: "", transforms: [{ kind: "drop", grouping: "pattern", key: 0, text: ${JSON.stringify(text)} }] })`);
  // A pattern may have what separates transforms in a link.
  const transforms = [...state, { kind: "merge", grouping: "pattern", key: 0, text: "a" }];
  await tab.run(`rprofPage.set({ transforms: ${JSON.stringify(transforms)} }); rprofPage.address.rememberNow()`);
  const fragment = await tab.run(`location.hash`);
  await tab.run(`rprofPage.set({ transforms: [] }); rprofPage.address.rememberNow()`);
  await tab.run(`new Promise((resolve) => {
    addEventListener("hashchange", () => setTimeout(resolve, 0), { once: true });
    location.hash = ${JSON.stringify(fragment)};
  })`);
  const { asked, transforms: restored } = await tab.run(`rprofPage.state`);
  // One with a group waits for a click.
  assert.deepEqual([restored, asked?.transforms], [[], transforms]);
  await tab.run(`[...document.querySelectorAll(".chip")].find((one) => one.textContent.startsWith("Apply the link's")).click()`);
  assert.deepEqual(await tab.run(`rprofPage.state.transforms`), transforms);
  await tab.run(`rprofPage.set({ transforms: [], search: "" }); rprofPage.search.value = ""; document.activeElement.blur()`);
}

module.exports = { check };
