// Trees of a selection's counts: from the outermost frame in, from the innermost out, around one function.

/**
 * Nodes at which samples of any side end.
 * @param {Counts[]} sides
 */
function countedNodes(sides) {
  const counted = new Uint8Array(sides[0].samples.length);
  for (const { samples } of sides) {
    for (let node = 0; node < samples.length; node++) if (samples[node] > 0) counted[node] = 1;
  }
  return counted;
}

/**
 * Stacks of which anything is counted, the innermost frame first: below the name of its thread or, if threads are merged,
 * that name outermost. Returns by node where a stack that ends there is in the tree.
 * @param {Profile} profile
 * @param {Counts[]} sides
 * @param {Growing} tree
 * @param {boolean} isMerged
 */
function growOutwards(profile, sides, tree, isMerged) {
  const stacks = new Turned(profile, countedNodes(sides), tree, isMerged);
  while (stacks.todo.length > 0) stacks.split();
  return stacks.moved;
}

/** Stacks from the innermost frame outwards: those on one box stand side by side, and are told apart by their next frame. */
class Turned {
  /**
   * @param {Profile} profile
   * @param {Uint8Array} counted
   * @param {Growing} tree
   * @param {boolean} isMerged
   */
  constructor(profile, counted, tree, isMerged) {
    const n = counted.length;
    this.isMerged = isMerged;
    this.nFrames = profile.names.length;
    this.parents = profile.parents;
    this.tree = tree;
    this.moved = new Int32Array(n).fill(-1);
    /** What each node's box is called. */
    this.labels = profile.labelsOfNodes();
    /** By stack, the node of its next frame. */
    this.next = new Int32Array(n);
    let [n_stacks, n_boxes] = [0, 0];
    for (let node = 0; node < n; node++) {
      n_stacks += counted[node];
      n_boxes += counted[node] * (profile.depths[node] + 1);
    }
    tree.makeRoom(n_boxes);
    this.stacks = new Int32Array(n_stacks);
    this.sorted = new Int32Array(this.stacks.length);
    /** By frame, then by name of a thread, where the stacks go whose next it is. */
    this.places = new Int32Array(profile.names.length + profile.head.comms.length);
    /**
     * Stacks that stand on a box: the first, the one after the last, the box.
     * @type {number[]}
     */
    this.todo = [];
    this.begin(profile, counted);
  }

  /**
   * Names of threads are lowest, or functions.
   * @param {Profile} profile
   * @param {Uint8Array} counted
   */
  begin(profile, counted) {
    if (this.isMerged) return this.beginMerged(counted);
    const roots = rootsOf(profile);
    /** @type {Map<number, number[]>} */
    const byComm = new Map();
    for (let node = 0; node < counted.length; node++) {
      if (counted[node] === 0) continue;
      const comm = this.labels[roots[node]];
      const list = byComm.get(comm) ?? [];
      if (list.length === 0) byComm.set(comm, list);
      list.push(node);
      this.next[node] = node;
    }
    let first = 0;
    for (const [comm, list] of byComm) {
      this.stacks.set(list, first);
      this.todo.push(first, first + list.length, this.tree.push(-1, comm));
      first += list.length;
    }
  }

  /** @param {Uint8Array} counted */
  beginMerged(counted) {
    let n = 0;
    for (let node = 0; node < counted.length; node++) {
      if (counted[node] === 0) continue;
      this.stacks[n++] = node;
      this.next[node] = node;
    }
    if (n > 0) this.todo.push(0, n, -1);
  }

  /**
   * Whether no frame of a stack is left.
   * @param {number} node
   */
  isEnd(node) {
    return node < 0 || (!this.isMerged && this.parents[node] < 0);
  }

  /**
   * Where a label is in the list of places.
   * @param {number} label
   */
  placeOf(label) {
    return label >= 0 ? label : this.nFrames - 1 - label;
  }

