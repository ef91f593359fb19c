// The address of the page: a link to what is seen. The browser's Back leads to what was seen before.

/** What changes without a step back. @type {Set<keyof State>} */
const NO_STEPS = new Set(["search", "asked", "span", "sort", "up", "treeSort"]);

class Address {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    /** What it says. */
    this.state = app.state;
    this.timer = 0;
    addEventListener("hashchange", () => this.restore());
  }

  /** Says what is seen; browsers allow few changes of the address a second. */
  remember() {
    clearTimeout(this.timer);
    if (this.isStep()) this.rememberNow();
    else this.timer = setTimeout(() => this.rememberNow(), 200);
  }

  rememberNow() {
    clearTimeout(this.timer);
    const fragment = fragmentOf(this.app.state, this.app.profile);
    const address = fragment === "" ? location.pathname + location.search : `#${fragment}`;
    const isStep = this.isStep();
    this.state = this.app.state;
    if (isStep) history.pushState(null, "", address);
    else history.replaceState(null, "", address);
  }

  /** Whether Back is to lead from what is seen to what the address says. */
  isStep() {
    const now = this.app.state;
    const names = /** @type {(keyof State)[]} */ (Object.keys(now));
    return names.some((name) => !NO_STEPS.has(name) && !isSame(now[name], this.state[name]));
  }

  /** Shows what the address says: the browser went back or on, or somebody changed it. */
  restore() {
    this.app.set({ asked: undefined, ...stateOf(location.hash, this.app.profile) }, "restored");
    this.state = this.app.state;
  }
}

/**
 * Whether two values of a state's field are the same.
 * @param {State[keyof State]} one
 * @param {State[keyof State]} other
 */
function isSame(one, other) {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}
