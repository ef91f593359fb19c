// The stack chart of a thread: its stacks over time, as on a clock, with gaps where it did not run; each gap has the colour
// and the name of what the thread waited for.

addView({
  name: "chart",
  key: "9",
  title: "Stack chart",
  ofTime: true,
  make: (app, section) => new StackChart(app, section),
});

/** Threads to choose from, the heaviest. */
const CHART_THREADS = 200;
/** A sample that comes this many usual distances later does not continue the one before. */
const CHART_GAP = 1.6;

class StackChart {
  /**
   * @param {App} app
   * @param {HTMLElement} section
   */
  constructor(app, section) {
    this.app = app;
    this.outer = "threads";
    const bar = made("div", undefined, "bar");
    const thread = choice("chart-thread", "Thread", [], (value) => chooseThread(app, Number(value)));
    this.select = thread.select;
    const all = placed(bar, "button", "chart-all");
    all.type = "button";
    all.textContent = "Reset zoom";
    all.addEventListener("click", () => {
      this.graph.zoomOut();
      this.zoomed();
    });
    bar.prepend(thread.label);
    this.note = placed(bar, "span", "chart-note");
    section.append(bar);
    this.legend = new WaitLegend(app, bar, false);
    this.times = new WaitTimes(app, bar, (label) => app.theme.fill(label));
    this.narrow = made("span", undefined, "legend");
    bar.append(this.narrow);
    this.axis = made("canvas", undefined, "axis");
    this.axis.setAttribute("aria-hidden", "true");
    section.append(this.axis);
    this.place = placed(section, "div", "chart-place", "canvas-place");
    this.graph = new ChartFlame(this.place, app.theme, {
      hover: (box, at) => app.details.point(box < 0 ? "" : this.said(box), at),
      select: (box) => this.choose(box),
      zoom: () => this.zoomed(),
      open: (label) => app.open(label),
      menu: (box, at) => app.menu.open(at, itemsOf(app, this.chart.boxes.labels[box])),
    }, () => this.drawAxis());
    this.chart = new ChartBoxes(app.profile, { event: 0, threads: [], range: null, keep: "" }, [0, 1]);
    this.key = "";
    /**
     * The numbers of the thread that is shown: it has one for each of its names.
     * @type {number[]}
     */
    this.threads = [];
  }

  show() {
    const { profile, state } = this.app;
    if (profile.head.threads.length === 0) return void (this.note.textContent = "No samples.");
    const lanes = threadLanes(profile, state, new Set()).filter(({ kind }) => kind === "thread");
    sortLanes(lanes, ranByLane(profile, ranOfThreads(profile, state.event)));
    const shown = lanes.slice(0, CHART_THREADS);
    const thread = state.thread ?? shown[0]?.key;
    if (thread === undefined) return this.showNone();
    if (!shown.some(({ key }) => key === thread)) shown.push(laneOfThread(profile, thread, lanes.find(({ key }) => key === thread)?.weight ?? 0));
    const event = profile.head.events[state.event];
    this.select.replaceChildren(...shown.map(({ key, name, weight }) => {
      const option = made("option", `${name} (${amount(event, weight)})`);
      option.value = String(key);
      option.selected = key === thread;
      return option;
    }));
    const times = state.range ?? /** @type {[number, number]} */ ([0, Math.max(1, profile.head.span_ns)]);
    this.threads = state.thread === null ? namesOfThread(profile, thread) : [thread];
    this.chart = new ChartBoxes(profile, { ...state, threads: this.threads }, times);
    this.graph.show(this.chart.boxes);
    // Times, so that they are those of other threads, too.
    const [from, to] = state.chart ?? times;
    if (from >= times[0] && to <= times[1]) this.graph.view(from - times[0], to - from);
    this.legend.show(this.threads);
    this.times.show(this.threads, times);
    this.showNarrow();
    this.search();
    const said = `Stack chart of ${profile.nameOfThread(thread)} over ${duration(times[1] - times[0])}.`;
    this.note.textContent = this.chart.isCut ? "Not all of it is drawn: choose a shorter time range." : "";
    this.graph.canvas.setAttribute("aria-label", `${said} Arrow keys move, Enter zooms, Escape zooms out.`);
  }

