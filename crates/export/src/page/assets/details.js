// The line below all views: what is pointed at; of what is selected also its stack, and what can be done with it.

/**
 * A stack, the innermost frame first; lines of that frame's function with what they count, if any are shown. Or a row that
 * is no function. The path is there if it is a node of the flame graph.
 * @typedef {{labels: number[], sum: string, lines?: [string, string][], path?: number[],
 *   row?: {grouping: Grouping, key: number, name: string}}} Chosen
 */

class Details {
  /**
   * @param {Profile} profile
   * @param {{open: (label: number) => void, code: (label: number) => void, keep: (chosen: Chosen) => void,
   *   menu: (chosen: Chosen, at: {x: number, y: number}) => void}} events
   */
  constructor(profile, events) {
    this.profile = profile;
    this.text = element("pointed", HTMLElement);
    this.tip = element("tip", HTMLElement);
    this.stack = element("stack", HTMLElement);
    this.panel = element("details", HTMLElement);
    this.name = element("chosen", HTMLElement);
    this.sum = element("chosen-sum", HTMLElement);
    this.lines = element("lines", HTMLElement);
    /** @type {Chosen | null} */
    this.chosen = null;
    /**
     * @param {string} id
     * @param {(chosen: Chosen) => void} action
     */
    const button = (id, action) => {
      element(id, HTMLButtonElement).addEventListener("click", () => {
        if (this.chosen !== null) action(this.chosen);
      });
    };
    button("open", ({ labels }) => events.open(labels[0]));
    button("show-code", ({ labels }) => events.code(labels[0]));
    button("keep-this", events.keep);
    button("transform", (chosen) => {
      const { left, top } = element("transform", HTMLButtonElement).getBoundingClientRect();
      events.menu(chosen, { x: left, y: top });
    });
    button("copy", () => this.copy());
    button("close", () => this.choose(null));
  }

  /** @param {string} text */
  say(text) {
    this.text.textContent = text;
  }

  /**
   * Says what is pointed at, there and below all views.
   * @param {string} text
   * @param {{x: number, y: number}} at
   */
  point(text, { x, y }) {
    const { tip } = this;
    tip.hidden = text === "";
    if (tip.hidden) return this.say("");
    if (this.text.textContent !== text) this.say(text);
    if (tip.textContent !== text) tip.textContent = text;
    // Beside the pointer, and within the window.
    const { offsetWidth: width, offsetHeight: height } = tip;
    tip.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - width - 8))}px`;
    tip.style.top = `${y + 18 + height > innerHeight ? y - height - 8 : y + 18}px`;
  }

  /** @param {Chosen | null} chosen */
  choose(chosen) {
    this.chosen = chosen;
    this.panel.hidden = chosen === null;
    if (chosen === null) return;
    const { row } = chosen;
    const label = chosen.labels[0] ?? -1;
    const image = label >= 0 ? this.profile.imageOfFrame(label) : "";
    // Of a wait, or of threads, there is no code.
    const hasCode = label >= 0 && (this.profile.flags[label] & FLAGS.wait) === 0;
    element("show-code", HTMLElement).hidden = !hasCode || !HAS_CODE || this.profile.sides !== null;
    element("open", HTMLElement).hidden = label < 0;
    element("keep-this", HTMLElement).textContent = row === undefined || row.grouping === "image" ? "Keep stacks with this anywhere" : "Keep only this";
    this.name.textContent = row?.name ?? this.profile.nameOf(label);
    this.sum.textContent = image === "" ? chosen.sum : `${chosen.sum} · ${image}`;
    this.stack.replaceChildren(...chosen.labels.slice(1, 200).map((one) => made("li", this.profile.nameOf(one))));
    this.stack.hidden = chosen.labels.length < 2;
    showLines(this.lines, chosen.lines ?? []);
  }

  async copy() {
    if (this.chosen === null) return;
    const { labels, row } = this.chosen;
    await copyText(row?.name ?? labels.map((label) => this.profile.nameOf(label)).join("\n"));
    this.say(row === undefined ? "Copied the stack." : "Copied the name.");
  }
}

/**
 * Shows lines of a function with what they count.
 * @param {HTMLElement} list
 * @param {[string, string][]} lines
 */
function showLines(list, lines) {
  list.hidden = lines.length === 0;
  list.replaceChildren(...lines.map(([share, text]) => made("li", `${share}  ${text}`)));
}

/**
 * Lines of a function, the heaviest first.
 * @param {App} app
 * @param {number} wanted
 * @returns {[string, string][]}
 */
function linesOf({ profile, counts, whole, state }, wanted) {
  if (!profile.hasPlaces) return [];
  const event = profile.head.events[state.event];
  const { rowOf, isOutermost } = rowColumns(profile, "line");
  const totals = counts.totals(profile);
  /** @type {Map<number, {key: number, self: number, total: number}>} */
  const sums = new Map();
  for (let node = 0; node < rowOf.length; node++) {
    const key = rowOf[node];
    if (key < 0 || profile.functionOf[key] !== wanted || totals.samples[node] === 0) continue;
    let sum = sums.get(key);
    if (sum === undefined) sums.set(key, (sum = { key, self: 0, total: 0 }));
    sum.self += counts.weights[node];
    if (isOutermost[node] === 1) sum.total += totals.weights[node];
  }
  const rows = [...sums.values()].sort((a, b) => a.key - b.key);
  rows.sort((a, b) => b.total - a.total);
  return rows.slice(0, 20).map((row) => {
    const place = profile.places[row.key];
    const text = place === 0 ? "no line" : profile.text(place - 1);
    return [`self ${shareWithTime(event, row.self, whole)}; total ${shareWithTime(event, row.total, whole)}`, text];
  });
}
