// Puts the page together: reads the profile, restores what the address says, and shows it.

/** Views that need times. @type {Set<ViewName>} */
const OF_TIME = new Set(["threads", "heat"]);

/** What is selected stays so while only these change. @type {Set<keyof State>} */
const KEEPS_SELECTED = new Set(["search", "asked", "zoom", "span", "sort", "up", "widths"]);

class App {
  /** @param {Profile} profile */
  constructor(profile) {
    this.profile = profile;
    this.state = stateOf(location.hash, profile);
    this.theme = new Theme(profile);
    this.details = new Details(profile, {
      open: (label) => this.open(label),
      keep: (label) => this.set({ only: onlyWith(profile, label), zoom: [], span: null }),
    });
    this.search = element("search", HTMLInputElement);
    this.event = element("event", HTMLSelectElement);
    this.overview = new Overview(element("overview", HTMLElement), this.theme, (range) => this.set({ range }));
    this.views = new Views(this);
    this.profile.isByLine = this.state.frames === "line";
    this.counts = Counts.of(profile, this.state);
    this.comparison = this.compare();
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
    const before = this.state;
    const rounded = changes.range ? { range: /** @type {[number, number]} */ (changes.range.map(Math.round)) } : {};
    this.state = { ...before, ...changes, ...rounded };
    const { event, range, thread, keep, only } = this.state;
    this.profile.isByLine = this.state.frames === "line";
    const changed = /** @type {(keyof State)[]} */ (Object.keys(this.state));
    if (changed.some((name) => !KEEPS_SELECTED.has(name) && !isSame(this.state[name], before[name]))) this.details.choose(null);
    const isOther = event !== before.event || thread !== before.thread || keep !== before.keep || only !== before.only;
    if (isOther || !isSame(range, before.range)) {
      this.counts = Counts.of(this.profile, this.state);
      this.overview.show(this.state);
    }
    this.comparison = this.compare();
    this.show();
    if (why !== "restored") this.address.remember();
  }

  /** How both sides are compared, if there are two. */
  compare() {
    const { counts, state, profile } = this;
    if (counts.before === null) return null;
    const whole = { before: counts.before.total, after: counts.total };
    return new Comparison(whole, state, profile, state.event);
  }

  /**
   * Shows a view, if the recording has it. Callers and callees are those of what is selected.
   * @param {ViewName} view
   */
  view(view) {
    const label = this.details.chosen?.labels[0] ?? -1;
    if (view === "sandwich" && label >= 0) return this.open(label);
    if (this.profile.head.has_times || !OF_TIME.has(view)) this.set({ view });
  }

  show() {
    const { state } = this;
    for (const tab of document.querySelectorAll("[data-view]")) {
      const isShown = /** @type {HTMLElement} */ (tab).dataset.view === state.view;
      tab.setAttribute("aria-selected", String(isShown));
    }
    for (const view of document.querySelectorAll("main > section")) {
      /** @type {HTMLElement} */ (view).hidden = view.id !== state.view;
    }
    element("order", HTMLSelectElement).value = state.order;
    element("grouping", HTMLSelectElement).value = state.grouping;
    element("inverted", HTMLInputElement).checked = state.inverted;
    element("inverted", HTMLInputElement).disabled = state.order === "time";
    this.event.value = String(state.event);
    if (this.search.value !== state.search) this.search.value = state.search;
    element("frames", HTMLSelectElement).value = state.frames;
    element("per", HTMLSelectElement).value = state.per;
    element("widths", HTMLSelectElement).value = state.widths;
    this.views.show();
    this.sayFound();
    this.showChips();
  }

  /**
   * What is searched for: marked, not left out.
   * @param {string} search
   */
  find(search) {
    this.state = { ...this.state, search, asked: undefined };
    if (this.state.view === "table") this.views.show();
    else this.views.mark(this.state);
    this.sayFound();
    this.address.remember();
  }

