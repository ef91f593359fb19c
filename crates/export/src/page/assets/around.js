// What stacks count in trees that have them, and trees around one function.

/**
 * Nodes at which samples of any side end.
 * @param {NodeCounts[]} sides
 */
function countedNodes(sides) {
  const counted = new Uint8Array(sides[0].samples.length);
  for (const { samples } of sides) {
    for (let node = 0; node < samples.length; node++) if (samples[node] > 0) counted[node] = 1;
  }
  return counted;
}

/**
 * Counts stacks in a tree that has them.
 * @param {Growing} tree
 * @param {Int32Array} moved
 * @param {NodeCounts} counts
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
 * @param {{parents: Int32Array}} stacks
 */
function rootsOf({ parents }) {
  const roots = new Uint32Array(parents.length);
  for (let node = 0; node < roots.length; node++) {
    const parent = parents[node];
    roots[node] = parent < 0 ? node : roots[parent];
  }
  return roots;
}

/**
 * The outermost nodes of a function: each sample that has it is below one of them.
 * @param {Profile} profile
 * @param {Counts} counts
 * @param {number} wanted
 */
function outermostNodes(profile, counts, wanted) {
  const { parents, labels, functionOf } = profile;
  const { samples } = counts.totals(profile);
  const ends = profile.nodeEnds();
  /** @type {number[]} */
  const nodes = [];
  for (let node = 0; node < parents.length;) {
    const isFirst = parents[node] >= 0 && functionOf[labels[node]] === wanted && samples[node] > 0;
    if (isFirst) nodes.push(node);
    node = isFirst ? ends[node] : node + 1;
  }
  return nodes;
}

/**
 * Whether a function calls itself, at once or through others.
 * @param {Profile} profile
 * @param {Counts} counts
 * @param {number} wanted its number
 * @param {number[]} outermost its outermost nodes
 */
function isRecursive(profile, counts, wanted, outermost) {
  const { labels, functionOf } = profile;
  const { samples } = counts.totals(profile);
  const ends = profile.nodeEnds();
  return outermost.some((node) => {
    for (let inner = node + 1; inner < ends[node]; inner++) {
      if (functionOf[labels[inner]] === wanted && samples[inner] > 0 && !profile.isWait(inner)) return true;
    }
    return false;
  });
}

/** What a function called, from its outermost nodes on. */
class Callees extends Unfolding {
  /**
   * @param {Profile} profile
   * @param {Counts} counts
   * @param {{label: number, nodes: number[]}} around
   */
  constructor(profile, counts, around) {
    super(profile, [counts], stacksByThread(profile));
    this.around = around;
    this.counts = counts;
    this.totals = counts.totals(profile);
  }

  /** @param {number} box */
  follow(box) {
    const { around: { label, nodes }, same, labelOf, stacks: { ends, labels } } = this;
    if (box < 0) for (const node of nodes) this.join(-1, label, node);
    for (let node = box < 0 ? -1 : this.heads[box]; node >= 0; node = same[node]) {
      for (let child = node + 1, end = ends[node]; child < end; child = ends[child]) this.join(box, labelOf[labels[child]], child);
    }
  }

  /**
   * @param {number} box
   * @param {number} label
   * @param {number} node
   */
  join(box, label, node) {
    const { weights, samples } = this.totals;
    if (samples[node] === 0) return;
    const child = this.add(box, label, node, weights[node], samples[node]);
    this.tree.own[child] += this.counts.weights[node];
  }
}

/** Who called a function, from its outermost nodes to the names of threads. */
class Callers extends Outwards {
  /**
   * @param {Profile} profile
   * @param {Counts} counts
   * @param {{label: number, nodes: number[]}} around
   */
  constructor(profile, counts, around) {
    super(profile, [counts], { stacks: stacksByThread(profile), isMerged: true });
    this.around = around;
    this.totals = counts.totals(profile);
  }

  begin() {
    const { around: { label, nodes }, next, parents, weights, samples, totals } = this;
    for (const node of nodes) {
      next[node] = parents[node];
      weights[node] = totals.weights[node];
      samples[node] = totals.samples[node];
      this.add(-1, label, node, weights[node], samples[node]);
    }
  }
}

/**
 * What a function called, and who called it, of two sides: each sample that has it counts once, at the outermost place.
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
