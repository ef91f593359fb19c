// Boxes of a flame graph: where each begins and how wide it is, in the event's unit; by depth from left to right.

class Boxes {
  /** @param {number} capacity */
  constructor(capacity) {
    this.n = 0;
    this.starts = new Float64Array(capacity);
    this.widths = new Float64Array(capacity);
    this.own = new Float64Array(capacity);
    this.samples = new Float64Array(capacity);
    /** Frames; -1, -2.. are names of threads. */
    this.labels = new Int32Array(capacity);
    this.parents = new Int32Array(capacity);
    this.depths = new Uint16Array(capacity);
    this.whole = 0;
    /**
     * By depth, the boxes from left to right.
     * @type {Uint32Array[]}
     */
    this.levels = [];
    /** Whether what ends in a box is its function's own. */
    this.hasOwn = true;
    /** In order of time: how many rows count together. */
    this.together = 1;
    /**
     * Of two recordings, what boxes count on each side.
     * @type {Sides | null}
     */
    this.sides = null;
    /** How much they changed, if so. */
    this.degrees = new Float32Array(0);
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
    /** @param {any} old */
    const larger = (old) => {
      const column = new old.constructor(length);
      column.set(old);
      return column;
    };
    this.starts = larger(this.starts);
    this.widths = larger(this.widths);
    this.own = larger(this.own);
    this.samples = larger(this.samples);
    this.labels = larger(this.labels);
    this.parents = larger(this.parents);
    this.depths = larger(this.depths);
  }

  /** Lists boxes by depth; they are numbered so that each level is in order. */
  close() {
    /** @type {number[]} */
    const sizes = [];
    for (let box = 0; box < this.n; box++) sizes[this.depths[box]] = (sizes[this.depths[box]] ?? 0) + 1;
    this.levels = sizes.map((size) => new Uint32Array(size));
    const filled = new Uint32Array(sizes.length);
    for (let box = 0; box < this.n; box++) this.levels[this.depths[box]][filled[this.depths[box]]++] = box;
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
   * The first box of a level that ends right of a place.
   * @param {number} level
   * @param {number} place
   */
  firstAt(level, place) {
    const boxes = this.levels[level];
    let low = 0;
    let high = boxes.length;
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
    const boxes = this.levels[level];
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
    for (let level = 0; level < path.length; level++) {
      const boxes = this.levels[level] ?? [];
      const first = found < 0 ? 0 : this.firstAt(level, this.starts[found]);
      const parent = found;
      found = -1;
      for (let at = first; at < boxes.length && this.starts[boxes[at]] <= this.endOf(parent); at++) {
        if (this.labels[boxes[at]] === path[level] && this.parents[boxes[at]] === parent) {
          found = boxes[at];
          break;
        }
      }
      if (found < 0) return -1;
    }
    return found;
  }

  /** @param {number} box */
  endOf(box) {
    return box < 0 ? this.whole : this.starts[box] + this.widths[box];
  }
}

/** A tree that grows: children by parent and label, in tables of numbers. */
class Growing {
  /** @param {number} [likely] how many nodes there will likely be */
  constructor(likely = 0) {
    const room = 2 ** Math.ceil(Math.log2(Math.max(1024, likely)));
    this.n = 0;
    this.labels = new Int32Array(room);
    this.parents = new Int32Array(room);
    this.weights = new Float64Array(room);
    this.samples = new Float64Array(room);
    this.own = new Float64Array(room);
    this.slots = new Int32Array(room * 4).fill(-1);
    /**
     * Of two recordings.
     * @type {Sides | null}
     */
    this.sides = null;
    /** @type {Comparison | null} */
    this.comparison = null;
  }

  /** What was counted so far; from now on the tree counts from nothing. @returns {Columns} */
  setAside() {
    const { weights, samples, own } = this;
    const length = this.labels.length;
    this.weights = new Float64Array(length);
    this.samples = new Float64Array(length);
    this.own = new Float64Array(length);
    return { weights, samples, own };
  }

  /**
   * What is counted is the side after; from now on nodes weigh as much as they are to be wide.
   * @param {Columns} before
   * @param {Comparison} comparison
   */
  compare(before, comparison) {
    const after = this.setAside();
    /** @param {Float64Array} column */
    const filled = (column) => {
      const whole = new Float64Array(this.labels.length);
      whole.set(column);
      return whole;
    };
    this.sides = { before: { weights: filled(before.weights), samples: filled(before.samples), own: filled(before.own) }, after };
    this.comparison = comparison;
    // Children come after their parents.
    for (let node = this.n - 1; node >= 0; node--) {
      this.own[node] = comparison.ownWidth(this.sides, node);
      this.weights[node] += this.own[node];
      if (this.parents[node] >= 0) this.weights[this.parents[node]] += this.weights[node];
    }
  }

