// Threads over time, the heaviest first; a click chooses one, a drag a range of time.

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
    const bar = made("div", undefined, "bar");
    bar.hidden = app.profile.head.waits === undefined;
    section.append(bar);
    this.legend = new WaitLegend(app, bar, true);
    this.lanes = new Lanes(placed(section, "div", "lanes-place", "canvas-place"), app.theme, {
      thread: (thread) => app.set({ thread }),
      range: (range) => app.set({ range }),
      say: (text) => app.details.say(text),
    });
  }

  show() {
    this.legend.show();
    this.lanes.show(this.app.state);
  }

  draw() {
    this.legend.show();
    this.lanes.draw();
  }
}

const LANE = 24;
const LANE_NAME = 200;

class Lanes {
  /**
   * @param {HTMLElement} place
   * @param {Theme} theme
   * @param {{thread: (thread: number | null) => void, range: (range: [number, number]) => void,
   *   say: (text: string) => void}} events
   */
  constructor(place, theme, events) {
    this.place = place;
    this.theme = theme;
    this.profile = theme.profile;
    this.events = events;
    this.canvas = made("canvas");
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", "Threads over time, heaviest first; click to select one");
    this.space = made("div", undefined, "space");
    place.append(this.canvas, this.space);
    /** @type {{thread: number, weight: number}[]} */
    this.lanes = [];
    /** @type {Uint8Array | null} */
    this.kept = null;
    /**
     * Sums of threads that were drawn, by pixel.
     * @type {Map<number, TimeSlots>}
     */
    this.drawn = new Map();
    /** @type {SampleSelection} */
    this.selection = { event: 0, range: null, thread: null, keep: "", transforms: [], threads: "alike" };
    /** @type {[number, number] | null} */
    this.drag = null;
    this.listen();
  }

  /** @param {SampleSelection} selection */
  show(selection) {
    const { profile } = this;
    this.selection = selection;
    this.kept = keptNodes(profile, selection);
    this.drawn.clear();
    const weights = new Float64Array(profile.head.threads.length);
    const kept = this.kept;
    forRows(profile, { ...selection, thread: null }, (node, weight, _samples, _time, thread) => {
      if (node >= 0 && (kept === null || kept[node] === 1)) weights[thread] += weight;
    });
    this.lanes = [];
    weights.forEach((weight, thread) => weight > 0 && this.lanes.push({ thread, weight }));
    this.lanes.sort((a, b) => b.weight - a.weight || a.thread - b.thread);
    this.space.style.height = `${this.lanes.length * LANE + 4}px`;
    this.draw();
  }

  get times() {
    return this.selection.range ?? [0, Math.max(1, this.profile.head.span_ns)];
  }

