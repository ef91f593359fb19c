// The heat map: seconds from left to right, parts of a second from bottom to top; or, of short recordings, parts of a
// second and parts of these. A drag chooses the time between.

addView({
  name: "heat",
  key: "5",
  title: "Heat map",
  ofTime: true,
  make: (app, section) => new HeatView(app, section),
});

class HeatView {
  /**
   * @param {App} app
   * @param {HTMLElement} section
   */
  constructor(app, section) {
    this.app = app;
    const bar = made("div", undefined, "bar");
    section.append(bar);
    this.legend = placed(bar, "span", "heat-legend", "legend");
    this.map = new HeatMap(placed(section, "div", "heat-place"), app.theme, {
      range: (range, from) => {
        if (app.ranges.isAgainst(from) || from.ctrlKey || from.metaKey) app.ranges.choose(range, from);
        else app.set({ ...app.ranges.showing(range), view: "flame" });
      },
      say: (text) => app.details.say(text),
    });
  }

  show() {
    this.map.count(this.app.state);
    // It takes room from the map.
    this.showLegend();
    this.map.draw();
  }

  showLegend() {
    const { map } = this;
    const { theme } = this.app;
    const most = map.cells.reduce((a, b) => Math.max(a, b), 0);
    // Few samples have few colours.
    const steps = Math.min(4, most);
    const counts = Array.from({ length: steps + 1 }, (_, step) => Math.round((most * step) / Math.max(1, steps)));
    showLegend(this.legend, counts.map((count) => [`rgb(${theme.heat(count / (most || 1)).join(" ")})`, String(count)]));
    this.legend.append(` ${map.nouns[1]} in ${duration(map.unit / HEAT_ROWS)}. Columns: ${duration(map.unit)} each, from left to right; within a column, time runs upwards.`);
  }

  resized() {
    this.map.draw();
  }

  draw() {
    this.map.draw();
    this.showLegend();
  }
}

const HEAT_ROWS = 50;
/**
 * Of pages with waits.
 * @type {[string, string]}
 */
const RUNNING_NOUNS = ["sample of running threads", "samples of running threads"];
/** Shorter recordings have columns of less than a second; a cell of less than a millisecond hardly has a sample. */
const FEW_COLUMNS = 20;
const LEAST_UNIT = 5e7;
const SECOND = 1e9;
/** An hour of seconds. */
const MAX_COLUMNS = 3600;
/** Space for labels, left and below. */
const HEAT_LEFT = 48;

/**
 * How much time a column is.
 * @param {number} span
 */
function unitOf(span) {
  if (span >= FEW_COLUMNS * SECOND) return SECOND * Math.ceil(Math.max(1, span / SECOND / MAX_COLUMNS));
  return Math.min(SECOND, Math.max(LEAST_UNIT, niceStep(span / FEW_COLUMNS)));
}

