// Callers and callees of a function.

addView({
  name: "sandwich",
  key: "3",
  title: "Callers and callees",
  ofTime: false,
  make: (app, section) => new Sandwich(app, section),
});

/** Names of functions that are offered. */
const OFFERED = 500;

class Sandwich {
  /**
   * @param {App} app
   * @param {HTMLElement} section
   */
  constructor(app, section) {
    this.app = app;
    this.outer = "flame";
    const bar = made("div", undefined, "bar");
    section.append(bar);
    this.name = placed(bar, "strong", "focus-name");
    bar.append(" ");
    this.sum = placed(bar, "span", "focus-sum");
    this.recursive = placed(bar, "span", "focus-recursive");
    /**
     * Which functions are recursive in what is shown, of those that were asked for.
     * @type {{counts: Counts | null, of: Map<number, boolean>}}
     */
    this.recursion = { counts: null, of: new Map() };
    this.picker = placed(bar, "input", "focus-picker");
    this.picker.type = "search";
    this.picker.placeholder = "Choose a function: name or part of it";
    this.picker.setAttribute("aria-label", "Choose a function");
    this.picker.setAttribute("list", "focus-names");
    this.names = placed(bar, "datalist", "focus-names");
    this.picker.addEventListener("focus", () => this.offer());
    this.picker.addEventListener("change", () => this.pick());
    /**
     * What the names are of.
     * @type {Row[] | null}
     */
    this.offered = null;
    this.lines = placed(section, "ul", "focus-lines", "lines");
    /**
     * @param {string} title
     * @param {string} id
     */
    const flame = (title, id) => {
      section.append(made("h2", title));
      return boundFlame(app, placed(section, "div", id, "canvas-place"), () => {});
    };
    this.callers = flame("Callers", "callers-place");
    this.callees = flame("Callees", "callees-place");
  }

  /** Names to choose from, the heaviest first. */
  offer() {
    const rows = this.app.functions();
    if (this.offered === rows) return;
    this.offered = rows;
    const heaviest = rows.slice().sort((a, b) => b.total - a.total).slice(0, OFFERED);
    this.names.replaceChildren(...heaviest.map(({ name }) => {
      const option = made("option");
      option.value = name.slice(0, SEARCHED);
      return option;
    }));
  }

  /** The heaviest function of that name, or with it in its name. */
  pick() {
    const text = this.picker.value.trim();
    if (text === "") return;
    const rows = this.app.functions().slice().sort((a, b) => b.total - a.total);
    const part = text.toLowerCase();
    const found = rows.find(({ name }) => name.slice(0, SEARCHED) === text) ?? rows.find(({ name }) => name.slice(0, SEARCHED).toLowerCase().includes(part));
    if (found === undefined) return this.app.details.say(`No function is called ${middleCut(text, 60)} in what is shown.`);
    this.picker.value = "";
    this.app.set({ focus: found.key });
  }

  /** It is about what is selected. */
  chosen() {
    const label = this.app.details.chosen?.labels[0] ?? -1;
    return label >= 0 ? { focus: this.app.profile.functionOf[label] } : {};
  }

  show() {
    const { profile, state, counts, comparison } = this.app;
    const focus = state.focus ?? heaviest(this.app.functions());
    const frame = profile.frameOfFunction[focus];
    // Others are shown in their place.
    for (const { boxes } of [this.callers, this.callees]) boxes.unfolding?.release();
    this.recursive.textContent = "";
    const { callers, callees } = comparison === null ? this.unfolded(focus) : this.compared(focus);
    callers.hasOwn = false;
    this.callers.show(callers);
    this.callees.show(callees);
    this.search();
    this.name.textContent = frame === undefined ? "" : profile.text(profile.names[frame]);
    this.sum.textContent = this.sumOf(callees.whole, focus);
    showLines(this.lines, linesOf(this.app, focus));
  }

  /**
   * Boxes around a function, which unfold.
   * @param {number} focus
   */
  unfolded(focus) {
    const { profile, counts } = this.app;
    const around = { label: profile.frameOfFunction[focus], nodes: outermostNodes(profile, counts, focus) };
    if (this.recursion.counts !== counts) this.recursion = { counts, of: new Map() };
    const { of } = this.recursion;
    if (!of.has(focus)) of.set(focus, isRecursive(profile, counts, focus, around.nodes));
    this.recursive.textContent = of.get(focus)
      ? "It is recursive: callers are those of its outermost calls; the inverted flame graph has all." : "";
    return {
      callers: new Callers(profile, counts, around).boxes("heavy"),
      callees: new Callees(profile, counts, around).boxes("heavy"),
    };
  }

  /**
   * Those of both sides.
   * @param {number} focus
   */
  compared(focus) {
    const { profile, counts, comparison } = this.app;
    const trees = { callers: new Growing(), callees: new Growing() };
    const { callers, callees } = trees;
    callers.standsFor = STANDS_FOR.callers;
    growBy([callers, callees], counts, comparison, (counts) => growAround(profile, counts, focus, trees));
    return { callers: callers.boxes(profile, "heavy"), callees: callees.boxes(profile, "heavy") };
  }

  /**
   * @param {number} total what it weighs with what it called
   * @param {number} focus
   */
  sumOf(total, focus) {
    const { profile, state, counts, comparison, whole } = this.app;
    if (comparison !== null) {
      const row = /** @type {ChangedRow | undefined} */ (this.app.functions().find(({ key }) => key === focus));
      return row === undefined ? "" : `total ${comparison.text(row.all)}; self ${comparison.text(row.own)}`;
    }
    const event = profile.head.events[state.event];
    return (
      `self ${shareWithTime(event, ownOf(profile, counts, focus), whole)}; ` +
      `total ${percent(total, whole)} (${amount(event, total)})`
    );
  }

  search() {
    markFound(this.app, [this.callers, this.callees]);
  }

  resized() {
    this.callers.resized();
    this.callees.resized();
  }

  draw() {
    this.callers.draw();
    this.callees.draw();
  }
}

/**
 * What a function counts itself; a wait is its own time.
 * @param {Profile} profile
 * @param {Counts} counts
 * @param {number} wanted
 */
function ownOf(profile, { weights }, wanted) {
  const { flags, frameOfFunction, functionOf, labels, parents } = profile;
  const isWait = (flags[frameOfFunction[wanted]] & FLAGS.wait) !== 0;
  const hasWaits = profile.head.waits !== undefined;
  let sum = 0;
  for (let node = 0; node < parents.length; node++) {
    if (weights[node] === 0) continue;
    const code = isWait || !hasWaits ? node : profile.codeOf(node);
    if (parents[code] >= 0 && functionOf[labels[code]] === wanted) sum += weights[node];
  }
  return sum;
}

/**
 * The function with most samples of its own.
 * @param {Row[]} rows
 */
function heaviest(rows) {
  return rows.reduce((most, row) => (row.self > most.self ? row : most), { key: 0, self: -1 }).key;
}
