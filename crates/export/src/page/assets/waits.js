// Time in slots, told apart by what threads do: they run, or they wait for something. What colours of waits are.

/** Instead of a wait's label: who runs, or is nothing known of. */
const RUNS = -1;

/** Sums by slot of time, of all and of each wait. */
class TimeSlots {
  /**
   * @param {Profile} profile
   * @param {number} n
   * @param {[number, number]} times
   * @param {number} event
   */
  constructor(profile, n, [start, end], event = 0) {
    this.profile = profile;
    this.standsFor = standsFor(profile, event);
    this.longest = longestStand(profile, event);
    this.n = n;
    this.start = start;
    this.end = end;
    this.scale = n / (end - start || 1);
    this.all = new Float64Array(n);
    this.count = (/** @type {number} */ slot, /** @type {number} */ part) => void (this.all[slot] += part);
    /**
     * By label of the wait.
     * @type {Map<number, Float64Array>}
     */
    this.waits = new Map();
    /** No more threads run or wait at a time. */
    this.mostAtOnce = Infinity;
  }

  /**
   * Which rows have to be gone through: waits that began before the first slot may last into it, and a sample stands for
   * some time before it.
   * @param {[number, number] | null} range
   * @returns {[number, number] | null}
   */
  rangeOfRows(range) {
    if (this.profile.begins !== null || range === null) return null;
    return [Math.max(0, range[0] - this.longest), range[1] + this.longest];
  }

  /**
   * A row.
   * @param {number} node
   * @param {number} weight
   * @param {number} time
   * @param {number} row
   */
  add(node, weight, time, row) {
    const { profile } = this;
    const isWait = node >= 0 && profile.isWait(node);
    if (!isWait) return this.eachSlot(weight, time, this.count);
    const label = profile.labels[node];
    let slots = this.waits.get(label);
    if (slots === undefined) this.waits.set(label, (slots = new Float64Array(this.n)));
    if (profile.begins === null) {
      slots[this.slot(time)] += weight;
      this.all[this.slot(time)] += weight;
      return;
    }
    const begin = profile.begins[row];
    this.spread(slots, Math.max(begin, this.start), Math.min(begin + weight, this.end));
  }

  /**
   * The slots that a sample stands for: some time before it, or, where samples of some time are one row, after it.
   * @param {number} weight
   * @param {number} time
   * @param {(slot: number, weight: number) => void} visit
   */
  eachSlot(weight, time, visit) {
    const joined = this.profile.head.slot_ns;
    const [begin, end] = [time - this.standsFor(weight), time + joined];
    if (end < this.start || begin > this.end) return;
    if (end <= begin) return visit(this.slot(time), weight);
    const [from, to] = [Math.max(begin, this.start), Math.min(end, this.end)];
    const perNs = weight / (end - begin);
    const [first, last] = [this.slot(from), this.slot(to)];
    // Most are within one.
    if (first === last && from < to) return visit(first, (to - from) * perNs);
    for (let slot = first; slot <= last; slot++) {
      const left = this.start + slot / this.scale;
      const part = Math.min(to, left + 1 / this.scale) - Math.max(from, left);
      if (part > 0) visit(slot, part * perNs);
    }
  }

  /**
   * @param {Float64Array} slots
   * @param {number} begin
   * @param {number} end
   */
  spread(slots, begin, end) {
    if (begin >= end) return;
    for (let slot = this.slot(begin); slot <= this.slot(end); slot++) {
      const from = this.start + slot / this.scale;
      const part = Math.min(end, from + 1 / this.scale) - Math.max(begin, from);
      if (part <= 0) continue;
      slots[slot] += part;
      this.all[slot] += part;
    }
  }

  /** @param {number} time */
  slot(time) {
    return Math.min(this.n - 1, Math.floor((time - this.start) * this.scale));
  }

  /**
   * What a slot is of: the sum of what runs, then that of each wait.
   * @param {number} slot
   * @returns {[number, number][]} labels and sums
   */
  parts(slot) {
    /** @type {[number, number][]} */
    const parts = [];
    let runs = this.all[slot];
    for (const [label, slots] of this.waits) {
      if (slots[slot] > 0) parts.push([label, slots[slot]]);
      runs -= slots[slot];
    }
    parts.sort(([one], [other]) => one - other);
    // Sums of parts of slots are not exact.
    if (runs > this.all[slot] * 1e-9) parts.unshift([RUNS, runs]);
    return parts;
  }

