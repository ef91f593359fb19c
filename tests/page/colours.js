// Colours of boxes: text on them can be read, and people who see no red or no green tell them apart.
"use strict";

const assert = require("node:assert/strict");

/** @typedef {import("./checks.js").Tab} Tab */

/** Machado, Oliveira, Fernandes 2009: what those see who see no red, and no green. */
const SEEN = {
  all: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  noRed: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  noGreen: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
};

/** @param {number[]} hsl @returns {number[]} linear red, green, blue */
function linear([hue, saturation, lightness]) {
  const [s, l] = [saturation / 100, lightness / 100];
  const a = s * Math.min(l, 1 - l);
  return [0, 8, 4].map((n) => {
    const k = (n + hue / 30) % 12;
    const part = l - a * Math.max(-1, Math.min(k - 3, 9 - k, 1));
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
}

/** @param {number[]} rgb linear */
const luminance = ([r, g, b]) => 0.2126 * r + 0.7152 * g + 0.0722 * b;

/** @param {string} hex */
const ofHex = (hex) => [1, 3, 5].map((at) => {
  const part = parseInt(hex.slice(at, at + 2), 16) / 255;
  return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
});

/** @param {number[]} rgb @returns {number[]} CIE L*a*b* */
function lab([r, g, b]) {
  const [x, y, z] = [(0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.95047, 0.2126 * r + 0.7152 * g + 0.0722 * b, (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.08883]
    .map((t) => (t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116));
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

/** @param {Tab} tab */
async function check(tab) {
  const themes = await tab.run(`(() => {
    const { theme } = rprofPage;
    const one = () => { const { ink, images, kinds, kernel, spread } = theme.colours; return { ink, images, kinds, kernel, spread }; };
    const first = one();
    theme.toggle();
    const second = one();
    theme.toggle();
    return [first, second];
  })()`);
  await boxesHaveTheColourOfTheirObject(tab);
  const empty = await tab.run(`(() => {
    rprofPage.set({ transforms: [{ kind: "drop", grouping: "pattern", key: 0, text: "." }] });
    const legend = document.querySelector("#flame .modules").textContent;
    rprofPage.set({ transforms: [] });
    return [rprofPage.state.colours, legend];
  })()`);
  assert.deepEqual(empty, ["module", ""]);
  // What has a hue in one theme has it in the other.
  const [light, dark] = themes.map(({ images, kinds, kernel }) => [...images, kernel, ...Object.values(kinds)]);
  light.forEach(([hue], at) => assert.ok(Math.abs(hue - dark[at][0]) <= 6, `${light[at]}; ${dark[at]}`));
  for (const { ink, images, kinds, kernel, spread } of themes) {
    for (const palette of [[...images, kernel], Object.values(kinds)]) {
      for (const [h, s, l] of palette) {
        const shades = palette.length === 4 ? [l] : [l - spread, l + spread];
        for (const shade of shades) {
          const pair = [luminance(linear([h, s, shade])), luminance(ofHex(ink))].sort((a, b) => b - a);
          const contrast = (pair[0] + 0.05) / (pair[1] + 0.05);
          assert.ok(contrast >= 4.5, `${h} ${s} ${shade} on ${ink}: ${contrast}`);
        }
      }
      for (const [who, matrix] of Object.entries(SEEN)) {
        const seen = palette.map((/** @type {number[]} */ colour) => {
          const rgb = linear(colour);
          return lab(matrix.map((row) => Math.min(1, Math.max(0, row[0] * rgb[0] + row[1] * rgb[1] + row[2] * rgb[2]))));
        });
        seen.forEach((one, at) => seen.slice(0, at).forEach((other) => {
          const distance = Math.hypot(...one.map((part, nth) => part - other[nth]));
          assert.ok(distance >= 15, `${who}: ${palette[at]}, distance ${distance}`);
        }));
      }
    }
  }
}

/** Whatever its own time is; the legend has the totals of the table. @param {Tab} tab */
async function boxesHaveTheColourOfTheirObject(tab) {
  const { frames, legend, rows } = await tab.run(`(() => {
    const page = rprofPage;
    const { profile, theme } = page;
    page.set({ view: "flame", colours: "module", transforms: [], range: null, thread: null, event: 0 });
    const frames = Array.from(profile.flags, (of, frame) => [profile.imageOfFrame(frame), theme.fill(frame), of]);
    const legend = [...document.querySelectorAll("#flame .modules .entry")].map(({ textContent }) => textContent.trim());
    const rows = page.rows("image").map(({ name, total }) => [name, total, (100 * total / page.whole).toFixed(2) + " %"]);
    return { frames, legend, rows };
  })()`);
  const isKnown = (/** @type {string} */ image) => image !== "" && image !== "[unknown]";
  /** @type {Map<string, string>} */
  const hues = new Map();
  for (const [image, fill, flags] of frames) {
    // What threads wait for has colours of its own, and the kernel's modules have the kernel's.
    if (!isKnown(image) || (flags & 64) !== 0) continue;
    const hue = /^hsl\(([\d.]+) /.exec(fill)?.[1] ?? fill;
    assert.notEqual(hue, fill, `${image} has no colour`);
    assert.equal(hues.get(image) ?? hue, hue, image);
    hues.set(image, hue);
  }
  const heaviest = rows.filter((/** @type {any} */ [image]) => isKnown(image) && hues.has(image));
  heaviest.sort((/** @type {any} */ [, a], /** @type {any} */ [, b]) => b - a);
  const first = heaviest.slice(0, 5).map((/** @type {any} */ [image]) => hues.get(image));
  assert.equal(new Set(first).size, first.length, heaviest.join("; "));
  // The kernel and its modules are one entry, whose total is of no row.
  const kernel = new Set(frames.filter((/** @type {any} */ [, , flags]) => (flags & 7) !== 0).map(([image]) => image));
  const shares = heaviest.filter((/** @type {any} */ [image]) => !kernel.has(image)).map((/** @type {any} */ [, , share]) => share);
  const names = ["kernel and modules", ...kernel];
  const entries = legend.filter((/** @type {string} */ text) => !names.some((name) => text.startsWith(`${name} `)));
  assert.ok(entries.length >= Math.min(5, shares.length) && entries.length > 0, legend.join("; "));
  assert.ok(legend.length <= Math.min(6, shares.length + 1), legend.join("; "));
  entries.forEach((/** @type {string} */ text, /** @type {number} */ at) => assert.ok(text.includes(` ${shares[at]}`), `${text}; ${shares[at]}`));
}

module.exports = { check };
