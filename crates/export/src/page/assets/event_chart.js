// Events over time: a line for each event, or for each thread, with marks where it has some.

/** Height of a line. */
const EVENT_LINE = 20;
/** Lines at most, those with most events. */
const MOST_EVENT_LINES = 40;
/** Pixels to an event that is pointed at, at most. */
const NEAR_EVENT = 5;

/**
 * A line: what it is of, and its events in order of time, as positions in all that are shown.
 * @typedef {{key: number, name: string, rows: number[]}} EventLine
 * @typedef {{choose: (row: number) => void, line: (line: EventLine) => void,
 *   range: (range: [number, number], from: PointerEvent) => void, said: (row: number) => string,
 *   say: (text: string, at?: {x: number, y: number}) => void}} EventChartEvents
 */

/**
 * The lines of events, those with most events first.
 * @param {TracedRow[]} rows
 * @param {(row: TracedRow) => number} keyOf
 * @param {(key: number) => string} nameOf
 */
function eventLines(rows, keyOf, nameOf) {
  /** @type {Map<number, EventLine>} */
  const lines = new Map();
  rows.forEach((row, at) => {
    const key = keyOf(row);
    const line = lines.get(key);
    if (line === undefined) lines.set(key, { key, name: nameOf(key), rows: [at] });
    else line.rows.push(at);
  });
  return [...lines.values()].sort((a, b) => b.rows.length - a.rows.length || a.key - b.key);
}

