// Trees that unfold as far as somebody looks. A box is a list of nodes that are one in it; it is opened, which tells apart
// what comes next of each, once it is wide enough to be seen.

/** Boxes that are opened, or put in order, before the page may answer. */
const OPENED_AT_ONCE = 2000;

/** Boxes that there is room for at first. */
const FIRST_ROOM = 1 << 16;

/** A tree whose boxes know what they are made of: the first member of each, and by member the next one. */
class Unfolding {
  /**
   * @param {Profile} profile
   * @param {NodeCounts[]} sides what is counted; of two sides, both have their boxes
   * @param {Stacks} stacks
   */
  constructor(profile, sides, stacks) {
    const n = stacks.parents.length;
    this.profile = profile;
    this.stacks = stacks;
    this.sides = sides;
    this.labelOf = profile.labelsOfFrames();
    this.n_frames = profile.names.length;
    this.tree = new Growing(Math.min(n, Math.max(FIRST_ROOM, profile.n_boxes)));
    const room = this.tree.labels.length;
    /** Most stacks are never more: columns of this length can be used again. */
    this.n_members = Math.max(n, profile.recorded.parents.length);
    /** By member, the box that it is on, as far as boxes are open: it is asked for of two sides. */
    this.moved = new Int32Array(sides.length > 1 ? n : 0).fill(-1);
    /** By member, the next one of that box. */
    this.same = profile.spare.take(Int32Array, this.n_members);
    /** Whether no box can be opened any more. */
    this.isReleased = false;
    this.heads = new Int32Array(room);
    this.lasts = new Int32Array(room);
    /** By box + 1, its first child and the one after its last; 0 where it is not open. */
    this.firsts = new Int32Array(room + 1);
    this.ends = new Int32Array(room + 1);
    /** Children of each box in order, where these are by number; by box + 1, the end of those that are in order. */
    this.ordered = new Uint32Array(room);
    this.sorted = new Int32Array(room + 1);
    this.starts = new Float64Array(room);
    this.depths = new Uint32Array(room);
    /** By label, that child of the box which is being opened. */
    this.childOf = new Int32Array(this.n_frames + profile.head.comms.length).fill(-1);
    /** @type {(a: number, b: number) => number} */
    this.compare = (a, b) => a - b;
    /** Narrower boxes are behind others, in no order before somebody looks closer. */
    this.least = 0;
  }

  /**
   * Adds what comes next of each member of a box; -1 is all.
   * @param {number} _box
   */
  follow(_box) {}

  /** Nobody looks at its boxes any more. */
  release() {
    if (!this.isReleased) this.profile.spare.give(this.same, ...this.columns());
    this.isReleased = true;
  }

  /**
   * Further columns by member.
   * @returns {(Int32Array | Float64Array)[]}
   */
  columns() {
    return [];
  }

  grow() {
    this.tree.grow();
    const room = this.tree.labels.length;
    this.heads = longer(this.heads, room);
    this.lasts = longer(this.lasts, room);
    this.firsts = longer(this.firsts, room + 1);
    this.ends = longer(this.ends, room + 1);
    this.ordered = longer(this.ordered, room);
    this.sorted = longer(this.sorted, room + 1);
    this.starts = longer(this.starts, room);
    this.depths = longer(this.depths, room);
  }

  /**
   * The index of a label in `childOf`: frames, then names of threads and processes.
   * @param {number} label
   */
  placeOf(label) {
    return label >= 0 ? label : this.n_frames - 1 - label;
  }

  /**
   * A member of the child of a box that has a label. Returns the child.
   * @param {number} box
   * @param {number} label
   * @param {number} member
   * @param {number} weight
   * @param {number} samples
   */
  add(box, label, member, weight, samples) {
    const { tree, same } = this;
    const place = this.placeOf(label);
    let child = this.childOf[place];
    if (child < 0) {
      if (tree.n === tree.labels.length) this.grow();
      child = tree.push(box, label);
      this.childOf[place] = child;
      this.heads[child] = member;
      this.depths[child] = box < 0 ? 0 : this.depths[box] + 1;
    } else same[this.lasts[child]] = member;
    this.lasts[child] = member;
    same[member] = -1;
    if (this.moved.length > 0) this.moved[member] = child;
    tree.weights[child] += weight;
    tree.samples[child] += samples;
    return child;
  }

