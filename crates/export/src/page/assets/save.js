// What is shown, as files of other programs: the flame graph as SVG, stacks folded, rows as JSON. The text of each is
// what the selection and the transforms leave.

/** Pixels of a saved picture. */
const SVG_WIDTH = 1200;
const SVG_ROW = 16;
/** Of a character, in a font of 11 pixels. */
const SVG_CHAR = 6.7;
/** Boxes that are thinner are left out, as they are in the page. */
const SVG_LEAST = 0.3;

/**
 * @param {App} app
 * @returns {MenuItem[]}
 */
function itemsToSave(app) {
  /**
   * @param {string} text
   * @param {string} name
   * @param {string} type
   * @param {(app: App) => string} make
   */
  const item = (text, name, type, make) => ({ text, act: () => saveText(name, type, make(app)) });
  return [
    item("Flame graph as SVG", "flame.svg", "image/svg+xml", svgOf),
    ...(app.comparison === null ? [
      item("Stacks, folded", "stacks.folded", "text/plain", foldedOf),
      item("Functions as JSON", "functions.json", "application/json", jsonOf),
    ] : []),
  ];
}

/**
 * @param {string} name
 * @param {string} type
 * @param {string} text
 */
function saveText(name, type, text) {
  const link = made("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/**
 * A line for each stack, the thread first, and its samples; or its time, where samples are not all of one length.
 * @param {App} app
 */
function foldedOf({ profile, counts, state }) {
  const { kind, each } = profile.head.events[state.event];
  const isTime = kind.endsWith("-time") && (kind !== "cpu-time" || each === null);
  const numbers = isTime ? counts.weights : counts.samples;
  /** @type {Map<string, number>} */
  const lines = new Map();
  numbers.forEach((number, node) => {
    if (number === 0) return;
    const names = profile.stackOf(node).map((label) => profile.nameOf(label).replace(/;/g, ":")).reverse();
    const line = names.join(";");
    lines.set(line, (lines.get(line) ?? 0) + number);
  });
  return [...lines].sort(([a], [b]) => compared(a, b)).map(([line, number]) => `${line} ${number}\n`).join("");
}

/**
 * Rows of functions, the heaviest first; weights as the event counts them.
 * @param {App} app
 */
function jsonOf(app) {
  const { profile, counts, state } = app;
  const rows = app.rows("function").slice().sort((a, b) => b.self - a.self || b.total - a.total || compared(a.name, b.name));
  const functions = rows.map(({ name, image, self, total, ownSamples, samples }) =>
    ({ name, image, self, total, self_samples: ownSamples, total_samples: samples }));
  const { name: event, kind } = profile.head.events[state.event];
  const shown = { weight: counts.shown.weight, samples: counts.shown.samples };
  return `${JSON.stringify({ title: profile.head.title, link: location.hash, event, kind, total: counts.total, shown, functions }, null, 1)}\n`;
}

/** Colours as every reader of SVG knows them. */
function hexColours() {
  const context = /** @type {CanvasRenderingContext2D} */ (made("canvas").getContext("2d"));
  /** @type {Map<string, string>} */
  const known = new Map();
  return (/** @type {string} */ colour) => {
    let text = known.get(colour);
    if (text === undefined) {
      context.fillStyle = colour;
      text = String(context.fillStyle);
      known.set(colour, text);
    }
    return text;
  };
}

/** @param {string} text */
function escapedForXml(text) {
  return text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
}

/**
 * The flame graph, as far as it is zoomed in.
 * @param {App} app
 */
function svgOf(app) {
  const { profile, theme } = app;
  const { graph } = /** @type {FlameView} */ (app.views.all.flame);
  if (app.state.view !== "flame") app.views.all.flame.show();
  const { boxes, start, width } = graph;
  const scale = SVG_WIDTH / (width || 1);
  const hex = hexColours();
  const drawn = [];
  let deepest = 0;
  for (const [depth, level] of boxes.levels.entries()) {
    for (let at = boxes.firstAt(depth, start); at < level.length && boxes.starts[level[at]] < start + width; at++) {
      const box = level[at];
      const x = Math.max(0, (boxes.starts[box] - start) * scale);
      const w = Math.min(SVG_WIDTH, (boxes.endOf(box) - start) * scale) - x;
      if (w < SVG_LEAST) continue;
      deepest = Math.max(deepest, depth);
      const label = boxes.labels[box];
      const room = Math.floor((w - 6) / SVG_CHAR);
      const name = room < 3 ? "" : escapedForXml(middleCut(profile.nameOf(label), room));
      const fill = hex(boxes.sides === null ? theme.fill(label) : theme.changed(boxes.degrees[box]));
      const y = 40 + depth * SVG_ROW;
      drawn.push(
        `<g><title>${escapedForXml(app.describe(boxes, box))}</title><rect x="${x.toFixed(1)}" y="${y}" width="${w.toFixed(1)}"` +
          ` height="${SVG_ROW - 1}" fill="${fill}"/>${name === "" ? "" : `<text x="${(x + 3).toFixed(1)}" y="${y + 11}">${name}</text>`}</g>\n`,
      );
    }
  }
  const height = 40 + (deepest + 1) * SVG_ROW + 8;
  const { paper, ink } = theme.colours;
  const title = escapedForXml(middleCut(profile.head.title, 160));
  const said = escapedForXml([app.said(), ...app.filtersInWords()].join(" · "));
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${SVG_WIDTH} ${height}" width="${SVG_WIDTH}" height="${height}" fill="${ink}"` +
    ` font-family="ui-monospace, 'DejaVu Sans Mono', Consolas, monospace" font-size="11">\n<title>${title}</title>\n` +
    `<rect width="100%" height="100%" fill="${paper}"/>\n<text x="3" y="14" font-weight="bold">${title}</text>\n` +
    `<text x="3" y="30">${said}</text>\n${drawn.join("")}</svg>\n`
  );
}
