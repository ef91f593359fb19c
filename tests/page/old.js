// Browsers that lack what the page needs: they say so, and show the table of the top functions.
"use strict";

const assert = require("node:assert/strict");

/** @typedef {import("./checks.js").Tab} Tab */
/** @typedef {import("./checks.js").Facts} Facts */

/** @param {Tab} tab @param {Facts} facts */
async function check(tab, facts) {
  const source = "delete globalThis.DecompressionStream; delete globalThis.ResizeObserver; delete Array.prototype.at;";
  const { identifier } = await tab.ask("Page.addScriptToEvaluateOnNewDocument", { source });
  await tab.ask("Page.navigate", { url: "about:blank" });
  await tab.ask("Page.navigate", { url: `file://${facts.page}` });
  const [said, plain, isReady] = await tab.run(`new Promise((resolve) => {
    const look = () => {
      const plain = document.querySelector("main > pre.plain");
      if (plain === null) return setTimeout(look, 5);
      resolve([document.getElementById("status").textContent, plain.textContent, document.documentElement.dataset.ready]);
    };
    look();
  })`);
  assert.match(said, /needs Chrome 98, Firefox 113, Safari 16\.4 or later; this browser lacks DecompressionStream, ES2022, ResizeObserver\. Or read .* rprof report$/);
  assert.equal(isReady, null);
  const names = facts.rows.slice(0, 3).map(({ name }) => name.slice(0, 90));
  for (const name of names) assert.ok(plain.includes(name), `${name}: ${plain}`);
  await tab.ask("Page.removeScriptToEvaluateOnNewDocument", { identifier });
}

module.exports = { check };