  draw() {
    const { clientWidth: width, clientHeight: height, scrollTop: top } = this.place;
    if (width === 0) return;
    const context = sized(this.canvas, width, height);
    context.textBaseline = "middle";
    const first = Math.floor(top / LANE);
    const last = Math.min(this.lanes.length - 1, Math.floor((top + height) / LANE));
    const visible = new Set(this.lanes.slice(first, last + 1).map(({ thread }) => thread));
    for (const thread of this.drawn.keys()) if (!visible.has(thread)) this.drawn.delete(thread);
    for (let at = first; at <= last; at++) this.drawLane(context, at, at * LANE - top, width);
    if (this.drag !== null) {
      context.fillStyle = this.theme.colours.brush;
      context.fillRect(this.drag[0], 0, this.drag[1] - this.drag[0], height);
    }
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {number} at
   * @param {number} y
   * @param {number} width
   */
  drawLane(context, at, y, width) {
    const colours = this.theme.colours;
    const { thread, weight } = this.lanes[at];
    if (this.selection.thread === thread) {
      context.fillStyle = colours.brush;
      context.fillRect(0, y, width, LANE - 1);
    }
    context.font = "12px system-ui, sans-serif";
    context.fillStyle = colours.ink;
    const event = this.profile.head.events[this.selection.event];
    const said = amount(event, weight);
    const room = LANE_NAME - context.measureText(said).width - 24;
    context.fillText(shortened(context, this.profile.nameOfThread(thread), room), 8, y + LANE / 2);
    context.fillStyle = colours.faint;
    context.textAlign = "right";
    context.fillText(said, LANE_NAME - 8, y + LANE / 2);
    context.textAlign = "left";
    context.fillStyle = colours.line;
    context.fillRect(0, y + LANE - 1, width, 1);
    const slots = this.slots(thread, Math.max(1, Math.floor(width - LANE_NAME)));
    if (slots.waits.size > 0) return this.drawWaits(context, slots, y);
    const most = slots.all.reduce((a, b) => Math.max(a, b), 0) || 1;
    context.fillStyle = colours.area;
    slots.all.forEach((slot, x) => {
      if (slot === 0) return;
      const h = Math.max(2, (slot / most) * (LANE - 5));
      context.fillRect(LANE_NAME + x, y + LANE - 2 - h, 1, h);
    });
  }

  /**
   * What a thread waits for, beside when it runs: named where there is room.
   * @param {CanvasRenderingContext2D} context
   * @param {TimeSlots} slots
   * @param {number} y
   */
  drawWaits(context, slots, y) {
    // The height is all of a thread's time; threads of one name may have more.
    const { n, all } = slots;
    const most = all.reduce((a, b) => Math.max(a, b), 1 / slots.scale);
    const height = LANE - 5;
    for (let x = 0; x < n; x++) {
      drawParts(context, this.theme, slots, x, { x: LANE_NAME + x, width: 1, base: y + LANE - 2, height, most });
    }
    context.font = "11px system-ui, sans-serif";
    context.fillStyle = this.theme.colours.ink;
    for (let from = 0, to = 0; from < n; from = to) {
      const label = slots.mostly(from);
      while (to < n && slots.mostly(to) === label && all[to] > most / 2) to++;
      const name = label === RUNS ? "" : this.profile.nameOf(label).slice(1, -1);
      const room = to - from - 8;
      if (name !== "" && room > 0 && context.measureText(name).width <= room) {
        context.fillText(name, LANE_NAME + from + 4, y + LANE / 2);
      }
      to = Math.max(to, from + 1);
    }
  }

  /**
   * Sums of a thread by pixel.
   * @param {number} thread
   * @param {number} n
   */
  slots(thread, n) {
    const known = this.drawn.get(thread);
    if (known?.n === n) return known;
    const { profile, kept, selection } = this;
    const slots = new TimeSlots(profile, n, this.times);
    const range = slots.rangeOfRows(selection.range);
    forRows(profile, { ...selection, range, thread }, (node, weight, _samples, time, _thread, row) => {
      if (node < 0 || (kept !== null && kept[node] === 0)) return;
      slots.add(node, weight, time, row);
    });
    this.drawn.set(thread, slots);
    return slots;
  }

  /**
   * What a thread does at a place of the screen, where waits are known.
   * @param {number} thread
   * @param {MouseEvent} event
   */
  saidAt(thread, event) {
    const slots = this.drawn.get(thread);
    const slot = Math.floor(event.clientX - this.canvas.getBoundingClientRect().left) - LANE_NAME;
    if (slots === undefined || slots.waits.size === 0 || slot < 0 || slot >= slots.n) return "";
    const said = saidOfSlot(this.profile, slots, slot);
    return said === "" ? "" : ` · at ${duration(slots.start + slot / slots.scale)}: ${said}`;
  }

  /** @param {number} clientY */
  laneAt(clientY) {
    const y = clientY - this.canvas.getBoundingClientRect().top + this.place.scrollTop;
    return this.lanes[Math.floor(y / LANE)];
  }

  listen() {
    this.place.addEventListener("scroll", () => this.draw());
    this.canvas.addEventListener("mousemove", (event) => {
      const lane = this.laneAt(event.clientY);
      const head = this.profile.head.events[this.selection.event];
      if (lane) this.events.say(`${this.profile.nameOfThread(lane.thread)}: ${amount(head, lane.weight)}${this.saidAt(lane.thread, event)}`);
    });
    dragOver(this.canvas, (from, to) => {
      this.drag = to - from < DRAG || to < LANE_NAME ? null : [Math.max(LANE_NAME, from), to];
      this.draw();
    }, (_x, y) => {
      const lane = this.laneAt(y);
      const drag = this.drag;
      this.drag = null;
      if (drag !== null) this.events.range(this.timesOf(drag));
      else if (lane) this.events.thread(lane.thread === this.selection.thread ? null : lane.thread);
    });
  }

  /**
   * @param {[number, number]} drag
   * @returns {[number, number]}
   */
  timesOf(drag) {
    const [start, end] = this.times;
    const scale = (end - start) / (this.place.clientWidth - LANE_NAME);
    const [from, to] = drag.map((x) => start + (x - LANE_NAME) * scale);
    return [Math.floor(from), Math.min(end, Math.ceil(to))];
  }
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {string} text
 * @param {number} room
 */
function shortened(context, text, room) {
  const width = context.measureText(text).width;
  return width <= room ? text : `${text.slice(0, Math.max(0, Math.floor((text.length * room) / width) - 1))}…`;
}
