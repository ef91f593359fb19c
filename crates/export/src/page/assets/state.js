// What is seen, as words in the address: a link restores it.

/**
 * @typedef {"flame" | "table" | "sandwich" | "threads" | "heat"} ViewName
 * @typedef {{view: ViewName, order: "heavy" | "name" | "time", inverted: boolean, event: number,
 *   range: [number, number] | null, thread: number | null, search: string, keep: string, focus: number | null,
 *   zoom: number[], span: [number, number] | null, grouping: Grouping, sort: SortBy, up: boolean}} State
 */

/** @returns {State} */
function initialState() {
  return {
    view: "flame", order: "heavy", inverted: false, event: 0, range: null, thread: null, search: "", keep: "",
    focus: null, zoom: [], span: null, grouping: "function", sort: "self", up: false,
  };
}

/**
 * Only what differs from the beginning.
 * @param {State} state
 */
function fragmentOf(state) {
  const words = new URLSearchParams();
  const initial = initialState();
  for (const name of /** @type {(keyof State)[]} */ (Object.keys(initial))) {
    const value = state[name];
    if (value === null || String(value) === String(initial[name])) continue;
    words.set(name, Array.isArray(value) ? value.join(".") : String(value));
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
  const state = initialState();
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
    return from >= 0 && to >= from ? [from, to] : null;
  };
  state.view = one("view", /** @type {const} */ (["flame", "table", "sandwich", "threads", "heat"]), state.view);
  state.order = one("order", /** @type {const} */ (["heavy", "name", "time"]), state.order);
  state.grouping = one("grouping", /** @type {const} */ (["function", "image", "thread", "line"]), state.grouping);
  state.sort = one("sort", /** @type {const} */ (["self", "total", "samples", "name", "image"]), state.sort);
  state.inverted = words.get("inverted") === "true";
  state.up = words.get("up") === "true";
  state.event = number("event", profile.head.events.length) ?? 0;
  state.thread = number("thread", profile.head.threads.length);
  state.focus = number("focus", profile.frameOfFunction.length);
  state.range = pair("range");
  state.span = pair("span");
  state.search = words.get("search") ?? "";
  state.keep = words.get("keep") ?? "";
  state.zoom = (words.get("zoom") ?? "").split(".").filter((word) => /^-?\d+$/.test(word)).map(Number);
  return state;
}