  /**
   * What a slot is for the most part.
   * @param {number} slot
   */
  mostly(slot) {
    const parts = this.parts(slot);
    return parts.reduce((/** @type {[number, number]} */ most, part) => (part[1] > most[1] ? part : most), [RUNS, 0])[0];
  }
}

/**
 * Draws a slot's parts on each other, what runs lowest.
 * @param {CanvasRenderingContext2D} context
 * @param {Theme} theme
 * @param {TimeSlots} slots
 * @param {number} slot
 * @param {{x: number, width: number, base: number, height: number, most: number}} place the height is that of the most
 */
function drawParts(context, theme, slots, slot, { x, width, base, height, most }) {
  let y = base;
  for (const [label, sum] of slots.parts(slot)) {
    const h = Math.min((sum / most) * height, y - (base - height));
    context.fillStyle = theme.waitArea(label) ?? theme.colours.area;
    context.fillRect(x, y - h, width, h);
    y -= h;
  }
}

/**
 * What is known of a slot, in words.
 * @param {Profile} profile
 * @param {TimeSlots} slots
 * @param {number} slot
 */
function saidOfSlot(profile, slots, slot) {
  const all = slots.all[slot];
  const parts = slots.parts(slot).filter(([, sum]) => isShown(sum, all)).sort(([, one], [, other]) => other - one);
  return parts.map(([label, sum]) => `${label === RUNS ? "running" : profile.nameOf(label)} ${percent(sum, all)}`).join(", ");
}

/**
 * Whether a share is more than 0.00 %.
 * @param {number} part
 * @param {number} whole
 */
function isShown(part, whole) {
  return 20000 * part >= whole;
}

/** Which colour is which wait, with its share of what is shown. */
class WaitLegend {
  /**
   * @param {App} app
   * @param {HTMLElement} place
   * @param {boolean} hasRunning whether what runs has a colour of its own
   */
  constructor(app, place, hasRunning) {
    this.app = app;
    this.hasRunning = hasRunning;
    this.element = made("span", undefined, "legend waits");
    this.element.hidden = app.profile.head.waits === undefined;
    place.append(this.element);
  }

  /** @param {number[] | null} threads those whose waits these are, or all */
  show(threads = null) {
    const { profile, theme, state } = this.app;
    if (this.element.hidden) return;
    const others = state.thread === null ? threads : null;
    /** @type {Map<number, number>} */
    const sums = new Map();
    let [all, waiting] = [0, 0];
    const add = (/** @type {number} */ node, /** @type {number} */ weight) => {
      if (weight === 0 || !profile.isWait(node)) return;
      sums.set(profile.labels[node], (sums.get(profile.labels[node]) ?? 0) + weight);
      waiting += weight;
    };
    if (others === null) {
      all = this.app.counts.shown.weight;
      this.app.counts.weights.forEach((weight, node) => add(node, weight));
    } else {
      const wanted = new Set(others);
      const kept = keptNodes(profile, state);
      forRows(profile, { ...state, thread: others.length === 1 ? others[0] : null }, (node, weight, _samples, _time, thread) => {
        if (!wanted.has(thread) || node < 0 || (kept !== null && kept[node] === 0)) return;
        all += weight;
        add(node, weight);
      });
    }
    const running = all - waiting;
    const whole = others !== null && state.shares === "shown" ? all : this.app.whole;
    const entries = [...sums].sort(([, one], [, other]) => other - one);
    if (this.hasRunning && running > 0) entries.unshift([RUNS, running]);
    const shown = entries.filter(([, sum]) => isShown(sum, whole));
    showLegend(this.element, shown.map(([label, sum]) => {
      const name = label === RUNS ? "running" : profile.nameOf(label).slice(1, -1);
      return [theme.waitArea(label) ?? theme.colours.area, `${name} ${shareWithTime(profile.head.events[state.event], sum, whole)}`,
        label === RUNS ? { grouping: "state", key: 0 } : { grouping: "wait", key: profile.functionOf[label] }];
    }), this.app);
  }
}
