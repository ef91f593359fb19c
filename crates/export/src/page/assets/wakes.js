// When threads waited, for what, and who woke them: bars in lanes, arrows from the waker, words.

/** Arrows of a picture, at most: those of the longest waits that are seen. */
const MOST_ARROWS = 100;

/**
 * All waits that are alike, added up, where some are not among the longest: -1 and `null` if they are of all threads, or of
 * any waker.
 * @typedef {{thread: number, cause: number, waker: number | null, queue: Queue, count: number, sum: number, median: number,
 *   longest: number}} WaitGroup
 */

/**
 * @param {number} n
 * @param {Reading} reading
 * @returns {WaitGroup[]}
 */
function waitGroups(n, reading) {
  const column = () => reading.fill(new Float64Array(n));
  const [threads, causes, wakers, queues] = [column(), column(), column(), column()];
  const [counts, sums, medians, longest] = [column(), column(), column(), column()];
  return Array.from(threads, (thread, at) => ({
    thread: thread - 1, cause: causes[at], waker: wakers[at] === 0 ? null : wakers[at] - 1,
    queue: /** @type {Queue[]} */ (["", "preempted", "queued"])[queues[at]] ?? "",
    count: counts[at], sum: sums[at], median: medians[at], longest: longest[at],
  }));
}

/** The longest waits, by number: by thread, in order of time. */
class Waits {
  /**
   * @param {Head} head
   * @param {Reading} reading
   */
  constructor(head, reading) {
    const n = head.n_waits ?? 0;
    this.n = n;
    /** Where waits of each thread begin; one more than there are threads. */
    this.starts = new Uint32Array(head.threads.length + 1);
    if (n > 0) for (let thread = 0; thread < head.threads.length; thread++) this.starts[thread + 1] = this.starts[thread] + reading.unsigned();
    /** Nanoseconds since the first sample. */
    this.begins = reading.fillDifferences(new Float64Array(n), this.starts);
    this.lengths = reading.fill(new Float64Array(n));
    /** Twice the number of the cause, and one more if a wake-up ended it. */
    this.causes = reading.fill(new Uint32Array(n));
    /** 0 if nobody is known; else one more than twice a thread, or two more than twice a text. */
    this.wakers = reading.fill(new Uint32Array(n));
    this.groups = waitGroups(head.n_wait_groups ?? 0, reading);
    /** By wait, the running maximum of the ends within its thread. */
    this.lasts = this.begins.slice();
    for (let thread = 0; thread + 1 < this.starts.length; thread++) {
      let last = -Infinity;
      for (let wait = this.starts[thread]; wait < this.starts[thread + 1]; wait++) {
        last = Math.max(last, this.endOf(wait));
        this.lasts[wait] = last;
      }
    }
  }

  /** @param {number} wait */
  endOf(wait) {
    return this.begins[wait] + this.lengths[wait];
  }

  /** @param {number} wait */
  causeOf(wait) {
    return this.causes[wait] >> 1;
  }

  /**
   * Whether a wake-up ended it: from then on the thread waits for a CPU.
   * @param {number} wait
   */
  isWoken(wait) {
    return (this.causes[wait] & 1) === 1;
  }

  /**
   * The thread that ended it; -1 if none is known.
   * @param {number} wait
   */
  wakerOf(wait) {
    const waker = this.wakers[wait];
    return (waker & 1) === 1 ? (waker - 1) / 2 : -1;
  }

  /**
   * Waits of a thread that are within some times, in their order.
   * @param {number} thread
   * @param {[number, number]} times
   * @param {(wait: number) => void} visit
   */
  each(thread, [from, to], visit) {
    const rows = /** @type {[number, number]} */ ([this.starts[thread], this.starts[thread + 1]]);
    for (let wait = firstFrom(this.lasts, rows, from); wait < rows[1] && this.begins[wait] <= to; wait++) visit(wait);
  }

