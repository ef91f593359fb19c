// Two ranges of a recording, compared: A is before, B is after and what is shown. What changed beyond noise is found by the
// test of `rprof diff` (noise.js); tables, boxes and words are those of two recordings (difference.js).

/** The ways in which ranges are compared, the usual one first: they are as long as somebody drew them. */
const RANGE_MEASURES = /** @type {const} */ (["time", "run", "event"]);

/**
 * Transforms that make the time of some functions that of others.
 * @type {Set<TransformKind>}
 */
const MOVES_TIME = new Set(["merge", "show", "self", "collapse"]);

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
 * @typedef {{own: JudgedRow, children: JudgedRow, row: number}} FunctionRow
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
    /** By function, its row. */
    this.rowOf = rowsOfFunctions(profile);
    const sides = [new BlockCounts(profile, { ...selection, range: against }), new BlockCounts(profile, { ...selection, range })];
    this.total = { before: sides[0].total, after: sides[1].total };
    /**
     * Of rows with enough samples to say something: what they count in blocks would be far more than the samples.
     * @type {FunctionRow[]}
     */
    this.rows = this.count(new RowNodes(profile, this.rowOf), sides);
    /** @type {{[per: string]: number[]}} */
    this.known = {};
    this.selection = selection;
    this.against = against;
    /**
     * The same without transforms that make time that of others, once it is asked for.
     * @type {RangeChanges | null}
     */
    this.unmoved = null;
  }

  /**
   * What rows are judged by: how much they vary is that of all functions. Where some of them are shown alone, or count
   * for others, what all rows have in common may be what changed.
   * @param {"event" | "run" | "time"} per
   * @returns {Judge}
   */
  judgeOf(per) {
    const { total, rows, profile, selection } = this;
    const spans = this.measures.find((measure) => measure.per === "time")?.spans_ns ?? [1, 1];
    const judge = new Judge(total, {
      before: divisorOf(per, total.before, spans[0] / 1e9),
      after: divisorOf(per, total.after, spans[1] / 1e9),
    });
    const transforms = selection.transforms.filter(({ kind }) => !MOVES_TIME.has(kind));
    if (transforms.length < selection.transforms.length) {
      if (this.unmoved === null) {
        const unmoved = profile.beside();
        transform(unmoved, transforms, selection.threads);
        this.unmoved = new RangeChanges(unmoved, { ...selection, transforms }, this.against);
      }
      const { inflation, shared } = this.unmoved.judgeOf(per);
      Object.assign(judge, { inflation, shared });
    } else judge.learn(rows.map(({ own }) => own));
    return judge;
  }

  /**
   * @param {RowNodes} nodes
   * @param {BlockCounts[]} sides
   */
  count(nodes, sides) {
    const samples = new Float64Array(nodes.n);
    for (const side of sides) nodes.addSamples(side, samples);
    const wanted = nodes.want((row) => samples[row] >= FEWEST_SAMPLES);
    const counts = sides.map((side) => side.rows(nodes));
    return wanted.map((row, place) => {
      const both = (/** @type {0 | 1} */ column) => ({ before: counts[0].side(column, place), after: counts[1].side(column, place) });
      return { row, own: both(0), children: both(1) };
    });
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
    const { total, rows, profile, rowOf } = this;
    const judge = this.judgeOf(per);
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
    const bits = new Map(rows.map(({ row, own, children }) => [row, directions(own) | (directions(children) << 2)]));
    const found = [directions(total)];
    rowOf.forEach((row, one) => {
      const of = bits.get(row) ?? 0;
      if (of !== 0) found.push(profile.frameOfFunction[one], of);
    });
    return found;
  }
}

/** Nodes by the row of their function. */
class RowNodes {
  /**
   * @param {Profile} profile
   * @param {Int32Array} rowOfFunction
   */
  constructor(profile, rowOfFunction) {
    const { parents, labels, functionOf } = profile;
    this.profile = profile;
    /** -1 of threads, and of what these wait for. */
    const rowOf = new Int32Array(parents.length);
    for (let node = 0; node < rowOf.length; node++) {
      rowOf[node] = parents[node] < 0 || profile.isWait(node) ? -1 : rowOfFunction[functionOf[labels[node]]];
    }
    /** A sample counts once, however often a row is in its stack: at the outermost place. */
    const { isOutermost, n } = outermostRows(profile, rowOf);
    this.rowOf = rowOf;
    this.isOutermost = isOutermost;
    this.n = n;
    /** By row, its place among those that are wanted, or -1. */
    this.places = new Int32Array(0);
    /** By node, the next one outwards, if not itself, at which a wanted row counts; -1 if there is none. */
    this.next = new Int32Array(0);
    this.n_wanted = 0;
  }