  sayFound() {
    const found = element("found", HTMLElement);
    const { search } = this.state;
    element("keep", HTMLButtonElement).hidden = search === "";
    if (search === "") return void (found.textContent = "");
    const { profile, counts, comparison } = this;
    const sum = matching(profile, counts, search);
    const isText = new Pattern(search).isText ? " (invalid regular expression; searched as text)" : "";
    const isPart = profile.hasLongNames ? ` (in the first ${SEARCHED} characters of names)` : "";
    const said = counts.before === null || comparison === null
      ? `${percent(sum.weight, counts.total.weight)} of the samples`
      : comparison.text({ before: matching(profile, counts.before, search), after: sum });
    found.textContent = `${said}${isText}${isPart}`;
  }

  showChips() {
    const { state, profile, counts } = this;
    const chips = [made("span", this.said(), "said")];
    /**
     * @param {string} text
     * @param {Partial<State>} without
     */
    const chip = (text, without) => {
      const one = made("button", `${text} ✕`, "chip");
      one.type = "button";
      one.setAttribute("aria-label", `${text}: remove this filter`);
      one.addEventListener("click", () => this.set(without));
      chips.push(one);
    };
    if (state.range !== null) chip(`${duration(state.range[0])} – ${duration(state.range[1])}`, { range: null });
    if (state.thread !== null) chip(profile.nameOfThread(state.thread), { thread: null });
    if (state.only !== null) {
      const [name] = namesOfRow(profile, state.only.grouping, state.only.key);
      chip(`with ${state.only.grouping} ${name.slice(0, 60)}`, { only: null });
    }
    if (state.asked !== undefined) {
      const { search, keep } = state.asked;
      const one = made("button", `Apply the link's search: ${(keep || search).slice(0, 60)}`, "chip");
      one.type = "button";
      one.addEventListener("click", () => this.set({ search, keep, asked: undefined }));
      chips.push(one);
    }
    if (state.keep !== "") chip(`with ${state.keep.slice(0, 60)}`, { keep: "" });
    if (counts.shown.samples + (counts.before?.shown.samples ?? 0) === 0) chips.push(made("span", "No samples match.", "said"));
    element("chips", HTMLElement).replaceChildren(...chips);
  }

  said() {
    const { counts, comparison, profile, state } = this;
    const { shown, before } = counts;
    if (before !== null) {
      const samples = `${counted(before.shown.samples, "sample", "samples")} before, ${wholeNumber(shown.samples)} after`;
      return comparison === null ? samples : `${samples}; ${comparison.sure()}`;
    }
    const event = profile.head.events[state.event];
    const said = `${counted(shown.samples, "sample", "samples")}, ${amount(event, shown.weight)}`;
    return shown.weight === event.weight ? said : `${said} (${percent(shown.weight, event.weight)} of all)`;
  }

  /**
   * @param {Boxes} boxes
   * @param {number} box
   */
  describe(boxes, box) {
    const label = boxes.labels[box];
    const name = label >= 0 ? this.profile.imageOfFrame(label) : "";
    const image = name === "" ? "" : ` [${name}]`;
    return `${this.profile.nameOf(label).slice(0, 500)}${image} — ${this.sumOf(boxes, box)}`;
  }

  /**
   * @param {Boxes} boxes
   * @param {number} box
   */
  sumOf(boxes, box) {
    if (boxes.sides !== null && this.comparison !== null) return this.comparison.text(bothOf(boxes.sides, box));
    const event = this.profile.head.events[this.state.event];
    const whole = this.counts.total.weight;
    const own = boxes.hasOwn && boxes.own[box] > 0 ? `, self ${percent(boxes.own[box], whole)}` : "";
    const samples = counted(boxes.samples[box], "sample", "samples");
    return `${percent(boxes.widths[box], whole)} (${amount(event, boxes.widths[box])}, ${samples})${own}`;
  }

  /**
   * @param {Boxes} boxes
   * @param {number} box
   */
  select(boxes, box) {
    if (box < 0) return this.details.choose(null);
    this.details.choose({ labels: boxes.pathOf(box), sum: this.sumOf(boxes, box) });
    this.details.say(this.describe(boxes, box));
  }

