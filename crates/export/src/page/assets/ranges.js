// Two ranges of a recording, compared: A is before, B is after and what is shown. What changed beyond noise is found by the
// test of `rprof diff` (noise.js); tables, boxes and words are those of two recordings (difference.js).

/** The ways in which ranges are compared, the usual one first: they are as long as somebody drew them. */
const RANGE_MEASURES = /** @type {const} */ (["time", "run", "event"]);

/** Functions that the sentence names, in each direction. */
const MOST_NAMED = 3;

/**
 * How the sides of a page are compared: two recordings, or two ranges of one.
 * @param {Profile} profile
 * @param {SampleSelection} selection
 * @returns {MeasureHead[]}
 */
function measuresOf(profile, { range, against }) {
  if (profile.sides !== null) return profile.measures;
  if (range === null || !against) return [];
  /** @type {[number, number]} */
  const spans = [against[1] - against[0] + 1, range[1] - range[0] + 1];
  return RANGE_MEASURES.map((per) => (per === "time" ? { per, spans_ns: spans } : { per }));
}

/**
 * What rows of functions count on both sides, by block of time: of their own, and with what they called. Functions of one
 * name and image are one row, inlined or not, as in `rprof diff`.
 * @typedef {{own: JudgedRow, children: JudgedRow, functions: number[]}} FunctionRow
 */

/** What changed between two ranges beyond noise. */
class RangeChanges {
  /**
   * @param {Profile} profile
   * @param {SampleSelection} selection
   * @param {[number, number]} against
   */
  constructor(profile, selection, against) {
    this.profile = profile;
    this.measures = measuresOf(profile, selection);
    const range = selection.range ?? [0, 0];
    /** Samples of both sides are no two measurements. */
    this.isShared = overlap(range, against);
    const before = new BlockCounts(profile, { ...selection, range: against });
    const after = new BlockCounts(profile, { ...selection, range });
    this.total = { before: before.total, after: after.total };
    /** @type {FunctionRow[]} */
    this.rows = before.functions.flatMap((functions, row) => (before.isEmpty(row) && after.isEmpty(row) ? [] : [{
      functions,
      own: { before: before.own(row), after: after.own(row) },
      children: { before: before.children(row), after: after.children(row) },
    }]));
    /** @type {{[per: string]: number[]}} */
    this.known = {};
  }

  /**
   * Directions of what changed, as `sure` of an event has them: of all, then pairs of a frame and its bits.
   * @param {"event" | "run" | "time"} per
   * @returns {number[]}
   */
  sure(per) {
    if (this.isShared) return [0];
    return (this.known[per] ??= this.judge(per));
  }

  /**
   * @param {"event" | "run" | "time"} per
   * @returns {number[]}
   */
  judge(per) {
    const { total, rows, profile } = this;
    const spans = this.measures.find((measure) => measure.per === "time")?.spans_ns ?? [1, 1];
    const judge = new Judge(total, {
      before: divisorOf(per, total.before, spans[0] / 1e9),
      after: divisorOf(per, total.after, spans[1] / 1e9),
    });
    judge.learn(rows.map(({ own }) => own));
    const all = [...rows.flatMap(({ own, children }) => [own, children]), ...(per === "event" ? [] : [total])];
    const tested = all.flatMap((row) => {
      const value = judge.pValue(row);
      return value === null ? [] : [{ row, value }];
    });
    const bounds = adjusted(tested.map(({ value }) => value));
    const sure = new Set(tested.filter((_, at) => bounds[at] <= ALPHA).map(({ row }) => row));
    /** @param {JudgedRow} row */
    const directions = (row) => {
      if (!sure.has(row)) return 0;
      const [before, after] = judge.amounts(row);
      return after.mean > before.mean ? MORE : LESS;
    };
    const found = [directions(total)];
    for (const { own, children, functions } of rows) {
      const bits = directions(own) | (directions(children) << 2);
      if (bits !== 0) for (const one of functions) found.push(profile.frameOfFunction[one], bits);
    }
    return found;
  }
}

