// Puts the page together: reads the profile, restores what the address says, and shows it.

/** What is selected stays so while only these change. @type {Set<keyof State>} */
const KEEPS_SELECTED = new Set(["search", "asked", "zoom", "span", "chart", "sort", "up", "treeSort", "widths", "codeRows", "codeShares", "significant", "colours"]);

/** Groupings whose rows are kept, for what is selected. */
const MOST_ROWS = 4;

class App {
  /** @param {Profile} profile */
  constructor(profile) {
    this.profile = profile;
    /** Pixels of height that views have, as of the last frame. */
    this.room = innerHeight;
    this.state = stateOf(location.hash, profile);
    this.theme = new Theme(profile);
    this.menu = new Menu();
    transform(profile, this.state.transforms, this.state.threads);
    this.details = new Details(profile, {
      open: (label) => this.open(label),
      code: (label) => this.showCode(label),
      keep: ({ labels, row = rowOfLabel(profile, labels[0]) }) => this.addTransform({ kind: "keep", grouping: row.grouping, key: row.key }),
      menu: ({ labels, row, path }, at) => this.menu.open(at, row === undefined ? itemsOf(this, labels[0], path) : transformItems(this, row.grouping, row.key)),
    });
    this.search = element("search", HTMLInputElement);
    this.event = element("event", HTMLSelectElement);
    this.overview = new Overview(element("overview", HTMLElement), this.theme, {
      range: (range, from) => this.ranges.choose(range, from),
      against: (against) => this.ranges.compareWith(against),
      isAgainst: (from) => this.ranges.isAgainst(from),
      say: (text) => this.details.say(text),
    });
    this.ranges = new RangeBar(this);
    this.known = new KnownCounts(profile);
    this.boxes = new KnownBoxes(this);
    /**
     * What is found in idle time and is not yet.
     * @type {(() => void)[]}
     */
    this.ahead = [];
    this.only = new OnlyState(this);
    this.shares = new SharesChoice(this);
    this.typed = new TypedRange(this);
    /**
     * Rows of what is selected, the newest first.
     * @type {{counts: Counts, key: string, rows: Row[]}[]}
     */
    this.knownRows = [];
    this.views = new Views(this);
    this.profile.isByLine = this.state.frames === "line";
    this.theme.show(this.state.colours);
    this.counts = this.known.of(this.state);
    this.comparison = this.compare();
    this.steps = new Steps(this);
    this.address = new Address(this);
    describePage(profile);
    this.listen();
    listenToKeys(this);
    this.overview.show(this.state);
    this.show();
  }

  /**
   * Changes what is seen.
   * @param {Partial<State>} changes
   * @param {"restored"} [why] the address says it already
   */
  set(changes, why) {
    askForFrame();
    const before = this.state;
    const rounded = changes.range ? { range: /** @type {[number, number]} */ (changes.range.map(Math.round)) } : {};
    // Parts are of a range.
    const parts = changes.range === undefined ? before.parts : changes.parts ?? [];
    this.state = { ...before, ...changes, ...rounded, parts };
    if (this.state.range === null && this.state.against !== null) this.state = { ...this.state, ...NOT_COMPARED };
    const { event, range, parts: ranges, against, thread, keep, transforms, threads } = this.state;
    this.profile.isByLine = this.state.frames === "line";
    this.theme.show(this.state.colours);
    const changed = /** @type {(keyof State)[]} */ (Object.keys(this.state));
    if (changed.some((name) => !KEEPS_SELECTED.has(name) && !isSame(this.state[name], before[name]))) {
      this.details.choose(null);
      // What was pointed at is not there any more.
      this.details.say("");
    }
    const isTransformed = !isSame(transforms, before.transforms) || threads !== before.threads;
    if (isTransformed) transform(this.profile, transforms, threads);
    const isOther = event !== before.event || thread !== before.thread || keep !== before.keep;
    if (isTransformed || isOther || !isSame(range, before.range) || !isSame(ranges, before.parts) || !isSame(against, before.against)) {
      this.counts = this.known.of(this.state);
      this.overview.show(this.state);
    }
    this.comparison = this.compare();
    this.show();
    prepareFrame();
    if (why !== "restored") this.address.remember();
  }

