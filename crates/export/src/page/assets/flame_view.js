// The flame graph of the selection.

addView({
  name: "flame",
  key: "1",
  title: "Flame graph",
  ofTime: false,
  make: (app, section) => new FlameView(app, section),
});

/**
 * A flame graph with its events bound to the page.
 * @param {App} app
 * @param {HTMLElement} place
 * @param {() => void} zoom
 */
function boundFlame(app, place, zoom) {
  /** @type {Flame} */
  const flame = new Flame(place, app.theme, {
    hover: (box, at) => app.details.point(box < 0 ? "" : app.describe(flame.boxes, box), at),
    select: (box) => app.select(flame.boxes, box),
    zoom,
    open: (label) => app.open(label),
    menu: (box, at) => app.menu.open(at, itemsOf(app, flame.boxes.labels[box], flame.boxes.pathFromRoot(box))),
  });
  return flame;
}

/**
 * Marks what is searched for.
 * @param {App} app
 * @param {Flame[]} flames
 */
function markFound({ profile, state }, flames) {
  const matches = state.search === "" ? null : labelsWith(profile, state.search);
  for (const flame of flames) {
    flame.matches = matches;
    flame.ask();
  }
}

/**
 * Boxes of what is selected, from the outermost frame inwards, or inverted.
 * @param {Pick<App, "profile" | "counts" | "state" | "comparison">} app
 * @param {"heavy" | "name"} order
 */
function boxesOfStacks({ profile, counts, state, comparison }, order) {
  const ofCounts = counts.before === null ? [counts] : [counts.before, counts];
  const grouped = state.roots === "processes" ? stacksByProcess(profile, ofCounts.map((side) => side.selection)) : null;
  const { stacks, sides } = grouped ?? { stacks: stacksByThread(profile), sides: /** @type {NodeCounts[]} */ (ofCounts) };
  // Inverted, a function is one box, whichever threads it ran in.
  const isMerged = (state.threads === "alike" || grouped !== null) && profile.sides === null;
  const unfolding = state.inverted ? new Outwards(profile, sides, { stacks, isMerged }) : new Inwards(profile, sides, stacks);
  const boxes = comparison === null ? unfolding.boxes(order) : comparedBoxes();
  boxes.hasOwn = boxes.isFromRoot = !state.inverted;
  boxes.isGrouped = grouped !== null;
  return boxes;

  function comparedBoxes() {
    const { tree, moved } = unfolding;
    unfolding.openAll();
    tree.setAside();
    if (state.inverted) tree.standsFor = isMerged ? STANDS_FOR.merged : STANDS_FOR.inverted;
    countMoved(tree, moved, sides[0]);
    const before = tree.setAside();
    countMoved(tree, moved, sides[1]);
    if (comparison !== null) tree.compare(before, comparison);
    return tree.boxes(profile, order);
  }
}

/** Where stacks are not grouped as they should be. */
const TOO_MANY_STACKS = "There are too many stacks to group them by process: filter first.";

/**
 * What the outermost boxes of stacks are.
 * @param {App} app
 * @param {string} id
 */
function rootsChoice(app, id) {
  /** @type {[State["roots"], string][]} */
  const levels = [["threads", "thread names"], ["processes", "processes"]];
  const roots = choice(id, "Group by", levels, (value) =>
    app.set({ roots: /** @type {State["roots"]} */ (value), zoom: [], span: null }));
  roots.label.hidden = app.profile.processes.length === 0;
  return roots;
}

/** Boxes that were placed last: many look from one flame graph to the other and back. */
const MOST_BOXES = 4;

/** Beside them, so many of all that was recorded. */
const MOST_OF_ALL = 2;