class EventChart {
  /**
   * @param {HTMLElement} place
   * @param {Theme} theme
   * @param {EventChartEvents} events
   */
  constructor(place, theme, events) {
    this.place = place;
    this.theme = theme;
    this.events = events;
    this.canvas = made("canvas");
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "application");
    place.append(this.canvas);
    /** @type {TracedRow[]} */
    this.rows = [];
    /** @type {EventLine[]} */
    this.lines = [];
    /** @type {[number, number]} */
    this.times = [0, 1];
    /** @type {[number, number] | null} */
    this.drag = null;
    /** The line and its event that keys are for. */
    this.focused = { line: 0, at: -1 };
    this.listen();
  }

  /**
   * @param {TracedRow[]} rows
   * @param {EventLine[]} lines
   * @param {[number, number]} times
   */
  show(rows, lines, times) {
    this.rows = rows;
    this.lines = lines.slice(0, MOST_EVENT_LINES);
    this.times = times;
    this.focused = { line: 0, at: -1 };
    this.canvas.setAttribute("aria-label", `Events over time: ${counted(this.lines.length, "line", "lines")}. ` +
      "Left and right arrow keys go from event to event, up and down to other lines, Enter shows an event in the table.");
    this.draw();
  }

  get scale() {
    return new TimeScale(this.place.clientWidth, this.times);
  }

  /** Draws it again if there is more or less room. */
  resized() {
    if (!hasSize(this.canvas, this.place.clientWidth, this.height)) this.draw();
  }

  get height() {
    return AXIS + this.lines.length * EVENT_LINE + 4;
  }

  draw() {
    const { clientWidth: width } = this.place;
    if (width === 0) return;
    const context = sized(this.canvas, width, this.height);
    const { scale, focused, theme } = this;
    const { colours } = theme;
    scale.drawAxis(context, theme, 0);
    const columns = this.lines.map(({ rows }) => this.columns(scale, rows));
    let most = 1;
    for (const column of columns) for (const n of column.values()) most = Math.max(most, n);
    this.lines.forEach(({ name, rows }, line) => {
      const top = AXIS + line * EVENT_LINE;
      context.fillStyle = colours.line;
      context.fillRect(0, top + EVENT_LINE - 1, width, 1);
      context.font = "12px system-ui, sans-serif";
      context.textBaseline = "middle";
      context.textAlign = "right";
      const n = wholeNumber(rows.length);
      context.fillStyle = colours.faint;
      context.fillText(n, scale.left - 8, top + EVENT_LINE / 2);
      const room = scale.left - 36 - context.measureText(n).width;
      context.textAlign = "left";
      context.fillStyle = colours.ink;
      context.fillText(middleShortened(context, name, room), 16, top + EVENT_LINE / 2);
      context.fillStyle = colours.accent;
      for (const [x, n] of columns[line]) {
        const height = (EVENT_LINE - 5) * (0.4 + (0.6 * Math.log1p(n)) / Math.log1p(most));
        context.fillRect(x, top + EVENT_LINE - 2 - height, 2, height);
      }
      if (line !== focused.line || focused.at < 0) return;
      context.strokeStyle = colours.ink;
      context.strokeRect(Math.round(scale.x(this.timeOf(line, focused.at))) - 2.5, top + 0.5, 7, EVENT_LINE - 2);
    });
    if (this.drag === null) return;
    context.fillStyle = colours.brush;
    context.fillRect(this.drag[0], 0, this.drag[1] - this.drag[0], this.height);
  }

  /**
   * How many events there are by pixel.
   * @param {TimeScale} scale
   * @param {number[]} rows
   */
  columns(scale, rows) {
    /** @type {Map<number, number>} */
    const columns = new Map();
    for (const row of rows) {
      const x = Math.min(scale.left + scale.width - 2, Math.floor(scale.x(this.rows[row].time)));
      columns.set(x, (columns.get(x) ?? 0) + 1);
    }
    return columns;
  }

  /**
   * @param {number} line
   * @param {number} at
   */
  timeOf(line, at) {
    return this.rows[this.lines[line].rows[at]].time;
  }

  /**
   * The event of a line that is nearest to a time; -1 if there is none.
   * @param {number} line
   * @param {number} time
   */
  nearest(line, time) {
    const { rows } = this.lines[line];
    let [first, end] = [0, rows.length];
    while (first < end) {
      const middle = (first + end) >> 1;
      if (this.timeOf(line, middle) < time) first = middle + 1;
      else end = middle;
    }
    if (first === rows.length) return first - 1;
    return first > 0 && time - this.timeOf(line, first - 1) < this.timeOf(line, first) - time ? first - 1 : first;
  }

  /**
   * The line at a place of the window, its event there (-1 if none is near), and whether the place is that of its name.
   * @param {{clientX: number, clientY: number}} place
   */
  found({ clientX, clientY }) {
    const { left, top } = this.canvas.getBoundingClientRect();
    const { scale } = this;
    const line = Math.floor((clientY - top - AXIS) / EVENT_LINE);
    if (this.lines[line] === undefined) return null;
    const x = clientX - left;
    if (x < scale.left) return { line, at: -1, isName: true };
    const at = this.nearest(line, scale.time(x));
    const isNear = at >= 0 && Math.abs(scale.x(this.timeOf(line, at)) - x) <= NEAR_EVENT;
    return { line, at: isNear ? at : -1, isName: false };
  }

  /**
   * What is said of an event, and how many others are as good as there.
   * @param {number} line
   * @param {number} at
   */
  said(line, at) {
    const { rows } = this.lines[line];
    const reach = 1 / this.scale.perNs;
    const time = this.timeOf(line, at);
    let [first, last] = [at, at];
    while (first > 0 && time - this.timeOf(line, first - 1) < reach) first--;
    while (last + 1 < rows.length && this.timeOf(line, last + 1) - time < reach) last++;
    const others = last - first;
    const more = others === 0 ? "" : `; ${counted(others, "other", "others")} within ${duration(reach)}`;
    return `${this.events.said(rows[at])}${more}`;
  }

  listen() {
    const { canvas, events } = this;
    canvas.addEventListener("mousemove", (event) => {
      const found = this.found(event);
      const at = { x: event.clientX, y: event.clientY };
      if (found === null) return events.say("", at);
      const { name, rows } = this.lines[found.line];
      events.say(found.at >= 0 ? this.said(found.line, found.at) : found.isName ? `${name}: ${counted(rows.length, "event", "events")}` : "", at);
    });
    canvas.addEventListener("mouseleave", ({ clientX: x, clientY: y }) => events.say("", { x, y }));
    for (const name of ["focus", "blur"]) canvas.addEventListener(name, () => this.draw());
    dragOver(canvas, (from, to) => {
      const { left } = this.scale;
      this.drag = to - from < DRAG || to < left ? null : [Math.max(left, from), to];
      this.draw();
    }, (_x, _y, from) => {
      const { drag } = this;
      this.drag = null;
      if (drag !== null) return events.range(this.scale.range(...drag), from);
      const found = this.found(from);
      if (found === null) return;
      const line = this.lines[found.line];
      if (found.isName) events.line(line);
      else if (found.at >= 0) this.focus(found.line, found.at, true);
    });
    canvas.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.altKey || event.metaKey || !this.key(event.key)) return;
      event.preventDefault();
      event.stopPropagation();
    });
  }

  /**
   * @param {number} line
   * @param {number} at
   * @param {boolean} isChosen
   */
  focus(line, at, isChosen) {
    this.focused = { line, at };
    this.draw();
    this.events.say(this.said(line, at));
    if (isChosen) this.events.choose(this.lines[line].rows[at]);
  }

  /**
   * Whether a key meant something.
   * @param {string} name
   */
  key(name) {
    const { line, at } = this.focused;
    const { length } = this.lines[line]?.rows ?? [];
    if (length === 0) return false;
    const last = length - 1;
    const steps = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: last };
    const step = steps[/** @type {keyof typeof steps} */ (name)];
    if (step !== undefined) this.focus(line, Math.min(last, Math.max(0, step)), false);
    else if (name === "ArrowUp" || name === "ArrowDown") {
      const next = Math.min(this.lines.length - 1, Math.max(0, line + (name === "ArrowUp" ? -1 : 1)));
      this.focus(next, at < 0 ? 0 : this.nearest(next, this.timeOf(line, at)), false);
    } else if (name === "Enter" && at >= 0) this.focus(line, at, true);
    else return false;
    return true;
  }
}