  /**
   * Adds the samples of a side, by row, with what it called.
   * @param {BlockCounts} side
   * @param {Float64Array} sums
   */
  addSamples({ samples }, sums) {
    const { rowOf, isOutermost, profile: { parents } } = this;
    const totals = samples.slice();
    for (let node = totals.length - 1; node >= 0; node--) {
      if (totals[node] === 0) continue;
      if (isOutermost[node] === 1) sums[rowOf[node]] += totals[node];
      if (parents[node] >= 0) totals[parents[node]] += totals[node];
    }
  }

  /**
   * Chooses rows. Returns them.
   * @param {(row: number) => boolean} isWanted
   */
  want(isWanted) {
    const { rowOf, isOutermost, profile: { parents } } = this;
    /** @type {number[]} */
    const wanted = [];
    this.places = new Int32Array(this.n).fill(-1);
    for (let row = 0; row < this.n; row++) if (isWanted(row)) this.places[row] = wanted.push(row) - 1;
    this.next = new Int32Array(rowOf.length);
    for (let node = 0; node < rowOf.length; node++) {
      const counts = isOutermost[node] === 1 && this.places[rowOf[node]] >= 0;
      this.next[node] = counts ? node : parents[node] < 0 ? -1 : this.next[parents[node]];
    }
    this.n_wanted = wanted.length;
    return wanted;
  }
}

/** What stacks count in a range, by block of time: they come again and again. */
class BlockCounts {
  /**
   * @param {Profile} profile
   * @param {SampleSelection & {range: [number, number]}} selection
   */
  constructor(profile, selection) {
    this.profile = profile;
    /** Of all blocks, by node. */
    this.samples = new Float64Array(profile.parents.length);
    /**
     * By block, the place of each stack in the columns.
     * @type {Map<number, number>[]}
     */
    this.stacks = Array.from({ length: BLOCKS }, () => new Map());
    this.n = 0;
    this.columns = { weights: new Float64Array(1024), samples: new Float64Array(1024) };
    /** @type {{weight: number, samples: number, blocks: Float64Array}} */
    this.total = { weight: 0, samples: 0, blocks: new Float64Array(BLOCKS) };
    this.count(profile, selection);
  }

  /**
   * @param {number} block
   * @param {number} node
   * @param {number} weight
   * @param {number} samples
   */
  add(block, node, weight, samples) {
    const { columns } = this;
    let at = this.stacks[block].get(node);
    if (at === undefined) {
      at = this.n++;
      this.stacks[block].set(node, at);
      if (at === columns.weights.length) {
        columns.weights = longer(columns.weights, 2 * at);
        columns.samples = longer(columns.samples, 2 * at);
      }
    }
    columns.weights[at] += weight;
    columns.samples[at] += samples;
    this.samples[node] += samples;
  }

