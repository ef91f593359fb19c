// What Escape takes back: zooms, searches, filters and ranges, the last one first.

/**
 * `before` is what taking it back restores, where that is more than leaving it out.
 * @typedef {{name: "zoom" | "view" | "search" | "keep" | "transforms" | "thread" | "ranges", before?: Partial<State>}} Step
 */

/** What changes with ranges, and is no step of its own. @type {Set<keyof State>} */
const BESIDES = new Set(["per", "sort", "zoom", "span"]);

class Steps {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.seen = app.state;
    /**
     * The last one last.
     * @type {Step[]}
     */
    this.list = [];
    this.isTakingBack = false;
  }

  /** The address says another state: what led there is not known. */
  forget() {
    this.list = [];
    this.seen = this.app.state;
  }

  /** Notes what differs from what was seen last. */
  note() {
    const [before, now] = [this.seen, this.app.state];
    this.seen = now;
    if (this.isTakingBack) return;
    const changes = (/** @type {(keyof State)[]} */ ...names) => names.some((name) => !isSame(before[name], now[name]));
    if (changes("view")) this.replace({ name: "view" });
    for (const name of /** @type {const} */ (["search", "keep", "thread"])) {
      if (!changes(name)) continue;
      if (now[name] === null || now[name] === "") this.drop(name);
      else if (name === "search") this.replace({ name });
      else this.list.push({ name, before: { [name]: before[name] } });
    }
    for (let n = before.transforms.length; n < now.transforms.length; n++) this.list.push({ name: "transforms" });
    for (let n = now.transforms.length; n < before.transforms.length; n++) this.dropLast("transforms");
    if (changes("range", "parts", "against")) this.noteRanges(before, now);
    if (!changes("zoom", "span", "chart")) return;
    if (now.zoom.length === 0 && now.span === null && now.chart === null) this.drop("zoom");
    else this.replace({ name: "zoom" });
  }

  /**
   * @param {State} before
   * @param {State} now
   */
  noteRanges(before, now) {
    if (now.range === null) return this.drop("ranges");
    if (now.against === null && before.against !== null) {
      this.list = this.list.filter((step) => step.name !== "ranges" || !step.before?.against);
      return;
    }
    const { range, parts, against, per, sort } = before;
    this.list.push({ name: "ranges", before: { range, parts, against, per, sort, zoom: [], span: null } });
  }

  /** @param {Step} step the only one of its name from now on */
  replace(step) {
    this.drop(step.name);
    this.list.push(step);
  }

  /** @param {Step["name"]} name */
  drop(name) {
    this.list = this.list.filter((step) => step.name !== name);
  }

  /** @param {Step["name"]} name */
  dropLast(name) {
    const at = this.list.map((step) => step.name).lastIndexOf(name);
    if (at >= 0) this.list.splice(at, 1);
  }

  get last() {
    return this.list.at(-1)?.name;
  }

  /** Takes the last one back. Returns whether there was one. */
  back() {
    for (let step = this.list.pop(); step !== undefined; step = this.list.pop()) if (this.takeBack(step)) return true;
    return false;
  }

  /** @param {Step} step */
  takeBack({ name, before }) {
    const { app } = this;
    const { views, state } = app;
    const { outer } = views.shown;
    // There may be more of it: it is noted again.
    if (name === "zoom") return views.shown.back?.() ?? false;
    this.isTakingBack = true;
    const isLess = name === "view" ? outer !== undefined
      : name === "search" ? state.search !== ""
        : name === "transforms" ? state.transforms.length > 0
          : fieldsOf(before).some((field) => !BESIDES.has(field) && !isSame(state[field], before?.[field]));
    if (isLess && name === "view") app.set({ view: outer });
    else if (isLess && name === "search") app.find("");
    else if (isLess && name === "transforms") app.set({ transforms: state.transforms.slice(0, -1), zoom: [], span: null });
    else if (isLess && before !== undefined) app.set(before);
    this.isTakingBack = false;
    return isLess;
  }
}

/** @param {Partial<State> | undefined} state */
function fieldsOf(state) {
  return /** @type {(keyof State)[]} */ (Object.keys(state ?? {}));
}
