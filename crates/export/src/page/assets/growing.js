// Trees of stacks that are counted, and their nodes as boxes.

/**
 * In which directions nodes of a tree changed beyond noise; `outer` is the answer for the parent.
 * @typedef {(comparison: Comparison, tree: Growing, at: {node: number, outer: number}) => number} StandsFor
 */

/** @type {{callees: StandsFor, callers: StandsFor, inverted: StandsFor, merged: StandsFor}} */
const STANDS_FOR = {
  callees: (comparison, tree, { node }) => comparison.directions(tree.labels[node]),
  callers: (comparison, tree, { node, outer }) => (tree.parents[node] < 0 ? comparison.directions(tree.labels[node]) : outer),
  /** Below the name of a thread is the function that samples were taken in. */
  inverted: (comparison, tree, { node, outer }) => {
    const parent = tree.parents[node];
    return parent < 0 || tree.parents[parent] < 0 ? comparison.ownDirections(tree.labels[node]) : outer;
  },
  /** Functions that samples were taken in are lowest, whatever the thread. */
  merged: (comparison, tree, { node, outer }) => (tree.parents[node] < 0 ? comparison.ownDirections(tree.labels[node]) : outer),
};

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
    /** Made when a node is looked for. */
    this.slots = new Int32Array(0);
    /**
     * Of two recordings.
     * @type {Sides | null}
     */
    this.sides = null;
    /** @type {Comparison | null} */
    this.comparison = null;
    /** What a node stands for: its function with what that called, or a part of what its outermost one is. */
    this.standsFor = STANDS_FOR.callees;
  }

  /**
   * A tree that has its nodes, and counts nothing yet.
   * @param {MergedTree} merged
   */
  static over({ parents, labels }) {
    const tree = new Growing();
    const [weights, samples, own] = [0, 1, 2].map(() => new Float64Array(parents.length));
    return Object.assign(tree, { n: parents.length, parents, labels, weights, samples, own });
  }

  /**
   * Makes room for nodes, of a tree that has none.
   * @param {number} likely how many there will likely be
   */
  makeRoom(likely) {
    if (likely > this.labels.length) Object.assign(this, new Growing(likely));
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
    if (this.slots.length === 0) this.fillSlots();
    let slot = this.slotOf(parent, label);
    const found = this.slots[slot];
    if (found >= 0) return found;
    if (this.n === this.labels.length) {
      this.grow();
      slot = this.slotOf(parent, label);
    }
    const node = this.push(parent, label);
    this.slots[slot] = node;
    return node;
  }

  /**
   * A new child, which is not looked for.
   * @param {number} parent
   * @param {number} label
   */
  push(parent, label) {
    if (this.n === this.labels.length) this.grow();
    const node = this.n++;
    this.labels[node] = label;
    this.parents[node] = parent;
    return node;
  }

  grow() {
    const length = this.labels.length * 2;
    this.labels = longer(this.labels, length);
    this.parents = longer(this.parents, length);
    this.weights = longer(this.weights, length);
    this.samples = longer(this.samples, length);
    this.own = longer(this.own, length);
    if (this.slots.length > 0) this.fillSlots();
  }

  fillSlots() {
    this.slots = new Int32Array(this.labels.length * 4).fill(-1);
    for (let node = 0; node < this.n; node++) this.slots[this.slotOf(this.parents[node], this.labels[node])] = node;
  }

  /**
   * Its nodes as boxes, siblings in an order. What weighs nothing is on no level.
   * @param {Profile} profile
   * @param {"heavy" | "name"} order
   */
  boxes(profile, order) {
    const { n, parents, weights } = this;
    const { starts, nodes } = siblings(parents.subarray(0, n), weights, this.labels, profile, order);
    const boxes = new Boxes(0);
    boxes.n = n;
    boxes.labels = this.labels;
    boxes.parents = parents;
    boxes.widths = weights;
    boxes.own = this.own;
    boxes.samples = this.samples;
    boxes.starts = new Float64Array(n);
    boxes.depths = new Uint16Array(n);
    for (let node = 0; node < n; node++) boxes.depths[node] = parents[node] < 0 ? 0 : boxes.depths[parents[node]] + 1;
    // The next one last.
    const todo = new Int32Array(nodes.length);
    let n_todo = 0;
    /**
     * @param {number} node
     * @param {number} start
     */
    const pushAll = (node, start) => {
      const [first, end] = [starts[node + 1], starts[node + 2]];
      let place = start;
      for (let at = first; at < end; at++) {
        const child = nodes[at];
        todo[n_todo + end - 1 - at] = child;
        boxes.starts[child] = place;
        place += weights[child];
      }
      n_todo += end - first;
      return place;
    };
    boxes.whole = pushAll(-1, 0);
    const lists = new LevelLists(boxes.depths, weights);
    while (n_todo > 0) {
      const node = todo[--n_todo];
      lists.push(node);
      pushAll(node, boxes.starts[node]);
    }
    boxes.levels = lists.levels;
    if (this.sides !== null) this.compareBoxes(boxes, this.sides);
    return boxes;
  }

  /**
   * @param {Boxes} boxes
   * @param {Sides} sides
   */
  compareBoxes(boxes, sides) {
    boxes.sides = sides;
    const { comparison } = this;
    if (comparison === null) return;
    const directions = new Uint8Array(boxes.n);
    boxes.degrees = new Float32Array(boxes.n);
    for (let box = 0; box < boxes.n; box++) {
      // Children come after their parents.
      directions[box] = this.standsFor(comparison, this, { node: box, outer: directions[this.parents[box]] });
      const both = bothOf(sides, box);
      boxes.degrees[box] = comparison.isBeyondCounting(both) ? comparison.degree(both, directions[box]) : 0;
    }
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
    if (starts[list + 1] - starts[list] > 1) sortPart(nodes, starts[list], starts[list + 1], compare);
  }
  return { starts, nodes };
}

/** Fewer numbers are sorted here: most lists are short, and it is the call that takes time. */
const SHORT = 16;

/**
 * Sorts a part of some numbers.
 * @param {Uint32Array} numbers
 * @param {number} first
 * @param {number} end
 * @param {(a: number, b: number) => number} compare
 */
function sortPart(numbers, first, end, compare) {
  if (end - first > SHORT) return void numbers.subarray(first, end).sort(compare);
  for (let at = first + 1; at < end; at++) {
    const one = numbers[at];
    let place = at;
    for (; place > first && compare(numbers[place - 1], one) > 0; place--) numbers[place] = numbers[place - 1];
    numbers[place] = one;
  }
}
