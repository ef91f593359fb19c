// Which changes between two ranges of time are more than noise: the test of `rprof diff` with one recording a side
// (crates/diff/README.md has the method, crates/diff/src/judge.rs and src/statistics the same steps).

/** Blocks of time that a side is cut into. */
const BLOCKS = 64;
/** At least as many blocks remain when they are taken together. */
const FEWEST_BLOCKS = 16;
/** How much runs of the same program vary at least: this share. */
const UNSEEN = 0.01;
/** Rows with fewer samples on both sides together say nothing. */
const FEWEST_SAMPLES = 10;
/** Fewer rows do not tell how much all of them vary together. */
const FEWEST_ROWS = 10;
/** The median of squares of standard normal numbers. */
const MEDIAN_OF_SQUARES = 0.454936;
/** What all rows have in common is taken to be the machine, up to this standard deviation of logarithms. */
const MOST_SHARED = 0.25;
/** False discoveries among all marks, at most. */
const ALPHA = 0.05;

/**
 * What something counts on a side: all, and in each block of time.
 * @typedef {{weight: number, samples: number, blocks: ArrayLike<number>}} SideOfRow
 * @typedef {{before: SideOfRow, after: SideOfRow}} JudgedRow
 * @typedef {{whole: number, blocks: ArrayLike<number>}} Divisor
 * @typedef {{mean: number, variance: number, degrees: number}} Amount
 * @typedef {{value: number, error: number, degrees: number, isLog: boolean}} Contrast
 */

/**
 * What amounts of a side are divided by.
 * @param {"event" | "run" | "time"} per
 * @param {SideOfRow} total
 * @param {number} seconds
 * @returns {Divisor}
 */
function divisorOf(per, { blocks, weight }, seconds) {
  if (per === "time") return { whole: seconds, blocks: [] };
  if (per === "event") return { whole: weight, blocks };
  // Noise is what a row has beyond its part of what all did in a block.
  return { whole: 1, blocks: Float64Array.from(blocks, (block) => block / Math.max(weight, 1)) };
}

/** Judges rows of two sides. */
class Judge {
  /**
   * @param {JudgedRow} total
   * @param {{before: Divisor, after: Divisor}} divisors
   */
  constructor(total, divisors) {
    this.total = total;
    this.divisors = divisors;
    this.inflation = 1;
    this.shared = 0;
    /**
     * What rows amount to, both sides.
     * @type {Map<JudgedRow, [Amount, Amount]>}
     */
    this.known = new Map();
  }

  /**
   * Learns from all rows what no single one says.
   * @param {JudgedRow[]} rows
   */
  learn(rows) {
    const enough = rows.filter((row) => samplesOfBoth(row) >= 2 * FEWEST_SAMPLES);
    const contrasts = enough.map((row) => this.contrast(row)).filter(({ isLog }) => isLog);
    const isEnough = contrasts.length >= FEWEST_ROWS;
    const shift = isEnough ? medianOf(contrasts.map(({ value }) => value)) : this.contrast(this.total).value;
    const squares = contrasts.filter(({ error }) => error > 0).map(({ value, error }) => ((value - shift) / error) ** 2);
    this.inflation = isEnough ? Math.max(1, Math.sqrt(medianOf(squares) / MEDIAN_OF_SQUARES)) : 1;
    this.shared = Math.min(MOST_SHARED, Math.abs(shift));
  }

  /**
   * The probability of so large a difference by noise alone; `null` if there are too few samples to say.
   * @param {JudgedRow} row
   */
  pValue(row) {
    const { before, after } = this.total;
    if (samplesOfBoth(row) < FEWEST_SAMPLES || before.samples === 0 || after.samples === 0) return null;
    const { value, error, degrees } = this.contrast(row);
    return twoSided(error > 0 ? value / error : 0, degrees);
  }

  /**
   * @param {JudgedRow} row
   * @returns {Contrast}
   */
  contrast(row) {
    const sides = this.amounts(row);
    const [before, after] = sides;
    const isLog = before.mean > 0 && after.mean > 0;
    const parts = sides.map(({ mean, variance }) => (isLog ? variance / (mean * mean) : variance));
    const variance = parts[0] + parts[1];
    const squares = (parts[0] ** 2 + parts[1] ** 2) / before.degrees;
    const degrees = variance ** 2 / squares;
    const beside = this.shared * (isLog ? 1 : Math.max(before.mean, after.mean));
    return {
      value: isLog ? Math.log(after.mean / before.mean) : after.mean - before.mean,
      error: Math.hypot(Math.sqrt(variance) * this.inflation, beside),
      degrees: Number.isFinite(degrees) ? Math.max(1, degrees) : 1,
      isLog,
    };
  }

  /**
   * @param {JudgedRow} row
   * @returns {[Amount, Amount]}
   */
  amounts(row) {
    let known = this.known.get(row);
    if (known === undefined) this.known.set(row, (known = [this.amount(row, "before"), this.amount(row, "after")]));
    return known;
  }