class KnownBoxes {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    /**
     * The newest first.
     * @type {{counts: Counts, key: string, boxes: Boxes}[]}
     */
    this.list = [];
  }

  /**
   * What boxes of an order depend on, beside what is counted.
   * @param {string} order
   * @param {State} [state]
   */
  keyOf(order, state = this.app.state) {
    const { inverted, frames, per, widths, threads, roots } = state;
    return JSON.stringify([order, inverted, frames, per, widths, threads, roots]);
  }

  /**
   * @param {string} key
   * @param {() => Boxes} make
   */
  of(key, make) {
    const { counts } = this.app;
    const known = this.list.find((one) => one.counts === counts && one.key === key);
    return this.keep(known ?? { counts, key, boxes: make() });
  }

  /** @param {{counts: Counts, key: string, boxes: Boxes}} one */
  keep(one) {
    // Those in order of time are many.
    const isInTime = (/** @type {{key: string}} */ { key }) => key.startsWith('["time"');
    this.forget(one);
    const others = this.list.filter((other) => this.app.known.has(other.counts) && !(isInTime(one) && isInTime(other)));
    const before = this.list;
    const last = [one, ...others.slice(0, MOST_BOXES - 1)];
    // Many come back to everything.
    const ofAll = others.filter((other) => !last.includes(other) && this.app.known.isOfAll(other.counts) && !isInTime(other));
    this.list = [...last, ...ofAll.slice(0, MOST_OF_ALL)];
    for (const { boxes } of before) if (!this.list.some((other) => other.boxes === boxes)) boxes.unfolding?.release();
    return one.boxes;
  }

  /** @param {{counts: Counts, key: string}} one */
  forget({ counts, key }) {
    this.list = this.list.filter((other) => other.counts !== counts || other.key !== key);
  }

  /**
   * Boxes of what is selected, in an order.
   * @param {"heavy" | "name"} order
   */
  ofStacks(order) {
    return this.of(this.keyOf(order), () => boxesOfStacks(this.app, order));
  }

  /** The inverted boxes of what is selected, before somebody asks for them. */
  prepareInverted() {
    const { counts, profile, comparison } = this.app;
    const state = { ...this.app.state, inverted: true };
    const key = this.keyOf("heavy", state);
    if (this.list.length >= MOST_BOXES || this.list.some((one) => one.counts === counts && one.key === key)) return;
    this.list.push({ counts, key, boxes: boxesOfStacks({ counts, profile, comparison, state }, "heavy") });
  }
}

class FlameView {
  /**
   * @param {App} app
   * @param {HTMLElement} section
   */
  constructor(app, section) {
    this.app = app;
    /** Tests have small recordings. */
    this.maxTimeBoxes = MAX_TIME_BOXES;
    this.rowsAtOnce = ROWS_AT_ONCE;
    /**
     * What boxes are being placed of.
     * @type {{counts: Counts, key: string} | null}
     */
    this.placing = null;
    const { order, roots, frames, colours, inverted, apart, note } = this.controls(section);
    this.colours = colours.select;
    this.order = order.select;
    this.roots = roots.select;
    this.frames = frames.select;
    this.inverted = inverted;
    this.apart = apart;
    this.note = note;
    this.modules = new ModuleLegend(app, note.parentElement ?? section);
    this.legend = new WaitLegend(app, note.parentElement ?? section, true);
    const place = placed(section, "div", "flame-place", "canvas-place");
    this.graph = boundFlame(app, place, () => this.zoomed());
  }

  /** @param {HTMLElement} section */
  controls(section) {
    const { app } = this;
    const { profile } = app;
    const whole = { zoom: [], span: null };
    const order = choice("order", "Order", [["heavy", "heaviest first"], ["name", "by name"], ["time", "time order"]], (value) =>
      app.set({ order: /** @type {State["order"]} */ (value), ...whole }));
    allow(order.select, (value) => value !== "time" || profile.head.has_times);
    const roots = rootsChoice(app, "roots");
    const frames = choice("frames", "Frames", [["function", "functions"], ["line", "source lines"]], (value) =>
      app.set({ frames: /** @type {State["frames"]} */ (value), ...whole }));
    frames.label.id = "frames-label";
    frames.label.hidden = !profile.hasPlaces;
    /** @type {[State["colours"], string][]} */
    const modes = [["module", "shared object"], ["kind", "kind of code"]];
    const colours = choice("colours", "Colours by", modes, (value) =>
      app.set({ colours: /** @type {State["colours"]} */ (value) }));
    colours.label.hidden = profile.sides !== null;
    const label = made("label");
    const inverted = placed(label, "input", "inverted");
    inverted.type = "checkbox";
    inverted.addEventListener("change", () => app.set({ inverted: inverted.checked, ...whole }));
    label.append(" inverted");
    const apartLabel = made("label");
    const apart = placed(apartLabel, "input", "threads-apart");
    apart.type = "checkbox";
    apart.addEventListener("change", () => app.set({ threads: apart.checked ? "apart" : "alike", ...whole }));
    apartLabel.append(" separate threads");
    apartLabel.title = "Tell apart threads whose names differ in digits alone";
    apartLabel.hidden = !hasAlike(profile);
    const bar = made("div", undefined, "bar");
    bar.append(order.label, roots.label, frames.label, colours.label, label, apartLabel);
    const all = placed(bar, "button", "zoom-out");
    all.type = "button";
    all.title = "Show everything (Home)";
    all.textContent = "Reset zoom";
    all.addEventListener("click", () => {
      this.graph.zoomOut();
      this.zoomed();
    });
    section.append(bar);
    return { order, roots, frames, colours, inverted, apart, note: placed(bar, "span", "flame-note") };
  }

