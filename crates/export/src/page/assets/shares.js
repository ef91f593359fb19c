// What percentages are of, in all views: of what is shown, or of the whole recording. It is as `rprof report --percentage`
// has it, but a time range is a filter, too.

class SharesChoice {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    /** @type {[State["shares"], string][]} */
    const wholes = [["shown", "what is shown"], ["all", "the whole recording"]];
    const { label, select } = choice("shares", "Percentages of", wholes, (value) =>
      app.set({ shares: /** @type {State["shares"]} */ (value) }));
    label.className = "said";
    this.label = label;
    this.select = select;
  }

  /** The choice, where there is one: something is left out. */
  shown() {
    const { profile, counts, state } = this.app;
    this.select.value = state.shares;
    const isPart = counts.shown.weight !== profile.head.events[state.event].weight;
    return counts.before === null && (isPart || state.shares === "all") ? [this.label] : [];
  }
}
