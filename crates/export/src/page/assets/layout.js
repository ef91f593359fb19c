// Boxes of a flame graph: where each begins and how wide it is, in the event's unit; by depth from left to right.

/**
 * A column with room for more.
 * @param {any} old
 * @param {number} length
 */
function longer(old, length) {
  const column = new old.constructor(length);
  column.set(old);
  return column;
}

class Boxes {
  /**
   * Of larger trees, children of boxes narrower than such a part of what is shown are placed later: these boxes are less
   * than a pixel. `Growing` places them after the first frame, `Unfolding` as far as they are fine parts; what is narrower
   * still, when it is zoomed into or asked for.
   */
  static first = {
    most: 20000,
    parts: () => Math.min(Boxes.first.fine, Math.max(1000, Math.ceil(innerWidth * (globalThis.devicePixelRatio || 1)))),
    fine: 8000,
  };

  /** @param {number} capacity */
  constructor(capacity) {
    this.n = 0;
    this.starts = new Float64Array(capacity);
    this.widths = new Float64Array(capacity);
    this.own = new Float64Array(capacity);
    this.samples = new Float64Array(capacity);
    /** Frames; -1, -2.. are names of threads, then processes. */
    this.labels = new Int32Array(capacity);
    this.parents = new Int32Array(capacity);
    /** @type {Uint16Array | Uint32Array} */
    this.depths = new Uint16Array(capacity);
    this.whole = 0;
    /**
     * By depth, the boxes that have their place, from left to right.
     * @type {Uint32Array[]}
     */
    this.lists = [];
    /**
     * Places those that no eye misses at first, in steps, if there are some.
     * @type {Generator<undefined, void, undefined> | null}
     */
    this.rest = null;
    /** What is on boxes that are as wide as this has its place. */
    this.least = 0;
    /**
     * What opens them, if they are opened one by one.
     * @type {Unfolding | null}
     */
    this.unfolding = null;
    /** The part in which what is on narrower boxes has its place, too. */
    this.near = { start: 0, end: 0, least: Infinity };
    /** Whether what ends in a box is its function's own. */
    this.hasOwn = true;
    /** In order of time: how many rows count together. */
    this.together = 1;
    /** Whether boxes stand on their callers, and these on the name of their thread. */
    this.isFromRoot = false;
    /** Whether processes are outermost. */
    this.isGrouped = false;
    /** Whether more is to come. */
    this.isFirst = false;
    /**
     * Of two recordings, what boxes count on each side.
     * @type {Sides | null}
     */
    this.sides = null;
    /** How much they changed, if so. */
    this.degrees = new Float32Array(0);
  }

  /** By depth, all boxes from left to right. */
  get levels() {
    this.placeAll();
    return this.lists;
  }

  placeAll() {
    while (this.step());
    if (this.least > 0 && this.unfolding !== null) this.unfolding.place(this, { start: 0, end: this.whole, least: 0 });
    this.least = 0;
  }

  /** Places some of those that are left; whether there may be more. */
  step() {
    if (this.rest === null) return false;
    if (this.rest.next().done === true) this.rest = null;
    return this.rest !== null;
  }

  /**
   * Places all that is seen in a part, and beside it. Whether boxes have come.
   * @param {number} start
   * @param {number} width
   */
  reach(start, width) {
    const least = width / Boxes.first.parts();
    const { near } = this;
    const isThere = near.least <= least * 1.01 && start >= near.start && start + width <= near.end;
    if (this.unfolding === null || this.least <= least * 1.01 || isThere) return false;
    this.near = { start: start - width / 2, end: start + 1.5 * width, least };
    this.unfolding.place(this, this.near);
    return true;
  }

  /**
   * @param {number} parent
   * @param {number} label
   * @param {number} start
   */
  push(parent, label, start) {
    if (this.n === this.labels.length) this.grow();
    const box = this.n++;
    this.parents[box] = parent;
    this.labels[box] = label;
    this.starts[box] = start;
    this.depths[box] = parent < 0 ? 0 : this.depths[parent] + 1;
    return box;
  }

