// What changed between two recordings: trees and rows of both sides, how much each changed, in words and as a degree.
// Names, scale and colours are those of `rprof flame --against`.

/**
 * @typedef {{weights: Float64Array, samples: Float64Array, own: Float64Array}} Columns
 * @typedef {{before: Columns, after: Columns}} Sides
 * @typedef {{before: Sum, after: Sum}} BothSums
 * @typedef {{per: "event" | "run", widths: "after" | "before" | "change"}} Measure
 */

/** Differences of fewer standard deviations are noise. */
const NOISE = 2;

/** How sides of different size are compared: as shares of each, or as they were recorded. */
class Comparison {
  /**
   * @param {BothSums} whole
   * @param {Measure} measure
   * @param {EventHead} event
   */
  constructor(whole, measure, event) {
    this.isShares = measure.per === "event";
    this.widths = measure.widths;
    this.event = event;
    const one = { weight: 1, samples: 1 };
    this.whole = this.isShares ? whole : { before: one, after: one };
    const isScaled = this.isShares && whole.before.weight > 0 && whole.after.weight > 0;
    /** What the side before is multiplied by to be as large as the other. */
    this.scale = isScaled ? whole.after.weight / whole.before.weight : 1;
  }

  /**
   * How wide a stack is of its own.
   * @param {Sides} sides
   * @param {number} node
   */
  ownWidth({ before, after }, node) {
    const [was, is] = [before.own[node] * this.scale, after.own[node]];
    if (this.widths === "change") return Math.abs(is - was);
    if (this.widths === "after") return after.samples[node] === 0 ? was : is;
    return before.samples[node] === 0 ? is : was;
  }

  /**
   * From -1 (vanished) to 1 (new); 0 where samples are too few to say.
   * @param {BothSums} both
   */
  degree({ before, after }) {
    const whole = this.whole;
    /**
     * @param {number} part
     * @param {number} all
     */
    const ratio = (part, all) => (all > 0 ? part / all : 0);
    /**
     * @param {number} samples
     * @param {number} all
     */
    const deviation = (samples, all) => ratio(samples, all) * ratio(1, all);
    const noise = deviation(before.samples, whole.before.samples) + deviation(after.samples, whole.after.samples);
    const bySamples = ratio(after.samples, whole.after.samples) - ratio(before.samples, whole.before.samples);
    if (Math.abs(bySamples) < NOISE * Math.sqrt(noise)) return 0;
    const [was, is] = this.shares({ before, after });
    const larger = Math.max(was, is);
    return larger === 0 ? 0 : (is - was) / larger;
  }

  /**
   * What the sides are compared as.
   * @param {BothSums} both
   */
  shares({ before, after }) {
    const { whole } = this;
    return [before.weight / (whole.before.weight || 1), after.weight / (whole.after.weight || 1)];
  }

  /**
   * One side's number.
   * @param {number} weight
   * @param {"before" | "after"} side
   */
  said(weight, side) {
    return this.isShares ? percent(weight, this.whole[side].weight) : amount(this.event, weight);
  }

  /**
   * What lies between both numbers: points of shares, or the amount.
   * @param {BothSums} both
   */
  between(both) {
    if (this.isShares) return `${signed(this.points(both), 2)} points`;
    const more = both.after.weight - both.before.weight;
    return `${more < 0 ? "−" : "+"}${amount(this.event, Math.abs(more))}`;
  }

  /** @param {BothSums} both */
  points({ before, after }) {
    const { whole } = this;
    const share = (/** @type {Sum} */ part, /** @type {Sum} */ all) => (all.weight > 0 ? (100 * part.weight) / all.weight : 0);
    return share(after, whole.after) - share(before, whole.before);
  }

  /**
   * Both numbers and what lies between them: `12.30 % → 15.10 %, +2.80 points, +22.8 %`.
   * @param {BothSums} both
   */
  text(both) {
    const { before, after } = both;
    const numbers = `${this.said(before.weight, "before")} → ${this.said(after.weight, "after")}`;
    const relative = this.relative(both);
    return [numbers, this.between(both), ...(relative === "" ? [] : [relative])].join(", ");
  }

  /** @param {BothSums} both */
  relative(both) {
    const [was, is] = this.shares(both);
    if (both.before.samples === 0) return both.after.samples === 0 ? "" : "new";
    if (both.after.samples === 0) return "vanished";
    return was > 0 ? `${signed((100 * (is - was)) / was, 1)} %` : "";
  }
}

/**
 * @param {number} value
 * @param {number} digits
 */
function signed(value, digits) {
  const text = Math.abs(value).toFixed(digits);
  return `${value < 0 && Number(text) !== 0 ? "-" : "+"}${text}`;
}

/**
 * What a box or a node counts on both sides.
 * @param {Sides} sides
 * @param {number} at
 * @returns {BothSums}
 */
function bothOf({ before, after }, at) {
  return {
    before: { weight: before.weights[at], samples: before.samples[at] },
    after: { weight: after.weights[at], samples: after.samples[at] },
  };
}

/**
 * Lets trees grow by what is counted; of two recordings by each side, and then they are as wide as is asked for.
 * @param {Growing[]} trees
 * @param {Counts} counts
 * @param {Comparison | null} comparison
 * @param {(counts: Counts) => void} grow
 */
function growBy(trees, counts, comparison, grow) {
  if (counts.before === null || comparison === null) return grow(counts);
  grow(counts.before);
  const before = trees.map((tree) => tree.setAside());
  grow(counts);
  trees.forEach((tree, at) => tree.compare(before[at], comparison));
}

/**
 * @typedef {Row & {selfBefore: number, selfAfter: number, selfChange: number, totalBefore: number,
 *   totalAfter: number, totalChange: number, own: BothSums, all: BothSums}} ChangedRow
 */

/**
 * Rows of both sides, what is on one side alone, too.
 * @param {Profile} profile
 * @param {Counts} counts
 * @param {Grouping} grouping
 * @param {Comparison} comparison
 * @returns {ChangedRow[]}
 */
function changedRows(profile, counts, grouping, comparison) {
  const none = { self: 0, total: 0, samples: 0, ownSamples: 0 };
  const before = counts.before === null ? [] : tableRows(profile, counts.before, grouping);
  const after = tableRows(profile, counts, grouping);
  /** @type {Map<number, {before: typeof none, after: typeof none, row: Row}>} */
  const pairs = new Map(before.map((row) => [row.key, { before: row, after: none, row }]));
  for (const row of after) pairs.set(row.key, { before: pairs.get(row.key)?.before ?? none, after: row, row });
  return [...pairs.values()].map(({ before, after, row }) => {
    const own = {
      before: { weight: before.self, samples: before.ownSamples },
      after: { weight: after.self, samples: after.ownSamples },
    };
    const all = {
      before: { weight: before.total, samples: before.samples },
      after: { weight: after.total, samples: after.samples },
    };
    const change = (/** @type {BothSums} */ both) => {
      const [was, is] = comparison.shares(both);
      return is - was;
    };
    return {
      ...row, own, all, selfBefore: before.self, selfAfter: after.self, selfChange: change(own),
      totalBefore: before.total, totalAfter: after.total, totalChange: change(all),
    };
  });
}