  /**
   * Whether a thread waited within some times.
   * @param {number} thread
   * @param {[number, number]} times
   */
  hasAny(thread, times) {
    let has = false;
    this.each(thread, times, () => (has = true));
    return has;
  }

  /**
   * The wait of a thread at a time; -1 if there is none.
   * @param {number} thread
   * @param {number} time
   * @param {number} slack
   */
  at(thread, time, slack) {
    let found = -1;
    this.each(thread, [time - slack, time + slack], (wait) => {
      if (found < 0 || this.lengths[wait] > this.lengths[found]) found = wait;
    });
    return found;
  }
}

/**
 * Frames for what threads wait for, if no stack has them: boxes are called so. Returns the frame of each cause.
 * @param {Profile} profile
 */
function addWaitFrames(profile) {
  const causes = profile.head.wait_causes ?? [];
  const { names, images, flags, places } = profile;
  const known = new Map([...flags.keys()].filter((frame) => (flags[frame] & FLAGS.wait) !== 0).map((frame) => [names[frame], frame]));
  const added = causes.filter(([name]) => !known.has(name));
  added.forEach(([name], at) => known.set(name, names.length + at));
  profile.names = Uint32Array.from([...names, ...added.map(([name]) => name)]);
  profile.images = Uint32Array.from([...images, ...added.map(() => NO_IMAGE)]);
  profile.flags = Uint8Array.from([...flags, ...added.map(() => FLAGS.wait)]);
  profile.places = Uint32Array.from([...places, ...added.map(() => 0)]);
  return causes.map(([name]) => known.get(name) ?? 0);
}

/** The number of no string: a wait is in no image. */
const NO_IMAGE = 0xffffffff;

/**
 * What a wait was, in words: `[futex] 12.3 ms, woken by writer 12/34`.
 * @param {Profile} profile
 * @param {number} wait
 */
function saidOfWait(profile, wait) {
  const { waits } = profile;
  const name = profile.text(profile.names[profile.waitLabels[waits.causeOf(wait)]]);
  const waker = waits.wakers[wait];
  const who = waker === 0 ? "" : waits.wakerOf(wait) >= 0 ? profile.nameOfThread(waits.wakerOf(wait)) : profile.text((waker - 2) / 2);
  const woken = who === "" ? "" : waits.isWoken(wait) ? `, woken by ${who} at ${preciseTime(waits.endOf(wait))}` : `, after ${who} woke it`;
  return `${name} ${duration(waits.lengths[wait])}${woken}`;
}

/** @param {number} ns */
function preciseTime(ns) {
  return `${(ns / 1e9).toFixed(6)} s`;
}

/**
 * When a thread waited, as a bar at the bottom of its lane.
 * @param {CanvasRenderingContext2D} context
 * @param {Theme} theme
 * @param {TimeScale} scale
 * @param {{thread: number, y: number, height: number}} place
 */
function drawWaitBar(context, theme, scale, { thread, y, height }) {
  const { waits, waitLabels } = theme.profile;
  let right = -1;
  waits.each(thread, [scale.start, scale.end], (wait) => {
    const from = Math.max(scale.left, scale.x(waits.begins[wait]));
    const to = Math.min(scale.left + scale.width, scale.x(waits.endOf(wait)));
    // Those within a pixel are one.
    if (to <= right) return;
    right = Math.max(to, from + 0.8);
    context.fillStyle = theme.waitBar(waitLabels[waits.causeOf(wait)]) ?? theme.colours.thin;
    context.fillRect(from, y, right - from, height);
  });
}

/** @typedef {{wait: number, from: number, to: number}} Arrow The numbers of both lanes. */

/**
 * Waits that ended within some times and whose wakers have lanes, the longest first.
 * @param {Profile} profile
 * @param {[number, number]} times
 * @param {Map<number, number>} laneOf by thread
 */