/** What functions count in a range, by block of time. */
class BlockCounts {
  /**
   * @param {Profile} profile
   * @param {SampleSelection & {range: [number, number]}} selection
   */
  constructor(profile, selection) {
    const { rowOf, functions } = rowsOfFunctions(profile);
    /** By row, its functions. */
    this.functions = functions;
    this.n = functions.length;
    /** Blocks of rows, one after the other: of their own, then with what they called. */
    this.blocks = [new Float64Array(this.n * BLOCKS), new Float64Array(this.n * BLOCKS)];
    this.samples = [new Float64Array(this.n), new Float64Array(this.n)];
    /** @type {{weight: number, samples: number, blocks: Float64Array}} */
    this.total = { weight: 0, samples: 0, blocks: new Float64Array(BLOCKS) };
    this.count(profile, selection, rowOf);
  }

  /**
   * @param {Profile} profile
   * @param {SampleSelection & {range: [number, number]}} selection
   * @param {Int32Array} rowOf
   */
  count(profile, selection, rowOf) {
    const { parents, labels } = profile;
    const [start, end] = selection.range;
    const length = Math.floor((end - start) / BLOCKS) + 1;
    const kept = keptNodes(profile, selection);
    /**
     * By block, what each stack counts there: stacks come again and again.
     * @type {Map<number, Sum>[]}
     */
    const stacks = Array.from({ length: BLOCKS }, () => new Map());
    const blockOf = (/** @type {number} */ time) => Math.min(BLOCKS - 1, Math.floor((time - start) / length));
    forRows(profile, { ...selection, thread: null }, (node, whole, samples, time, thread, row) => {
      this.total.weight += whole;
      this.total.samples += samples;
      const isOut = node < 0 || (selection.thread !== null && selection.thread !== thread) || (kept !== null && kept[node] === 0);
      const add = (/** @type {number} */ block, /** @type {number} */ weight, /** @type {number} */ n) => {
        this.total.blocks[block] += weight;
        if (isOut) return;
        const sum = stacks[block].get(node);
        if (sum === undefined) stacks[block].set(node, { weight, samples: n });
        else {
          sum.weight += weight;
          sum.samples += n;
        }
      };
      const until = Math.min(end, profile.ends?.ends[row] ?? 0);
      if (profile.begins === null || until <= 0) return add(blockOf(time), whole, samples);
      // A wait lasts through blocks. It is one sample, in the first of them.
      const since = Math.max(start, profile.begins[row]);
      for (let block = blockOf(since), first = block; block <= blockOf(until); block++) {
        const left = start + block * length;
        add(block, Math.min(until, left + length) - Math.max(since, left), block === first ? samples : 0);
      }
    });
    const seen = new Int32Array(this.n).fill(-1);
    let number = 0;
    stacks.forEach((sums, block) => {
      for (const [node, sum] of sums) {
        number++;
        const code = profile.codeOf(node);
        for (let at = code; at >= 0 && parents[at] >= 0; at = parents[at]) {
          const row = rowOf[labels[at]];
          if (at === code) this.add(0, row, block, sum);
          // A sample counts once, however often a function is in its stack.
          if (seen[row] !== number) this.add(1, row, block, sum);
          seen[row] = number;
        }
      }
    });
  }

  /**
   * @param {0 | 1} column
   * @param {number} row
   * @param {number} block
   * @param {Sum} sum
   */
  add(column, row, block, { weight, samples }) {
    this.blocks[column][row * BLOCKS + block] += weight;
    this.samples[column][row] += samples;
  }

  /** @param {number} row */
  isEmpty(row) {
    return this.samples[1][row] === 0;
  }

  /** @param {number} row */
  own(row) {
    return this.side(0, row);
  }

  /** @param {number} row */
  children(row) {
    return this.side(1, row);
  }

