// Which samples count, and what each stack counts then. The sums are those of `rprof report` for the same filter.

/**
 * @typedef {{event: number, range: [number, number] | null, thread: number | null, keep: string,
 *   transforms: Transform[], threads: "alike" | "apart", against?: [number, number] | null, parts?: number[]}} SampleSelection
 *   What transforms leave is in the profile. Parts of the range are pairs of times, in order; without any it is all of it.
 * @typedef {{weight: number, samples: number}} Sum
 */

/** What is counted at each node, of its own. */
class Counts {
  /** @param {Profile} profile */
  constructor(profile) {
    const n = profile.head.n_nodes;
    this.weights = profile.spare.take(Float64Array, n).fill(0);
    this.samples = profile.spare.take(Float64Array, n).fill(0);
    /**
     * What percentages are of: all samples of the event within the range.
     * @type {Sum}
     */
    this.total = { weight: 0, samples: 0 };
    /**
     * What is shown.
     * @type {Sum}
     */
    this.shown = { weight: 0, samples: 0 };
    /**
     * What it is of.
     * @type {SampleSelection}
     */
    this.selection = { event: 0, range: null, thread: null, keep: "", transforms: [], threads: "alike" };
    /**
     * Of two recordings, what is counted before.
     * @type {Counts | null}
     */
    this.before = null;
    /** @type {{weights: Float64Array, samples: Float64Array} | null} */
    this.knownTotals = null;
  }

  /**
   * @param {Profile} profile
   * @param {SampleSelection} selection
   */
  static of(profile, selection) {
    if (profile.sides === null) {
      const counts = Counts.ofRows(profile, selection);
      const { against } = selection;
      if (against) counts.before = Counts.ofRows(profile, { ...selection, range: against });
      return counts;
    }
    // Each side is a thread.
    const after = Counts.ofRows(profile, { ...selection, thread: 1 });
    after.before = Counts.ofRows(profile, { ...selection, thread: 0 });
    return after;
  }

  /**
   * @param {Profile} profile
   * @param {SampleSelection} selection
   * @param {Sum | null} [whole] what percentages are of, if it is known: only the rows of the wanted thread are looked at
   */
  static ofRows(profile, selection, whole = null) {
    const counts = new Counts(profile);
    counts.selection = selection;
    const { total, shown, weights, samples } = counts;
    const kept = keptNodes(profile, selection);
    const wanted = selection.thread;
    // A side is compared with itself, a thread with all of them.
    const rows = profile.sides === null && whole === null ? { ...selection, thread: null } : selection;
    const { stacks, events, counts: samplesOf, weights: weightOf } = profile;
    const { has_events: hasEvents, has_samples: hasSamples, has_weights: hasWeights } = profile.head;
    const { event } = selection;
    const each = profile.head.events[event]?.each ?? 0;
    // It is what most of what users do waits for: no call for each row.
    forSpans(profile, rows, (thread, first, end, range, before) => {
      const isWanted = wanted === null || wanted === thread;
      const ofWaits = range !== null && profile.ends !== null;
      let [allWeight, allSamples, shownWeight, shownSamples] = [0, 0, 0, 0];
      for (let row = first; row < end; row++) {
        const node = stacks[row] - 1;
        if ((hasEvents && events[row] !== event) || stacks[row] <= IN_NO_TOTAL) continue;
        let n = hasSamples ? samplesOf[row] : 1;
        let weight = hasWeights ? weightOf[row] : n * each;
        if (ofWaits) {
          // A wait that lasts from one range into the next is one.
          if (before !== null && profile.isWaitWithin(row, before)) n = 0;
          weight = profile.weightWithin(row, weight, range);
        }
        if (weight < 0) continue;
        allWeight += weight;
        allSamples += n;
        if (node < 0 || !isWanted || (kept !== null && kept[node] === 0)) continue;
        weights[node] += weight;
        samples[node] += n;
        shownWeight += weight;
        shownSamples += n;
      }
      total.weight += allWeight;
      total.samples += allSamples;
      shown.weight += shownWeight;
      shown.samples += shownSamples;
    });
    if (whole !== null) Object.assign(total, whole);
    return counts;
  }

