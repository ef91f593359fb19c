// Which samples count, and what each stack counts then. The sums are those of `rprof report` for the same filter.

/**
 * @typedef {{event: number, range: [number, number] | null, thread: number | null, keep: string}} SampleSelection
 * @typedef {{weight: number, samples: number}} Sum
 */

/** What is counted at each node, of its own. */
class Counts {
  /** @param {Profile} profile */
  constructor(profile) {
    const n = profile.head.n_nodes;
    this.weights = new Float64Array(n);
    this.samples = new Float64Array(n);
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
  }

  /**
   * @param {Profile} profile
   * @param {SampleSelection} selection
   */
  static of(profile, selection) {
    const counts = new Counts(profile);
    const kept = selection.keep === "" ? null : nodesWith(profile, selection.keep);
    const [first, last] = selection.range ?? [-Infinity, Infinity];
    const { starts, stacks, times } = profile;
    for (let thread = 0; thread + 1 < starts.length; thread++) {
      const isShown = selection.thread === null || selection.thread === thread;
      for (let row = starts[thread]; row < starts[thread + 1]; row++) {
        if (times[row] < first || times[row] > last || profile.eventOf(row) !== selection.event) continue;
        const weight = profile.weightOf(row);
        const samples = profile.samplesOf(row);
        counts.total.weight += weight;
        counts.total.samples += samples;
        const node = stacks[row] - 1;
        if (!isShown || node < 0 || (kept !== null && kept[node] === 0)) continue;
        counts.weights[node] += weight;
        counts.samples[node] += samples;
        counts.shown.weight += weight;
        counts.shown.samples += samples;
      }
    }
    return counts;
  }

  /**
   * Each node with all that it called.
   * @param {Profile} profile
   */
  totals(profile) {
    const weights = this.weights.slice();
    const samples = this.samples.slice();
    const parents = profile.parents;
    for (let node = parents.length - 1; node >= 0; node--) {
      const parent = parents[node];
      if (parent >= 0) {
        weights[parent] += weights[node];
        samples[parent] += samples[node];
      }
    }
    return { weights, samples };
  }
}

/**
 * Which strings of a profile match; each is looked at once.
 * @param {Profile} profile
 * @param {string} text
 */
function stringsWith(profile, text) {
  const { pattern } = patternOf(text);
  return Uint8Array.from(profile.head.strings, (string) => (pattern.test(string) ? 1 : 0));
}

/**
 * Which labels match: frames by number, then names of threads.
 * @param {Profile} profile
 * @param {string} text
 */
function labelsWith(profile, text) {
  const strings = stringsWith(profile, text);
  const frames = Uint8Array.from(profile.names, (name) => strings[name]);
  const comms = Uint8Array.from(profile.head.comms, (comm) => strings[comm]);
  return { frames, comms };
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
