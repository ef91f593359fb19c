// What changed between two recordings: trees and rows of both sides, how much each changed, in words and as a degree.
// Names, scale and colours are those of `rprof flame --against`; what is beyond noise, `rprof diff` has found.

/**
 * @typedef {{weights: Float64Array, samples: Float64Array, own: Float64Array}} Columns
 * @typedef {{before: Columns, after: Columns}} Sides
 * @typedef {{before: Sum, after: Sum}} BothSums
 * @typedef {{per: "event" | "run" | "time", widths: "after" | "before" | "change"}} Measure
 */

/** In which directions something changed beyond noise: bits. */
const MORE = 1;
const LESS = 2;

/** How sides of different size are compared: as shares of each, as they were recorded, or by what a second counts. */
class Comparison {
  /**
   * @param {BothSums} whole
   * @param {Measure} measure
   * @param {Profile} profile
   * @param {number} event
   * @param {RangeChanges | null} ranges of one recording, if that is what is compared
   */
  constructor(whole, { per, widths }, profile, event, ranges) {
    const measures = ranges?.measures ?? profile.measures;
    const number = measures.findIndex((measure) => measure.per === per);
    const [before, after] = measures[number]?.spans_ns ?? [1, 1];
    this.per = per;
    this.isShares = per === "event";
    this.widths = widths;
    this.event = profile.head.events[event];
    this.profile = profile;
    /** What weights are divided by. */
    this.divisors = this.isShares
      ? { before: whole.before.weight, after: whole.after.weight }
      : { before: per === "time" ? before / 1e9 : 1, after: per === "time" ? after / 1e9 : 1 };
    const isScaled = this.divisors.before > 0 && this.divisors.after > 0;
    /** What the side before is multiplied by to be as large as the other. */
    this.scale = isScaled ? this.divisors.after / this.divisors.before : 1;
    this.isTested = !(ranges?.isShared ?? false);
    const [total, ...functions] = ranges?.sure(per) ?? this.event.sure?.[number] ?? [0];
    /** Directions of all of the event. */
    this.total = total;
    /** By function: directions of its own samples, then of those with what it called. */
    this.functions = new Uint8Array(profile.frameOfFunction.length);
    for (let at = 0; at + 1 < functions.length; at += 2) this.functions[profile.functionOf[functions[at]]] |= functions[at + 1];
  }

  /** How many functions changed beyond noise, and how many of them by self. */
  numbers() {
    const n = this.functions.reduce((sum, one) => sum + (one !== 0 ? 1 : 0), 0);
    const own = this.functions.reduce((sum, one) => sum + ((one & (MORE | LESS)) !== 0 ? 1 : 0), 0);
    return { n, own };
  }

  /** Of their own, which functions changed beyond noise, in words: callers would count a change again. */
  sure() {
    if (!this.isTested) return "not tested for significance";
    const { n, own } = this.numbers();
    const functions = n === 0 ? "no function" : counted(n, "function", "functions");
    return `${functions} changed significantly${n === 0 ? "" : `, ${own === n ? "all" : own === 0 ? "none" : wholeNumber(own)} of them by self`}`;
  }

  /**
   * In which directions a function's own samples changed beyond noise; those of a thread are as all of the event.
   * @param {number} label
   */
  ownDirections(label) {
    return label < 0 ? this.total : this.functions[this.profile.functionOf[label]] & (MORE | LESS);
  }

  /**
   * The same with what it called.
   * @param {number} label
   */
  directions(label) {
    return label < 0 ? this.total : this.functions[this.profile.functionOf[label]] >> 2;
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
   * From -1 (vanished) to 1 (new); 0 of what may be noise.
   * @param {BothSums} both
   * @param {number} directions in which it may be more than that
   */
  degree(both, directions) {
    const [was, is] = this.shares(both);
    const isSure = is > was ? (directions & MORE) !== 0 : is < was && (directions & LESS) !== 0;
    return isSure ? (is - was) / Math.max(was, is) : 0;
  }

  /**
   * Whether a box differs by more than two standard deviations of its number of samples: a function that changed may be
   * in many places with a sample or two.
   * @param {BothSums} both
   */
  isBeyondCounting(both) {
    const [was, is] = this.shares(both);
    const variance = was ** 2 / (both.before.samples || 1) + is ** 2 / (both.after.samples || 1);
    return Math.abs(is - was) > 2 * Math.sqrt(variance);
  }

  /**
   * What the sides are compared as.
   * @param {BothSums} both
   */
  shares({ before, after }) {
    const { divisors } = this;
    return [before.weight / (divisors.before || 1), after.weight / (divisors.after || 1)];
  }

  /**
   * One side's number.
   * @param {number} weight
   * @param {"before" | "after"} side
   */
  said(weight, side) {
    return this.isShares ? percent(weight, this.divisors[side]) : this.amount(weight / this.divisors[side]);
  }

  /** @param {number} weight */
  amount(weight) {
    if (this.per !== "time") return amount(this.event, weight);
    const { kind } = this.event;
    // All in one unit, with as many digits: they are there to be compared.
    if (kind.endsWith("-time")) return `${(weight / 1e9).toFixed(4)} ${kind === "cpu-time" ? "CPUs" : "threads"}`;
    return `${short(weight)}/s`;
  }

  /**
   * What lies between both numbers: points of shares, or the amount.
   * @param {BothSums} both
   */
  between(both) {
    if (this.isShares) return `${signed(this.points(both), 2)} points`;
    const [was, is] = this.shares(both);
    return `${is < was ? "-" : "+"}${this.amount(Math.abs(is - was))}`;
  }

  /** @param {BothSums} both */
  points(both) {
    const [was, is] = this.shares(both);
    return 100 * (is - was);
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
    if (both.after.samples === 0) return "removed";
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
 *   totalAfter: number, totalChange: number, own: BothSums, all: BothSums, ownDirections: number,
 *   directions: number}} ChangedRow
 */

/**
 * Rows of both sides, what is on one side alone, too.
 * @param {Profile} profile
 * @param {Counts} counts
 * @param {Grouping} grouping
 * @param {Comparison} comparison
 * @param {(key: number) => boolean} [isWanted]
 * @returns {ChangedRow[]}
 */
function changedRows(profile, counts, grouping, comparison, isWanted) {
  const none = { self: 0, total: 0, samples: 0, ownSamples: 0 };
  const before = counts.before === null ? [] : tableRows(profile, counts.before, grouping, isWanted);
  const after = tableRows(profile, counts, grouping, isWanted);
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
    const isFunction = grouping === "function" || grouping === "line";
    const label = !isFunction ? -1 : grouping === "line" ? row.key : profile.frameOfFunction[row.key];
    const isKnown = isFunction || profile.sides !== null;
    const { key, name, image, self, total, samples, ownSamples } = row;
    // Field by field: there may be a million of them.
    return {
      key, name, image, self, total, samples, ownSamples, own, all,
      ownDirections: isKnown ? comparison.ownDirections(label) : 0, directions: isKnown ? comparison.directions(label) : 0,
      selfBefore: before.self, selfAfter: after.self, selfChange: change(own),
      totalBefore: before.total, totalAfter: after.total, totalChange: change(all),
    };
  });
}