function arrowsOf({ waits }, times, laneOf) {
  /** @type {Arrow[]} */
  const arrows = [];
  for (const [thread, to] of laneOf) {
    waits.each(thread, times, (wait) => {
      const from = laneOf.get(waits.wakerOf(wait)) ?? -1;
      const end = waits.endOf(wait);
      if (from >= 0 && from !== to && waits.isWoken(wait) && end >= times[0] && end <= times[1]) arrows.push({ wait, from, to });
    });
  }
  return arrows.sort((a, b) => waits.lengths[b.wait] - waits.lengths[a.wait] || a.wait - b.wait);
}

/**
 * An arrow from the lane of who woke to that of who was woken.
 * @param {CanvasRenderingContext2D} context
 * @param {Theme} theme
 * @param {{x: number, from: number, to: number, isStrong: boolean}} arrow
 */
function drawArrow(context, { colours }, { x, from, to, isStrong }) {
  const tip = to > from ? -5 : 5;
  context.globalAlpha = isStrong ? 1 : 0.45;
  context.strokeStyle = context.fillStyle = isStrong ? colours.accent : colours.ink;
  context.lineWidth = isStrong ? 2 : 1;
  context.beginPath();
  context.moveTo(x, from);
  context.lineTo(x, to + tip / 2);
  context.stroke();
  context.beginPath();
  context.moveTo(x, to);
  context.lineTo(x - 3.5, to + tip);
  context.lineTo(x + 3.5, to + tip);
  context.fill();
  context.beginPath();
  context.arc(x, from, 2, 0, 2 * Math.PI);
  context.fill();
  context.globalAlpha = 1;
}

/**
 * Colours of what threads wait for, by label.
 * @param {Profile} profile
 * @returns {[number, number, number, number][]}
 */
function coloursOfWaits({ head, waitLabels }) {
  return (head.wait_causes ?? []).map(([, red, green, blue], at) => [waitLabels[at], red, green, blue]);
}

/** Which colour is which wait, where waits are not among the samples: with how long they took in all. */
class WaitTimes {
  /**
   * @param {App} app
   * @param {HTMLElement} place
   * @param {(label: number) => string | undefined} colourOf what is drawn has it
   */
  constructor(app, place, colourOf) {
    this.app = app;
    this.colourOf = colourOf;
    this.element = made("span", undefined, "legend waits");
    this.has = app.profile.waits.n > 0 && app.profile.head.waits === undefined;
    this.element.hidden = !this.has;
    place.append(this.element);
  }

  /**
   * @param {number[]} threads
   * @param {[number, number]} times
   */
  show(threads, times) {
    const { profile, theme } = this.app;
    const { waits, waitLabels } = profile;
    this.element.hidden = !this.has || threads.length === 0;
    if (this.element.hidden) return;
    // Of the longest waits alone, and of stacks and CPUs that are left out, a sum would say too little or too much.
    const { n_all_waits: all } = profile.head;
    const isPart = all !== undefined && all > waits.n;
    const isAll = !isPart && threadsLeft(profile, this.app.state) !== null;
    const sums = waitLabels.map(() => 0);
    for (const thread of threads) {
      waits.each(thread, times, (wait) => {
        sums[waits.causeOf(wait)] += Math.min(times[1], waits.endOf(wait)) - Math.max(times[0], waits.begins[wait]);
      });
    }
    const entries = [...sums.entries()].filter(([, sum]) => sum > 0).sort(([, one], [, other]) => other - one);
    showLegend(this.element, entries.map(([cause, sum]) => {
      const label = waitLabels[cause];
      const name = profile.text(profile.names[label]).slice(1, -1);
      return [this.colourOf(label) ?? theme.colours.thin, isAll ? `${name} ${duration(sum)}` : name];
    }));
    if (isPart) this.element.append(made("span", ` (${wholeNumber(waits.n)} longest of ${wholeNumber(all)} waits)`));
    else if (!isAll) this.element.append(made("span", " (waits are not filtered)"));
  }
}
