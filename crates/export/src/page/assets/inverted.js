// What is drawn of a selection's counts: from the outermost frame in, from the innermost out, in order of time, around
// one function.

/** Boxes of a picture in order of time; more take too much memory. */
const MAX_TIME_BOXES = 4e6;

/**
 * The outermost frame first.
 * @param {Profile} profile
 * @param {Counts} counts
 */
function grownInwards(profile, counts) {
  const tree = new Growing();
  const totals = counts.totals(profile);
  const moved = new Int32Array(profile.parents.length);
  for (let node = 0; node < moved.length; node++) {
    if (totals.samples[node] === 0) continue;
    const parent = profile.parents[node];
    const here = tree.child(parent < 0 ? -1 : moved[parent], profile.labelOf(node));
    moved[node] = here;
    tree.weights[here] += totals.weights[node];
    tree.samples[here] += totals.samples[node];
    tree.own[here] += counts.weights[node];
  }
  return tree;
}

/**
 * The innermost frame first, below the name of its thread.
 * @param {Profile} profile
 * @param {Counts} counts
 */
function grownOutwards(profile, counts) {
  const tree = new Growing();
  const { parents, labels } = profile;
  const roots = rootsOf(profile);
  for (let node = 0; node < parents.length; node++) {
    const samples = counts.samples[node];
    if (samples === 0) continue;
    const weight = counts.weights[node];
    let here = tree.child(-1, -1 - labels[roots[node]]);
    add(tree, here, weight, samples);
    for (let at = node; parents[at] >= 0; at = parents[at]) {
      here = tree.child(here, labels[at]);
      add(tree, here, weight, samples);
    }
    tree.own[here] += weight;
  }
  return tree;
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
 */
function grownAround(profile, counts, wanted) {
  const { parents, labels, functionOf } = profile;
  const totals = counts.totals(profile);
  const callees = new Growing();
  const callers = new Growing();
  const label = profile.frameOfFunction[wanted];
  // -1: not below the function.
  const moved = new Int32Array(parents.length).fill(-1);
  for (let node = 0; node < parents.length; node++) {
    if (totals.samples[node] === 0 || parents[node] < 0) continue;
    const parent = moved[parents[node]];
    const isFirst = parent < 0 && functionOf[labels[node]] === wanted;
    if (parent < 0 && !isFirst) continue;
    const here = callees.child(parent, isFirst ? label : labels[node]);
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
  }
  return { callers, callees };
}

/**
 * In order of time: what follows each other in a thread is one box as far as its stack is the same.
 * @param {Profile} profile
 * @param {SampleSelection} selection
 */
function boxesInTime(profile, selection) {
  const boxes = new Boxes(1 << 16);
  const kept = selection.keep === "" ? null : nodesWith(profile, selection.keep);
  const [first, last] = selection.range ?? [-Infinity, Infinity];
  const { starts, stacks, times } = profile;
  for (let thread = 0; thread + 1 < starts.length; thread++) {
    if (selection.thread !== null && selection.thread !== thread) continue;
    const chart = new ThreadChart(profile, boxes, thread);
    for (let row = starts[thread]; row < starts[thread + 1]; row++) {
      const node = stacks[row] - 1;
      if (node < 0 || times[row] < first || times[row] > last) continue;
      if (profile.eventOf(row) !== selection.event || (kept !== null && kept[node] === 0)) continue;
      if (boxes.n > MAX_TIME_BOXES) boxes.leftOut += profile.samplesOf(row);
      else chart.add(row, node);
    }
  }
  return boxes.close();
}

/** Open boxes of a thread. */
class ThreadChart {
  /**
   * @param {Profile} profile
   * @param {Boxes} boxes
   * @param {number} thread
   */
  constructor(profile, boxes, thread) {
    this.profile = profile;
    this.boxes = boxes;
    this.thread = thread;
    /** @type {number[]} */
    this.open = [];
    /** @type {number[]} */
    this.nodes = [];
  }

  /**
   * @param {number} row
   * @param {number} node
   */
  add(row, node) {
    const { profile, boxes, open, nodes } = this;
    const path = [];
    for (let at = node; at >= 0; at = profile.parents[at]) path.push(at);
    path.reverse();
    let shared = 0;
    // The lowest box is the thread's.
    while (shared < path.length && shared < nodes.length && (shared === 0 || nodes[shared] === path[shared])) shared++;
    open.length = nodes.length = shared;
    for (let depth = shared; depth < path.length; depth++) {
      const parent = depth === 0 ? -1 : open[depth - 1];
      open.push(boxes.push(parent, profile.labelOf(path[depth]), boxes.whole));
      nodes.push(path[depth]);
    }
    const weight = profile.weightOf(row);
    const samples = profile.samplesOf(row);
    for (const box of open) {
      boxes.widths[box] += weight;
      boxes.samples[box] += samples;
    }
    boxes.own[open[open.length - 1]] += weight;
    boxes.whole += weight;
  }
}
