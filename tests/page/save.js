// Files of what is shown: stacks with the report's samples, rows with its weights, a picture that is well-formed.
"use strict";

const assert = require("node:assert/strict");

/** @typedef {import("./checks.js").Tab} Tab */
/** @typedef {import("./checks.js").Facts} Facts */

/** What each item of the menu saves: its name, its type, its text. @param {Tab} tab */
function saved(tab) {
  return tab.run(`(async () => {
    const saved = [];
    const create = URL.createObjectURL;
    const click = HTMLAnchorElement.prototype.click;
    let blob = null;
    URL.createObjectURL = (one) => { blob = one; return "blob:nothing"; };
    HTMLAnchorElement.prototype.click = function () { saved.push({ name: this.download, blob }); };
    document.getElementById("save").click();
    const n = document.querySelectorAll("#menu button").length;
    for (let at = 0; at < n; at++) {
      if (at > 0) document.getElementById("save").click();
      document.querySelectorAll("#menu button")[at].click();
    }
    URL.createObjectURL = create;
    HTMLAnchorElement.prototype.click = click;
    return Object.fromEntries(await Promise.all(saved.map(async ({ name, blob }) => [name, await blob.text()])));
  })()`);
}

/** @param {Tab} tab @param {Facts} facts */
async function check(tab, facts) {
  await tab.run(`rprofPage.set({ view: "flame", threads: "apart", zoom: [], span: null })`);
  const files = await saved(tab);
  assert.deepEqual(Object.keys(files).sort(), ["flame.svg", "functions.json", "stacks.folded"]);
  /** @type {number[]} */
  const levels = [];
  for (const line of files["stacks.folded"].trimEnd().split("\n")) {
    const at = line.lastIndexOf(" ");
    const depth = line.slice(0, at).split(";").length;
    for (let level = 0; level < depth; level++) levels[level] = (levels[level] ?? 0) + Number(line.slice(at + 1));
  }
  assert.deepEqual(levels, facts.levels);
  const { functions, total } = JSON.parse(files["functions.json"]);
  assert.equal(total.weight, facts.total);
  const key = (/** @type {any} */ row) => `${row.name} ${row.image} ${row.self} ${row.total}`;
  assert.deepEqual(functions.map(key).sort(), facts.rows.map(key).sort());
  // Nothing in a picture is more than shapes and texts, whatever names there are.
  const elements = await tab.run(`(() => {
    const svg = new DOMParser().parseFromString(${JSON.stringify(files["flame.svg"])}, "image/svg+xml");
    return [...new Set([...svg.querySelectorAll("*")].map((one) => one.localName))].sort();
  })()`);
  assert.deepEqual(elements, ["g", "rect", "svg", "text", "title"]);
  await tab.run(`rprofPage.set({ threads: "alike" })`);
}

module.exports = { check };
