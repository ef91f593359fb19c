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
    const boxes = new Boxes(0);
    boxes.n = n;
    boxes.labels = this.labels;
    boxes.parents = parents;
    boxes.widths = weights;
    boxes.own = this.own;
    boxes.samples = this.samples;
    boxes.starts = new Float64Array(n);
    boxes.depths = depthsOf(parents, n);
    const children = childrenOf(parents.subarray(0, n));
    const compare = siblingOrder(this, profile, order);
    const { most, parts } = Boxes.first;
    boxes.least = n > most ? whole(children, weights) / parts() : 0;
    layOut(boxes, children, compare, boxes.least);
    if (n > most) boxes.rest = restOf(boxes, children, compare);
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
 * Children of each node, as lists one after the other: those of a node are from `firsts[node + 1]` to `firsts[node + 2]`,
 * the outermost nodes are those of -1. A list is in the order that it was sorted in last.
 * @typedef {{firsts: Uint32Array, nodes: Uint32Array}} ChildLists
 */

/**
 * @param {Int32Array} parents
 * @returns {ChildLists}
 */
function childrenOf(parents) {
  const n = parents.length;
  const firsts = new Uint32Array(n + 2);
  for (let node = 0; node < n; node++) firsts[parents[node] + 2]++;
  for (let list = 1; list < firsts.length; list++) firsts[list] += firsts[list - 1];
  const filled = firsts.slice();
  const nodes = new Uint32Array(n);
  for (let node = 0; node < n; node++) nodes[filled[parents[node] + 1]++] = node;
  return { firsts, nodes };
}

/**
 * @param {Int32Array} parents
 * @param {number} n
 */
function depthsOf(parents, n) {
  const depths = new Uint16Array(n);
  for (let node = 0; node < n; node++) depths[node] = parents[node] < 0 ? 0 : depths[parents[node]] + 1;
  return depths;
}

/**
 * Places what a first picture leaves out.
 * @param {Boxes} boxes
 * @param {ChildLists} children
 * @param {(a: number, b: number) => number} compare
 * @returns {Generator<undefined, void, undefined>}
 */
function* restOf(boxes, children, compare) {
  layOut(boxes, children, compare, 0);
}

/**
 * Which of two siblings comes first. It is one order, whatever they were in before.
 * @param {Growing} tree
 * @param {Profile} profile
 * @param {"heavy" | "name"} order
 */
function siblingOrder(tree, profile, order) {
  const rankOf = profile.nameRanks();
  /**
   * @param {number} a
   * @param {number} b
   */
  const byName = (a, b) => rankOf(tree.labels[a]) - rankOf(tree.labels[b]) || a - b;
  /**
   * @param {number} a
   * @param {number} b
   */
  const byWeight = (a, b) => tree.weights[b] - tree.weights[a] || byName(a, b);
  return order === "heavy" ? byWeight : byName;
}

/**
 * What all outermost nodes weigh.
 * @param {ChildLists} children
 * @param {Float64Array} weights
 */
function whole({ firsts, nodes }, weights) {
  let sum = 0;
  for (let at = 0; at < firsts[1]; at++) sum += weights[nodes[at]];
  return sum;
}

/**
 * Places boxes level by level, each on its parent. What weighs nothing is on no level, and nothing is on what is narrower
 * than the least width.
 * @param {Boxes} boxes
 * @param {ChildLists} children
 * @param {(a: number, b: number) => number} compare
 * @param {number} least
 */
function layOut(boxes, { firsts, nodes }, compare, least) {
  const { starts, widths } = boxes;
  const placed = new Uint32Array(nodes.length);
  boxes.lists = [];
  let [begin, end] = [0, 0];
  // What stands at -1 is all.
  for (let at = -1; at < end; at++) {
    if (at === begin) {
      boxes.lists.push(placed.subarray(begin, end));
      begin = end;
    }
    const node = at < 0 ? -1 : placed[at];
    const [first, last] = [firsts[node + 1], firsts[node + 2]];
    if (first === last || (node >= 0 && widths[node] < least)) continue;
    if (last - first > 1) sortPart(nodes, first, last, compare);
    let next = node < 0 ? 0 : starts[node];
    for (let place = first; place < last; place++) {
      const child = nodes[place];
      const width = widths[child];
      if (width <= 0) continue;
      starts[child] = next;
      next += width;
      placed[end++] = child;
    }
    if (node < 0) boxes.whole = next;
  }
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
  if (end - first > SHORT) {
    let at = first + 1;
    while (at < end && compare(numbers[at - 1], numbers[at]) <= 0) at++;
    if (at < end) numbers.subarray(first, end).sort(compare);
    return;
  }
  for (let at = first + 1; at < end; at++) {
    const one = numbers[at];
    let place = at;
    for (; place > first && compare(numbers[place - 1], one) > 0; place--) numbers[place] = numbers[place - 1];
    numbers[place] = one;
  }
}
