// The views: each shows the counts of a selection when it is asked for.

/**
 * Boxes of the flame graph that is asked for.
 * @param {Profile} profile
 * @param {Counts} counts
 * @param {State} state
 */
function flameBoxes(profile, counts, state) {
  if (state.order === "time") return boxesInTime(profile, state);
  const tree = state.inverted ? grownOutwards(profile, counts) : grownInwards(profile, counts);
  return tree.boxes(profile, state.order);
}

/** One flame graph with its events bound to the page. */
class Views {
  /** @param {App} app */
  constructor(app) {
    const { profile, theme, details } = app;
    this.app = app;
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

  /**
   * @param {State} state
   * @param {Counts} counts
   */
  show(state, counts) {
    const { profile } = this.app;
    const event = profile.head.events[state.event];
    switch (state.view) {
      case "flame":
        return this.showFlame(state, counts);
      case "table": {
        const order = { grouping: state.grouping, sort: state.sort, up: state.up };
        return this.table.show(counts, { order, event, search: state.search });
      }
      case "sandwich":
        return this.showSandwich(state, counts);
      case "threads":
        return this.lanes.show(state);
      default:
        return this.heat.show(state);
    }
  }

  /**
   * @param {State} state
   * @param {Counts} counts
   */
  showFlame(state, counts) {
    const { profile } = this.app;
    const { flame } = this;
    const boxes = flameBoxes(profile, counts, state);
    flame.show(boxes);
    this.mark(state);
    const said = [`Flame graph of ${amount(profile.head.events[state.event], boxes.whole)}, ${boxes.levels.length} levels.`];
    if (boxes.leftOut > 0) said.push(`${grouped(boxes.leftOut)} samples have no room: choose a range or a thread.`);
    element("flame-note", HTMLElement).textContent = boxes.leftOut > 0 ? said[1] : "";
    flame.canvas.setAttribute("aria-label", `${said.join(" ")} Arrow keys move, Enter zooms, Escape zooms out.`);
    const box = flame.boxes.find(state.zoom);
    if (box >= 0) flame.zoomTo(box);
    else if (state.span !== null) flame.view(state.span[0], state.span[1] - state.span[0]);
  }

  /**
   * @param {State} state
   * @param {Counts} counts
   */
  showSandwich(state, counts) {
    const { profile } = this.app;
    const focus = state.focus ?? heaviest(profile, counts);
    const frame = profile.frameOfFunction[focus];
    const { callers, callees } = grownAround(profile, counts, focus);
    this.callers.show(callers.boxes(profile, "heavy"));
    this.callees.show(callees.boxes(profile, "heavy"));
    this.mark(state);
    const weight = callees.n > 0 ? callees.weights[0] : 0;
    const own = tableRows(profile, counts, "function").find((row) => row.key === focus);
    const event = profile.head.events[state.event];
    element("focus-name", HTMLElement).textContent = frame === undefined ? "" : profile.text(profile.names[frame]);
    element("focus-sum", HTMLElement).textContent =
      `${percent(weight, counts.total.weight)} with what it called (${amount(event, weight)}), ` +
      `${percent(own?.self ?? 0, counts.total.weight)} itself`;
    this.app.details.showLines(linesOf(profile, counts, focus));
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
 * @param {Profile} profile
 * @param {Counts} counts
 */
function heaviest(profile, counts) {
  const rows = tableRows(profile, counts, "function");
  return rows.reduce((most, row) => (row.self > most.self ? row : most), { key: 0, self: -1 }).key;
}
