// What is drawn of a selection's counts: from the outermost frame in, from the innermost out, in order of time, around
// one function.

/** Boxes of a picture in order of time; more take too much memory. */
const MAX_TIME_BOXES = 2e6;
/** How many rows are told apart where there are more boxes. */
const MOST_APART = 1 << 19;

/**
 * The outermost frame first.
 * @param {Profile} profile
 * @param {Counts} counts
 * @param {Growing} tree
 */
function growInwards(profile, counts, tree) {
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
}

/**
 * The innermost frame first, below the name of its thread.
 * @param {Profile} profile
 * @param {Counts} counts
 * @param {Growing} tree
 */
function growOutwards(profile, counts, tree) {
  const { parents, labels } = profile;
  const roots = rootsOf(profile);
  for (let node = 0; node < parents.length; node++) {
    const samples = counts.samples[node];
    if (samples === 0) continue;
    const weight = counts.weights[node];
    let here = tree.child(-1, -1 - labels[roots[node]]);
    add(tree, here, weight, samples);
    for (let at = node; parents[at] >= 0; at = parents[at]) {
      here = tree.child(here, profile.shownFrame(labels[at]));
      add(tree, here, weight, samples);
    }
    tree.own[here] += weight;
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

/**
 * In order of time: what follows each other in a thread is one box as far as its stack is the same. If these are too
 * many, some samples that follow each other count together for the frames that they have in common.
 * @param {Profile} profile
 * @param {SampleSelection} selection
 * @param {number} most
 */
function boxesInTime(profile, selection, most) {
  const kept = keptNodes(profile, selection);
  const { n_rows: rows, n_nodes: nodes } = profile.head;
  for (let together = 1; ; together = Math.max(together * 2, Math.ceil(rows / MOST_APART))) {
    const boxes = new Boxes(Math.min(1 << 20, rows + nodes));
    const chart = new TimeChart(profile, boxes, together);
    forRows(profile, selection, (node, weight, samples, _time, thread) => {
      if (node >= 0 && (kept === null || kept[node] === 1) && boxes.n <= most) chart.add(thread, node, weight, samples);
    });
    chart.flush();
    boxes.together = together;
    if (boxes.n <= most || together >= rows) return boxes.close();
  }
}

/** Samples of a thread after the other, in order of time. */
class TimeChart {
  /**
   * @param {Profile} profile
   * @param {Boxes} boxes
   * @param {number} together how many rows count together
   */
  constructor(profile, boxes, together) {
    this.profile = profile;
    this.boxes = boxes;
    this.together = together;
    this.thread = -1;
    /** @type {number[]} */
    this.open = [];
    /** @type {number[]} */
    this.labels = [];
    /** The innermost node that all rows of the group have, and what they are. */
    this.group = { node: -1, weight: 0, samples: 0, rows: 0 };
  }

  /**
   * @param {number} thread
   * @param {number} node
   * @param {number} weight
   * @param {number} samples
   */
  add(thread, node, weight, samples) {
    const { group } = this;
    if (thread !== this.thread) {
      this.flush();
      this.thread = thread;
      this.open.length = this.labels.length = 0;
    }
    const common = group.rows === 0 ? node : commonNode(this.profile, group.node, node);
    if (common < 0) this.flush();
    group.node = common < 0 ? node : common;
    group.weight += weight;
    group.samples += samples;
    if (++group.rows >= this.together) this.flush();
  }

  flush() {
    const { profile, boxes, open, labels, group } = this;
    if (group.rows === 0) return;
    const path = profile.stackOf(group.node).reverse();
    let shared = 0;
    // The lowest box is the thread's.
    while (shared < path.length && shared < labels.length && (shared === 0 || labels[shared] === path[shared])) shared++;
    open.length = labels.length = shared;
    for (let depth = shared; depth < path.length; depth++) {
      const parent = depth === 0 ? -1 : open[depth - 1];
      open.push(boxes.push(parent, path[depth], boxes.whole));
      labels.push(path[depth]);
    }
    for (const box of open) {
      boxes.widths[box] += group.weight;
      boxes.samples[box] += group.samples;
    }
    boxes.own[open[open.length - 1]] += group.weight;
    boxes.whole += group.weight;
    group.weight = group.samples = group.rows = 0;
  }
}

/**
 * The innermost node that is on the way to both; -1 if there is none.
 * @param {Profile} profile
 * @param {number} one
 * @param {number} other
 */
function commonNode({ parents, depths }, one, other) {
  let [a, b] = [one, other];
  while (a !== b && a >= 0 && b >= 0) {
    if (depths[a] >= depths[b]) a = parents[a];
    else b = parents[b];
  }
  return a === b ? a : -1;
}