  /** @param {number} box */
  open(box) {
    const { tree } = this;
    const first = tree.n;
    if (!this.isReleased) this.follow(box);
    const { ordered, least } = this;
    let wide = first;
    for (let child = first; child < tree.n; child++) {
      this.childOf[this.placeOf(tree.labels[child])] = -1;
      ordered[child] = child;
      if (tree.weights[child] < least) continue;
      ordered[child] = ordered[wide];
      ordered[wide++] = child;
    }
    this.firsts[box + 1] = first;
    this.ends[box + 1] = tree.n;
    this.sorted[box + 1] = wide;
    if (wide - first > 1) sortPart(ordered, first, wide, this.compare);
  }

  /**
   * Puts all children of an open box in order.
   * @param {number} box
   */
  sort(box) {
    const [first, end] = [this.sorted[box + 1], this.ends[box + 1]];
    if (end - first > 1) sortPart(this.ordered, first, end, this.compare);
    this.sorted[box + 1] = end;
  }

  /** Opens all boxes. */
  openAll() {
    for (let box = -1; box < this.tree.n; box++) if (this.ends[box + 1] === 0) this.open(box);
  }

  /**
   * Its boxes, as far as they are seen if all are shown.
   * @param {"heavy" | "name"} order
   */
  boxes(order) {
    this.compare = siblingOrder(this.tree, this.profile, order);
    const boxes = new Boxes(0);
    boxes.unfolding = this;
    this.open(-1);
    let whole = 0;
    for (let box = 0; box < this.tree.n; box++) whole += this.tree.weights[box];
    const { most, parts, fine } = Boxes.first;
    boxes.least = this.stacks.parents.length > most ? whole / parts() : 0;
    // By name, the narrow ones are between the others.
    this.least = order === "heavy" ? boxes.least : 0;
    this.place(boxes, { start: 0, end: whole, least: boxes.least });
    if (boxes.least > whole / fine) boxes.rest = this.refine(boxes, whole / fine);
    // The next ones are likely as many.
    this.profile.n_boxes = this.tree.n;
    return boxes;
  }

  /**
   * Opens narrower boxes, in short steps, and places what is on them.
   * @param {Boxes} boxes
   * @param {number} least
   * @returns {Generator<undefined, void, undefined>}
   */
  *refine(boxes, least) {
    const { tree } = this;
    let n = 0;
    for (let box = -1; box < tree.n; box++) {
      if (this.isReleased) return;
      const before = tree.n;
      if (this.ends[box + 1] !== 0) {
        n += this.ends[box + 1] - this.sorted[box + 1];
        this.sort(box);
      } else if (tree.weights[box] >= least) this.open(box);
      n += 1 + tree.n - before;
      if (n < OPENED_AT_ONCE) continue;
      n = 0;
      yield;
    }
    boxes.least = Math.min(boxes.least, least);
    this.place(boxes, { start: 0, end: boxes.whole, least: boxes.least });
  }

  /**
   * Places boxes level by level, each on its parent. What weighs nothing is on no level, and nothing is on what is not
   * open. Boxes of a part are opened that are as wide as what can be seen there.
   * @param {Boxes} boxes
   * @param {{start: number, end: number, least: number}} part
   */
  place(boxes, { start, end, least }) {
    const { tree } = this;
    /** @type {Uint32Array[]} */
    const lists = [];
    if (least < this.least) this.sort(-1);
    this.placeOn(-1, 0);
    /** @type {number[]} */
    let below = this.placed(-1, []);
    while (below.length > 0) {
      lists.push(new Uint32Array(below));
      /** @type {number[]} */
      const list = [];
      for (const box of below) {
        const [from, width] = [this.starts[box], tree.weights[box]];
        if (this.ends[box + 1] === 0) {
          if (width < least || from > end || from + width < start) continue;
          this.open(box);
        }
        if (least < this.least) this.sort(box);
        this.placeOn(box, from);
        this.placed(box, list);
      }
      below = list;
    }
    boxes.lists = lists;
    this.show(boxes);
  }