  /** @param {Row} row */
  chooseRow(row) {
    const { grouping } = this.state;
    if (grouping === "thread" || grouping === "image") return this.set({ only: { grouping, key: row.key } });
    const frame = grouping === "line" ? row.key : this.profile.frameOfFunction[row.key];
    const whole = this.counts.total.weight;
    const changed = /** @type {ChangedRow} */ (row);
    const sum = this.comparison === null
      ? `self ${percent(row.self, whole)}; total ${percent(row.total, whole)}`
      : `total ${this.comparison.text(changed.all)}; self ${this.comparison.text(changed.own)}`;
    const lines = linesOf(this.profile, this.counts, this.profile.functionOf[frame]);
    this.details.choose({ labels: [frame], sum, lines });
  }

  /** @param {Row} row */
  openRow(row) {
    const { grouping } = this.state;
    if (grouping === "function") this.open(this.profile.frameOfFunction[row.key]);
    else if (grouping === "line") this.open(row.key);
  }

  /**
   * Callers and callees of a function.
   * @param {number} label
   */
  open(label) {
    if (label >= 0) this.set({ view: "sandwich", focus: this.profile.functionOf[label] });
  }

  zoomed() {
    const { flame } = this.views;
    const box = flame.zoomed();
    const isWhole = flame.width >= flame.boxes.whole;
    const isBox = box >= 0 && flame.boxes.widths[box] === flame.width;
    const zoom = isBox ? flame.boxes.pathOf(box).reverse() : [];
    /** @type {State["span"]} */
    const span = isBox || isWhole ? null : [Math.floor(flame.start), Math.ceil(flame.start + flame.width)];
    this.state = { ...this.state, zoom, span };
    this.address.remember();
  }

  /**
   * One step out: of the zoom, of the search, of what is left out.
   * @param {boolean} isTyping
   */
  back(isTyping) {
    const { state, views } = this;
    if (isTyping && this.search.value !== "") this.find((this.search.value = ""));
    else if (isTyping) this.search.blur();
    else if (state.view === "flame" && views.flame.width < views.flame.boxes.whole) {
      const box = views.flame.zoomed();
      views.flame.zoomTo(box < 0 ? -1 : widerThan(views.flame.boxes, box));
      this.zoomed();
    } else if (this.details.chosen !== null) this.details.choose(null);
    else if (state.view === "sandwich") this.set({ view: "flame" });
    else if (state.search !== "") this.find((this.search.value = ""));
    else if (state.keep !== "") this.set({ keep: "" });
    else if (state.only !== null) this.set({ only: null });
    else if (state.thread !== null) this.set({ thread: null });
    else if (state.range !== null) this.set({ range: null });
  }

  toggleTheme() {
    this.theme.toggle();
    this.redraw();
  }

  redraw() {
    this.theme.apply();
    this.overview.draw();
    this.views.redraw();
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
    select("order", (value) => ({ order: /** @type {State["order"]} */ (value), zoom: [], span: null }));
    select("grouping", (value) => ({ grouping: /** @type {Grouping} */ (value) }));
    select("frames", (value) => ({ frames: /** @type {State["frames"]} */ (value), zoom: [], span: null }));
    select("per", (value) => ({ per: /** @type {Measure["per"]} */ (value), span: null }));
    select("widths", (value) => ({ widths: /** @type {Measure["widths"]} */ (value), span: null }));
    const inverted = element("inverted", HTMLInputElement);
    inverted.addEventListener("change", () => this.set({ inverted: inverted.checked, zoom: [], span: null }));
    this.search.addEventListener("input", () => this.find(this.search.value));
    this.search.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && this.search.value !== "") this.keepFound();
    });
    element("keep", HTMLButtonElement).addEventListener("click", () => this.keepFound());
    element("zoom-out", HTMLButtonElement).addEventListener("click", () => {
      this.views.flame.zoomOut();
      this.zoomed();
    });
    element("theme", HTMLButtonElement).addEventListener("click", () => this.toggleTheme());
    for (const tab of document.querySelectorAll("[data-view]")) {
      const view = /** @type {ViewName} */ (/** @type {HTMLElement} */ (tab).dataset.view);
      tab.addEventListener("click", () => this.view(view));
    }
    this.theme.isSystemDark.addEventListener("change", () => this.redraw());
    new ResizeObserver(() => this.redraw()).observe(element("main", HTMLElement));
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
 * The next wider box further out.
 * @param {Boxes} boxes
 * @param {number} box
 */