  /** How both sides are compared, if there are two. */
  compare(per = this.state.per) {
    const { counts, state, profile } = this;
    if (counts.before === null) return null;
    const whole = { before: counts.before.total, after: counts.total };
    return new Comparison(whole, { ...state, per }, profile, state.event, this.ranges.changes(counts, state));
  }

  /**
   * Shows a view, if the recording has it.
   * @param {string} name
   */
  view(name) {
    const entry = viewsOf(this.profile).find((one) => one.name === name);
    if (entry !== undefined) this.set({ view: name, ...this.views.all[name].chosen?.() });
  }

  show() {
    const { state } = this;
    this.event.value = String(state.event);
    if (this.search.value !== state.search) this.search.value = state.search;
    element("per", HTMLSelectElement).value = state.per;
    const widths = element("widths", HTMLSelectElement);
    widths.value = state.widths;
    // Rows of the table have none.
    /** @type {HTMLElement} */ (widths.parentElement).hidden = state.view === "table";
    this.views.show();
    this.sayFound();
    this.showChips();
    this.ranges.show();
  }

  /**
   * What is searched for: marked, not left out.
   * @param {string} search
   */
  find(search) {
    askForFrame();
    this.state = { ...this.state, search, asked: undefined };
    this.views.shown.search?.();
    this.sayFound();
    prepareFrame();
    this.address.remember();
  }

  sayFound() {
    const found = element("found", HTMLElement);
    const { search } = this.state;
    element("keep", HTMLButtonElement).hidden = search === "";
    element("keep-more", HTMLButtonElement).hidden = search === "" || this.profile.sides !== null;
    if (search === "") return void (found.textContent = "");
    const { profile, counts, comparison } = this;
    const sum = matching(profile, counts, search);
    const isText = new Pattern(search).isText ? " (invalid regular expression; searched as text)" : "";
    const isPart = profile.hasLongNames ? ` (in the first ${SEARCHED} characters of names)` : "";
    const said = counts.before === null || comparison === null
      ? `${percent(sum.weight, this.whole)} matches`
      : comparison.text({ before: matching(profile, counts.before, search), after: sum });
    found.textContent = `${said}${isText}${isPart}`;
  }

  showChips() {
    const { state, profile, counts } = this;
    /** @type {HTMLElement[]} */
    const chips = [...this.only.shown(), made("span", this.said(), "said"), ...this.changedFunctions(), ...this.shares.shown(), ...this.typed.shown()];
    /**
     * @param {string} text
     * @param {Partial<State>} without
     * @param {string} [title]
     */
    const chip = (text, without, title = "") => {
      const one = made("button", `${text} ✕`, "chip");
      one.type = "button";
      one.title = title;
      one.setAttribute("aria-label", `${text}: remove this filter`);
      one.addEventListener("click", () => this.set(without));
      chips.push(one);
    };
    const { range, against, thread, transforms } = this.filters();
    const ranges = state.range === null ? [] : /** @type {[number, number][]} */ (partsOf(state));
    range.forEach((text, at) => chip(text, joinedRanges(ranges.filter((_, other) => other !== at))));
    for (const text of against) chip(text, NOT_COMPARED);
    for (const text of thread) chip(text, { thread: null });
    transforms.forEach((text, at) => {
      const one = state.transforms[at];
      const title = isRowGrouping(one.grouping) ? "" : wordsOfKind(one).title;
      chip(text, { transforms: state.transforms.filter((_, other) => other !== at), zoom: [], span: null }, title);
    });
    if (state.asked !== undefined) {
      const { search, keep, transforms } = state.asked;
      const pattern = keep || search;
      const what = pattern === "" ? counted(transforms.length, "transform", "transforms") : `search: ${pattern.slice(0, 60)}`;
      const one = made("button", `Apply the link's ${what}`, "chip");
      one.type = "button";
      one.addEventListener("click", () => this.set({ search, keep, transforms, asked: undefined }));
      chips.push(one);
    }
    if (state.keep !== "") chip(`with ${state.keep.slice(0, 60)}`, { keep: "" });
    if (counts.shown.samples + (counts.before?.shown.samples ?? 0) === 0) chips.push(made("span", "No samples match.", "said"));
    keepFocus(() => element("chips", HTMLElement).replaceChildren(...chips));
  }

