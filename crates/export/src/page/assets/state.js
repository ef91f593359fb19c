// What is seen, as words in the address: a link restores it.

/**
 * @typedef {{view: string, order: "heavy" | "name" | "time", inverted: boolean, event: number,
 *   range: [number, number] | null, parts: number[], against: [number, number] | null, lanes: "threads" | "cpus", thread: number | null, search: string, keep: string,
 *   transforms: Transform[], threads: "alike" | "apart", roots: "threads" | "processes", focus: number | null,
 *   zoom: number[], span: [number, number] | null, chart: [number, number] | null, grouping: Grouping, sort: SortBy, up: boolean,
 *   treeSort: TreeSort, frames: "function" | "line", per: Measure["per"], widths: Measure["widths"],
 *   listing: number | null, codeRows: "instruction" | "line", codeShares: "all" | "function",
 *   significant: boolean, colours: "module" | "kind", shares: "shown" | "all", asked?: Asked}} State
 */

/**
 * What the address searches for and may take for ever: it waits until it is asked for.
 * @typedef {{search: string, keep: string, transforms: Transform[]}} Asked
 */

/** Quantifiers of a pattern that is searched for at once. */
const FEW = 4;

/** Ranges of time that are selected together. */
const MOST_RANGES = 20;

/** Patterns of a link that are searched for without asking. */
const MOST_SEARCHES = 4;

/** Steps of a search that is begun without asking: a second or so. */
const MOST_STEPS = 1e9;

/** Rows and nodes that a link's transforms go through without asking: two seconds or so. */
const MOST_TRANSFORMED = 5e6;

/** Functions that a page has code of. */
const MOST_LISTINGS = 1000;

/**
 * Whether a pattern is soon matched, whatever the names are: links are of others. Of each alternative only one part is
 * tried in several ways, so time grows with the square of what is searched of a name at most, times the rest of the
 * pattern. The names are of others, too: there may be many long ones.
 * @param {string} text
 * @param {string[]} names
 */
function isQuick(text, names) {
  if (text === "") return true;
  const bare = text.replace(/\\./gs, "a").replace(/\[[^\]]*\]/g, "a");
  const quantifiers = bare.split("|").map((part) => part.match(/[*+?]/g)?.length ?? 0);
  const n_quantifiers = quantifiers.reduce((a, b) => a + b);
  if (/[()[\]{}]/.test(bare) || Math.max(...quantifiers) > 1 || n_quantifiers > FEW) return false;
  let steps = 0;
  for (const name of names) {
    const length = Math.min(name.length, SEARCHED);
    steps += length * Math.min(text.length, length) * (n_quantifiers > 0 ? length : 1);
  }
  return steps <= MOST_STEPS;
}

/**
 * @param {Profile} profile
 * @returns {State}
 */
function initialState(profile) {
  const sort = profile.sides === null ? "self" : "selfChange";
  return {
    view: VIEWS[0].name, order: "heavy", inverted: false, event: 0, range: null, parts: [], against: null,
    lanes: "threads", roots: "threads",
    thread: null, search: "", keep: "",
    transforms: [], threads: "alike", focus: null, zoom: [], span: null, chart: null, grouping: "function", sort, up: false,
    treeSort: "total", frames: "function", per: profile.measures[0]?.per ?? "event", widths: "after",
    listing: null, codeRows: "instruction", codeShares: "all", significant: false, colours: "module", shares: "shown",
  };
}

/**
 * Only what differs from the beginning.
 * @param {State} state
 * @param {Profile} profile
 */
function fragmentOf(state, profile) {
  const words = new URLSearchParams();
  const initial = initialState(profile);
  const said = { ...state, ...state.asked };
  for (const name of /** @type {Exclude<keyof State, "asked">[]} */ (Object.keys(initial))) {
    const value = said[name];
    if (value === null || String(value) === String(initial[name])) continue;
    if (name === "transforms") words.set(name, transformWords(said.transforms));
    else if (Array.isArray(value)) words.set(name, value.join("."));
    else words.set(name, String(value));
  }
  return words.toString();
}

/**
 * The state that a fragment says, as far as this profile has it.
 * @param {string} fragment
 * @param {Profile} profile
 * @returns {State}
 */