  /** What has no colour of its own. */
  showNarrow() {
    showLegend(this.narrow, [[this.app.theme.colours.thin, "too narrow to draw: zoom in"]]);
  }

  showNone() {
    const { profile, state } = this.app;
    const times = state.range ?? /** @type {[number, number]} */ ([0, Math.max(1, profile.head.span_ns)]);
    this.select.replaceChildren();
    this.threads = [];
    this.chart = new ChartBoxes(profile, { ...state, threads: [] }, times);
    this.graph.show(this.chart.boxes);
    this.legend.show([]);
    this.times.show([], times);
    this.note.textContent = "No samples.";
    this.graph.canvas.setAttribute("aria-label", "Stack chart: no samples.");
  }

  search() {
    markFound(this.app, [this.graph]);
  }

  resized() {
    this.graph.resized();
  }

  draw() {
    this.legend.show(this.threads);
    this.showNarrow();
    this.graph.draw();
  }

  back() {
    if (this.graph.width >= this.graph.boxes.whole) return false;
    this.graph.zoomOut();
    this.zoomed();
    return true;
  }

  /** The address says what is zoomed into. */
  zoomed() {
    const { app, graph, chart } = this;
    const from = chart.start + graph.start;
    const isWhole = graph.width >= graph.boxes.whole;
    app.state = { ...app.state, chart: isWhole ? null : [Math.ceil(from), Math.floor(from + graph.width)] };
    app.address.remember();
  }

  drawAxis() {
    const { clientWidth: width } = this.place;
    if (width === 0) return;
    const { start, width: shown } = this.graph;
    const context = sized(this.axis, width, AXIS);
    const from = this.chart.start + start;
    const scale = new TimeScale(width + timeLeft(width), [from, from + shown]);
    scale.left = 0;
    scale.drawAxis(context, this.app.theme, 0);
  }

  /**
   * What a box is: a frame, or a wait and who ended it.
   * @param {number} box
   */
  said(box) {
    const { profile } = this.app;
    const { boxes, start, waitOf } = this.chart;
    const when = `from ${preciseTime(start + boxes.starts[box])} for ${duration(boxes.widths[box])}`;
    const wait = waitOf.get(box);
    if (wait !== undefined) return `${saidOfWait(profile, wait)}, ${when}`;
    const label = boxes.labels[box];
    const image = label >= 0 ? profile.imageOfFrame(label) : "";
    const samples = boxes.samples[box] > 0 ? `, ${counted(boxes.samples[box], "sample", "samples")}` : "";
    return `${profile.nameOf(label).slice(0, 500)}${inBrackets(image)} — ${when}${samples}`;
  }

  /** @param {number} box */
  choose(box) {
    const { details } = this.app;
    if (box < 0) return details.choose(null);
    details.choose({ labels: this.chart.boxes.pathOf(box), sum: this.said(box) });
    details.say(this.said(box));
  }
}

/** A flame graph whose axis is drawn with it. */
class ChartFlame extends Flame {
  /**
   * @param {HTMLElement} place
   * @param {Theme} theme
   * @param {FlameEvents} events
   * @param {() => void} drawn
   */
  constructor(place, theme, events, drawn) {
    super(place, theme, events);
    this.drawn = drawn;
  }

  draw() {
    super.draw();
    this.drawn?.();
  }
}

/**
 * Boxes of a thread's stacks: places are nanoseconds since the beginning of what is shown. A sample stands for the time
 * since the one before, if that is near and the thread did not wait meanwhile.
 */