  show() {
    const { profile, state, counts, comparison } = this.app;
    const { graph } = this;
    // Two ranges have no common time.
    allow(this.order, (value) => value !== "time" || (profile.head.has_times && comparison === null));
    this.order.value = this.orderShown();
    this.frames.value = state.frames;
    this.colours.value = state.colours;
    this.inverted.checked = state.inverted;
    this.apart.checked = state.threads === "apart";
    this.roots.value = state.roots;
    this.inverted.disabled = this.roots.disabled = this.orderShown() === "time";
    const boxes = this.boxes();
    graph.show(boxes);
    this.modules.show();
    this.legend.show();
    this.search();
    const of = comparison === null ? amount(profile.head.events[state.event], boxes.whole) : "the changes";
    const said = [`Flame graph of ${of}.`];
    if (boxes.isFirst) said.push("Frames that consecutive samples have in common; the others follow.");
    if (boxes.together > 1) {
      said.push(`${wholeNumber(boxes.together)} consecutive samples are merged into their common frames: choose a shorter range.`);
    }
    if (state.roots === "processes" && !boxes.isGrouped && this.orderShown() !== "time") {
      said.push(TOO_MANY_STACKS);
    }
    if (comparison !== null && boxes.whole === 0 && counts.shown.samples > 0) said.push("Nothing changed.");
    this.note.textContent = said[1] ?? "";
    graph.canvas.setAttribute("aria-label", `${said.join(" ")} Arrow keys move, Enter zooms, Escape zooms out.`);
    const box = state.zoom.length === 0 ? -1 : graph.boxes.find(state.zoom);
    // It may be one that has no place yet.
    if (box >= 0 && graph.boxes.widths[box] < graph.boxes.least) graph.boxes.placeAll();
    if (box >= 0) graph.zoomTo(box);
    else if (state.span !== null) graph.view(state.span[0], state.span[1] - state.span[0]);
  }

  /** The boxes of what is asked for. */
  boxes() {
    const order = this.orderShown();
    const known = this.app.boxes;
    return order === "time" ? known.of(`${known.keyOf(order)} ${this.maxTimeBoxes}`, () => this.boxesInTime()) : known.ofStacks(order);
  }

  /** Of many rows, a first picture; the whole one follows. */
  boxesInTime() {
    const { profile, state, counts, boxes: known } = this.app;
    if (profile.head.n_rows <= this.rowsAtOnce) return boxesInTime(profile, state, this.maxTimeBoxes);
    const placing = { counts, key: `${known.keyOf("time")} ${this.maxTimeBoxes}` };
    this.placing = placing;
    const steps = stepsInTime(profile, state, this.maxTimeBoxes);
    const step = () => {
      // Something else is asked for: nobody waits for these.
      const isWanted = this.placing === placing && this.app.counts === counts && this.orderShown() === "time";
      if (!isWanted) return known.forget(placing);
      const { done, value } = steps.next();
      if (!done) return void setTimeout(step, 0);
      this.placing = null;
      known.keep({ ...placing, boxes: value });
      if (this.app.state.view === "flame") this.show();
    };
    afterFrame(step);
    return firstInTime(profile, state);
  }

  /** Two ranges have no common time. */
  orderShown() {
    const { order } = this.app.state;
    return order === "time" && this.app.comparison !== null ? "heavy" : order;
  }

  search() {
    markFound(this.app, [this.graph]);
  }

  /** The address says what is zoomed into. */
  zoomed() {
    const { app, graph } = this;
    const box = graph.zoomed();
    const isWhole = graph.width >= graph.boxes.whole;
    const isBox = box >= 0 && graph.boxes.widths[box] === graph.width;
    const zoom = isBox ? graph.boxes.pathOf(box).reverse() : [];
    /** @type {State["span"]} */
    const span = isBox || isWhole ? null : [Math.floor(graph.start), Math.ceil(graph.start + graph.width)];
    app.state = { ...app.state, zoom, span };
    app.address.remember();
  }

  /** One zoom out. */
  back() {
    const { graph } = this;
    if (graph.width >= graph.boxes.whole) return false;
    const box = graph.zoomed();
    graph.zoomTo(box < 0 ? -1 : widerThan(graph.boxes, box));
    this.zoomed();
    return true;
  }

  resized() {
    this.graph.resized();
  }

  draw() {
    this.modules.show();
    this.legend.show();
    this.graph.draw();
  }
}

/**
 * The next wider box further out.
 * @param {Boxes} boxes
 * @param {number} box
 */
function widerThan(boxes, box) {
  let at = box;
  while (at >= 0 && boxes.widths[at] <= boxes.widths[box]) at = boxes.parents[at];
  return at;
}
