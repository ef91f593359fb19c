// The views: each shows the counts of a selection when it is asked for.

/**
 * Boxes of the flame graph that is asked for.
 * @param {App} app
 */
function flameBoxes({ profile, counts, state, comparison, views }) {
  if (state.order === "time") return boxesInTime(profile, state, views.maxTimeBoxes);
  const tree = new Growing(profile.head.n_nodes);
  const sides = counts.before === null ? [counts] : [counts.before, counts];
  if (state.inverted) tree.standsFor = STANDS_FOR.inverted;
  const moved = (state.inverted ? growOutwards : growInwards)(profile, sides, tree);
  growBy([tree], counts, comparison, (counts) => countMoved(tree, moved, counts));
  const boxes = tree.boxes(profile, state.order);
  boxes.hasOwn = !state.inverted;
  return boxes;
}

/** One flame graph with its events bound to the page. */
class Views {
  /** @param {App} app */
  constructor(app) {
    const { profile, theme, details } = app;
    this.app = app;
    /** Tests have small recordings. */
    this.maxTimeBoxes = MAX_TIME_BOXES;
    /**
     * The last flame graphs, the newest first: many look from one to the other and back.
     * @type {{counts: Counts, key: string, boxes: Boxes}[]}
     */
    this.known = [];
    /**
     * @param {string} id
     * @param {() => void} zoom
     */
    const flame = (id, zoom) => {
      /** @type {Flame} */
      const made = new Flame(element(id, HTMLElement), theme, {
        hover: (box) => details.say(box < 0 ? "" : app.describe(made.boxes, box)),
        select: (box) => app.select(made.boxes, box),
        zoom,
        open: (label) => app.open(label),
      });
      return made;
    };
    this.flame = flame("flame-place", () => app.zoomed());
    this.callers = flame("callers-place", () => {});
    this.callees = flame("callees-place", () => {});
    this.table = new Table(element("table-place", HTMLElement), profile, {
      order: (order) => app.set(order),
      choose: (row) => app.chooseRow(row),
      open: (row) => app.openRow(row),
    });
    this.heat = new HeatMap(element("heat-place", HTMLElement), theme, (range) => app.set({ range, view: "flame" }), (text) => details.say(text));
    this.lanes = new Lanes(element("lanes-place", HTMLElement), theme, {
      thread: (thread) => app.set({ thread }),
      range: (range) => app.set({ range }),
      say: (text) => details.say(text),
    });
  }

  show() {
    const { profile, state, counts, comparison } = this.app;
    const event = profile.head.events[state.event];
    switch (state.view) {
      case "flame":
        return this.showFlame();
      case "table": {
        const order = { grouping: state.grouping, sort: state.sort, up: state.up };
        return this.table.show(counts, { order, event, search: state.search, comparison });
      }
      case "sandwich":
        return this.showSandwich();
      case "threads":
        return this.lanes.show(state);
      default:
        return this.heat.show(state);
    }
  }

  showFlame() {
    const { profile, state, counts, comparison } = this.app;
    const { flame } = this;
    const boxes = this.flameBoxes();
    flame.show(boxes);
    this.mark(state);
    const of = comparison === null ? amount(profile.head.events[state.event], boxes.whole) : "the changes";
    const said = [`Flame graph of ${of}, ${boxes.levels.length} levels.`];
    if (boxes.together > 1) {
      said.push(`${wholeNumber(boxes.together)} consecutive samples are merged into their common frames: choose a shorter range.`);
    }
    if (comparison !== null && boxes.levels.length === 0 && counts.shown.samples > 0) said.push("Nothing changed.");
    element("flame-note", HTMLElement).textContent = said[1] ?? "";
    flame.canvas.setAttribute("aria-label", `${said.join(" ")} Arrow keys move, Enter zooms, Escape zooms out.`);
    const box = flame.boxes.find(state.zoom);
    if (box >= 0) flame.zoomTo(box);
    else if (state.span !== null) flame.view(state.span[0], state.span[1] - state.span[0]);
  }

  /** Boxes of the flame graph, if they are not known. */
  flameBoxes() {
    const { counts, state } = this.app;
    const { order, inverted, frames, per, widths } = state;
    const key = JSON.stringify([order, inverted, frames, per, widths, this.maxTimeBoxes]);
    const others = this.known.filter((one) => one.counts === counts && one.key !== key).slice(0, 1);
    const known = this.known.find((one) => one.counts === counts && one.key === key);
    const found = known ?? { counts, key, boxes: flameBoxes(this.app) };
    this.known = [found, ...others];
    return found.boxes;
  }

  showSandwich() {
    const { profile, state, counts, comparison } = this.app;
    const focus = state.focus ?? heaviest(this.functions());
    const frame = profile.frameOfFunction[focus];
    const trees = { callers: new Growing(), callees: new Growing() };
    const { callers, callees } = trees;
    callers.standsFor = STANDS_FOR.callers;
    growBy([callers, callees], counts, comparison, (counts) => growAround(profile, counts, focus, trees));
    const boxes = callers.boxes(profile, "heavy");
    boxes.hasOwn = false;
    this.callers.show(boxes);
    this.callees.show(callees.boxes(profile, "heavy"));
    this.mark(state);
    element("focus-name", HTMLElement).textContent = frame === undefined ? "" : profile.text(profile.names[frame]);
    element("focus-sum", HTMLElement).textContent = this.focusSum(callees, focus);
    showLines(element("focus-lines", HTMLElement), linesOf(profile, counts, focus));
  }

  /** The table's rows by function, whether they are shown or not. */
  functions() {
    const { counts, comparison } = this.app;
    return this.table.allRows(counts, "function", comparison);
  }

  /**
   * @param {Growing} callees
   * @param {number} focus
   */
  focusSum(callees, focus) {
    const { profile, state, counts, comparison } = this.app;
    if (comparison !== null) {
      const row = /** @type {ChangedRow[]} */ (this.functions()).find((row) => row.key === focus);
      return row === undefined ? "" : `total ${comparison.text(row.all)}; self ${comparison.text(row.own)}`;
    }
    const weight = callees.n > 0 ? callees.weights[0] : 0;
    const own = this.functions().find((row) => row.key === focus);
    return (
      `self ${percent(own?.self ?? 0, counts.total.weight)}; total ${percent(weight, counts.total.weight)} ` +
      `(${amount(profile.head.events[state.event], weight)})`
    );
  }

  /**
   * Marks what is searched for.
   * @param {State} state
   */
  mark(state) {
    const matches = state.search === "" ? null : labelsWith(this.app.profile, state.search);
    for (const flame of [this.flame, this.callers, this.callees]) {
      flame.matches = matches;
      flame.ask();
    }
  }

  redraw() {
    for (const flame of [this.flame, this.callers, this.callees]) flame.draw();
    this.heat.draw();
    this.lanes.draw();
  }
}

/**
 * The function with most samples of its own.
 * @param {Row[]} rows
 */
function heaviest(rows) {
  return rows.reduce((most, row) => (row.self > most.self ? row : most), { key: 0, self: -1 }).key;
}