  /** Leads from how many functions changed significantly to which these are. */
  changedFunctions() {
    const { n, own } = this.comparison?.numbers() ?? { n: 0, own: 0 };
    if (n === 0 || (this.state.view === "table" && this.state.significant && this.state.grouping === "function")) return [];
    const show = made("button", "Show them", "small");
    show.type = "button";
    show.id = "show-changed";
    show.title = "The functions that changed significantly, in the table";
    const sort = /** @type {SortBy} */ (own > 0 ? "selfChange" : "totalChange");
    show.addEventListener("click", () => this.set({ view: "table", grouping: "function", significant: true, sort, up: false }));
    return [show];
  }

  /** What is left out, in words. */
  filters() {
    const { state, profile } = this;
    const transforms = state.transforms.map((one, at) => {
      if (isRowGrouping(one.grouping)) return chipOfGrouping(profile, one, state.transforms.slice(0, at));
      return saidOfTransform(profile, one);
    });
    return {
      range: partsOf(state).flatMap((range) => (range === null ? [] : [`${state.against === null ? "" : "B: "}${saidOfRange(range)}`])),
      against: state.against === null ? [] : [`compared with A: ${saidOfRange(state.against)}`],
      thread: state.thread === null ? [] : [profile.nameOfThread(state.thread)],
      transforms,
    };
  }

  filtersInWords() {
    const { range, against, thread, transforms } = this.filters();
    const { keep } = this.state;
    return [...range, ...against, ...thread, ...transforms, ...(keep === "" ? [] : [`with ${middleCut(keep, 60)}`])];
  }

  said() {
    const { counts, comparison, profile, state } = this;
    const { shown, before } = counts;
    if (before !== null) {
      const samples = `${counted(before.shown.samples, ...nounsOf(profile.head.events[state.event]))} before, ${wholeNumber(shown.samples)} after`;
      return comparison === null ? samples : `${samples}; ${comparison.sure()}`;
    }
    const event = profile.head.events[state.event];
    const waits = event.kind === "wall-time" ? counts.waits(profile) : event.kind === "off-cpu-time" ? shown.samples : 0;
    const samples = waits === 0 ? counted(shown.samples, "sample", "samples")
      : waits === shown.samples ? counted(waits, "wait", "waits")
      : `${counted(shown.samples - waits, "sample", "samples")} and ${counted(waits, "wait", "waits")}`;
    const said = `${samples}, ${amount(event, shown.weight)}`;
    return shown.weight === event.weight ? said : `${said} (${percent(shown.weight, event.weight)} of all)`;
  }

  /**
   * @param {Boxes} boxes
   * @param {number} box
   */
  describe(boxes, box) {
    const label = boxes.labels[box];
    const name = label >= 0 ? this.profile.imageOfFrame(label) : "";
    const image = inBrackets(name);
    const kind = label >= 0 && this.state.colours === "kind" ? ` ${KINDS.find(([one]) => one === kindOf(this.profile.flags[label]))?.[1]}` : "";
    return `${this.profile.nameOf(label).slice(0, 500)}${image}${kind} — ${this.sumOf(boxes, box)}`;
  }

  /**
   * @param {Boxes} boxes
   * @param {number} box
   */
  sumOf(boxes, box) {
    if (boxes.sides !== null && this.comparison !== null) return this.comparison.text(bothOf(boxes.sides, box));
    const event = this.profile.head.events[this.state.event];
    const { whole } = this;
    const own = boxes.hasOwn && boxes.own[box] > 0 ? `, self ${shareWithTime(event, boxes.own[box], whole)}` : "";
    const isWait = boxes.labels[box] >= 0 && (this.profile.flags[boxes.labels[box]] & FLAGS.wait) !== 0;
    /** @type {[string, string]} */
    const nouns = isWait ? ["wait", "waits"] : nounsOf(event);
    const samples = counted(boxes.samples[box], ...nouns);
    return `${percent(boxes.widths[box], whole)} (${amount(event, boxes.widths[box])}, ${samples})${own}`;
  }

  /**
   * @param {Boxes} boxes
   * @param {number} box
   */
  select(boxes, box) {
    if (box < 0) return this.details.choose(null);
    this.details.choose({ labels: boxes.pathOf(box), sum: this.sumOf(boxes, box), path: boxes.pathFromRoot(box) });
    this.details.say(this.describe(boxes, box));
  }

