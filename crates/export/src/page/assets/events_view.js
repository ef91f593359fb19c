// Events with what they say: tracepoints, probes and markers with their fields, one by one.

addView({
  name: "events",
  key: "e",
  title: "Events",
  ofTime: false,
  ofOne: true,
  isThere: ({ head }) => (head.traced?.length ?? 0) > 0,
  make: (app, section) => new EventsView(app, section),
});

/** Rows that are there at once, and how many more each time. */
const EVENT_ROWS = 200;

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
    this.note = made("span");
    bar.append(one.label, this.note);
    section.append(bar);
    const place = placed(section, "div", "events-place", "table-place");
    const table = made("table", undefined, "events");
    const head = made("thead");
    const line = made("tr");
    for (const title of ["Time", "Thread", "Event", "Fields"]) {
      const cell = made("th", title, title === "Time" ? "number" : "");
      cell.scope = "col";
      line.append(cell);
    }
    head.append(line);
    this.body = made("tbody");
    table.append(head, this.body);
    this.more = made("button", "", "more");
    this.more.type = "button";
    this.more.addEventListener("click", () => this.append());
    place.append(table, this.more);
    /** @type {TracedRow[] | null} */
    this.all = null;
    /** @type {TracedRow[]} */
    this.rows = [];
    this.n = 0;
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
      (pattern === null || pattern.matches(`${profile.head.events[event]?.name} ${profile.nameOfThread(thread)} ${text}`)));
    this.note.textContent = this.said();
    this.body.replaceChildren();
    this.n = 0;
    this.append();
  }

  /** How many there are, and what is not among them. */
  said() {
    const { profile, state } = this.app;
    const { n_traced_left: left = 0 } = profile.head;
    const said = [counted(this.rows.length, "event", "events")];
    if (left > 0) said.push(`the page has the first ${wholeNumber(this.all?.length ?? 0)}; ${wholeNumber(left)} later ones are left out (rprof script prints all)`);
    if (state.keep !== "" || threadsLeft(profile, state) === null) said.push("filters of stacks and CPUs do not apply here");
    return `${said.join("; ")}.`;
  }

  search() {
    this.show();
  }

  append() {
    const rows = this.rows.slice(this.n, this.n + EVENT_ROWS);
    this.body.append(...rows.map((row) => this.line(row)));
    this.n += rows.length;
    const left = this.rows.length - this.n;
    this.more.hidden = left === 0;
    this.more.textContent = `Show more (${counted(left, "more event", "more events")})`;
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
      made("td", app.profile.head.events[event]?.name ?? ""), made("td", text, "event-fields"));
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
