// A flame graph on a canvas: only boxes that are visible and a pixel wide are drawn, thinner ones together.

const ROW = 20;
const FONT = "12px ui-monospace, 'SF Mono', 'DejaVu Sans Mono', Menlo, Consolas, monospace";
/** A name in fewer pixels says nothing. */
const MIN_TEXT = 22;
/** Pixels of a printed picture, from top to bottom, at most. */
const MAX_PRINTED = 8000;
/** The whole is at most this many times as wide as what a zoom shows. */
const MAX_ZOOM = 1e7;

/**
 * @typedef {{hover: (box: number, at: {x: number, y: number}) => void, select: (box: number) => void, zoom: () => void,
 *   open: (label: number) => void, menu: (box: number, at: {x: number, y: number}) => void}} FlameEvents
 */

class Flame {
  /**
   * @param {HTMLElement} place
   * @param {Theme} theme
   * @param {FlameEvents} events
   */
  constructor(place, theme, events) {
    this.theme = theme;
    this.profile = theme.profile;
    this.events = events;
    this.place = place;
    this.canvas = made("canvas");
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "application");
    this.space = made("div", undefined, "space");
    place.append(this.canvas, this.space);
    this.boxes = new Boxes(0).close();
    this.start = 0;
    this.width = 0;
    /** How far it is scrolled: to ask the browser, or to scroll, would lay out what is about to change. */
    this.top = 0;
    this.selected = -1;
    this.hovered = -1;
    /**
     * Frames, names of threads and processes that are searched for.
     * @type {{frames: Uint8Array, comms: Uint8Array} | null}
     */
    this.matches = null;
    /** @type {Map<number, {text: string, width: number}>} */
    this.texts = new Map();
    this.charWidth = 0;
    this.bars = new Bars();
    listenTo(this);
  }

  /** @param {Boxes} boxes */
  show(boxes) {
    this.boxes = boxes;
    this.texts.clear();
    this.selected = this.hovered = -1;
    // They may have been placed for a smaller screen.
    boxes.reach(0, boxes.whole);
    this.fit();
    if (this.top > 0) this.place.scrollTop = this.top = 0;
    this.zoomOut();
    if (boxes.rest !== null) afterFrame(() => this.step(boxes));
  }

  /**
   * Places boxes that are left, as long as these are shown.
   * @param {Boxes} boxes
   */
  step(boxes) {
    if (this.boxes !== boxes) return;
    if (boxes.step()) return void setTimeout(() => this.step(boxes), 0);
    this.fit();
    this.ask();
  }

  /** All levels have room. */
  fit() {
    this.space.style.height = `${this.boxes.lists.length * ROW + 4}px`;
  }

  zoomOut() {
    this.start = 0;
    this.width = this.boxes.whole;
    this.ask();
  }

  /** @param {number} box */
  zoomTo(box) {
    if (box < 0) return this.zoomOut();
    this.start = this.boxes.starts[box];
    this.width = this.boxes.widths[box];
    // Boxes beside it that had no place yet may move it.
    if (this.boxes.reach(this.start, this.width)) this.fit();
    this.start = this.boxes.starts[box];
    this.reach();
  }

  /** What is seen has its place. */
  reach() {
    if (this.boxes.reach(this.start, this.width)) this.fit();
    this.ask();
  }

  /** The deepest box that is as wide as the view. */
  zoomed() {
    const { boxes, start, width } = this;
    if (width >= boxes.whole) return -1;
    let found = -1;
    for (let level = 0; level < boxes.lists.length; level++) {
      const box = boxes.at(level, start + width / 2);
      if (box < 0 || boxes.starts[box] > start || boxes.endOf(box) < start + width) break;
      found = box;
      if (boxes.widths[box] === width) break;
    }
    return found;
  }

  ask() {
    drawSoon(this);
  }

  /** Draws again if there is more or less room; a wider picture may show more. */
  resized() {
    const { canvas, place, boxes } = this;
    if (place.clientWidth === 0 || hasSize(canvas, place.clientWidth, place.clientHeight)) return;
    if (boxes.reach(this.start, this.width)) this.fit();
    this.draw();
  }

  draw() {
    const width = this.place.clientWidth;
    // Paper has room for all levels.
    const all = Math.min(MAX_PRINTED, this.boxes.lists.length * ROW);
    const height = this.theme.isPrinted ? all : this.place.clientHeight;
    if (width === 0) return;
    const context = sized(this.canvas, width, height);
    context.font = FONT;
    context.textBaseline = "middle";
    context.direction = "ltr";
    if (this.charWidth === 0) this.charWidth = context.measureText("0".repeat(50)).width / 50;
    const top = this.theme.isPrinted ? 0 : this.place.scrollTop;
    const first = Math.floor(top / ROW);
    const last = Math.min(this.boxes.lists.length - 1, Math.floor((top + height) / ROW));
    const bars = this.bars.begin(this.canvas, ROW - 1);
    /** @type {{box: number, x: number, y: number, w: number}[]} */
    const named = [];
    for (let level = first; level <= last; level++) {
      const y = level * ROW - top;
      this.drawLevel(bars, level, width, (box, x, w) => named.push({ box, x, y, w }));
      bars.end(y);
    }
    bars.show(context);
    for (const one of named) this.drawName(context, one);
    context.globalAlpha = 1;
    this.outline(context, this.hovered, top, width, 1);
    this.outline(context, this.selected, top, width, 2);
  }

  /**
   * @param {Bars} bars
   * @param {number} level
   * @param {number} width
   * @param {(box: number, x: number, w: number) => void} name called with boxes that have room for a name
   */
  drawLevel(bars, level, width, name) {
    const { boxes, start } = this;
    const { starts, widths } = boxes;
    const list = boxes.lists[level];
    const scale = width / this.width;
    let at = boxes.firstAt(level, start);
    while (at < list.length) {
      const box = list[at];
      const x = (starts[box] - start) * scale;
      if (x >= width) break;
      const w = widths[box] * scale;
      if (w >= 1) {
        const [from, to] = [Math.max(0, x), Math.min(width, x + w)];
        const isMatch = this.isMatch(box);
        bars.add(from, to - (w > 3 ? 1 : 0), isMatch ? this.theme.colours.match : this.fill(box), this.matches !== null && !isMatch);
        if (to - from >= MIN_TEXT) name(box, from, to - from);
        at++;
        continue;
      }
      // All that ends within this pixel is one.
      const edge = start + (Math.floor(x) + 1) / scale;
      let next = at + 1;
      while (next < list.length && next < at + 8 && starts[list[next]] + widths[list[next]] <= edge) next++;
      if (next === at + 8) next = Math.max(next, boxes.firstAt(level, edge, next));
      bars.add(x, (boxes.endOf(list[next - 1]) - start) * scale, this.thinFill(list, at, next), false);
      at = next;
    }
  }

  /**
   * @param {Uint32Array} list
   * @param {number} from
   * @param {number} to
   */
  thinFill(list, from, to) {
    const colours = this.theme.colours;
    for (let at = from; at < to && this.matches !== null; at++) if (this.isMatch(list[at])) return colours.match;
    if (this.matches !== null) return colours.thin;
    if (this.boxes.sides !== null) return this.theme.changed(this.meanDegree(list, from, to));
    return to - from < 3 ? this.fill(list[from]) : colours.thin;
  }

  /**
   * How much boxes beside each other changed together.
   * @param {Uint32Array} list
   * @param {number} from
   * @param {number} to
   */
  meanDegree(list, from, to) {
    const { widths, degrees } = this.boxes;
    let [sum, width] = [0, 0];
    for (let at = from; at < to; at++) {
      sum += widths[list[at]] * degrees[list[at]];
      width += widths[list[at]];
    }
    return width > 0 ? Math.round((10 * sum) / width) / 10 : 0;
  }

  /** @param {number} box */
  isMatch(box) {
    const label = this.boxes.labels[box];
    if (this.matches === null) return false;
    return (label >= 0 ? this.matches.frames[label] : this.matches.comms[-1 - label]) === 1;
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {{box: number, x: number, y: number, w: number}} place
   */
  drawName(context, { box, x, y, w }) {
    const isMatch = this.isMatch(box);
    context.globalAlpha = this.matches !== null && !isMatch ? 0.7 : 1;
    context.fillStyle = isMatch ? this.theme.colours.matchInk : this.theme.colours.ink;
    const mark = this.mark(box);
    context.fillText(`${mark}${this.cut(context, this.boxes.labels[box], w - 9 - mark.length * this.charWidth)}`, x + 4, y + ROW / 2);
  }

  /**
   * Which way it changed, for those who do not see it by its colour.
   * @param {number} box
   */
  mark(box) {
    const { sides, degrees } = this.boxes;
    return sides === null || degrees[box] === 0 ? "" : degrees[box] > 0 ? "▲ " : "▼ ";
  }

  /** @param {number} box */
  fill(box) {
    const { sides, degrees, labels } = this.boxes;
    return sides === null ? this.theme.fill(labels[box]) : this.theme.changed(degrees[box]);
  }

  /**
   * As much of a name as there is room for.
   * @param {CanvasRenderingContext2D} context
   * @param {number} label
   * @param {number} room
   */
  cut(context, label, room) {
    let known = this.texts.get(label);
    if (known === undefined) {
      const text = this.profile.nameOf(label).slice(0, 400);
      const isPlain = /^[\x20-\x7e]*$/.test(text);
      known = { text, width: isPlain ? text.length * this.charWidth : context.measureText(text).width };
      this.texts.set(label, known);
    }
    if (known.width <= room) return known.text;
    const length = Math.floor((known.text.length * room) / known.width) - 1;
    return length > 0 ? middleCut(known.text, length + 1) : "";
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {number} box
   * @param {number} top
   * @param {number} width
   * @param {number} line
   */
  outline(context, box, top, width, line) {
    if (box < 0 || box >= this.boxes.n) return;
    const scale = width / this.width;
    const x = Math.max(0, (this.boxes.starts[box] - this.start) * scale);
    const end = Math.min(width, (this.boxes.endOf(box) - this.start) * scale);
    if (end <= 0 || x >= width) return;
    context.strokeStyle = this.theme.colours.ink;
    context.lineWidth = line;
    const y = this.boxes.depths[box] * ROW - top;
    context.strokeRect(x + line / 2, y + line / 2, Math.max(1, end - x - 1 - line), ROW - 1 - line);
  }

  /**
   * The box at a place of the screen.
   * @param {MouseEvent} event
   */
  boxAt(event) {
    const rect = this.canvas.getBoundingClientRect();
    const level = Math.floor((event.clientY - rect.top + this.place.scrollTop) / ROW);
    return this.boxes.at(level, this.start + ((event.clientX - rect.left) / rect.width) * this.width);
  }

  /**
   * @param {number} start
   * @param {number} width
   */
  view(start, width) {
    const whole = this.boxes.whole;
    this.width = Math.min(whole, Math.max(whole / MAX_ZOOM, width));
    this.start = Math.min(whole - this.width, Math.max(0, start));
    this.reach();
  }

  /** @param {number} box */
  choose(box) {
    this.selected = box;
    this.events.select(box);
    if (box >= 0) {
      const y = this.boxes.depths[box] * ROW;
      const { scrollTop, clientHeight } = this.place;
      if (y < scrollTop) this.place.scrollTop = this.top = y;
      if (y + ROW > scrollTop + clientHeight) this.place.scrollTop = this.top = y + ROW - clientHeight;
      const [start, width] = [this.boxes.starts[box], this.boxes.widths[box]];
      if (start + width <= this.start || start >= this.start + this.width) this.view(start - this.width / 2, this.width);
    }
    this.ask();
  }
}