  /** @param {Row} row */
  chooseRow(row) {
    const { grouping } = this.state;
    const isFunction = grouping === "function" || grouping === "line";
    const frame = grouping === "line" ? row.key : this.profile.frameOfFunction[row.key];
    const { whole } = this;
    const event = this.profile.head.events[this.state.event];
    const changed = /** @type {ChangedRow} */ (row);
    const sum = this.comparison === null || changed.all === undefined
      ? `self ${shareWithTime(event, row.self, whole)}; total ${shareWithTime(event, row.total, whole)}`
      : `total ${this.comparison.text(changed.all)}; self ${this.comparison.text(changed.own)}`;
    if (!isFunction) return this.details.choose({ labels: [], sum, row: { grouping, key: row.key, name: row.name } });
    const lines = linesOf(this, this.profile.functionOf[frame]);
    this.details.choose({ labels: [frame], sum, lines });
  }

  /** @param {Transform} transform */
  addTransform(transform) {
    const { transforms } = this.state;
    // Nothing is known of it.
    if (transform.key < 0) return;
    if (transformWords(transforms.slice(-1)) === transformWords([transform])) return;
    if (this.hasRoomFor(transforms)) this.set({ transforms: [...transforms, transform], zoom: [], span: null });
  }

  /**
   * Whether one more transform may follow these; says so if not.
   * @param {Transform[]} transforms
   */
  hasRoomFor(transforms) {
    const hasRoom = transforms.length < MOST_TRANSFORMS;
    if (!hasRoom) this.details.say(`No more than ${MOST_TRANSFORMS} transforms: remove one first.`);
    return hasRoom;
  }

  /**
   * @param {Row} row
   * @param {MouseEvent} event
   */
  menuOfRow(row, event) {
    const { grouping } = this.state;
    const label = grouping === "function" ? this.profile.frameOfFunction[row.key] : row.key;
    const items = grouping === "image" || isRowGrouping(grouping)
      ? transformItems(this, grouping, row.key)
      : itemsOf(this, grouping === "thread" ? -1 - row.key : label);
    event.preventDefault();
    this.menu.open(placeOf(event), items);
  }

  /** @param {Row} row */
  openRow(row) {
    const { grouping } = this.state;
    if (grouping === "function") this.open(this.profile.frameOfFunction[row.key]);
    else if (grouping === "line") this.open(row.key);
    else this.addTransform({ kind: "keep", grouping, key: row.key });
  }

  /**
   * Callers and callees of a function.
   * @param {number} label
   */
  open(label) {
    if (label >= 0) this.set({ view: "sandwich", focus: this.profile.functionOf[label] });
  }

  get hasCode() {
    return viewsOf(this.profile).some(({ name }) => name === "code");
  }

  /**
   * Instructions and source lines of a function.
   * @param {number} label
   */
  showCode(label) {
    if (label >= 0) this.set({ view: "code", focus: this.profile.functionOf[label], listing: null });
  }

  /**
   * Rows of what is selected, found once for all that is searched among them.
   * @param {Grouping} grouping
   * @returns {Row[]}
   */
  rows(grouping) {
    const { counts, comparison, profile } = this;
    const key = `${grouping} ${comparison?.per}`;
    const known = this.knownRows.find((one) => one.counts === counts && one.key === key);
    if (known !== undefined) return known.rows;
    const rows = comparison === null
      ? tableRows(profile, counts, grouping)
      : changedRows(profile, counts, grouping, comparison);
    this.knownRows = [{ counts, key, rows }, ...this.knownRows.filter((one) => one.counts === counts).slice(0, MOST_ROWS - 1)];
    return rows;
  }

  /** What is 100 %. */
  get whole() {
    const { state, counts, profile } = this;
    return state.shares === "all" ? profile.head.events[state.event].weight : counts.shown.weight;
  }

  functions() {
    return this.rows("function");
  }

