// Boxes in order of time.

/** Boxes of a picture in order of time; more take too much memory. */
const MAX_TIME_BOXES = 2e6;
/** How many there is room for at first: many look elsewhere before there are more. */
const FIRST_TIME_ROOM = 1 << 18;
/** How many rows are told apart where there are more boxes. */
const MOST_APART = 1 << 19;

/** Rows that are placed at once: more are placed a step after the other. */
const ROWS_AT_ONCE = 30000;
/** How many rows each step places. */
const ROWS_OF_STEP = 4000;
/** Groups of rows that a first picture has. */
const FIRST_GROUPS = 3000;

/**
 * In order of time: what follows each other in a thread is one box as far as its stack is the same. If these are too
 * many, some samples that follow each other count together for the frames that they have in common.
 * @param {Profile} profile
 * @param {SampleSelection} selection
 * @param {number} most
 */
function boxesInTime(profile, selection, most) {
  const steps = stepsInTime(profile, selection, most);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/**
 * The same in steps that are short enough for a page that answers meanwhile.
 * @param {Profile} profile
 * @param {SampleSelection} selection
 * @param {number} most
 * @returns {Generator<undefined, Boxes, undefined>}
 */
function* stepsInTime(profile, selection, most) {
  const { n_rows: rows, n_nodes: nodes } = profile.head;
  for (let together = 1; ; together = Math.max(together * 2, Math.ceil(rows / MOST_APART))) {
    const boxes = new Boxes(Math.min(most, FIRST_TIME_ROOM, rows + 6 * nodes));
    boxes.isFromRoot = true;
    const chart = new TimeChart(profile, boxes, together);
    const place = placeRows(profile, selection, chart);
    let n = 0;
    for (const [thread, first, end, range, before] of spansInSteps(profile, selection)) {
      place(thread, first, end, range, before);
      if (boxes.n > most && together < rows) break;
      n += end - first;
      if (n < ROWS_OF_STEP) continue;
      n = 0;
      yield;
    }
    chart.end();
    boxes.together = together;
    if (boxes.n <= most || together >= rows) return boxes.close();
  }
}

/**
 * A first picture of many rows, with the frames that those beside each other have in common.
 * @param {Profile} profile
 * @param {SampleSelection} selection
 */
function firstInTime(profile, selection) {
  const boxes = new Boxes(1 << 16);
  const chart = new TimeChart(profile, boxes, Math.ceil(profile.head.n_rows / FIRST_GROUPS));
  forSpans(profile, selection, placeRows(profile, selection, chart));
  chart.end();
  boxes.isFirst = boxes.isFromRoot = true;
  return boxes.close();
}

/**
 * @param {Profile} profile
 * @param {SampleSelection} selection
 * @param {TimeChart} chart
 */
function placeRows(profile, selection, chart) {
  const kept = keptNodes(profile, selection);
  return rowsOfSpan(profile, selection, (node, weight, samples, _time, thread) => {
    if (node >= 0 && (kept === null || kept[node] === 1)) chart.add(thread, node, weight, samples);
  });
}

/**
 * Spans of rows, none of them longer than a step.
 * @param {Profile} profile
 * @param {{range: [number, number] | null, parts?: number[], thread: number | null}} selection
 */
function spansInSteps(profile, selection) {
  /** @type {Parameters<VisitSpan>[]} */
  const spans = [];
  forSpans(profile, selection, (thread, first, end, range, before) => {
    for (let at = first; at < end; at += ROWS_OF_STEP) spans.push([thread, at, Math.min(end, at + ROWS_OF_STEP), range, before]);
  });
  return spans;
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
    this.ends = profile.nodeEnds();
    this.boxes = boxes;
    this.together = together;
    this.thread = -1;
    const { depths } = profile;
    this.depths = depths;
    let n_levels = 0;
    for (let node = 0; node < depths.length; node++) if (depths[node] >= n_levels) n_levels = depths[node] + 1;
    /** By depth, the open boxes, and the nodes that they were opened for. */
    this.open = new Int32Array(n_levels);
    this.nodes = new Int32Array(n_levels);
    this.n_open = 0;
    /** By depth, the nodes of a stack that are not known to be open. */
    this.path = new Int32Array(n_levels);
    this.n_samples = 0;
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
      this.end();
      this.thread = thread;
    }
    const common = group.rows === 0 ? node : this.commonNode(group.node, node);
    if (common < 0) this.flush();
    group.node = common < 0 ? node : common;
    group.weight += weight;
    group.samples += samples;
    if (++group.rows >= this.together) this.flush();
  }

  flush() {
    const { boxes, open, nodes, path, group, profile, depths } = this;
    if (group.rows === 0) return;
    const { parents } = profile;
    const depth = depths[group.node];
    let shared = depth + 1;
    for (let at = group.node; at >= 0 && (shared > this.n_open || nodes[shared - 1] !== at); at = parents[at]) path[--shared] = at;
    // Other nodes may be called the same. The lowest box is the thread's.
    while (shared <= depth && shared < this.n_open && (shared === 0 || boxes.labels[open[shared]] === profile.labelOf(path[shared]))) {
      nodes[shared] = path[shared];
      shared++;
    }
    this.close(shared);
    for (; shared <= depth; shared++) {
      const box = boxes.push(shared === 0 ? -1 : open[shared - 1], profile.labelOf(path[shared]), boxes.whole);
      boxes.samples[box] = -this.n_samples;
      open[shared] = box;
      nodes[shared] = path[shared];
    }
    this.n_open = depth + 1;
    boxes.own[open[depth]] += group.weight;
    boxes.whole += group.weight;
    this.n_samples += group.samples;
    group.weight = group.samples = group.rows = 0;
  }

  /**
   * Closes boxes until that many are open.
   * @param {number} n_open
   */
  close(n_open) {
    const { boxes, open } = this;
    while (this.n_open > n_open) {
      const box = open[--this.n_open];
      boxes.widths[box] = boxes.whole - boxes.starts[box];
      boxes.samples[box] += this.n_samples;
    }
  }

  /** Nothing more comes of the thread. */
  end() {
    this.flush();
    this.close(0);
  }

  /**
   * The innermost node that is on the way to both; -1 if there is none.
   * @param {number} one
   * @param {number} other
   */
  commonNode(one, other) {
    const { parents } = this.profile;
    let at = one;
    while (at >= 0 && (other < at || other >= this.ends[at])) at = parents[at];
    return at;
  }
}