  /**
   * @param {0 | 1} column
   * @param {number} row
   * @returns {SideOfRow}
   */
  side(column, row) {
    const blocks = this.blocks[column].subarray(row * BLOCKS, (row + 1) * BLOCKS);
    return { weight: blocks.reduce((a, b) => a + b, 0), samples: this.samples[column][row], blocks };
  }
}

/**
 * By frame, its row; and the functions of each row.
 * @param {Profile} profile
 */
function rowsOfFunctions({ names, images, functionOf, frameOfFunction }) {
  /** @type {Map<string, number>} */
  const known = new Map();
  /** @type {number[][]} */
  const functions = [];
  const rowOfFunction = frameOfFunction.map((frame, number) => {
    const key = `${names[frame]} ${images[frame]}`;
    let row = known.get(key);
    if (row === undefined) {
      row = functions.push([]) - 1;
      known.set(key, row);
    }
    functions[row].push(number);
    return row;
  });
  return { rowOf: Int32Array.from(functionOf, (number) => rowOfFunction[number]), functions };
}

/**
 * What changed, in a sentence or two.
 * @param {App} app
 * @param {Comparison} comparison
 */
function saidOfRanges(app, comparison) {
  const { counts } = app;
  if (counts.before === null) return "";
  const total = { before: counts.before.shown, after: counts.shown };
  const event = comparison.event.name;
  // What is judged is all of the event.
  const { range, against } = app.state;
  const isShared = range !== null && against !== null && overlap(range, against);
  const isAll = !isShared && counts.shown.weight === counts.total.weight && counts.before.shown.weight === counts.before.total.weight;
  const isSure = comparison.total !== 0 || comparison.isShares || !isAll ? "" : " (not significant)";
  const whole = comparison.isShares ? "" : `${event}: ${comparison.text(total)}${isSure}. `;
  const rows = /** @type {ChangedRow[]} */ (app.rows("function"));
  /** @param {number} direction */
  const named = (direction) => {
    const of = rows.filter(({ own, ownDirections }) => Math.sign(comparison.degree(own, ownDirections)) === direction);
    of.sort((a, b) => Math.abs(b.selfChange) - Math.abs(a.selfChange));
    const said = of.slice(0, MOST_NAMED).map(({ name, own }) => `${middleCut(name, 60)} (${comparison.between(own)})`);
    if (of.length > MOST_NAMED) said.push(`${wholeNumber(of.length - MOST_NAMED)} more`);
    return said.join(", ");
  };
  if (isShared) return `${whole}A and B overlap, so nothing is tested for significance.`;
  const [more, less] = [named(1), named(-1)];
  if (more === "" && less === "") return `${whole}No function's self changed significantly.`;
  return `${whole}${more === "" ? "" : `More self in B: ${more}. `}${less === "" ? "" : `Less self in B: ${less}.`}`.trim();
}