  /**
   * One step out: the last one first, then those that a link led to.
   * @param {boolean} isTyping
   */
  back(isTyping) {
    const { state, views, steps } = this;
    if (isTyping && this.search.value !== "") this.find((this.search.value = ""));
    else if (isTyping) this.search.blur();
    else if (steps.last === "zoom" && steps.back()) return;
    else if (steps.last === undefined && views.shown.back?.()) return;
    else if (this.details.chosen !== null) this.details.choose(null);
    else if (steps.back()) return;
    else if (views.shown.outer !== undefined) this.set({ view: views.shown.outer });
    else if (state.search !== "") this.find((this.search.value = ""));
    else if (state.keep !== "") this.set({ keep: "" });
    else if (state.transforms.length > 0) this.set({ transforms: state.transforms.slice(0, -1), zoom: [], span: null });
    else if (state.thread !== null) this.set({ thread: null });
    else if (state.against !== null) this.set(NOT_COMPARED);
    else if (state.range !== null) this.set({ range: null });
  }

  toggleTheme() {
    this.theme.toggle();
    this.redraw();
  }

  /** Draws what has another size than it was drawn in. */
  resized() {
    this.overview.resized();
    this.views.shown.resized?.();
  }

  redraw() {
    this.theme.apply();
    this.overview.draw();
    this.views.draw();
  }

  listen() {
    /**
     * @param {string} id
     * @param {(value: string) => Partial<State>} changes
     */
    const select = (id, changes) => {
      const one = element(id, HTMLSelectElement);
      one.addEventListener("change", () => this.set(changes(one.value)));
    };
    select("event", (value) => ({ event: Number(value), zoom: [], span: null }));
    select("per", (value) => ({ per: /** @type {Measure["per"]} */ (value), span: null }));
    select("widths", (value) => ({ widths: /** @type {Measure["widths"]} */ (value), span: null }));
    this.search.addEventListener("input", () => this.find(this.search.value));
    this.search.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && this.search.value !== "") this.keepFound();
    });
    element("keep", HTMLButtonElement).addEventListener("click", () => this.keepFound());
    element("keep-more", HTMLButtonElement).addEventListener("click", (event) =>
      this.menu.open(placeOf(event), itemsOfSearch(this), "Filters by pattern"));
    element("save", HTMLButtonElement).addEventListener("click", (event) => this.menu.open(placeOf(event), itemsToSave(this), "Save"));
    element("theme", HTMLButtonElement).addEventListener("click", () => this.toggleTheme());
    this.theme.isSystemDark.addEventListener("change", () => this.redraw());
    new ResizeObserver(([{ contentRect }]) => {
      this.room = contentRect.height;
      this.resized();
    }).observe(element("main", HTMLElement));
    addEventListener("beforeprint", () => this.print(true));
    addEventListener("afterprint", () => this.print(false));
  }

  /** Leaves out all that does not have what is searched for. */
  keepFound() {
    this.set({ keep: this.state.search, search: "", asked: undefined, zoom: [], span: null });
  }

  /**
   * Paper is light.
   * @param {boolean} isPrinted
   */
  print(isPrinted) {
    this.theme.isPrinted = isPrinted;
    this.redraw();
  }
}

/**
 * What a box is of: a function, threads of one name, or a process.
 * @param {Profile} profile
 * @param {number} label
 * @returns {{grouping: TransformedGrouping, key: number}}
 */
function rowOfLabel(profile, label) {
  if (label < 0) {
    const process = -1 - label - profile.n_comms;
    return process < 0 ? { grouping: "thread", key: -1 - label } : { grouping: "process", key: profile.processes[process] };
  }
  const grouping = (profile.flags[label] & FLAGS.wait) !== 0 ? "wait" : "function";
  return { grouping, key: profile.functionOf[label] };
}

/** Reads and shows; a failure is said where the page would be. */
async function start() {
  const status = element("status", HTMLElement);
  try {
    const data = element("profile", HTMLElement);
    const profile = await decode(data.textContent ?? "");
    // Its text is not needed any more.
    data.remove();
    const app = new App(profile);
    status.hidden = true;
    document.documentElement.dataset.ready = "true";
    performance.mark("rprof-ready");
    /** @type {any} */ (globalThis).rprofPage = app;
    prepareAhead(app);
  } catch (error) {
    status.textContent = `Cannot show this page: ${error instanceof Error ? error.message : error}`;
    throw error;
  }
}

void start();