  /**
   * How many of the samples are waits.
   * @param {Profile} profile
   */
  waits(profile) {
    let n = 0;
    for (let node = 0; node < this.samples.length; node++) if (this.samples[node] > 0 && profile.isWait(node)) n += this.samples[node];
    return n;
  }

  /**
   * Nobody counts with it any more.
   * @param {Profile} profile
   */
  release(profile) {
    profile.spare.give(this.weights, this.samples);
    this.before?.release(profile);
  }

  /**
   * Each node with all that it called.
   * @param {Profile} profile
   */
  totals(profile) {
    this.knownTotals ??= this.countTotals(profile);
    return this.knownTotals;
  }

  /** @param {Profile} profile */
  countTotals(profile) {
    const weights = this.weights.slice();
    const samples = this.samples.slice();
    const parents = profile.parents;
    for (let node = parents.length - 1; node >= 0; node--) {
      const parent = parents[node];
      if (parent >= 0 && samples[node] > 0) {
        weights[parent] += weights[node];
        samples[parent] += samples[node];
      }
    }
    return { weights, samples };
  }
}

/** So many that were counted last are kept, beside those of all that was recorded. */
const MOST_COUNTS = 3;

/** What was counted: many look at a part, and at everything again. */
class KnownCounts {
  /** @param {Profile} profile */
  constructor(profile) {
    this.profile = profile;
    /**
     * The last ones first.
     * @type {{key: string, columns: object[], counts: Counts}[]}
     */
    this.list = [];
  }

  /**
   * @param {SampleSelection} selection
   * @returns {Counts}
   */
  of(selection) {
    const { profile } = this;
    const { event, range, parts, thread, keep, against, transforms } = selection;
    const isAll = range === null && thread === null && keep === "" && transforms.length === 0;
    const key = isAll ? `all of ${event}` : JSON.stringify([event, range, parts, thread, keep, keep !== "" && profile.isByLine, against]);
    const { rowStacks, moved, parents, labels, functionOf } = profile;
    const columns = [rowStacks, moved ?? rowStacks, parents, labels, functionOf];
    const known = this.list.find((one) => one.key === key && columns.every((column, at) => column === one.columns[at]));
    const found = known ?? { key, columns, counts: this.ofAll(selection) ?? Counts.of(profile, selection) };
    const others = this.list.filter((one) => one !== found);
    const last = others.slice(0, MOST_COUNTS - 1);
    const all = others.find((one) => one.key.startsWith("all"));
    this.list = [found, ...last, ...(all === undefined || last.includes(all) ? [] : [all])];
    for (const one of others) if (!this.list.includes(one)) one.counts.release(profile);
    found.counts.selection = selection;
    return found.counts;
  }

  /**
   * What is left of everything, if that is known; `null` if not.
   * @param {SampleSelection} selection
   */
  ofAll(selection) {
    const { profile } = this;
    const { event, range, thread, against } = selection;
    if (range !== null || against || profile.sides !== null) return null;
    const all = this.list.find(({ key, columns }) => key === `all of ${event}` && columns[0] === profile.rowStacks)?.counts;
    if (all === undefined) return null;
    return thread === null ? this.ofNodes(selection, all) : Counts.ofRows(profile, selection, all.total);
  }

  /**
   * What is left of all threads, by the node that it ends at.
   * @param {SampleSelection} selection
   * @param {Counts} all
   */
  ofNodes(selection, all) {
    const { profile } = this;
    const kept = keptNodes(profile, selection);
    const counts = new Counts(profile);
    const { weights, samples } = counts;
    const { moved } = profile;
    let [weight, n] = [0, 0];
    for (let node = 0; node < all.samples.length; node++) {
      if (all.samples[node] === 0) continue;
      const at = moved === null ? node : moved[node];
      if (at < 0 || (kept !== null && kept[at] === 0)) continue;
      weights[at] += all.weights[node];
      samples[at] += all.samples[node];
      weight += all.weights[node];
      n += all.samples[node];
    }
    counts.shown = { weight, samples: n };
    counts.total = { ...all.total };
    return counts;
  }