function widerThan(boxes, box) {
  let at = box;
  while (at >= 0 && boxes.widths[at] <= boxes.widths[box]) at = boxes.parents[at];
  return at;
}

/**
 * What a box is of: a function, or threads of one name.
 * @param {Profile} profile
 * @param {number} label
 * @returns {Only}
 */
function onlyWith(profile, label) {
  if (label < 0) return { grouping: "thread", key: -1 - label };
  return { grouping: "function", key: profile.functionOf[label] };
}

/**
 * What is said of the whole recording.
 * @param {Profile} profile
 */
function describePage(profile) {
  const head = profile.head;
  element("title", HTMLElement).textContent = head.title;
  const { host, cpu, os_release: release } = head.about;
  const when = head.wall_ms ? new Date(head.wall_ms).toISOString().replace("T", " ").slice(0, 19) + " UTC" : "";
  const parts = [host, cpu, release && `Linux ${release}`, when, head.has_times ? duration(head.span_ns) : ""];
  element("subtitle", HTMLElement).textContent = parts.filter((part) => part).join(" · ");
  const event = element("event", HTMLSelectElement);
  head.events.forEach((one, number) => {
    const option = made("option", one.name);
    option.value = String(number);
    event.append(option);
  });
  event.disabled = head.events.length < 2;
  const notes = [...head.notes, ...lackingNotes(profile), ...joinedNotes(head), ...head.warnings];
  element("notes", HTMLElement).replaceChildren(...notes.map((note) => made("li", note)));
  for (const id of ["overview", "threads-tab", "heat-tab"]) element(id, HTMLElement).hidden = !head.has_times;
  for (const option of element("order", HTMLSelectElement).options) {
    option.hidden = option.disabled = option.value === "time" && !head.has_times;
  }
  const groupings = groupingsOf(profile);
  for (const option of element("grouping", HTMLSelectElement).options) {
    option.hidden = option.disabled = !groupings.includes(/** @type {Grouping} */ (option.value));
  }
  element("frames-label", HTMLElement).hidden = !profile.hasPlaces;
  element("measure", HTMLElement).hidden = profile.sides === null;
  for (const option of element("per", HTMLSelectElement).options) {
    option.hidden = option.disabled = !profile.measures.some(({ per }) => per === option.value);
  }
}

/**
 * What was not recorded.
 * @param {Profile} profile
 */
function lackingNotes(profile) {
  const notes = [];
  if (!profile.head.has_times && profile.sides === null) {
    notes.push("The recording has no times, so there are no views over time (record with rprof record -T).");
  }
  if (profile.head.n_nodes > 0 && profile.depths.every((depth) => depth < 2)) {
    notes.push("The recording has no call chains: each stack is a single function (record with rprof record -g).");
  }
  return notes;
}

/**
 * What the page has no room for.
 * @param {Head} head
 */
function joinedNotes(head) {
  const notes = [];
  const of = head.by_name ? "threads with the same name" : "the same thread";
  if (head.slot_ns > 0) {
    notes.push(
      `${wholeNumber(head.n_samples)} samples are stored as ${wholeNumber(head.n_rows)} rows: samples of ${of} with equal stacks ` +
        `within ${duration(head.slot_ns)} share a row with a count. No sample is omitted.`,
    );
  }
  if (head.min_samples > 0) {
    notes.push(`Branches with fewer than ${wholeNumber(head.min_samples)} samples are cut: their samples count for the caller.`);
  }
  return notes;
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
    /** @type {any} */ (globalThis).rprofPage = app;
  } catch (error) {
    status.textContent = `Cannot show this page: ${error instanceof Error ? error.message : error}`;
    throw error;
  }
}

void start();