function stateOf(fragment, profile) {
  const words = new URLSearchParams(fragment.replace(/^#/, ""));
  const state = initialState(profile);
  /**
   * @template T
   * @param {string} name
   * @param {readonly T[]} known
   * @param {T} otherwise
   * @returns {T}
   */
  const one = (name, known, otherwise) => known.find((value) => String(value) === words.get(name)) ?? otherwise;
  /**
   * @param {string} name
   * @param {number} limit
   */
  const number = (name, limit) => {
    const text = words.get(name);
    const value = Number(text);
    return text !== null && Number.isInteger(value) && value >= 0 && value < limit ? value : null;
  };
  /**
   * @param {string} name
   * @returns {[number, number] | null}
   */
  const pair = (name) => {
    const [from, to] = (words.get(name) ?? "").split(".").map(Number);
    return from >= 0 && to >= from && Number.isInteger(from) && Number.isInteger(to) ? [from, to] : null;
  };
  state.view = one("view", viewsOf(profile).map(({ name }) => name), state.view);
  const orders = /** @type {State["order"][]} */ (["heavy", "name", ...(profile.head.has_times ? ["time"] : [])]);
  state.order = one("order", orders, state.order);
  state.grouping = one("grouping", groupingsOf(profile), state.grouping);
  state.range = profile.head.has_times ? pair("range") : null;
  const times = (words.get("parts") ?? "").split(".").map(Number);
  const isRising = times.every((time, at) => Number.isInteger(time) && (at === 0 ? time >= 0 : time >= times[at - 1]));
  if (state.range !== null && isRising && times.length % 2 === 0 && times.length <= 2 * MOST_RANGES) {
    const joined = joinedRanges(pairs(times));
    if (isSame(joined.range, state.range)) state.parts = joined.parts;
  }
  state.against = state.parts.length === 0 && state.range !== null && profile.sides === null ? pair("against") : null;
  state.lanes = one("lanes", profile.head.has_cpus ? /** @type {const} */ (["threads", "cpus"]) : [], state.lanes);
  const columns = profile.sides === null && state.against === null ? COLUMNS : CHANGE_COLUMNS;
  state.sort = one("sort", columns.map(({ by }) => by), state.sort);
  state.frames = one("frames", profile.hasPlaces ? /** @type {const} */ (["function", "line"]) : [], state.frames);
  state.per = one("per", measuresOf(profile, state).map(({ per }) => per), state.per);
  state.widths = one("widths", /** @type {const} */ (["after", "before", "change"]), state.widths);
  state.treeSort = one("treeSort", TREE_COLUMNS.map(({ by }) => by), state.treeSort);
  state.inverted = words.get("inverted") === "true";
  state.up = words.get("up") === "true";
  state.significant = words.get("significant") === "true";
  state.event = number("event", profile.head.events.length) ?? 0;
  state.thread = profile.sides === null ? number("thread", profile.head.threads.length) : null;
  state.focus = number("focus", mostFunctions(profile));
  state.span = pair("span");
  state.chart = pair("chart");
  state.listing = number("listing", MOST_LISTINGS);
  state.codeRows = one("codeRows", /** @type {const} */ (["instruction", "line"]), state.codeRows);
  state.colours = one("colours", profile.sides === null ? /** @type {const} */ (["module", "kind"]) : [], state.colours);
  state.shares = one("shares", profile.sides === null ? /** @type {const} */ (["shown", "all"]) : [], state.shares);
  state.codeShares = one("codeShares", /** @type {const} */ (["all", "function"]), state.codeShares);
  const transforms = transformsFrom(words.get("transforms") ?? "", profile);
  const asked = { search: words.get("search") ?? "", keep: words.get("keep") ?? "", transforms };
  const { strings } = profile.head;
  const isSoon = transforms.length * (profile.head.n_rows + profile.recorded.parents.length) <= MOST_TRANSFORMED;
  const patterns = [asked.search, asked.keep, ...transforms.map(({ text = "" }) => text)].filter((text) => text !== "");
  if (isSoon && patterns.length <= MOST_SEARCHES && patterns.every((text) => isQuick(text, strings))) Object.assign(state, asked);
  else state.asked = asked;
  state.roots = one("roots", profile.processes.length > 0 ? /** @type {const} */ (["threads", "processes"]) : [], state.roots);
  state.threads = one("threads", /** @type {const} */ (["alike", "apart"]), state.threads);
  state.zoom = (words.get("zoom") ?? "").split(".").filter((word) => /^-?\d+$/.test(word)).map(Number);
  return state;
}

/**
 * What rows can be of.
 * @param {Profile} profile
 * @returns {Grouping[]}
 */
function groupingsOf(profile) {
  if (profile.sides !== null) return ["function", "thread"];
  return ["function", "image", "thread", ...rowGroupingsOf(profile), ...(profile.hasPlaces ? [/** @type {const} */ ("line")] : [])];
}
