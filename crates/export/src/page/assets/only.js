// What threads do, chosen beside the total where a recording knows it: all, only what runs, or only what waits.

class OnlyState {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.group = made("span", undefined, "only");
    this.group.setAttribute("role", "group");
    this.group.setAttribute("aria-label", "Running or waiting");
    // Other views have a legend of these colours.
    this.legend = new WaitLegend(app, made("span"), true);
    this.buttons = ["all", ...STATES].map((state) => {
      const button = made("button", `${state[0].toUpperCase()}${state.slice(1)}`, "small");
      button.type = "button";
      button.addEventListener("click", () => this.choose(STATES.indexOf(state)));
      this.group.append(button);
      return { state, button };
    });
  }

  /** The buttons, where both are recorded. */
  shown() {
    const { profile, state } = this.app;
    if (profile.head.events[state.event].kind !== "wall-time" || profile.sides !== null) return [];
    const only = onlyState(state.transforms) ?? "all";
    for (const one of this.buttons) one.button.setAttribute("aria-pressed", String(one.state === only));
    if (["flame", "threads", "chart"].includes(state.view)) return [this.group];
    this.legend.show();
    return [this.group, this.legend.element];
  }

  /** @param {number} key -1 for all */
  choose(key) {
    const { app } = this;
    const others = app.state.transforms.filter(({ grouping }) => grouping !== "state");
    app.set({ transforms: key < 0 ? others : [...others, { kind: "keep", grouping: "state", key }], zoom: [], span: null });
  }
}