  /**
   * What a side of a row amounts to, and how sure that is.
   * @param {JudgedRow} row
   * @param {"before" | "after"} side
   * @returns {Amount}
   */
  amount(row, side) {
    const [own, all, divisor] = [row[side], this.total[side], this.divisors[side]];
    const divided = (/** @type {number} */ amount) => (divisor.whole > 0 ? amount / divisor.whole : 0);
    const mean = divided(own.weight);
    const { blocks } = divisor;
    /** @type {number[]} */
    const around = [];
    for (let at = 0; at < own.blocks.length; at++) around.push(divided(own.blocks[at] - (at < blocks.length ? blocks[at] : 0) * mean));
    // Samples are whole, and at least as random as they may be.
    const unit = divided(all.weight / Math.max(1, all.samples));
    const random = own.samples * Math.max(0, 1 - own.samples / Math.max(1, all.samples));
    const seen = Math.max(varianceOfSum(around), unit * unit * Math.max(1, random));
    return { mean, variance: seen + (UNSEEN * mean) ** 2, degrees: Math.max(1, all.blocks.length / 2) };
  }
}

/** @param {JudgedRow} row */
function samplesOfBoth({ before, after }) {
  return before.samples + after.samples;
}

/** @param {number[]} values */
function medianOf(values) {
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

/**
 * The variance of the sum of blocks, by differences of neighbours; noise that lasts longer than a block is seen where
 * blocks are taken together. Overwrites the blocks.
 * @param {number[]} blocks
 */
function varianceOfSum(blocks) {
  let n = blocks.length;
  let most = varianceByNeighbours(blocks, n);
  while (n >= 2 * FEWEST_BLOCKS) {
    n >>= 1;
    for (let at = 0; at < n; at++) blocks[at] = blocks[2 * at] + blocks[2 * at + 1];
    most = Math.max(most, varianceByNeighbours(blocks, n));
  }
  return most;
}

/**
 * @param {number[]} blocks
 * @param {number} n how many of them
 */
function varianceByNeighbours(blocks, n) {
  let squares = 0;
  for (let at = 1; at < n; at++) squares += (blocks[at] - blocks[at - 1]) ** 2;
  return n < 2 ? 0 : (squares / (2 * (n - 1))) * n;
}

/**
 * For each p-value, the smallest bound on false discoveries at which it is one (Benjamini, Hochberg 1995).
 * @param {number[]} values
 */
function adjusted(values) {
  const order = [...values.keys()].sort((a, b) => values[b] - values[a]);
  const found = values.map(() => 1);
  let least = 1;
  order.forEach((at, above) => {
    least = Math.min(least, (values[at] * values.length) / (values.length - above));
    found[at] = least;
  });
  return found;
}

/**
 * Student's t: the probability to be further from 0, on both sides.
 * @param {number} t
 * @param {number} degrees
 */
function twoSided(t, degrees) {
  if (!Number.isFinite(t)) return 0;
  return incompleteBeta(degrees / 2, 0.5, degrees / (degrees + t * t));
}

/**
 * Lanczos: J. SIAM Numer. Anal. Ser. B 1, 1964; with g = 5.
 * @param {number} x
 */
function lnGamma(x) {
  const factors = [
    76.18009172947146, -86.50532032941677, 24.01409824083091, -1.231739572450155, 0.001208650973866179, -0.000005395239384953,
  ];
  const sum = factors.reduce((sum, factor, at) => sum + factor / (x + 1 + at), 1.000000000190015);
  const base = x + 5.5;
  return (x + 0.5) * Math.log(base) - base + Math.log((2.5066282746310005 * sum) / x);
}

/**
 * @param {number} a
 * @param {number} b
 * @param {number} x
 */
function incompleteBeta(a, b, x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const front = Math.exp(lnGamma(a + b) - lnGamma(a) - lnGamma(b) + a * Math.log(x) + b * Math.log1p(-x));
  if (x < (a + 1) / (a + b + 2)) return (front * betaFraction(a, b, x)) / a;
  return 1 - (front * betaFraction(b, a, 1 - x)) / b;
}

/**
 * A continued fraction by Lentz's method (Thompson, Barnett, J. Comput. Phys. 64, 1986).
 * @param {number} a
 * @param {number} b
 * @param {number} x
 */
function betaFraction(a, b, x) {
  const away = (/** @type {number} */ value) => (Math.abs(value) < 1e-300 ? 1e-300 : value);
  let c = 1;
  let d = 1 / away(1 - ((a + b) * x) / (a + 1));
  let value = d;
  for (let m = 1; m < 500; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    let factor = 1;
    for (const term of [even, odd]) {
      d = 1 / away(1 + term * d);
      c = away(1 + term / c);
      factor = d * c;
      value *= factor;
    }
    if (Math.abs(factor - 1) < 1e-14) break;
  }
  return value;
}