class ChartBoxes {
  /**
   * @param {Profile} profile
   * @param {{event: number, threads: number[], range: [number, number] | null, keep: string}} selection
   * @param {[number, number]} times
   */
  constructor(profile, selection, [start, end]) {
    this.profile = profile;
    this.threads = selection.threads;
    this.start = start;
    this.whole = end - start;
    this.boxes = new Boxes(256);
    this.isCut = false;
    /**
     * Of boxes of waits, which these are.
     * @type {Map<number, number>}
     */
    this.waitOf = new Map();
    /**
     * By depth, the open box.
     * @type {number[]}
     */
    this.open = [];
    /** When what is open ends. */
    this.end = -1;
    this.read(selection);
    this.boxes.whole = this.whole;
    this.boxes.hasOwn = false;
    this.boxes.close();
  }

  /** @param {{event: number, threads: number[], range: [number, number] | null, keep: string}} selection */
  read(selection) {
    const { profile, start, whole } = this;
    const { waits, begins, head } = profile;
    const kept = keptNodes(profile, selection);
    const stand = standsFor(profile, selection.event);
    const { hz } = head.events[selection.event];
    /** @type {{from: number, to: number, node: number, wait: number, samples: number}[]} */
    const parts = [];
    const slots = new TimeSlots(profile, 1, [start, start + whole], selection.event);
    let before = -Infinity;
    for (const thread of selection.threads) forRows(profile, { ...selection, thread, range: slots.rangeOfRows(selection.range), parts: [] }, (node, weight, samples, time, _thread, row) => {
      if (node < 0 || (kept !== null && kept[node] === 0)) return;
      if (begins !== null && profile.isWait(node)) {
        parts.push({ from: begins[row], to: begins[row] + weight, node, wait: -1, samples: 0 });
        return;
      }
      const length = Math.max(head.slot_ns, stand(weight), hz === undefined ? 0 : 1e9 / hz);
      const isNear = time - before <= CHART_GAP * length;
      parts.push({ from: head.slot_ns > 0 ? time : isNear ? before : time - length, to: time + head.slot_ns, node, wait: -1, samples });
      before = time;
    });
    for (const thread of begins === null ? selection.threads : []) {
      waits.each(thread, [start, start + whole], (wait) => {
        parts.push({ from: waits.begins[wait], to: waits.endOf(wait), node: -1, wait, samples: 0 });
      });
    }
    // A wait is known exactly: a sample after it began after it.
    const isWait = (/** @type {{node: number, wait: number}} */ part) => part.wait >= 0 || profile.isWait(part.node);
    parts.sort((a, b) => a.to - b.to || a.from - b.from);
    let last = start;
    for (const part of parts) {
      const from = Math.max(last, part.from, start);
      const to = Math.min(part.to, start + whole);
      if (to <= from && !(to === from && !isWait(part))) continue;
      if (this.boxes.n > MAX_TIME_BOXES) return void (this.isCut = true);
      this.add(from - start, Math.max(to - from, 1), part);
      last = Math.max(last, to);
    }
  }

  /**
   * @param {number} from
   * @param {number} width
   * @param {{node: number, wait: number, samples: number}} part
   */
  add(from, width, { node, wait, samples }) {
    const { boxes, open, profile } = this;
    if (from > this.end + 1) open.length = 0;
    this.end = from + width;
    if (wait >= 0) {
      open.length = 0;
      const box = boxes.push(-1, profile.waitLabels[profile.waits.causeOf(wait)], from);
      boxes.widths[box] = width;
      this.waitOf.set(box, wait);
      return;
    }
    const path = [];
    for (let at = node; at >= 0; at = profile.parents[at]) path.push(profile.labelOf(at));
    path.reverse();
    let shared = 0;
    while (shared < path.length && shared < open.length && boxes.labels[open[shared]] === path[shared]) shared++;
    open.length = shared;
    for (; shared < path.length; shared++) open.push(boxes.push(shared === 0 ? -1 : open[shared - 1], path[shared], from));
    for (const box of open) {
      boxes.widths[box] = from + width - boxes.starts[box];
      boxes.samples[box] += samples;
    }
    if (node < 0 || !profile.isWait(node)) return;
    // Who ended it is known of the longest.
    for (const thread of this.threads) {
      const found = profile.waits.at(thread, this.start + from + width / 2, 1);
      if (found >= 0) this.waitOf.set(open[open.length - 1], found);
    }
  }
}
