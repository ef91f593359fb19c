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
    /**
     * A step that the address does not say yet.
     * @type {State | null}
     */
    this.pending = null;
    addEventListener("hashchange", () => this.restore());
  }

  /** Says what is seen; browsers allow few changes of the address a second, and take a while for each. */
  remember() {
    this.app.steps.note();
    clearTimeout(this.timer);
    const { state } = this.app;
    if (this.pending !== null && isStep(this.pending, state)) this.say(this.pending);
    if (!isStep(this.state, state)) {
      this.pending = null;
      this.timer = setTimeout(() => this.say(this.app.state), 200);
      return;
    }
    if (this.pending === null) afterFrame(() => this.pending !== null && this.rememberNow());
    this.pending = state;
  }

  rememberNow() {
    this.say(this.app.state);
  }

  /** @param {State} state */
  say(state) {
    clearTimeout(this.timer);
    this.pending = null;
    const fragment = fragmentOf(state, this.app.profile);
    const address = fragment === "" ? location.pathname + location.search : `#${fragment}`;
    const isNext = isStep(this.state, state);
    this.state = state;
    if (isNext) history.pushState(null, "", address);
    else history.replaceState(null, "", address);
  }

  /** Shows what the address says: the browser went back or on, or somebody changed it. */
  restore() {
    clearTimeout(this.timer);
    this.pending = null;
    this.app.set({ asked: undefined, ...stateOf(location.hash, this.app.profile) }, "restored");
    this.state = this.app.state;
    this.app.steps.forget();
  }
}

/**
 * Whether Back is to lead from one state to the one before.
 * @param {State} before
 * @param {State} now
 */
function isStep(before, now) {
  const names = /** @type {(keyof State)[]} */ (Object.keys(now));
  return names.some((name) => !NO_STEPS.has(name) && !isSame(now[name], before[name]));
}

/**
 * Whether two values of a state's field are the same.
 * @param {State[keyof State]} one
 * @param {State[keyof State]} other
 */
function isSame(one, other) {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}