class HeatMap {
  /**
   * @param {HTMLElement} place
   * @param {Theme} theme
   * @param {{range: (range: [number, number], from: {shiftKey: boolean, ctrlKey: boolean, metaKey: boolean}) => void, say: (text: string) => void}} events
   */
  constructor(place, theme, events) {
    this.place = place;
    this.theme = theme;
    this.profile = theme.profile;
    this.events = events;
    this.canvas = made("canvas");
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "application");
    this.canvas.setAttribute("aria-label", "Heat map: time from left to right, parts of it from bottom to top; drag to select a " +
      "time range, or: arrow keys move, with Shift they select, Enter shows the range");
    place.append(this.canvas);
    const span = this.profile.head.span_ns;
    /** Nanoseconds of a column: a second, of long recordings some, of short ones a part. */
    this.unit = unitOf(span);
    this.columns = Math.max(1, Math.floor(span / this.unit) + 1);
    /** The last cell that the recording lasted into: those behind it are not drawn. */
    this.last = Math.floor((span * HEAT_ROWS) / this.unit);
    this.cells = new Float64Array(0);
    /**
     * What cells count: one, several.
     * @type {[string, string]}
     */
    this.nouns = ["sample", "samples"];
    /** What the cells are of. */
    this.key = "";
    /** As they were drawn: without a scroll bar there is more room. */
    this.cellWidth = this.cellHeight = 1;
    /**
     * Both ends of what is chosen, by number of the cell.
     * @type {[number, number] | null}
     */
    this.ends = null;
    /**
     * The same of each range that is shown.
     * @type {[number, number][]}
     */
    this.outlines = [];
    /**
     * The same of what it is compared with.
     * @type {[number, number] | null}
     */
    this.against = null;
    /** @type {[number, number] | null} */
    this.drag = null;
    this.listen();
  }

  /** @param {SampleSelection} selection */
  count(selection) {
    const { profile, unit } = this;
    // It shows all times, whatever the range.
    const { event, thread, keep, transforms, threads } = selection;
    const key = JSON.stringify([event, thread, keep, transforms, threads]);
    if (key !== this.key) {
      this.key = key;
      const running = new Float64Array(this.columns * HEAT_ROWS);
      const waits = new Float64Array(profile.head.waits === undefined ? 0 : running.length);
      const kept = keptNodes(profile, selection);
      let isRunning = false;
      forRows(profile, { event, thread, range: null }, (node, _weight, samples, time) => {
        if (node < 0 || (kept !== null && kept[node] === 0)) return;
        const isWait = waits.length > 0 && profile.isWait(node);
        isRunning ||= !isWait;
        (isWait ? waits : running)[Math.floor((time * HEAT_ROWS) / unit)] += samples;
      });
      // Threads that wait often would look busy.
      this.cells = isRunning || waits.length === 0 ? running : waits;
      this.nouns = waits.length === 0 ? ["sample", "samples"] : isRunning ? RUNNING_NOUNS : ["wait", "waits"];
    }
    this.ends = selection.range === null ? null : this.cellsOf(selection.range);
    this.outlines = partsOf(selection).flatMap((range) => (range === null ? [] : [this.cellsOf(range)]));
    this.against = selection.against ? this.cellsOf(selection.against) : null;
  }

  /**
   * @param {[number, number]} range
   * @returns {[number, number]}
   */
  cellsOf(range) {
    const [first, last] = range.map((time) => Math.floor((time * HEAT_ROWS) / this.unit));
    return [first, last];
  }

  draw() {
    const width = this.place.clientWidth;
    if (width === 0) return;
    const w = (this.cellWidth = (width - HEAT_LEFT) / this.columns);
    const h = (this.cellHeight = Math.max(4, Math.min(14, (this.place.clientHeight - 24) / HEAT_ROWS)));
    const height = h * HEAT_ROWS + 22;
    const context = sized(this.canvas, width, height);
    this.drawCells(context, w, h);
    const { against, drag } = this;
    if (against !== null) this.drawOutline(context, against, "A");
    for (const outline of this.outlines) this.drawOutline(context, outline, against === null ? "" : "B");
    if (drag !== null) this.drawOutline(context, drag, "");
    this.drawLosses(context, w, h);
    this.drawLabels(context, w, h);
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {number} w
   * @param {number} h
   */
  drawCells(context, w, h) {
    const { cells, theme, columns } = this;
    const most = cells.reduce((a, b) => Math.max(a, b), 0) || 1;
    if (w > 3) {
      // One colour after the other: to change it takes longer than to fill a cell.
      /** @type {Map<string, number[]>} */
      const byColour = new Map();
      cells.forEach((samples, cell) => {
        if (cell > this.last) return;
        const colour = `rgb(${theme.heat(samples / most).join(" ")})`;
        const list = byColour.get(colour);
        if (list === undefined) byColour.set(colour, [cell]);
        else list.push(cell);
      });
      for (const [colour, list] of byColour) {
        context.fillStyle = colour;
        for (const cell of list) {
          const [x, y] = this.placeOf(cell, w, h);
          context.fillRect(x, y, w - 1, h > 3 ? h - 1 : h);
        }
      }
      return;
    }
    // Many thin columns are a picture with a pixel for each cell, stretched.
    const picture = new ImageData(columns, HEAT_ROWS);
    cells.forEach((samples, cell) => {
      if (cell > this.last) return;
      const row = HEAT_ROWS - 1 - (cell % HEAT_ROWS);
      picture.data.set([...theme.heat(samples / most), 255], 4 * (row * columns + Math.floor(cell / HEAT_ROWS)));
    });
    const small = made("canvas");
    [small.width, small.height] = [columns, HEAT_ROWS];
    small.getContext("2d")?.putImageData(picture, 0, 0);
    context.imageSmoothingEnabled = false;
    context.drawImage(small, HEAT_LEFT, 0, columns * w, HEAT_ROWS * h);
  }

  /**
   * @param {number} cell
   * @param {number} w
   * @param {number} h
   */
  placeOf(cell, w, h) {
    const row = cell % HEAT_ROWS;
    return [HEAT_LEFT + Math.floor(cell / HEAT_ROWS) * w, (HEAT_ROWS - 1 - row) * h];
  }

  /**
   * Outlines cells that follow each other: they begin and end within a column.
   * @param {CanvasRenderingContext2D} context
   * @param {[number, number]} ends
   * @param {string} letter of one of two ranges
   */
  drawOutline(context, ends, letter) {
    const { colours } = this.theme;
    const [first, last] = [Math.max(0, Math.min(...ends)), Math.min(this.last, Math.max(...ends))];
    if (last < first) return;
    const [w, h] = [this.cellWidth, this.cellHeight];
    const [from, to] = [Math.floor(first / HEAT_ROWS), Math.floor(last / HEAT_ROWS)];
    context.beginPath();
    for (let column = from; column <= to; column++) {
      const bottom = column === from ? first % HEAT_ROWS : 0;
      const top = column === to ? (last % HEAT_ROWS) + 1 : HEAT_ROWS;
      context.rect(HEAT_LEFT + column * w, (HEAT_ROWS - top) * h, w, (top - bottom) * h);
    }
    context.fillStyle = colours.brush;
    context.fill();
    context.strokeStyle = letter === "A" ? colours.faint : colours.accent;
    context.lineWidth = 2;
    context.setLineDash(letter === "A" ? [5, 3] : []);
    context.stroke(outlineOf({ from, to, bottom: first % HEAT_ROWS, top: (last % HEAT_ROWS) + 1 }, w, h));
    context.setLineDash([]);
    if (letter === "") return;
    const [x, y] = this.placeOf(first, w, h);
    context.fillStyle = context.strokeStyle;
    context.fillRect(x, y + h - 14, 14, 14);
    context.fillStyle = colours.paper;
    context.font = "bold 11px system-ui, sans-serif";
    context.textBaseline = "middle";
    context.fillText(letter, x + 3, y + h - 6.5);
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {number} w
   * @param {number} h
   */
  drawLosses(context, w, h) {
    context.fillStyle = this.theme.colours.loss;
    for (const { time } of this.profile.losses) {
      const cell = Math.floor((time * HEAT_ROWS) / this.unit);
      if (cell < 0 || cell >= this.cells.length) continue;
      const [x, y] = this.placeOf(cell, w, h);
      context.fillRect(x + w / 2 - 1.5, y + h / 2 - 1.5, 3, 3);
    }
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {number} w
   * @param {number} h
   */
  drawLabels(context, w, h) {
    context.fillStyle = this.theme.colours.faint;
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    for (let part = 0; part < 4; part++) {
      const text = part === 0 ? "0" : duration((part * this.unit) / 4);
      context.fillText(text, 2, Math.min(HEAT_ROWS * h - 6, Math.max(6, (1 - part / 4) * HEAT_ROWS * h)));
    }
    const step = niceStep(60 / w);
    for (let column = 0; column < this.columns; column += Math.max(1, step)) {
      const text = `${Number(((column * this.unit) / SECOND).toFixed(2))} s`;
      // The last one ends where the picture does.
      const x = Math.min(HEAT_LEFT + column * w + 2, this.place.clientWidth - context.measureText(text).width - 1);
      context.fillText(text, x, HEAT_ROWS * h + 12);
    }
  }

  /** @param {MouseEvent} event */
  cellAt(event) {
    const rect = this.canvas.getBoundingClientRect();
    const column = Math.floor((event.clientX - rect.left - HEAT_LEFT) / this.cellWidth);
    const row = HEAT_ROWS - 1 - Math.floor((event.clientY - rect.top) / this.cellHeight);
    const inside = Math.min(this.columns - 1, Math.max(0, column));
    return Math.min(this.last, inside * HEAT_ROWS + Math.min(HEAT_ROWS - 1, Math.max(0, row)));
  }

  listen() {
    const canvas = this.canvas;
    canvas.addEventListener("mousemove", (event) => this.say(this.cellAt(event)));
    canvas.addEventListener("mouseleave", () => this.events.say(""));
    canvas.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.altKey || event.metaKey || !this.pressed(event)) return;
      event.preventDefault();
      event.stopPropagation();
    });
    followDrag(canvas, (from, to) => {
      this.drag = [this.cellAt(from), this.cellAt(to)];
      this.draw();
    }, (from) => {
      const [one, other] = /** @type {[number, number]} */ (this.drag);
      this.drag = null;
      this.events.range(this.timesOf(Math.min(one, other), Math.max(one, other)), from);
    });
  }

  /** @param {number} cell */
  say(cell) {
    const length = this.unit / HEAT_ROWS;
    // Both ends are told apart.
    const digits = Math.max(0, Math.ceil(-Math.log10(length / SECOND)));
    const at = (/** @type {number} */ ns) => `${(ns / SECOND).toFixed(digits)} s`;
    this.events.say(`${at(cell * length)} to ${at((cell + 1) * length)}: ${counted(this.cells[cell], ...this.nouns)}`);
  }

  /**
   * Whether a key meant something.
   * @param {KeyboardEvent} event
   */
  pressed({ key, shiftKey }) {
    const steps = { ArrowUp: 1, ArrowDown: -1, ArrowRight: HEAT_ROWS, ArrowLeft: -HEAT_ROWS };
    const step = steps[/** @type {keyof typeof steps} */ (key)];
    if (key === "Enter" && this.drag !== null) {
      const range = this.timesOf(Math.min(...this.drag), Math.max(...this.drag));
      this.drag = null;
      this.events.range(range, { shiftKey, ctrlKey: false, metaKey: false });
      return true;
    }
    if (step === undefined) return false;
    const at = Math.max(0, Math.min(this.last, (this.drag?.[1] ?? this.ends?.[0] ?? -step) + step));
    this.drag = shiftKey && this.drag !== null ? [this.drag[0], at] : [at, at];
    this.say(at);
    this.draw();
    return true;
  }

  /**
   * The times of cells, both ends included.
   * @param {number} first
   * @param {number} last
   * @returns {[number, number]}
   */
  timesOf(first, last) {
    return [(first * this.unit) / HEAT_ROWS, ((last + 1) * this.unit) / HEAT_ROWS - 1];
  }
}

/**
 * The outline of cells that follow each other, from a row of the first column to a row of the last.
 * @param {{from: number, to: number, bottom: number, top: number}} cells
 * @param {number} w
 * @param {number} h
 */
function outlineOf({ from, to, bottom, top }, w, h) {
  const x = (/** @type {number} */ column) => HEAT_LEFT + column * w;
  const y = (/** @type {number} */ row) => (HEAT_ROWS - row) * h;
  const path = new Path2D();
  const corners = from === to
    ? [[from, bottom], [from, top], [from + 1, top], [from + 1, bottom]]
    : [[from, bottom], [from, HEAT_ROWS], [to, HEAT_ROWS], [to, top], [to + 1, top], [to + 1, 0], [from + 1, 0], [from + 1, bottom]];
  corners.forEach(([column, row], at) => (at === 0 ? path.moveTo(x(column), y(row)) : path.lineTo(x(column), y(row))));
  path.closePath();
  return path;
}