  /**
   * Children of an open box stand on it from left to right.
   * @param {number} box
   * @param {number} start
   */
  placeOn(box, start) {
    const { firsts, ends, ordered, starts, tree: { weights } } = this;
    let next = start;
    for (let at = firsts[box + 1]; at < ends[box + 1]; at++) {
      starts[ordered[at]] = next;
      next += weights[ordered[at]];
    }
  }

  /**
   * Adds those that weigh something.
   * @param {number} box
   * @param {number[]} list
   */
  placed(box, list) {
    const { firsts, ends, ordered, tree: { weights } } = this;
    for (let at = firsts[box + 1]; at < ends[box + 1]; at++) if (weights[ordered[at]] > 0) list.push(ordered[at]);
    return list;
  }

  /**
   * Gives boxes the columns as they are now.
   * @param {Boxes} boxes
   */
  show(boxes) {
    const { tree, starts, depths } = this;
    const { n, labels, parents, weights: widths, own, samples } = tree;
    Object.assign(boxes, { n, labels, parents, widths, own, samples, starts, depths });
    const last = boxes.lists[0]?.at(-1);
    boxes.whole = last === undefined ? 0 : starts[last] + widths[last];
  }

  /**
   * Those on a box, whether it was open or not.
   * @param {Boxes} boxes
   * @param {number} box
   */
  childrenOf(boxes, box) {
    if (this.ends[box + 1] === 0) {
      this.open(box);
      this.show(boxes);
    }
    this.sort(box);
    return new Uint32Array(this.placed(box, []));
  }
}

/** Stacks from the outermost frame inwards. */
class Inwards extends Unfolding {
  /**
   * @param {Profile} profile
   * @param {NodeCounts[]} sides
   * @param {Stacks} stacks
   */
  constructor(profile, sides, stacks) {
    super(profile, sides, stacks);
    const n = stacks.parents.length;
    /** What is counted at all nodes before one: nodes below another follow it. Samples are those of both sides. */
    this.weightsBefore = profile.spare.take(Float64Array, this.n_members + 1);
    this.samplesBefore = profile.spare.take(Float64Array, this.n_members + 1);
    const { weightsBefore, samplesBefore } = this;
    const { weights, samples } = sides[sides.length - 1];
    const other = sides.length > 1 ? sides[0].samples : null;
    let [weight, sum] = [0, 0];
    weightsBefore[0] = samplesBefore[0] = 0;
    for (let node = 0; node < n; node++) {
      weight += weights[node];
      sum += samples[node] + (other === null ? 0 : other[node]);
      weightsBefore[node + 1] = weight;
      samplesBefore[node + 1] = sum;
    }
    this.nodeEnds = stacks.ends;
    this.labels = stacks.labels;
  }

  columns() {
    return [this.weightsBefore, this.samplesBefore];
  }

  /** @param {number} box */
  follow(box) {
    const { nodeEnds, labels, labelOf, same, moved, childOf, n_frames, samplesBefore, weightsBefore, tree } = this;
    const ofRoots = box < 0 ? this.stacks.ofRoots : 0;
    // All are below -1. It is what most of a first picture waits for: no call for what joins another.
    let node = box < 0 ? -1 : this.heads[box];
    do {
      for (let at = node + 1, end = node < 0 ? nodeEnds.length : nodeEnds[node]; at < end; at = nodeEnds[at]) {
        const next = nodeEnds[at];
        const before = weightsBefore[at];
        const samples = samplesBefore[next] - samplesBefore[at];
        if (samples === 0) continue;
        const label = labelOf[labels[at] + ofRoots];
        let child = childOf[label >= 0 ? label : n_frames - 1 - label];
        if (child < 0) child = this.add(box, label, at, weightsBefore[next] - before, samples);
        else {
          same[this.lasts[child]] = at;
          this.lasts[child] = at;
          same[at] = -1;
          if (moved.length > 0) moved[at] = child;
          tree.weights[child] += weightsBefore[next] - before;
          tree.samples[child] += samples;
        }
        tree.own[child] += weightsBefore[at + 1] - before;
      }
      node = node < 0 ? -1 : same[node];
    } while (node >= 0);
  }
}