  /** Puts the next boxes on one. */
  split() {
    const { todo, stacks, moved, next, labels, tree } = this;
    const box = /** @type {number} */ (todo.pop());
    const end = /** @type {number} */ (todo.pop());
    const first = /** @type {number} */ (todo.pop());
    if (end - first > 1) return this.splitMany(first, end, box);
    const stack = stacks[first];
    let here = box;
    for (let node = next[stack]; !this.isEnd(node); node = this.parents[node]) here = tree.push(here, labels[node]);
    moved[stack] = here;
  }

  /**
   * @param {number} first
   * @param {number} end
   * @param {number} box
   */
  splitMany(first, end, box) {
    const { todo, stacks, sorted, moved, next, parents, labels, places, tree } = this;
    /** @type {number[]} */
    const found = [];
    for (let at = first; at < end; at++) {
      const node = next[stacks[at]];
      if (!this.isEnd(node) && places[this.placeOf(labels[node])]++ === 0) found.push(labels[node]);
    }
    let place = first;
    for (const label of found) {
      const n = places[this.placeOf(label)];
      todo.push(place, place + n, tree.push(box, label));
      places[this.placeOf(label)] = place;
      place += n;
    }
    for (let at = first; at < end; at++) {
      const stack = stacks[at];
      const node = next[stack];
      if (this.isEnd(node)) {
        moved[stack] = box;
        continue;
      }
      sorted[places[this.placeOf(labels[node])]++] = stack;
      next[stack] = parents[node];
    }
    for (const label of found) places[this.placeOf(label)] = 0;
    stacks.set(sorted.subarray(first, place), first);
  }
}

/**
 * Counts stacks in a tree that has them.
 * @param {Growing} tree
 * @param {Int32Array} moved
 * @param {Counts} counts
 */
function countMoved(tree, moved, counts) {
  const { n, weights, samples, own, parents } = tree;
  for (let node = 0; node < moved.length; node++) {
    if (counts.samples[node] === 0) continue;
    const at = moved[node];
    const weight = counts.weights[node];
    weights[at] += weight;
    own[at] += weight;
    samples[at] += counts.samples[node];
  }
  // Children come after their parents.
  for (let node = n - 1; node >= 0; node--) {
    const parent = parents[node];
    if (parent < 0 || samples[node] === 0) continue;
    weights[parent] += weights[node];
    samples[parent] += samples[node];
  }
}

/**
 * @param {Growing} tree
 * @param {number} node
 * @param {number} weight
 * @param {number} samples
 */
function add(tree, node, weight, samples) {
  tree.weights[node] += weight;
  tree.samples[node] += samples;
}

/**
 * The outermost node of each.
 * @param {Profile} profile
 */
function rootsOf(profile) {
  const roots = new Uint32Array(profile.parents.length);
  for (let node = 0; node < roots.length; node++) {
    const parent = profile.parents[node];
    roots[node] = parent < 0 ? node : roots[parent];
  }
  return roots;
}

/**
 * What a function called, and who called it: each sample that has it counts once, at the outermost place.
 * @param {Profile} profile
 * @param {Counts} counts
 * @param {number} wanted
 * @param {{callers: Growing, callees: Growing}} trees
 */
function growAround(profile, counts, wanted, { callers, callees }) {
  const { parents, labels, functionOf } = profile;
  const totals = counts.totals(profile);
  const label = profile.frameOfFunction[wanted];
  // -1: not below the function.
  const moved = new Int32Array(parents.length).fill(-1);
  for (let node = 0; node < parents.length; node++) {
    if (totals.samples[node] === 0 || parents[node] < 0) continue;
    const parent = moved[parents[node]];
    const isFirst = parent < 0 && functionOf[labels[node]] === wanted;
    if (parent < 0 && !isFirst) continue;
    const here = callees.child(parent, isFirst ? label : profile.labelOf(node));
    moved[node] = here;
    add(callees, here, totals.weights[node], totals.samples[node]);
    callees.own[here] += counts.weights[node];
    if (!isFirst) continue;
    let outer = callers.child(-1, label);
    add(callers, outer, totals.weights[node], totals.samples[node]);
    for (let at = parents[node]; at >= 0; at = parents[at]) {
      outer = callers.child(outer, profile.labelOf(at));
      add(callers, outer, totals.weights[node], totals.samples[node]);
    }
    callers.own[outer] += totals.weights[node];
  }
}
