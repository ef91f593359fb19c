// Events with what they say: tracepoints, probes and markers with their fields, over time and one by one.

addView({
  name: "events",
  key: "e",
  title: "Events",
  ofTime: false,
  ofOne: true,
  isThere: ({ head }) => (head.traced?.length ?? 0) > 0,
  make: (app, section) => new EventsView(app, section),
});

/** Characters that are said of an event that is pointed at. */
const MOST_SAID = 500;

/** @typedef {{time: number, thread: number, event: number, text: string}} TracedRow */

class EventsView {
  /**
   * @param {App} app
   * @param {HTMLElement} section
   */
  constructor(app, section) {
    this.app = app;
    const bar = made("div", undefined, "bar");
    const events = [...new Set((app.profile.head.traced_kinds ?? []).map(([event]) => Number(event)))];
    const one = choice("traced-event", "Event", [["", "all events"], ...events.map((event) => /** @type {[string, string]} */ ([
      String(event), app.profile.head.events[event]?.name ?? "",
    ]))], () => this.show());
    this.event = one.select;
    one.label.hidden = events.length < 2;
    const lines = choice("event-lines", "Lines", [["event", "events"], ["thread", "threads"]], () => this.show());
    this.lines = lines.select;
    if (events.length < 2) this.lines.value = "thread";
    this.note = made("span");
    bar.append(one.label, lines.label, this.note);
    section.append(bar);
    this.chart = new EventChart(placed(section, "div", "event-chart", "canvas-place"), app.theme, {
      choose: (row) => this.from(row),
      line: ({ key }) => this.choose(key),
      range: (range, from) => app.ranges.choose(range, from),
      said: (row) => this.said(row),
      say: (text, at) => (at === undefined ? app.details.say(text) : app.details.point(text, at)),
    });
    this.earlier = made("button", "", "more");
    this.earlier.type = "button";
    this.earlier.addEventListener("click", () => this.from(0));
    this.place = placed(section, "div", "events-place", "table-place");
    const table = made("table", undefined, "events");
    const head = made("thead");
    const line = made("tr");
    for (const title of ["Time", "Thread", "Event", "Fields"]) {
      const cell = made("th", title, title === "Time" ? "number" : "");
      cell.scope = "col";
      line.append(cell);
    }
    head.append(line);
    table.append(head);
    this.lined = rowsInSteps(table, (/** @type {TracedRow} */ row) => this.line(row), ["more event", "more events"]);
    this.place.append(this.earlier, table, this.lined.more);
    /** @type {TracedRow[] | null} */
    this.all = null;
    /** @type {TracedRow[]} */
    this.rows = [];
  }

  show() {
    const { profile, state } = this.app;
    this.all ??= tracedRows(profile.head);
    const accepts = threadsLeft(profile, { ...state, keep: "" }) ?? (() => true);
    const ranges = partsOf(state);
    const pattern = state.search === "" ? null : new Pattern(state.search);
    const wanted = this.event.value;
    this.rows = this.all.filter(({ time, thread, event, text }) =>
      (wanted === "" || String(event) === wanted) &&
      (state.thread === null || state.thread === thread) && accepts(thread) &&
      ranges.some((range) => range === null || (time >= range[0] && time <= range[1])) &&
      (pattern === null || pattern.matches(`${this.nameOf(event)} ${profile.nameOfThread(thread)} ${text}`)));
    const keyOf = (/** @type {TracedRow} */ row) => (this.lines.value === "thread" ? row.thread : row.event);
    const lines = eventLines(this.rows, keyOf, (key) => (this.lines.value === "thread" ? profile.nameOfThread(key) : this.nameOf(key)));
    const ends = ranges.map((range) => range ?? [0, Math.max(1, profile.head.span_ns)]);
    this.chart.show(this.rows, lines, [Math.min(...ends.map(([from]) => from)), Math.max(...ends.map(([, to]) => to))]);
    this.note.textContent = this.summed(lines.length - this.chart.lines.length);
    this.from(0);
  }

  draw() {
    this.chart.draw();
  }

  resized() {
    this.chart.resized();
  }

  /**
   * The table begins with a row.
   * @param {number} row
   */
  from(row) {
    this.place.scrollTop = 0;
    this.earlier.hidden = row === 0;
    this.earlier.textContent = `Show all (${counted(row, "earlier event", "earlier events")})`;
    this.lined.show(this.rows.slice(row));
  }

  /**
   * What a line of the chart is of is selected instead of others, or all again.
   * @param {number} key
   */
  choose(key) {
    if (this.lines.value === "thread") return chooseThread(this.app, key);
    if (this.event.options.length < 3) return;
    this.event.value = this.event.value === "" ? String(key) : "";
    this.show();
  }

  /** @param {number} event */
  nameOf(event) {
    return this.app.profile.head.events[event]?.name ?? "";
  }

  /** @param {number} row */
  said(row) {
    const { time, thread, event, text } = this.rows[row];
    return `${preciseTime(time)}, ${this.app.profile.nameOfThread(thread)}: ${this.nameOf(event)} ${text}`.slice(0, MOST_SAID);
  }

  /**
   * How many there are, and what is not among them.
   * @param {number} n_lines_left
   */
  summed(n_lines_left) {
    const { profile, state } = this.app;
    const { n_traced_left: left = 0 } = profile.head;
    const said = [counted(this.rows.length, "event", "events")];
    if (left > 0) said.push(`the page has the first ${wholeNumber(this.all?.length ?? 0)}; ${wholeNumber(left)} later ones are left out (rprof script prints all)`);
    if (n_lines_left > 0) said.push(`${counted(n_lines_left, "more line has", "more lines have")} no room in the chart`);
    if (state.keep !== "" || threadsLeft(profile, state) === null) said.push("filters of stacks and CPUs do not apply here");
    return `${said.join("; ")}.`;
  }

  search() {
    this.show();
  }

  /** @param {TracedRow} row */
  line({ time, thread, event, text }) {
    const { app } = this;
    const line = made("tr");
    const who = made("td");
    const button = made("button", app.profile.nameOfThread(thread), "link");
    button.type = "button";
    button.title = "Show this thread alone";
    button.addEventListener("click", () => chooseThread(app, thread));
    who.append(button);
    line.append(made("td", `${(time / 1e9).toFixed(6)} s`, "number"), who,
      made("td", this.nameOf(event)), made("td", text, "event-fields"));
    return line;
  }
}

/**
 * The rows of the table, in order of time.
 * @param {Head} head
 */
function tracedRows({ traced = [], traced_kinds: kinds = [] }) {
  return traced.map(([kind, time, thread, ...values]) => {
    const [event, ...names] = kinds[Number(kind)] ?? [0];
    const text = values.map((value, at) => `${names[at]}=${value}`).join(" ");
    return { time: Number(time), thread: Number(thread), event: Number(event), text };
  });
}