/** Stacks from the innermost frame outwards: below the name of their thread or, if threads are merged, that name outermost. */
class Outwards extends Unfolding {
  /**
   * @param {Profile} profile
   * @param {NodeCounts[]} sides
   * @param {{stacks: Stacks, isMerged: boolean}} how
   */
  constructor(profile, sides, { stacks, isMerged }) {
    super(profile, sides, stacks);
    this.isMerged = isMerged;
    this.parents = stacks.parents;
    this.sides = sides;
    /** By stack, the node of its next frame. Stacks have the numbers of their nodes if sides tell them apart. */
    this.next = profile.spare.take(Int32Array, this.n_members);
    /** What stacks count; what goes on alike is counted by one of them, unless sides tell stacks apart. */
    this.isJoined = sides.length === 1;
    this.weights = profile.spare.take(Float64Array, this.n_members);
    this.samples = profile.spare.take(Float64Array, this.n_members);
    this.labels = stacks.labels;
  }

  columns() {
    return [this.next, this.weights, this.samples];
  }

  /**
   * Stacks on the child of a box, each before its next frame.
   * @param {number} box
   */
  follow(box) {
    if (box < 0) return this.begin();
    const { tree, same, next, parents, labels, labelOf, n_frames, childOf, weights, samples, isMerged, isJoined } = this;
    const { ofRoots } = this.stacks;
    // It is what most of a first picture waits for: no call for what joins another.
    for (let stack = this.heads[box]; stack >= 0;) {
      const following = same[stack];
      const node = next[stack];
      const outer = node < 0 ? -1 : parents[node];
      // No frame of it is left.
      if (node < 0 || (!isMerged && outer < 0)) tree.own[box] += weights[stack];
      else {
        const label = labelOf[labels[node] + (outer < 0 ? ofRoots : 0)];
        const known = childOf[label >= 0 ? label : n_frames - 1 - label];
        const last = known < 0 ? -1 : this.lasts[known];
        next[stack] = outer;
        if (last < 0 || !isJoined || next[last] !== outer) this.add(box, label, stack, weights[stack], samples[stack]);
        else {
          weights[last] += weights[stack];
          samples[last] += samples[stack];
          tree.weights[known] += weights[stack];
          tree.samples[known] += samples[stack];
        }
      }
      stack = following;
    }
  }

  /** Names of threads are lowest, or functions. */
  begin() {
    const { next, parents, labels, labelOf, weights, samples, n_frames, isMerged, isJoined, stacks, sides, profile } = this;
    const { ofRoots } = stacks;
    const counts = sides[sides.length - 1];
    const counted = countedNodes(sides);
    const roots = isMerged ? null : rootsOf(stacks);
    // Stacks of one box are beside each other: they are gone through box by box.
    const places = new Int32Array(this.childOf.length + 1);
    const placeOf = profile.spare.take(Int32Array, this.n_members);
    for (let node = 0; node < counted.length; node++) {
      if (counted[node] === 0) continue;
      const at = roots === null ? node : roots[node];
      const label = labelOf[labels[at] + (parents[at] < 0 ? ofRoots : 0)];
      placeOf[node] = label >= 0 ? label : n_frames - 1 - label;
      places[placeOf[node] + 1]++;
    }
    for (let place = 1; place < places.length; place++) places[place] += places[place - 1];
    for (let node = 0; node < counted.length; node++) {
      if (counted[node] === 0) continue;
      const place = placeOf[node];
      const stack = isJoined ? places[place]++ : node;
      next[stack] = roots === null ? parents[node] : node;
      weights[stack] = counts.weights[node];
      samples[stack] = counts.samples[node];
      this.add(-1, place < n_frames ? place : n_frames - 1 - place, stack, weights[stack], samples[stack]);
    }
    profile.spare.give(placeOf);
  }
}
