// Lanes on a canvas: processes with their threads, or CPUs, over time.

const LANE = 24;
/** Lanes whose sums are kept. */
const MOST_DRAWN = 400;

/** Earlier names of a thread that are named. */
const MOST_NAMES = 3;

/**
 * @typedef {{choose: (lane: Lane) => void, menu: (lane: Lane, at: {x: number, y: number}) => void,
 *   range: (range: [number, number], from: PointerEvent) => void,
 *   say: (text: string, at?: {x: number, y: number}) => void, folded: () => void}} LaneEvents
 */

class Lanes {
  /**
   * @param {HTMLElement} place
   * @param {Theme} theme
   * @param {LaneEvents} events
   */
  constructor(place, theme, events) {
    this.place = place;
    this.theme = theme;
    this.profile = theme.profile;
    this.events = events;
    this.canvas = made("canvas");
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "application");
    this.space = made("div", undefined, "space");
    place.append(this.canvas, this.space);
    /** @type {Lane[]} */
    this.lanes = [];
    /**
     * Processes that hide their threads.
     * @type {Set<number>}
     */
    this.closed = new Set();
    /** @type {State["lanes"]} */
    this.kind = "threads";
    /**
     * Sums of lanes that were drawn, by pixel.
     * @type {Map<string, TimeSlots>}
     */
    this.drawn = new Map();
    /**
     * Who ran on CPUs, by pixel.
     * @type {{n: number, ran: Map<number, CpuSlots>} | null}
     */
    this.ran = null;
    /** @type {SampleSelection} */
    this.selection = { event: 0, range: null, thread: null, keep: "", transforms: [], threads: "alike" };
    /** @type {[number, number] | null} */
    this.drag = null;
    /**
     * By thread, the number of its lane, or of its process's.
     * @type {Map<number, number>}
     */
    this.laneOf = new Map();
    /** @type {Arrow[]} */
    this.arrows = [];
    this.hasArrows = true;
    /** The wait that is pointed at. */
    this.pointed = -1;
    /** The lane that keys are for. */
    this.focused = -1;
    /**
     * What the lanes are of: many look at them again.
     * @type {{counts: Counts, key: string} | null}
     */
    this.known = null;
    listenToLanes(this);
  }

  /**
   * @param {SampleSelection} selection
   * @param {State["lanes"]} kind
   * @param {Counts} counts
   */
  show(selection, kind, counts) {
    const { profile } = this;
    const [key, known] = [`${kind} ${[...this.closed]}`, this.known];
    this.selection = selection;
    this.kind = kind;
    if (known?.counts === counts && known.key === key) return drawSoon(this);
    if (known?.counts !== counts) {
      this.drawn.clear();
      this.ran = null;
    }
    this.known = { counts, key };
    this.lanes = kind === "cpus" ? cpuLanes(profile, selection) : threadLanes(profile, selection, this.closed);
    this.laneOf = new Map(this.lanes.flatMap(({ threads }, at) => threads.map((thread) => [thread, at])));
    this.arrows = arrowsOf(profile, this.times, this.laneOf);
    this.focused = Math.min(this.focused, this.lanes.length - 1);
    this.space.style.height = `${AXIS + this.lanes.length * LANE + 4}px`;
    const of = kind === "cpus" ? "CPUs over time" : "Threads over time, heaviest first";
    this.canvas.setAttribute("aria-label",
      `${of}: ${counted(this.lanes.length, "lane", "lanes")}. Arrow keys move, Enter selects, m opens the menu.`);
    drawSoon(this);
  }

  foldAll() {
    if (this.closed.size > 0) return this.closed.clear();
    for (const { kind, key } of this.lanes) if (kind === "process") this.closed.add(key);
  }

  /** @type {[number, number]} */
  get times() {
    return this.selection.range ?? [0, Math.max(1, this.profile.head.span_ns)];
  }

  get scale() {
    return new TimeScale(this.place.clientWidth, this.times);
  }

  draw() {
    const { clientWidth: width, clientHeight: height, scrollTop: top } = this.place;
    if (width === 0) return;
    const all = AXIS + this.lanes.length * LANE + 4;
    const context = sized(this.canvas, width, this.theme.isPrinted ? Math.min(MAX_PRINTED, all) : height);
    const { scale } = this;
    const [first, last] = this.visible(this.theme.isPrinted ? 0 : top, this.theme.isPrinted ? MAX_PRINTED : height);
    for (let at = first; at <= last; at++) this.drawLane(context, scale, at, this.topOf(at, top));
    if (this.hasArrows && this.kind === "threads") this.drawArrows(context, scale, [first, last], top);
    context.clearRect(0, 0, width, AXIS);
    scale.drawAxis(context, this.theme, 0);
    if (this.drag !== null) {
      context.fillStyle = this.theme.colours.brush;
      context.fillRect(this.drag[0], 0, this.drag[1] - this.drag[0], height);
    }
    if (this.drawn.size > MOST_DRAWN) for (const key of [...this.drawn.keys()].slice(0, this.drawn.size - MOST_DRAWN)) this.drawn.delete(key);
  }

  /**
   * Who woke whom.
   * @param {CanvasRenderingContext2D} context
   * @param {TimeScale} scale
   * @param {[number, number]} seen
   * @param {number} top
   */
  drawArrows(context, scale, seen, top) {
    const { waits } = this.profile;
    const middle = (/** @type {number} */ lane) => this.topOf(lane, top) + LANE / 2;
    let n = 0;
    for (const { wait, from, to } of this.arrows) {
      if (Math.max(from, to) < seen[0] || Math.min(from, to) > seen[1]) continue;
      if (n++ === MOST_ARROWS) break;
      const x = scale.x(waits.endOf(wait));
      drawArrow(context, this.theme, { x, from: middle(from), to: middle(to), isStrong: wait === this.pointed });
    }
  }

  /**
   * Numbers of the first and the last lane that are seen.
   * @param {number} top
   * @param {number} height
   * @returns {[number, number]}
   */
  visible(top, height) {
    return [Math.floor(top / LANE), Math.min(this.lanes.length - 1, Math.floor((top + height - AXIS) / LANE))];
  }

  /**
   * @param {number} at
   * @param {number} top
   */
  topOf(at, top) {
    return AXIS + at * LANE - (this.theme.isPrinted ? 0 : top);
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {TimeScale} scale
   * @param {number} at
   * @param {number} y
   */
  drawLane(context, scale, at, y) {
    const colours = this.theme.colours;
    const lane = this.lanes[at];
    const width = scale.left + scale.width;
    if (this.isChosen(lane)) {
      context.fillStyle = colours.brush;
      context.fillRect(0, y, width, LANE - 1);
    }
    this.drawName(context, scale, lane, y);
    context.fillStyle = colours.line;
    context.fillRect(0, y + LANE - 1, width, 1);
    if (lane.kind === "cpu") this.drawCpu(context, scale, lane, y);
    else this.drawThreads(context, scale, lane, y);
    if (at !== this.focused || document.activeElement !== this.canvas) return;
    context.strokeStyle = colours.ink;
    context.lineWidth = 1;
    context.strokeRect(0.5, y + 0.5, width - 1, LANE - 2);
  }

  /** @param {Lane} lane */
  isChosen({ kind, key, threads }) {
    const { thread, transforms } = this.selection;
    const isKept = (/** @type {RowGrouping} */ grouping, /** @type {number} */ id) =>
      transforms.some((one) => one.kind === "keep" && one.grouping === grouping && one.key === id);
    if (kind !== "thread") return isKept(kind, key);
    return (thread !== null && threads.includes(thread)) || isKept("task", this.profile.head.threads[key][1]);
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {TimeScale} scale
   * @param {Lane} lane
   * @param {number} y
   */
  drawName(context, scale, lane, y) {
    const { colours } = this.theme;
    const event = this.profile.head.events[this.selection.event];
    // Where there is little room, the name says more.
    const said = scale.left < NAMES_WIDE ? "" : amount(event, lane.weight);
    const left = 16 + 12 * lane.depth;
    context.font = lane.kind === "process" ? "600 12px system-ui, sans-serif" : "12px system-ui, sans-serif";
    context.textBaseline = "middle";
    context.textAlign = "left";
    context.fillStyle = colours.ink;
    if (lane.kind === "process") context.fillText(lane.isOpen ? "▾" : "▸", 4, y + LANE / 2);
    const room = scale.left - left - (said === "" ? 8 : context.measureText(said).width + 14);
    context.fillText(this.nameWithin(context, lane.name, room), left, y + LANE / 2);
    context.font = "12px system-ui, sans-serif";
    context.fillStyle = colours.faint;
    context.textAlign = "right";
    context.fillText(said, scale.left - 8, y + LANE / 2);
    context.textAlign = "left";
  }

  /**
   * A lane's name in little room: it goes without its process's id, then without ids, before it is cut.
   * @param {CanvasRenderingContext2D} context
   * @param {string} name
   * @param {number} room
   */
  nameWithin(context, name, room) {
    // Names of threads of many processes have no ids.
    const names = this.profile.head.by_name || this.kind === "cpus"
      ? [name] : [name, name.replace(/ \d+\/(\d+)$/, " $1"), name.replace(/(.) \d+(\/\d+)?$/, "$1")];
    return names.find((one) => context.measureText(one).width <= room) ?? middleShortened(context, names[names.length - 1], room);
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {TimeScale} scale
   * @param {Lane} lane
   * @param {number} y
   */
  drawThreads(context, scale, lane, y) {
    const slots = this.slots(lane, Math.max(1, Math.floor(scale.width)));
    const most = this.mostOf(lane, slots);
    if (slots.waits.size > 0) return this.drawWaits(context, scale, slots, { y, most });
    // Below what runs: when it waited.
    const bar = lane.kind === "thread" && this.profile.waits.n > 0 ? 5 : 0;
    const height = LANE - 5 - bar;
    context.fillStyle = this.theme.colours.area;
    slots.all.forEach((slot, x) => {
      if (slot === 0) return;
      const h = Math.min(height, Math.max(2, (slot / most) * height));
      context.fillRect(scale.left + x, y + LANE - 2 - bar - h, 1, h);
    });
    for (const thread of bar > 0 ? lane.threads : []) drawWaitBar(context, this.theme, scale, { thread, y: y + LANE - 2 - bar, height: bar });
  }

  /**
   * The weight per pixel that fills a lane's height: one CPU, of times; a process's own maximum where that is more; the
   * maximum, of other events.
   * @param {Lane} lane
   * @param {TimeSlots} slots
   */
  mostOf(lane, slots) {
    const most = slots.all.reduce((a, b) => Math.max(a, b), 0) || 1;
    const { events, by_name: isByName } = this.profile.head;
    if (!events[this.selection.event].kind.endsWith("-time")) return most;
    return lane.kind === "thread" && !isByName ? 1 / slots.scale : Math.max(most, 1 / slots.scale);
  }

  /**
   * What a thread waits for, beside when it runs: named where there is room.
   * @param {CanvasRenderingContext2D} context
   * @param {TimeScale} scale
   * @param {TimeSlots} slots
   * @param {{y: number, most: number}} place the height is that of the most
   */
  drawWaits(context, scale, slots, { y, most }) {
    const { n, all } = slots;
    for (let x = 0; x < n; x++) {
      drawParts(context, this.theme, slots, x, { x: scale.left + x, width: 1, base: y + LANE - 2, height: LANE - 5, most });
    }
    const ofSlot = (/** @type {number} */ slot) => (all[slot] > most / 2 ? slots.mostly(slot) : RUNS);
    labelRuns(context, n, ofSlot, (label, from, to) => {
      if (label === RUNS) return;
      const name = this.profile.nameOf(label).slice(1, -1);
      context.fillStyle = this.theme.waitInk(label);
      if (context.measureText(name).width <= to - from - 8) context.fillText(name, scale.left + from + 4, y + LANE / 2);
    });
  }

  /**
   * Who ran on a CPU: a colour for each process, the thread's name where there is room.
   * @param {CanvasRenderingContext2D} context
   * @param {TimeScale} scale
   * @param {Lane} lane
   * @param {number} y
   */
  drawCpu(context, scale, lane, y) {
    const slots = this.cpuSlots(Math.max(1, Math.floor(scale.width))).get(lane.key);
    if (slots === undefined) return;
    const { all, who } = slots;
    const { head } = this.profile;
    const { kind } = head.events[this.selection.event];
    const most = kind === "cpu-time" ? 1 / scale.perNs : all.reduce((a, b) => Math.max(a, b), 0) || 1;
    for (let x = 0; x < all.length; x++) {
      if (who[x] < 0) continue;
      const h = Math.min(LANE - 5, Math.max(2, (all[x] / most) * (LANE - 5)));
      context.fillStyle = colourOfProcess(this.theme, head.threads[who[x]][0]);
      context.fillRect(scale.left + x, y + LANE - 2 - h, 1, h);
    }
    context.fillStyle = this.theme.colours.ink;
    labelRuns(context, all.length, (slot) => (all[slot] > most / 2 ? who[slot] : -1), (thread, from, to) => {
      if (thread < 0 || to - from < 40) return;
      const name = this.profile.text(head.threads[thread][2]);
      context.fillText(middleShortened(context, name, to - from - 8), scale.left + from + 4, y + LANE / 2);
    });
  }

  /**
   * Sums of a lane by pixel.
   * @param {Lane} lane
   * @param {number} n
   */
  slots(lane, n) {
    const key = `${lane.kind} ${lane.key}`;
    const known = this.drawn.get(key);
    if (known?.n === n) return known;
    const { profile, selection } = this;
    const kept = keptNodes(profile, selection);
    const slots = new TimeSlots(profile, n, this.times, selection.event);
    const range = slots.rangeOfRows(selection.range);
    for (const thread of lane.threads) {
      forRows(profile, { ...selection, range, parts: [], thread }, (node, weight, _samples, time, _thread, row) => {
        if (node < 0 || (kept !== null && kept[node] === 0)) return;
        slots.add(node, weight, time, row);
      });
    }
    this.drawn.delete(key);
    this.drawn.set(key, slots);
    return slots;
  }

  /** @param {number} n */
  cpuSlots(n) {
    if (this.ran?.n !== n) this.ran = { n, ran: whoRan(this.profile, this.selection, n, this.times) };
    return this.ran.ran;
  }

  /**
   * What a lane is at a place of the screen.
   * @param {Lane} lane
   * @param {MouseEvent} event
   */
  saidAt(lane, event) {
    const { scale, profile } = this;
    const x = event.clientX - this.canvas.getBoundingClientRect().left;
    const slot = Math.floor(x - scale.left);
    const n = Math.floor(scale.width);
    if (slot < 0 || slot >= n) return "";
    const at = ` · at ${duration(scale.time(x))}`;
    if (lane.kind === "cpu") {
      const slots = this.cpuSlots(Math.max(1, n)).get(lane.key);
      const who = slots?.who[slot] ?? -1;
      if (slots === undefined || who < 0) return `${at}: nothing sampled`;
      const [pid, tid, comm] = profile.head.threads[who];
      const process = pid === tid || profile.head.by_name ? "" : ` of ${nameInGrouping(profile, "process", pid)}`;
      const name = profile.head.by_name ? profile.text(comm) : `${profile.text(comm)} ${tid}`;
      return `${at}: ${name}${process}, ${percent(slots.most[slot], slots.all[slot])} of what ran`;
    }
    const slots = this.slots(lane, Math.max(1, n));
    const wait = this.waitAt(lane, scale.time(x));
    if (wait >= 0) return `${at}: ${saidOfWait(profile, wait)}`;
    if (slots.waits.size === 0) return slots.all[slot] > 0 ? `${at}: running` : `${at}: nothing sampled`;
    const said = saidOfSlot(profile, slots, slot);
    return said === "" ? "" : `${at}: ${said}`;
  }

  /**
   * The wait of a thread's lane at a time, if it is one of the longest; -1 if not.
   * @param {Lane} lane
   * @param {number} time
   */
  waitAt({ kind, threads }, time) {
    if (kind !== "thread") return -1;
    const { waits } = this.profile;
    const found = threads.map((thread) => waits.at(thread, time, 0.5 / this.scale.perNs)).filter((wait) => wait >= 0);
    return found.reduce((longest, wait) => (longest < 0 || waits.lengths[wait] > waits.lengths[longest] ? wait : longest), -1);
  }

  /**
   * What is to be said of a lane.
   * @param {Lane} lane
   */
  said(lane) {
    const { profile } = this;
    const head = profile.head.events[this.selection.event];
    // A thread that changed its name has several numbers.
    const n = new Set(lane.threads.map((thread) => profile.head.threads[thread][1])).size;
    const kind = lane.kind === "process" ? `process ${lane.name}, ${counted(n, "thread", "threads")}` : `${lane.name}${this.earlier(lane)}`;
    return `${kind}: ${amount(head, lane.weight)}`;
  }

  /**
   * The names that a thread had before, in words.
   * @param {Lane} lane
   */
  earlier({ kind, key }) {
    if (kind !== "thread") return "";
    const { head } = this.profile;
    const all = namesOfThread(this.profile, key).slice(0, -1);
    const names = all.slice(-MOST_NAMES).map((thread) => this.profile.text(head.threads[thread][2]));
    const more = all.length - names.length;
    return names.length === 0 ? "" : ` (earlier: ${more > 0 ? `${wholeNumber(more)} more, ` : ""}${names.join(", ")})`;
  }

  /** @param {number} clientY */
  laneAt(clientY) {
    const y = clientY - this.canvas.getBoundingClientRect().top;
    return y < AXIS ? -1 : Math.floor((y - AXIS + this.place.scrollTop) / LANE);
  }

  /** @param {Lane} lane */
  toggle({ kind, key }) {
    if (kind !== "process") return;
    if (!this.closed.delete(key)) this.closed.add(key);
    this.events.folded();
  }

  /** @param {number} at */
  focus(at) {
    if (this.lanes.length === 0) return;
    this.focused = Math.max(0, Math.min(this.lanes.length - 1, at));
    const y = this.focused * LANE;
    const { scrollTop, clientHeight } = this.place;
    if (y < scrollTop) this.place.scrollTop = y;
    if (y + LANE + AXIS > scrollTop + clientHeight) this.place.scrollTop = y + LANE + AXIS - clientHeight;
    this.events.say(this.said(this.lanes[this.focused]));
    this.draw();
  }
}

/**
 * Calls back with slots beside each other that are of the same.
 * @param {CanvasRenderingContext2D} context
 * @param {number} n
 * @param {(slot: number) => number} of
 * @param {(label: number, from: number, to: number) => void} visit
 */
function labelRuns(context, n, of, visit) {
  context.font = "11px system-ui, sans-serif";
  context.textBaseline = "middle";
  for (let from = 0, to = 0; from < n; from = to) {
    const label = of(from);
    do to++; while (to < n && of(to) === label);
    visit(label, from, to);
  }
}