  grow() {
    const length = Math.max(64, this.labels.length * 2);
    this.starts = longer(this.starts, length);
    this.widths = longer(this.widths, length);
    this.own = longer(this.own, length);
    this.samples = longer(this.samples, length);
    this.labels = longer(this.labels, length);
    this.parents = longer(this.parents, length);
    this.depths = longer(this.depths, length);
  }

  /** Lists boxes by depth; they are numbered so that each level is in order. */
  close() {
    const lists = new LevelLists(this.depths.subarray(0, this.n));
    for (let box = 0; box < this.n; box++) lists.push(box);
    this.lists = lists.levels;
    return this;
  }

  /**
   * From a box outwards.
   * @param {number} box
   */
  pathOf(box) {
    const labels = [];
    for (let at = box; at >= 0; at = this.parents[at]) labels.push(this.labels[at]);
    return labels;
  }

  /**
   * The labels on the way to a box, the outermost first, if boxes stand on their callers from the thread on.
   * @param {number} box
   */
  pathFromRoot(box) {
    return this.isFromRoot && box >= 0 ? this.pathOf(box).reverse() : undefined;
  }

  /**
   * The first box of a level that ends right of a place.
   * @param {number} level
   * @param {number} place
   * @param {number} [from] boxes before this one do not, and it is likely near
   */
  firstAt(level, place, from = 0) {
    const boxes = this.lists[level];
    const ends = (/** @type {number} */ at) => this.starts[boxes[at]] + this.widths[boxes[at]];
    let low = from;
    let high = boxes.length;
    if (from > 0) {
      let step = 1;
      while (low + step < high && ends(low + step) <= place) step *= 2;
      high = Math.min(high, low + step + 1);
      low += step >> 1;
    }
    while (low < high) {
      const middle = (low + high) >>> 1;
      const box = boxes[middle];
      if (this.starts[box] + this.widths[box] > place) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /**
   * The box at a place.
   * @param {number} level
   * @param {number} place
   */
  at(level, place) {
    const boxes = this.lists[level];
    if (boxes === undefined) return -1;
    const found = boxes[this.firstAt(level, place)];
    return found !== undefined && this.starts[found] <= place ? found : -1;
  }

  /**
   * The box with these labels, the outermost first; -1 if there is none.
   * @param {number[]} path
   */
  find(path) {
    let found = -1;
    for (const label of path) {
      const child = this.childrenOf(found).find((box) => this.labels[box] === label);
      if (child === undefined) return -1;
      found = child;
    }
    return path.length === 0 ? -1 : found;
  }

  /**
   * Those on another, from left to right; on -1, the lowest.
   * @param {number} box
   */
  childrenOf(box) {
    if (this.unfolding !== null) return this.unfolding.childrenOf(this, box);
    const level = box < 0 ? 0 : this.depths[box] + 1;
    const list = this.levels[level] ?? new Uint32Array(0);
    const first = box < 0 || list.length === 0 ? 0 : this.firstAt(level, this.starts[box]);
    let end = first;
    while (end < list.length && this.parents[list[end]] === box) end++;
    return list.subarray(first, end);
  }

  /** @param {number} box */
  endOf(box) {
    return box < 0 ? this.whole : this.starts[box] + this.widths[box];
  }
}

/** Boxes by depth. */
class LevelLists {
  /**
   * @param {Uint16Array | Uint32Array} depths
   */
  constructor(depths) {
    this.depths = depths;
    const sizes = new Uint32Array(1 << 16);
    for (let box = 0; box < depths.length; box++) sizes[depths[box]]++;
    /** @type {Uint32Array[]} */
    this.levels = [];
    for (let depth = 0; sizes[depth] > 0; depth++) this.levels.push(new Uint32Array(sizes[depth]));
    this.filled = new Uint32Array(this.levels.length);
  }

  /**
   * The next of its level.
   * @param {number} box
   */
  push(box) {
    const depth = this.depths[box];
    this.levels[depth][this.filled[depth]++] = box;
  }
}