/** The line that says which ranges are compared, and lets them be chosen. */
class RangeBar {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.isChoosing = false;
    /** @type {{counts: Counts, changes: RangeChanges} | null} */
    this.known = null;
    this.bar = made("span");
    this.bar.id = "ranges";
    this.said = made("span", undefined, "said");
    this.said.setAttribute("aria-live", "polite");
    const button = (/** @type {string} */ id, /** @type {string} */ text, /** @type {string} */ title, /** @type {() => void} */ act) => {
      const one = placed(this.bar, "button", id);
      one.type = "button";
      one.className = "small";
      one.textContent = text;
      one.title = title;
      one.addEventListener("click", act);
      return one;
    };
    this.begin = button("compare-range", "Compare with another range", "Or hold Shift and drag over the timeline", () => {
      this.isChoosing = !this.isChoosing;
      this.show();
    });
    this.earlier = button("compare-before", "Compare with the preceding period", "As long before, or what there is", () => {
      this.isChoosing = false;
      const { range } = app.state;
      if (range !== null) this.compareWith([Math.max(0, 2 * range[0] - range[1] - 1), Math.max(0, range[0] - 1)]);
    });
    this.swap = button("swap-ranges", "Swap", "Exchange A and B", () => {
      const { range, against } = app.state;
      app.set({ range: against, against: range, zoom: [], span: null });
    });
    this.end = button("end-ranges", "End comparison", "Show only B", () => app.set(NOT_COMPARED));
    this.bar.append(this.said);
  }

  /**
   * What changed, of the ranges that are compared.
   * @param {Counts} counts
   * @param {SampleSelection} selection
   */
  changes(counts, selection) {
    if (!selection.against) return null;
    if (this.known?.counts !== counts) {
      this.known = { counts, changes: new RangeChanges(this.app.profile, selection, selection.against) };
    }
    return this.known.changes;
  }

  /**
   * Compares what is shown with another range of the recording.
   * @param {[number, number]} against
   */
  compareWith(against) {
    const { app } = this;
    const other = /** @type {[number, number]} */ (against.map(Math.round));
    if (app.state.range === null) return app.set({ range: other });
    const first = app.state.against === null ? { per: RANGE_MEASURES[0], sort: /** @type {const} */ ("selfChange") } : {};
    app.set({ ...this.inOrder(other, app.state.range), zoom: [], span: null, ...first });
  }

  /**
   * What shows a range; of two that are compared, it takes the place of B.
   * @param {[number, number] | null} range
   * @returns {Partial<State>}
   */
  showing(range) {
    const { against } = this.app.state;
    if (range === null || against === null) return { range };
    return this.inOrder(against, /** @type {[number, number]} */ (range.map(Math.round)));
  }

  /**
   * The earlier range is A, before, unless they are swapped.
   * @param {[number, number]} one
   * @param {[number, number]} other
   */
  inOrder(one, other) {
    const { range, against } = this.app.state;
    const isSwapped = range !== null && against !== null && against[0] > range[0];
    return (one[0] > other[0]) === isSwapped ? { against: one, range: other } : { against: other, range: one };
  }

  /**
   * Whether a drag, or Enter, chooses what is compared with.
   * @param {{shiftKey: boolean}} from
   */
  isAgainst(from) {
    const { profile, state } = this.app;
    return profile.sides === null && state.range !== null && (this.isChoosing || from.shiftKey);
  }

  /**
   * @param {[number, number]} range
   * @param {{shiftKey: boolean}} from
   */
  choose(range, from) {
    if (this.isAgainst(from)) this.compareWith(range);
    else this.app.set(this.showing(range));
  }

  show() {
    const { app } = this;
    element("measure", HTMLElement).hidden = app.comparison === null;
    const measures = measuresOf(app.profile, app.state);
    allow(element("per", HTMLSelectElement), (value) => measures.some(({ per }) => per === value));
    const { range, against } = app.state;
    const isCompared = against !== null;
    element("chips", HTMLElement).append(this.bar);
    this.bar.hidden = app.profile.sides !== null || range === null;
    if (range === null || isCompared) this.isChoosing = false;
    this.begin.hidden = isCompared;
    this.earlier.hidden = isCompared || range === null || range[0] === 0;
    this.swap.hidden = this.end.hidden = !isCompared;
    this.begin.setAttribute("aria-pressed", String(this.isChoosing));
    if (isCompared && app.comparison !== null) this.said.textContent = saidOfRanges(app, app.comparison);
    else this.said.textContent = this.isChoosing ? "Drag over the timeline, the lanes or the heat map. The earlier range is A." : "";
  }
}

/**
 * Whether ranges have more than an end in common.
 * @param {[number, number]} one
 * @param {[number, number]} other
 */
function overlap(one, other) {
  return Math.max(one[0], other[0]) < Math.min(one[1], other[1]);
}

/** @param {[number, number]} range */
function saidOfRange([from, to]) {
  return `${duration(from)} – ${duration(to)}`;
}

/** @type {Partial<State>} */
const NOT_COMPARED = { against: null, sort: "self", zoom: [], span: null };