  /**
   * @param {number} parent
   * @param {number} label
   */
  slotOf(parent, label) {
    const mask = this.slots.length - 1;
    let slot = (Math.imul(parent + 1, 0x9e3779b1) ^ Math.imul(label + 7, 0x85ebca6b)) >>> 0;
    slot = (slot ^ (slot >>> 15)) & mask;
    for (;;) {
      const node = this.slots[slot];
      if (node < 0 || (this.parents[node] === parent && this.labels[node] === label)) return slot;
      slot = (slot + 1) & mask;
    }
  }

  /**
   * @param {number} parent
   * @param {number} label
   * @returns {number}
   */
  child(parent, label) {
    const slot = this.slotOf(parent, label);
    const found = this.slots[slot];
    if (found >= 0) return found;
    if (this.n === this.labels.length) {
      this.grow();
      return this.child(parent, label);
    }
    const node = this.n++;
    this.labels[node] = label;
    this.parents[node] = parent;
    this.slots[slot] = node;
    return node;
  }

  grow() {
    const length = this.labels.length * 2;
    /** @param {any} old */
    const larger = (old) => {
      const column = new old.constructor(length);
      column.set(old);
      return column;
    };
    this.labels = larger(this.labels);
    this.parents = larger(this.parents);
    this.weights = larger(this.weights);
    this.samples = larger(this.samples);
    this.own = larger(this.own);
    this.slots = new Int32Array(length * 4).fill(-1);
    for (let node = 0; node < this.n; node++) this.slots[this.slotOf(this.parents[node], this.labels[node])] = node;
  }

  /**
   * Boxes of it, siblings in an order.
   * @param {Profile} profile
   * @param {"heavy" | "name"} order
   */
  boxes(profile, order) {
    const lists = siblings(this.parents.subarray(0, this.n), this.weights, this.labels, profile, order);
    const boxes = new Boxes(this.n);
    const boxOf = new Int32Array(this.n);
    /** @type {number[]} */
    const todo = [];
    // Where the next child of each box begins.
    const next = new Float64Array(this.n);
    /** @param {number} parent */
    const pushAll = (parent) => {
      for (let at = lists.starts[parent + 2] - 1; at >= lists.starts[parent + 1]; at--) todo.push(lists.nodes[at]);
    };
    pushAll(-1);
    while (todo.length > 0) {
      const node = /** @type {number} */ (todo.pop());
      const parent = this.parents[node] < 0 ? -1 : boxOf[this.parents[node]];
      const start = parent < 0 ? boxes.whole : next[parent];
      const box = boxes.push(parent, this.labels[node], start);
      boxOf[node] = box;
      boxes.widths[box] = this.weights[node];
      boxes.own[box] = this.own[node];
      boxes.samples[box] = this.samples[node];
      next[box] = start;
      if (parent < 0) boxes.whole += this.weights[node];
      else next[parent] += this.weights[node];
      pushAll(node);
    }
    if (this.sides !== null) this.sidesOf(boxes, boxOf, this.sides);
    return boxes.close();
  }

  /**
   * @param {Boxes} boxes
   * @param {Int32Array} boxOf
   * @param {Sides} sides
   */
  sidesOf(boxes, boxOf, { before, after }) {
    /** @param {Float64Array} column */
    const moved = (column) => {
      const byBox = new Float64Array(boxes.n);
      for (let node = 0; node < this.n; node++) if (this.weights[node] > 0) byBox[boxOf[node]] = column[node];
      return byBox;
    };
    /** @param {Columns} side */
    const columns = (side) => ({ weights: moved(side.weights), samples: moved(side.samples), own: moved(side.own) });
    const sides = { before: columns(before), after: columns(after) };
    boxes.sides = sides;
    const { comparison } = this;
    if (comparison === null) return;
    boxes.degrees = Float32Array.from({ length: boxes.n }, (_, box) => comparison.degree(bothOf(sides, box)));
  }
}

/**
 * Children of each node in an order, as lists one after the other: that of the root, of node 0, of node 1..
 * @param {Int32Array} parents
 * @param {Float64Array} weights
 * @param {Int32Array | Uint32Array} labels
 * @param {Profile} profile
 * @param {"heavy" | "name"} order
 */
function siblings(parents, weights, labels, profile, order) {
  const n = parents.length;
  const starts = new Uint32Array(n + 2);
  for (let node = 0; node < n; node++) if (weights[node] > 0) starts[parents[node] + 2]++;
  for (let list = 1; list < starts.length; list++) starts[list] += starts[list - 1];
  const filled = starts.slice();
  const rankOf = profile.nameRanks();
  const nodes = new Uint32Array(starts[n + 1]);
  for (let node = 0; node < n; node++) if (weights[node] > 0) nodes[filled[parents[node] + 1]++] = node;
  /**
   * @param {number} a
   * @param {number} b
   */
  const byName = (a, b) => rankOf(labels[a]) - rankOf(labels[b]);
  /**
   * @param {number} a
   * @param {number} b
   */
  const byWeight = (a, b) => weights[b] - weights[a] || byName(a, b);
  const compare = order === "heavy" ? byWeight : byName;
  for (let list = 0; list <= n; list++) {
    if (starts[list + 1] - starts[list] > 1) nodes.subarray(starts[list], starts[list + 1]).sort(compare);
  }
  return { starts, nodes };
}