  /**
   * Whether they are of all that was recorded of an event.
   * @param {Counts} counts
   */
  isOfAll(counts) {
    return this.list.some((one) => one.counts === counts && one.key.startsWith("all"));
  }

  /** @param {Counts} counts */
  has(counts) {
    return this.list.some((one) => one.counts === counts);
  }
}

/**
 * Rows of an event within a range of time: thread by thread, in order of time. Of a wait, only what is in the range
 * counts, where it is known when it was: it may have begun before.
 * @param {Profile} profile
 * @param {{event: number, range: [number, number] | null, parts?: number[], thread: number | null}} selection
 * @param {(node: number, weight: number, samples: number, time: number, thread: number, row: number) => void} visit a
 *   node is negative if nothing was recorded of the stack
 */
function forRows(profile, selection, visit) {
  forSpans(profile, selection, rowsOfSpan(profile, selection, visit));
}

/**
 * The same of one span of rows.
 * @param {Profile} profile
 * @param {{event: number}} selection
 * @param {(node: number, weight: number, samples: number, time: number, thread: number, row: number) => void} visit
 * @returns {VisitSpan}
 */
function rowsOfSpan(profile, { event }, visit) {
  const { stacks, times, events, counts, weights } = profile;
  const { has_events: hasEvents, has_samples: hasSamples, has_weights: hasWeights } = profile.head;
  const each = profile.head.events[event]?.each ?? 0;
  return (thread, first, end, range, before) => {
    const ofWaits = range !== null && profile.ends !== null;
    for (let row = first; row < end; row++) {
      if ((hasEvents && events[row] !== event) || stacks[row] <= IN_NO_TOTAL) continue;
      let samples = hasSamples ? counts[row] : 1;
      const weight = hasWeights ? weights[row] : samples * each;
      const counted = ofWaits ? profile.weightWithin(row, weight, range) : weight;
      if (before !== null && profile.isWaitWithin(row, before)) samples = 0;
      if (counted >= 0) visit(stacks[row] - 1, counted, samples, times[row], thread, row);
    }
  };
}

/**
 * Rows of a thread within a range, the first and the one after the last; and the range before it, if there are several.
 * @typedef {(thread: number, first: number, end: number, range: [number, number] | null,
 *   before: [number, number] | null) => void} VisitSpan
 */

/**
 * Rows within ranges of time, thread by thread.
 * @param {Profile} profile
 * @param {{range: [number, number] | null, parts?: number[], thread: number | null}} selection
 * @param {VisitSpan} visit
 */
function forSpans(profile, selection, visit) {
  const parts = partsOf(selection);
  for (let thread = 0; thread + 1 < profile.starts.length; thread++) forSpansOf(profile, selection, thread, visit, parts);
}

/**
 * The same of one thread, if it is wanted.
 * @param {Profile} profile
 * @param {{range: [number, number] | null, parts?: number[], thread: number | null}} selection
 * @param {number} thread
 * @param {VisitSpan} visit
 * @param {([number, number] | null)[]} [parts]
 */
function forSpansOf(profile, selection, thread, visit, parts = partsOf(selection)) {
  if (selection.thread !== null && selection.thread !== thread) return;
  /** @type {[number, number] | null} */
  let before = null;
  for (const range of parts) {
    const [row, end] = spanOf(profile, thread, range);
    if (row < end) visit(thread, row, end, range, before);
    before = range;
  }
}

/**
 * The ranges of time that are selected, in order; `null` is all times. Parts of another range than that of the selection
 * do not count.
 * @param {{range: [number, number] | null, parts?: number[]}} selection
 * @returns {([number, number] | null)[]}
 */
function partsOf({ range, parts = [] }) {
  const isParted = range !== null && parts.length > 2 && parts[0] === range[0] && parts[parts.length - 1] === range[1];
  return isParted ? pairs(parts) : [range];
}

/**
 * Several ranges as a selection has them: what overlaps is one.
 * @param {[number, number][]} ranges
 * @returns {{range: [number, number] | null, parts: number[]}}
 */
