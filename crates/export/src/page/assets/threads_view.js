// Lanes over time: processes with their threads, or CPUs; a click chooses one, a drag a range of time.

addView({
  name: "threads",
  key: "4",
  title: "Threads",
  ofTime: true,
  make: (app, section) => new ThreadsView(app, section),
});

class ThreadsView {
  /**
   * @param {App} app
   * @param {HTMLElement} section
   */
  constructor(app, section) {
    this.app = app;
    const { profile } = app;
    const bar = made("div", undefined, "bar");
    const kind = choice("lanes-of", "Lanes", [["threads", "threads"], ["cpus", "CPUs"]], (value) =>
      app.set({ lanes: /** @type {State["lanes"]} */ (value) }));
    kind.label.hidden = !profile.head.has_cpus;
    this.kind = kind.select;
    this.fold = placed(bar, "button", "lanes-fold");
    this.fold.type = "button";
    bar.prepend(kind.label);
    section.append(bar);
    this.legend = new WaitLegend(app, bar, true);
    this.times = new WaitTimes(app, bar, (label) => app.theme.waitBar(label));
    const arrows = made("label");
    const box = placed(arrows, "input", "wake-ups");
    box.type = "checkbox";
    box.checked = true;
    box.addEventListener("change", () => {
      this.lanes.hasArrows = box.checked;
      this.lanes.draw();
    });
    arrows.append(" wake-ups");
    arrows.title = `Arrows from who woke to who was woken: those of the ${MOST_ARROWS} longest waits in view`;
    arrows.hidden = profile.waits.n === 0;
    this.arrows = arrows;
    this.fold.after(arrows);
    this.lanes = new Lanes(placed(section, "div", "lanes-place", "canvas-place"), app.theme, {
      choose: (lane) => this.choose(lane),
      menu: (lane, at) => app.menu.open(at, this.itemsOf(lane)),
      range: (range, from) => app.ranges.choose(range, from),
      say: (text, at) => (at === undefined ? app.details.say(text) : app.details.point(text, at)),
      folded: () => this.show(),
    });
    this.fold.addEventListener("click", () => {
      this.lanes.foldAll();
      this.show();
    });
  }

  show() {
    const { lanes } = this;
    const { state } = this.app;
    this.kind.value = state.lanes;
    this.legend.show();
    lanes.show(state, state.lanes, this.app.counts);
    this.arrows.hidden = this.app.profile.waits.n === 0 || state.lanes === "cpus";
    this.times.show([...lanes.laneOf.keys()], lanes.times);
    this.fold.hidden = !lanes.lanes.some(({ kind }) => kind === "process");
    this.fold.textContent = lanes.closed.size > 0 ? "Expand all" : "Collapse all";
  }

  /** @param {Lane} lane */
  choose(lane) {
    const { app } = this;
    if (lane.kind === "thread") return chooseThread(app, lane.key);
    const { transforms } = app.state;
    /** @type {Transform} */
    const keep = { kind: "keep", grouping: lane.kind, key: lane.key };
    const others = transforms.filter((one) => transformWords([one]) !== transformWords([keep]));
    if (others.length < transforms.length) app.set({ transforms: others, zoom: [], span: null });
    else app.addTransform(keep);
  }

  /**
   * @param {Lane} lane
   * @returns {MenuItem[]}
   */
  itemsOf({ kind, key, threads }) {
    const { app } = this;
    if (kind !== "thread") return transformItems(app, kind, key);
    const [pid, tid] = app.profile.head.threads[threads[0]];
    if (app.profile.head.by_name) return [];
    return [...transformItems(app, "task", tid), ...transformItems(app, "process", pid)];
  }

  resized() {
    const { place, canvas } = this.lanes;
    if (!hasSize(canvas, place.clientWidth, place.clientHeight)) this.lanes.draw();
  }

  draw() {
    this.legend.show();
    this.lanes.draw();
  }
}
