// The strip of time above all views: how busy it was, where samples are missing, which range is shown and which one it is
// compared with; below it, the other events.

/** Parts of time that are told apart; fewer of events that are few, so that there is no comb. */
const SLOTS = 600;
const FEWEST_SLOTS = 60;
/** Height of the strip, and of each event below it. */
const STRIP = 50;
const COUNTER = 22;

/**
 * @typedef {{range: (range: [number, number] | null, from?: {ctrlKey: boolean, metaKey: boolean, shiftKey: boolean}) => void, against: (range: [number, number]) => void,
 *   isAgainst: (from: PointerEvent) => boolean, say: (text: string) => void}} StripEvents
 */

class Overview {
  /**
   * @param {HTMLElement} place
   * @param {Theme} theme
   * @param {StripEvents} events
   */
  constructor(place, theme, events) {
    this.place = place;
    this.theme = theme;
    this.profile = theme.profile;
    this.events = events;
    this.canvas = made("canvas");
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "application");
    place.append(this.canvas);
    /** @type {[number, number] | null} */
    this.range = null;
    /**
     * Parts of it, if only these are selected.
     * @type {[number, number][]}
     */
    this.ranges = [];
    /** @type {[number, number] | null} */
    this.against = null;
    /** @type {[number, number] | null} */
    this.drag = null;
    /** What was counted last. */
    this.drawn = new TimeSlots(this.profile, 0, [0, 1]);
    this.counters = new Counters(this.profile);
    /** What the slots are of. */
    this.key = "";
    /**
     * What they are to be of, if they are of something else, and the steps that are left to count it.
     * @type {{selection: SampleSelection, steps: Generator<undefined, TimeSlots, undefined>} | null}
     */
    this.wanted = null;
    /**
     * Of everything, by event.
     * @type {Map<number, {slots: TimeSlots, counters: Counters["list"]}>}
     */
    this.whole = new Map();
    this.event = 0;
    this.span = Math.max(1, this.profile.head.span_ns);
    this.brush();
  }

  /**
   * Sums by slot of time; those of other stacks follow the view.
   * @param {SampleSelection} selection
   */
  show(selection) {
    this.range = selection.range;
    this.ranges = /** @type {[number, number][]} */ (partsOf(selection).filter((range) => range !== null));
    this.against = selection.against ?? null;
    if (!this.profile.head.has_times) return;
    // It shows all times, whatever the range.
    const { event, thread, keep, transforms, threads } = selection;
    const key = JSON.stringify([event, thread, keep, transforms, threads]);
    if (key !== this.key) {
      this.wanted = { selection, steps: slotsInSteps(this.profile, selection, event, this.span) };
      const { wanted } = this;
      afterFrame(() => this.step(wanted));
    }
    this.key = key;
    if (this.drawn.n === 0 || this.knownOfWanted() !== undefined) this.count();
    drawSoon(this);
  }

  /** What is wanted, if that is everything and known. */
  knownOfWanted() {
    return this.wanted !== null && isWhole(this.wanted.selection) ? this.whole.get(this.wanted.selection.event) : undefined;
  }

  /**
   * Counts some rows, unless something else is wanted by now.
   * @param {Overview["wanted"]} wanted
   */
  step(wanted) {
    if (wanted === null || this.wanted !== wanted) return;
    const { done, value } = wanted.steps.next();
    if (done) this.take(value);
    else setTimeout(() => this.step(wanted), 0);
  }

  /** Counts all that is to be shown, if that is something else. */
  count() {
    const { wanted } = this;
    if (wanted === null) return;
    const known = this.knownOfWanted();
    if (known !== undefined) return this.take(known.slots);
    for (;;) {
      const { done, value } = wanted.steps.next();
      if (done) return this.take(value);
    }
  }

  /** @param {TimeSlots} slots */
  take(slots) {
    if (this.wanted === null) return;
    const { selection } = this.wanted;
    const known = this.knownOfWanted();
    this.wanted = null;
    this.event = selection.event;
    this.drawn = slots;
    if (known === undefined) this.counters.count(selection, this.span);
    else this.counters.list = known.counters;
    if (isWhole(selection)) this.whole.set(selection.event, { slots, counters: this.counters.list });
    this.place.style.height = `${STRIP + this.counters.list.length * COUNTER + AXIS}px`;
    drawSoon(this);
  }

  /** The slots of what is selected. */
  get slots() {
    this.count();
    return this.drawn;
  }

  get scale() {
    return new TimeScale(this.place.clientWidth, [0, this.span]);
  }

  /** Draws it again if there is more or less room. */
  resized() {
    const { canvas, place } = this;
    if (!hasSize(canvas, place.clientWidth, place.clientHeight)) this.draw();
  }

  draw() {
    const { clientWidth: width, clientHeight: height } = this.place;
    if (width === 0) return;
    const context = sized(this.canvas, width, height);
    const { scale } = this;
    const colours = this.theme.colours;
    const { all, n } = this.drawn;
    const most = all.reduce((a, b) => Math.max(a, b), 0) || 1;
    context.fillStyle = colours.area;
    context.beginPath();
    context.moveTo(scale.left, STRIP);
    all.forEach((slot, at) => {
      const y = STRIP - (slot / most) * (STRIP - 10);
      context.lineTo(scale.left + (at / n) * scale.width, y);
      context.lineTo(scale.left + ((at + 1) / n) * scale.width, y);
    });
    context.lineTo(width, STRIP);
    context.fill();
    if (this.drawn.waits.size > 0) this.drawWaits(context, scale, most);
    this.drawName(context, scale, most);
    this.counters.draw(context, this.theme, scale, STRIP);
    scale.drawAxis(context, this.theme, height - AXIS);
    this.drawGaps(context, scale);
    this.drawRanges(context, scale, height - AXIS);
    this.canvas.setAttribute("aria-label", this.label());
  }

  /**
   * What it is of, and what its height is.
   * @param {CanvasRenderingContext2D} context
   * @param {TimeScale} scale
   * @param {number} most
   */
  drawName(context, scale, most) {
    const { name } = this.profile.head.events[this.event];
    context.font = "12px system-ui, sans-serif";
    context.textBaseline = "middle";
    context.textAlign = "left";
    context.fillStyle = this.theme.colours.ink;
    context.fillText(shortened(context, name, scale.left - 24), 16, STRIP / 2 - 4);
    context.fillStyle = this.theme.colours.faint;
    context.font = "11px system-ui, sans-serif";
    const said = `up to ${rateOf(this.profile, this.event, most, this.drawn)}`;
    context.fillText(shortened(context, said, scale.left - 24), 16, STRIP / 2 + 12);
  }

  /**
   * What threads wait for, on what runs.
   * @param {CanvasRenderingContext2D} context
   * @param {TimeScale} scale
   * @param {number} most
   */
  drawWaits(context, { left, width }, most) {
    const { n } = this.drawn;
    for (let slot = 0; slot < n; slot++) {
      // Whole pixels, so that there is nothing between two slots.
      const [from, to] = [left + Math.round((slot / n) * width), left + Math.round(((slot + 1) / n) * width)];
      drawParts(context, this.theme, this.drawn, slot, { x: from, width: to - from, base: STRIP, height: STRIP - 10, most });
    }
  }

  label() {
    const said = (/** @type {[number, number]} */ [from, to]) => `${duration(from)} to ${duration(to)}`;
    const range = this.range === null ? "everything" : this.ranges.map(said).join(" and ");
    const against = this.against === null ? "" : `, compared with ${said(this.against)}`;
    return `Samples over ${duration(this.span)}; shown: ${range}${against}. Arrow keys move the range; with Shift, its end; ` +
      "Page Up and Page Down move the range to compare with.";
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {TimeScale} scale
   */
  drawGaps(context, scale) {
    const { head, losses } = this.profile;
    context.fillStyle = this.theme.colours.throttle;
    for (const [since] of head.throttles) {
      context.fillRect(scale.x(since), STRIP - 3, Math.max(2, 1e9 * scale.perNs), 3);
    }
    context.fillStyle = this.theme.colours.loss;
    for (const { time } of losses) context.fillRect(scale.x(time) - 1, 0, 2, STRIP);
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {TimeScale} scale
   * @param {number} height
   */
  drawRanges(context, scale, height) {
    const { range, against, drag } = this;
    const isCompared = against !== null && range !== null;
    if (against !== null) drawRange(context, this.theme, scale, against, { height, letter: "A" });
    for (const range of this.ranges) drawRange(context, this.theme, scale, range, { height, letter: isCompared ? "B" : "" });
    if (drag !== null) drawRange(context, this.theme, scale, drag, { height, letter: "" });
  }

  brush() {
    const { canvas } = this;
    dragOver(canvas, (from, to) => {
      this.drag = to - from < 3 ? null : this.scale.range(from, to);
      this.draw();
    }, (_x, _y, from) => {
      const { drag } = this;
      this.drag = null;
      this.events.range(drag, from);
    });
    canvas.addEventListener("mousemove", ({ clientX }) => {
      const x = clientX - canvas.getBoundingClientRect().left;
      this.events.say(x < this.scale.left ? "" : this.saidAt(this.scale.time(x)));
    });
    canvas.addEventListener("mouseleave", () => this.events.say(""));
    canvas.addEventListener("keydown", (event) => {
      const isPage = event.key === "PageUp" || event.key === "PageDown";
      if (!isPage && event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
      // Alt and an arrow are the browser's Back.
      if (event.altKey || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      if (this.ranges.length > 1) return this.events.say("Several ranges are shown: remove all but one to move it.");
      const step = ((event.key === "ArrowLeft" || event.key === "PageUp" ? -1 : 1) * this.span) / 50;
      const isAgainst = isPage && this.range !== null;
      const [from, to] = (isAgainst ? this.against : this.range) ?? [0, this.span / 10];
      const end = Math.min(this.span, Math.max(from + this.span / 100, to + step));
      /** @type {[number, number]} */
      const next = event.shiftKey ? [from, end] : [Math.max(0, Math.min(from + step, end - 1)), end];
      if (isAgainst) this.events.against(next);
      else this.events.range(next);
    });
  }

  /**
   * What is known of a moment, in words.
   * @param {number} time
   */
  saidAt(time) {
    const { slots, span } = this;
    const slot = Math.min(slots.n - 1, Math.floor((time / span) * slots.n));
    if (slot < 0) return "";
    const event = this.profile.head.events[this.event];
    const parts = slots.waits.size > 0 ? `: ${saidOfSlot(this.profile, slots, slot)}` : "";
    const said = [`${event.name} ${amount(event, slots.all[slot])}${parts}`, ...this.counters.saidAt(time / span)];
    return `${duration(time)}, ${duration(span / slots.n)} long: ${said.join(" · ")}`;
  }
}

/**
 * What an event counts over time; of few samples, in few slots.
 * @param {Profile} profile
 * @param {SampleSelection} selection
 * @param {number} event
 * @param {number} span
 */
function slotsOfEvent(profile, selection, event, span) {
  const steps = slotsInSteps(profile, selection, event, span);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Rows that are counted before the page may answer. */
const ROWS_OF_SLOTS = 20000;

/**
 * The same in short steps.
 * @param {Profile} profile
 * @param {SampleSelection} selection
 * @param {number} event
 * @param {number} span
 * @returns {Generator<undefined, TimeSlots, undefined>}
 */
function* slotsInSteps(profile, selection, event, span) {
  const few = Math.max(FEWEST_SLOTS, Math.ceil(profile.head.events[event].samples / 2));
  const n = longestStand(profile, event) > 0 ? SLOTS : Math.min(SLOTS, few);
  const slots = new TimeSlots(profile, n, [0, span], event);
  const kept = keptNodes(profile, selection);
  const rows = { event, thread: selection.thread, range: null };
  const add = rowsOfSpan(profile, rows, (node, weight, _samples, time, _thread, row) => {
    if (node < -1 || (kept !== null && (node < 0 || kept[node] === 0))) return;
    slots.add(node, weight, time, row);
  });
  let done = 0;
  const threads = new Set();
  for (const [thread, first, end] of spansInSteps(profile, rows)) {
    threads.add(profile.head.threads[thread][1]);
    add(thread, first, end, null, null);
    done += end - first;
    if (done < ROWS_OF_SLOTS) continue;
    done = 0;
    yield;
  }
  if (!profile.head.by_name) slots.mostAtOnce = Math.min(threads.size, profile.head.events[event].kind === "cpu-time" ? profile.n_cpus : Infinity);
  return slots;
}

/**
 * Whether nothing is left out.
 * @param {SampleSelection} selection
 */
function isWhole({ thread, keep, transforms }) {
  return thread === null && keep === "" && transforms.length === 0;
}

/**
 * A range on a time line: its ends, and, of two, its letter. That before is hatched, so that colours say nothing alone.
 * @param {CanvasRenderingContext2D} context
 * @param {Theme} theme
 * @param {TimeScale} scale
 * @param {[number, number]} range
 * @param {{height: number, letter: string}} how
 */
function drawRange(context, { colours }, scale, range, { height, letter }) {
  const right = scale.left + scale.width;
  const [from, to] = range.map((time) => Math.min(right, Math.max(scale.left, scale.x(time))));
  if (to <= scale.left || from >= right) return;
  const width = Math.max(1, to - from);
  context.fillStyle = colours.brush;
  context.fillRect(from, 0, width, height);
  const colour = letter === "A" ? colours.faint : colours.accent;
  if (letter === "A") {
    context.save();
    context.beginPath();
    context.rect(from, 0, width, height);
    context.clip();
    context.strokeStyle = colour;
    context.globalAlpha = 0.5;
    context.lineWidth = 1;
    context.beginPath();
    for (let x = from - height; x < from + width; x += 8) {
      context.moveTo(x, height);
      context.lineTo(x + height, 0);
    }
    context.stroke();
    context.restore();
  }
  context.fillStyle = colour;
  context.fillRect(from - 1, 0, 2, height);
  context.fillRect(to - 1, 0, 2, height);
  if (letter === "") return;
  context.fillRect(from, 0, 14, 14);
  context.fillStyle = colours.paper;
  context.font = "bold 11px system-ui, sans-serif";
  context.textAlign = "left";
  context.textBaseline = "middle";
  context.fillText(letter, from + 3, 7.5);
}

/**
 * Calls back with both ends of a drag, from left to right.
 * @param {HTMLCanvasElement} canvas
 * @param {(from: number, to: number) => void} move
 * @param {(x: number, y: number, from: PointerEvent) => void} end
 */
function dragOver(canvas, move, end) {
  followDrag(canvas, (from, to) => {
    const left = canvas.getBoundingClientRect().left;
    move(Math.min(from.clientX, to.clientX) - left, Math.max(from.clientX, to.clientX) - left);
  }, (from, last) => end(last.clientX, last.clientY, from));
}

/**
 * Calls back with where a drag began, and where it is or ended.
 * @param {HTMLCanvasElement} canvas
 * @param {(from: PointerEvent, to: PointerEvent) => void} move
 * @param {(from: PointerEvent, last: PointerEvent) => void} end
 */
function followDrag(canvas, move, end) {
  canvas.addEventListener("pointerdown", (from) => {
    if (from.button !== 0) return;
    /** @param {PointerEvent} to */
    const moved = (to) => move(from, to);
    moved(from);
    canvas.setPointerCapture(from.pointerId);
    canvas.addEventListener("pointermove", moved);
    canvas.addEventListener("pointerup", (last) => {
      canvas.removeEventListener("pointermove", moved);
      moved(last);
      end(from, last);
    }, { once: true });
  });
}