function joinedRanges(ranges) {
  /** @type {[number, number][]} */
  const joined = [];
  for (const [from, to] of ranges.slice().sort(([a], [b]) => a - b)) {
    const last = joined[joined.length - 1];
    if (last === undefined || from > last[1] + 1) joined.push([from, to]);
    else last[1] = Math.max(last[1], to);
  }
  if (joined.length === 0) return { range: null, parts: [] };
  return { range: [joined[0][0], joined[joined.length - 1][1]], parts: joined.length > 1 ? joined.flat() : [] };
}

/**
 * Rows of a thread within a range of time: the first, and the one after the last.
 * @param {Profile} profile
 * @param {number} thread
 * @param {[number, number] | null} range
 * @returns {[number, number]}
 */
function spanOf({ starts, times, ends }, thread, range) {
  const [row, end] = [starts[thread], starts[thread + 1]];
  // A wait may have begun before the range.
  return range === null ? [row, end] : [firstFrom(ends?.lasts ?? times, [row, end], range[0]), firstFrom(times, [row, end], range[1] + 0.5)];
}

/**
 * The first of some rows that is not before a time.
 * @param {Float64Array} times
 * @param {[number, number]} rows
 * @param {number} time
 */
function firstFrom(times, [low, high], time) {
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (times[middle] >= time) high = middle;
    else low = middle + 1;
  }
  return low;
}

/**
 * Nodes whose stacks have a name that is to be kept; `null` if that is all. The last answer is kept, as all views ask.
 * @param {Profile} profile
 * @param {{keep: string}} wanted
 */
function keptNodes(profile, { keep }) {
  if (keep === "") return null;
  const key = JSON.stringify([profile.isByLine, keep]);
  if (profile.kept?.key !== key) profile.kept = { key, nodes: nodesWith(profile, keep) };
  return profile.kept.nodes;
}

/**
 * Which strings of a profile match; each is looked at once. The last answer is kept.
 * @param {Profile} profile
 * @param {string} text
 */
function stringsWith(profile, text) {
  if (profile.matched?.text !== text) {
    const pattern = new Pattern(text);
    const has = Uint8Array.from(profile.head.strings, (name) => (pattern.matches(name) ? 1 : 0));
    profile.matched = { text, has };
  }
  return profile.matched.has;
}

/**
 * Which labels match: frames by number, then names of threads. The last answer is kept: boxes are marked, and counted.
 * @param {Profile} profile
 * @param {string} text
 */
function labelsWith(profile, text) {
  const key = JSON.stringify([profile.isByLine, text]);
  if (profile.found?.key === key) return profile.found.labels;
  const strings = stringsWith(profile, text);
  const { names, places, isByLine } = profile;
  const frames = new Uint8Array(names.length);
  for (let frame = 0; frame < frames.length; frame++) {
    frames[frame] = strings[names[frame]] | (isByLine && places[frame] > 0 ? strings[places[frame] - 1] : 0);
  }
  // What is found is what stacks have: no names of processes.
  const comms = Uint8Array.from(profile.head.comms, (comm, at) => (at < profile.n_comms ? strings[comm] : 0));
  profile.found = { key, labels: { frames, comms } };
  return profile.found.labels;
}

/**
 * By node, whether it or one further out has a name that matches.
 * @param {Profile} profile
 * @param {string} text
 */
function nodesWith(profile, text) {
  const { frames, comms } = labelsWith(profile, text);
  const { parents, labels } = profile;
  const has = new Uint8Array(parents.length);
  for (let node = 0; node < parents.length; node++) {
    const parent = parents[node];
    has[node] = parent < 0 ? comms[labels[node]] : has[parent] | frames[labels[node]];
  }
  return has;
}

/**
 * What the stacks that have a matching name weigh.
 * @param {Profile} profile
 * @param {Counts} counts
 * @param {string} text
 * @returns {Sum}
 */
function matching(profile, counts, text) {
  const has = nodesWith(profile, text);
  const sum = { weight: 0, samples: 0 };
  for (let node = 0; node < has.length; node++) {
    if (has[node] === 1) {
      sum.weight += counts.weights[node];
      sum.samples += counts.samples[node];
    }
  }
  return sum;
}