  /**
   * @param {Profile} profile
   * @param {SampleSelection & {range: [number, number]}} selection
   */
  count(profile, selection) {
    const [start, end] = selection.range;
    const length = Math.floor((end - start) / BLOCKS) + 1;
    const kept = keptNodes(profile, selection);
    const blockOf = (/** @type {number} */ time) => Math.min(BLOCKS - 1, Math.floor((time - start) / length));
    forRows(profile, { ...selection, thread: null }, (node, whole, samples, time, thread, row) => {
      this.total.weight += whole;
      this.total.samples += samples;
      const isOut = node < 0 || (selection.thread !== null && selection.thread !== thread) || (kept !== null && kept[node] === 0);
      const add = (/** @type {number} */ block, /** @type {number} */ weight, /** @type {number} */ n) => {
        this.total.blocks[block] += weight;
        if (!isOut) this.add(block, node, weight, n);
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
  }

  /**
   * What the wanted rows count.
   * @param {RowNodes} nodes
   */
  rows({ rowOf, places, next, n_wanted: n }) {
    const { profile, columns } = this;
    const { parents } = profile;
    const found = new BlocksOfRows(n);
    this.stacks.forEach((stacks, block) => {
      for (const [node, at] of stacks) {
        const sum = { weight: columns.weights[at], samples: columns.samples[at] };
        const code = profile.codeOf(node);
        const own = rowOf[code] < 0 ? -1 : places[rowOf[code]];
        if (own >= 0) found.add(0, own, block, sum);
        for (let one = next[code]; one >= 0; one = parents[one] < 0 ? -1 : next[parents[one]]) found.add(1, places[rowOf[one]], block, sum);
      }
    });
    return found;
  }
}

/** What rows count by block of time: of their own, then with what they called. */
class BlocksOfRows {
  /** @param {number} n */
  constructor(n) {
    /** Blocks of rows, one after the other. */
    this.blocks = [new Float64Array(n * BLOCKS), new Float64Array(n * BLOCKS)];
    this.samples = [new Float64Array(n), new Float64Array(n)];
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
 * By function, its row.
 * @param {Profile} profile
 */
function rowsOfFunctions({ names, images, frameOfFunction, head }) {
  // A number for each pair: keys of a map that need no memory of their own.
  const n_strings = head.strings.length;
  /** @type {Map<number, number>} */
  const known = new Map();
  const rows = new Int32Array(frameOfFunction.length);
  for (let number = 0; number < rows.length; number++) {
    const frame = frameOfFunction[number];
    const key = images[frame] * n_strings + names[frame];
    let row = known.get(key);
    if (row === undefined) known.set(key, (row = known.size));
    rows[number] = row;
  }
  return rows;
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
  // Others are not marked.
  const rows = changedRows(app.profile, counts, "function", comparison, (key) => comparison.functions[key] !== 0);
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

/**
 * What shares of each side show of the function whose share changed most, if amounts do not: where a side had less of the
 * machine, all amounts are less.
 * @param {App} app
 * @param {Comparison} comparison
 */
function saidOfShares(app, comparison) {
  const shares = comparison.isShares || !comparison.isTested ? null : app.compare("event");
  if (shares === null) return "";
  const rows = changedRows(app.profile, app.counts, "function", shares, (key) => (shares.functions[key] & (MORE | LESS)) !== 0);
  const [most] = rows.sort((a, b) => Math.abs(b.selfChange) - Math.abs(a.selfChange));
  if (most === undefined || (comparison.functions[most.key] & (MORE | LESS)) !== 0) return "";
  return ` By shares of each side, ${shares.sure()}, most of all ${middleCut(most.name, 60)} (${shares.text(most.own)}).`;
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
    this.byShares = button("by-shares", "Compare shares", "Compare shares of each side instead of amounts", () => app.set({ per: "event" }));
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
    if (app.state.parts.length > 0) return app.details.say("Several ranges are shown: remove all but one to compare it.");
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
    return profile.sides === null && state.range !== null && state.parts.length === 0 && (this.isChoosing || from.shiftKey);
  }

  /**
   * A range that was drawn: it is shown, compared with, or, with Ctrl or Command, shown beside those that are.
   * @param {[number, number] | null} range
   * @param {{shiftKey: boolean, ctrlKey: boolean, metaKey: boolean}} [from]
   */
  choose(range, from) {
    if (range !== null && from !== undefined && (from.ctrlKey || from.metaKey)) this.add(range);
    else if (range !== null && from !== undefined && this.isAgainst(from)) this.compareWith(range);
    else this.app.set(this.showing(range));
  }

  /**
   * One more range beside those that are shown.
   * @param {[number, number]} range
   */
  add(range) {
    const { app } = this;
    const { state } = app;
    if (state.against !== null) return app.details.say("Two ranges are compared: end the comparison to show further ones.");
    const ranges = /** @type {[number, number][]} */ (partsOf(state).filter((one) => one !== null));
    const [from, to] = range.map(Math.round);
    const joined = joinedRanges([...ranges, [from, to]]);
    if (joined.parts.length > 2 * MOST_RANGES) return app.details.say(`No more than ${MOST_RANGES} ranges: remove one first.`);
    app.set({ ...joined, zoom: [], span: null });
  }

  show() {
    const { app } = this;
    element("measure", HTMLElement).hidden = app.comparison === null;
    const measures = measuresOf(app.profile, app.state);
    allow(element("per", HTMLSelectElement), (value) => measures.some(({ per }) => per === value));
    const { range, against } = app.state;
    const isCompared = against !== null;
    element("chips", HTMLElement).append(this.bar);
    this.bar.hidden = app.profile.sides !== null || range === null || app.state.parts.length > 0;
    if (range === null || isCompared) this.isChoosing = false;
    this.begin.hidden = isCompared;
    this.earlier.hidden = isCompared || range === null || range[0] === 0;
    this.swap.hidden = this.end.hidden = !isCompared;
    this.begin.setAttribute("aria-pressed", String(this.isChoosing));
    const ofShares = isCompared && app.comparison !== null ? saidOfShares(app, app.comparison) : "";
    this.byShares.hidden = ofShares === "";
    if (isCompared && app.comparison !== null) this.said.textContent = saidOfRanges(app, app.comparison) + ofShares;
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
