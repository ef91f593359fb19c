// The profile in memory: columns of frames, of stacks, of samples.

/**
 * @typedef {{name: string, kind: string, hz?: number, samples: number, weight: number, lost: number,
 *   lost_at_least: boolean, each: number | null, sure?: number[][]}} EventHead
 * @typedef {{per: Measure["per"], spans_ns?: [number, number]}} MeasureHead
 * @typedef {{title: string, recording?: string, notes: string[], about: {[name: string]: string | string[]}, wall_ms?: number | null,
 *   warnings: string[], throttles: [number, number, number][], strings: string[], comms: number[],
 *   threads: [number, number, number][], events: EventHead[], n_frames: number, n_nodes: number, n_losses: number,
 *   has_times: boolean, start_ns: string, span_ns: number, n_rows: number, n_samples: number, has_events: boolean,
 *   has_cpus: boolean, has_samples: boolean, has_weights: boolean, slot_ns: number, by_name: boolean,
 *   min_samples: number, n_waits?: number, n_all_waits?: number, n_wait_groups?: number, wait_causes?: [number, number, number, number][],
 *   waits?: [number, number, number, number][], waits_have_begins?: boolean, is_filtered?: boolean,
 *   sides?: [string, string], measures?: MeasureHead[], traced?: (number | string)[][], traced_kinds?: (number | string)[][],
 *   n_traced_left?: number}} Head
 */

/** Bits of a frame's flags. */
const FLAGS = { level: 7, inlined: 8, jit: 16, nameless: 32, wait: 64 };

class Profile {
  /**
   * @param {Head} head
   * @param {Reading} reading
   */
  constructor(head, reading) {
    this.head = head;
    const n = head.n_frames;
    this.names = reading.fill(new Uint32Array(n));
    this.images = reading.fill(new Uint32Array(n));
    this.flags = reading.fill(new Uint8Array(n));
    /** One more than the number of the text; 0 if there is none. */
    this.places = reading.fill(new Uint32Array(n));
    /** What threads wait for, by number of the cause: labels of boxes. */
    this.waitLabels = addWaitFrames(this);
    this.hasPlaces = this.places.some((place) => place !== 0);
    /** Whether some are searched in part only. */
    this.hasLongNames = head.strings.some((text) => text.length > SEARCHED);
    const functions = functionsOf(this.names, this.images, this.flags);
    this.functionOf = functions.functionOf;
    this.frameOfFunction = functions.frameOfFunction;
    /** Whether frames of one function are told apart by their lines. */
    this.isByLine = false;
    /**
     * What was kept last.
     * @type {{key: string, nodes: Uint8Array} | null}
     */
    this.kept = null;
    /**
     * What was searched for last.
     * @type {{key: string, labels: {frames: Uint8Array, comms: Uint8Array}} | null}
     */
    this.found = null;
    /**
     * Which strings these were.
     * @type {{text: string, has: Uint8Array} | null}
     */
    this.matched = null;
    /**
     * Which strings match patterns of transforms, the last ones first.
     * @type {{text: string, strings: string[], has: Uint8Array}[]}
     */
    this.patterns = [];
    /**
     * The last two orders of names: of functions, and by line.
     * @type {{isByLine: boolean, names: Uint32Array, head: Head, frames: Uint32Array, comms: Uint32Array}[]}
     */
    this.ranks = [];
    /**
     * What is other if threads that are alike are one, once it is known.
     * @type {Partial<Profile> | null}
     */
    this.alike = null;
    /** What frames are called, as it was asked for last. */
    this.knownLabels = { functionOf: new Uint32Array(0), isByLine: false, labels: new Int32Array(0) };
    /**
     * By parents of nodes, where these end.
     * @type {WeakMap<Int32Array, Int32Array>}
     */
    this.knownEnds = new WeakMap();
    /**
     * Rows of nodes as they were asked for last, the newest first.
     * @type {RowColumns[]}
     */
    this.rowColumns = [];
    /** The image of each node, as it was asked for last. @type {ImageColumns | null} */
    this.imageColumns = null;
    /** @type {Map<number, number> | undefined} */
    this.ranksOfProcesses = undefined;

    const stacks = readStacks(head, reading);
    /** Of outermost nodes the number of the thread's name, of others that of the frame. */
    this.labels = stacks.labels;
    /** -1 for outermost nodes. A node comes after its parent, and all below a node follow it. */
    this.parents = stacks.parents;
    /**
     * By parents of nodes, how many are on the way of each to the outermost one.
     * @type {WeakMap<Int32Array, Uint32Array>}
     */
    this.knownDepths = new WeakMap([[stacks.parents, stacks.depths]]);
    this.spare = new SpareColumns();
    /** How many boxes a flame graph had. */
    this.n_boxes = 0;

    const rows = head.n_rows;
    /** Where rows of each thread begin; one more than there are threads. */
    this.starts = new Uint32Array(head.threads.length + 1);
    for (let thread = 0; thread < head.threads.length; thread++) {
      this.starts[thread + 1] = this.starts[thread] + reading.unsigned();
    }
    /** Nanoseconds since the first sample. */
    this.times = reading.fillDifferences(new Float64Array(rows), this.starts);
    if (head.slot_ns > 0) this.times.forEach((slot, at) => (this.times[at] = slot * head.slot_ns));
    /** The stacks of rows before transforms of stacks. */
    this.rowStacks = reading.fillDifferences(new Int32Array(rows), this.starts);
    /**
     * By node before these, the node that it is now, or -1 if it is left out; `null` if all are what they were.
     * @type {Int32Array | null}
     */
    this.moved = null;
    /**
     * The stacks of rows after them, once they are asked for.
     * @type {{moved: Int32Array, stacks: Int32Array} | null}
     */
    this.movedStacks = null;
    this.events = reading.fillDifferences(new Uint16Array(head.has_events ? rows : 0), this.starts);
    this.cpus = reading.fillDifferences(new Uint16Array(head.has_cpus ? rows : 0), this.starts);
    /**
     * {@link n_cpus}, once it is asked for.
     * @type {number | null}
     */
    this.knownCpus = null;
    this.counts = reading.fill(new Uint32Array(head.has_samples ? rows : 0));
    this.weights = reading.fill(new Float64Array(head.has_weights ? rows : 0));
    /** The largest weight. */
    this.longest = this.weights.reduce((a, b) => Math.max(a, b), 0);
    this.losses = readLosses(head, reading);
    this.waits = new Waits(head, reading);
    /**
     * By number of a thread's name, that of those which are alike, if these are one.
     * @type {Uint32Array | null}
     */
    this.joined = null;
    /** When the wait of each row begins, where that is known. */
    this.begins = head.waits_have_begins === true ? beginsOfWaits(this) : null;
    /** When waits end, where their begins are known. */
    this.ends = this.begins === null ? null : endsOfWaits(this, this.begins);
    // The last wait may last on after the last sample.
    this.begins?.forEach((begin, row) => {
      if (this.stacks[row] <= 0 || !this.isWait(this.stacks[row] - 1)) return;
      head.span_ns = Math.max(head.span_ns, begin + this.weights[row]);
    });
    /**
     * By process and thread, who has its last name.
     * @type {ReturnType<typeof lastNames> | null}
     */
    this.lastNames = null;
    /**
     * By event, how much each thread ran, once it is known.
     * @type {Map<number, Float64Array>}
     */
    this.ranOfThreads = new Map();
    /** Names of threads; those behind them in `head.comms` are of processes. */
    this.n_comms = head.comms.length;
    this.processes = addProcessNames(this);
    /** What transforms change, as it was recorded. */
    this.recorded = this.transformed();
  }

  /** CPUs that samples were taken on, where these are known. */
  get n_cpus() {
    if (!this.head.has_cpus) return Infinity;
    if (this.knownCpus === null) {
      const has = new Uint8Array(1 << 16);
      for (const cpu of this.cpus) has[cpu] = 1;
      // No CPU is known of those with 0.
      this.knownCpus = has.reduce((sum, one) => sum + one, 0) - has[0];
    }
    return this.knownCpus;
  }

  /**
   * By row, 0 where nothing was recorded of its stack, -1 where a transform left it out, -2 where it is in no total
   * either, otherwise one more than the node's number.
   */
  get stacks() {
    const { moved, rowStacks } = this;
    if (moved === null) return rowStacks;
    if (this.movedStacks?.moved !== moved) {
      const stacks = rowStacks.slice();
      for (let row = 0; row < stacks.length; row++) {
        if (stacks[row] <= 0) continue;
        const node = moved[stacks[row] - 1];
        stacks[row] = node < 0 ? -1 : node + 1;
      }
      this.movedStacks = { moved, stacks };
    }
    return this.movedStacks.stacks;
  }

  set stacks(stacks) {
    this.rowStacks = stacks;
    this.moved = this.movedStacks = null;
  }

  /**
   * Stacks end at other nodes.
   * @param {Uint8Array | null} counts by node, whether what ends there still counts
   * @param {Int32Array | null} moved by node, where it is
   */
  moveStacks(counts, moved) {
    const before = this.moved;
    // They are as they were recorded.
    if (before === null && counts === null && moved !== null) return void (this.moved = moved);
    const after = new Int32Array(this.recorded.parents.length);
    for (let at = 0; at < after.length; at++) {
      const node = before === null ? at : before[at];
      const isLeft = node >= 0 && (counts === null || counts[node] !== 0);
      after[at] = !isLeft ? -1 : moved === null ? node : moved[node];
    }
    this.moved = after;
  }

  /** What transforms change. */
  transformed() {
    const { head, names, images, flags, places, functionOf, frameOfFunction, labels, parents, stacks } = this;
    return { head, names, images, flags, places, functionOf, frameOfFunction, labels, parents, stacks };
  }

  /** Takes all transforms back. */
  restore() {
    this.joined = null;
    Object.assign(this, this.recorded);
  }

  /**
   * The same profile beside it, to be transformed otherwise.
   * @returns {Profile}
   */
  beside() {
    return Object.assign(Object.create(Object.getPrototypeOf(this)), this);
  }

  /** Answers that were found in other stacks are none. */
  forget() {
    this.kept = this.found = this.matched = null;
  }

  /** Whether it is two recordings, compared: their names. */
  get sides() {
    return this.head.sides ?? null;
  }

  /** The ways in which they are compared, the usual one first. */
  get measures() {
    return this.head.measures ?? [];
  }

  /**
   * Whether a node is what its thread waits for, and no code.
   * @param {number} node
   */
  isWait(node) {
    return this.head.waits !== undefined && this.parents[node] >= 0 && (this.flags[this.labels[node]] & FLAGS.wait) !== 0;
  }

  /**
   * The innermost frame of the stack that ends at a node.
   * @param {number} node
   */
  codeOf(node) {
    return this.isWait(node) ? this.parents[node] : node;
  }

  /**
   * How many samples a row is.
   * @param {number} row
   */
  samplesOf(row) {
    return this.head.has_samples ? this.counts[row] : 1;
  }

  /** @param {number} number */
  text(number) {
    return this.head.strings[number] ?? "";
  }

  /**
   * What a frame is called, with its place if it has one.
   * @param {number} frame
   */
  nameWithPlace(frame) {
    const name = this.text(this.names[frame]);
    const place = this.places[frame];
    return place === 0 ? name : `${name} ${this.text(place - 1)}`;
  }

  /**
   * The frame that stands for another: itself, or that of its function.
   * @param {number} frame
   */
  shownFrame(frame) {
    return this.isByLine ? frame : this.frameOfFunction[this.functionOf[frame]];
  }

  /** @param {number} frame */
  imageOfFrame(frame) {
    return this.text(this.images[frame]);
  }

  /**
   * What a box is called: a frame, or for -1, -2.. the name of a thread.
   * @param {number} label
   * @param {boolean} [isByLine]
   */
  nameOf(label, isByLine = this.isByLine) {
    if (label >= 0 && isByLine) return this.nameWithPlace(label);
    return this.text(label >= 0 ? this.names[label] : this.head.comms[-1 - label]);
  }

  /**
   * The place of a label's name among all names in their order.
   * @param {boolean} [isByLine] whether frames are told apart by their lines
   * @returns {(label: number) => number}
   */
  nameRanks(isByLine = this.isByLine) {
    const { names, head } = this;
    const known = this.ranks.find((one) => one.isByLine === isByLine && one.names === names && one.head === head);
    if (known === undefined) {
      const [frames, comms] = [new Uint32Array(this.names.length), new Uint32Array(this.head.comms.length)];
      const labels = [...frames.keys(), ...Array.from(comms.keys(), (comm) => -1 - comm)];
      const named = labels.map((label) => ({ label, name: this.nameOf(label, isByLine) }));
      named.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
      let rank = 0;
      named.forEach(({ label, name }, at) => {
        if (at > 0 && named[at - 1].name !== name) rank++;
        if (label >= 0) frames[label] = rank;
        else comms[-1 - label] = rank;
      });
      this.ranks = [{ isByLine, names, head, frames, comms }, ...this.ranks.slice(0, 1)];
    }
    const { frames, comms } = known ?? this.ranks[0];
    return (label) => (label >= 0 ? frames[label] : comms[-1 - label]);
  }

  /**
   * The label of a node's box.
   * @param {number} node
   */
  labelOf(node) {
    return this.parents[node] < 0 ? -1 - this.labels[node] : this.shownFrame(this.labels[node]);
  }

  /** By frame, the label of its boxes; then those of threads' and processes' names. */
  labelsOfFrames() {
    const { functionOf, isByLine, knownLabels: known } = this;
    if (known.functionOf !== functionOf || known.isByLine !== isByLine) {
      const n = functionOf.length;
      const labels = new Int32Array(n + this.head.comms.length);
      for (let frame = 0; frame < n; frame++) labels[frame] = this.shownFrame(frame);
      for (let at = n; at < labels.length; at++) labels[at] = n - 1 - at;
      this.knownLabels = { functionOf, isByLine, labels };
    }
    return this.knownLabels.labels;
  }

  /** By node, how many are on its way to the outermost one. */
  get depths() {
    const { parents } = this;
    let depths = this.knownDepths.get(parents);
    if (depths === undefined) {
      depths = new Uint32Array(parents.length);
      for (let node = 0; node < depths.length; node++) depths[node] = parents[node] < 0 ? 0 : depths[parents[node]] + 1;
      this.knownDepths.set(parents, depths);
    }
    return depths;
  }

  /** By node, the first one that is neither this node nor below it. */
  nodeEnds() {
    const { parents } = this;
    const known = this.knownEnds.get(parents);
    if (known !== undefined) return known;
    const ends = endsOfNodes(parents);
    this.knownEnds.set(parents, ends);
    return ends;
  }

  /** By process, its place in the order of first samples. */
  processRanks() {
    this.ranksOfProcesses ??= new Map([...new Set(this.head.threads.map(([pid]) => pid))].map((pid, rank) => [pid, rank]));
    return this.ranksOfProcesses;
  }

  /**
   * What a row weighs within a range, of pages that know when waits were; -1 if it is not in it.
   * @param {number} row
   * @param {number} weight
   * @param {[number, number]} range
   */
  weightWithin(row, weight, [from, to]) {
    const { begins, ends, times } = this;
    const end = ends?.ends[row] ?? 0;
    if (begins === null || end === 0) return times[row] < from ? -1 : weight;
    const part = Math.min(end, to) - Math.max(begins[row], from);
    return part > 0 ? part : -1;
  }

  /**
   * Whether a row is a wait, and counts in a range.
   * @param {number} row
   * @param {[number, number]} range
   */
  isWaitWithin(row, range) {
    return this.ends !== null && this.ends.ends[row] > 0 && this.weightWithin(row, 0, range) >= 0;
  }

  /** @param {number} thread */
  nameOfThread(thread) {
    const [pid, tid, comm] = this.head.threads[thread];
    const name = this.text(comm);
    if (this.head.by_name) return name;
    return pid === tid ? `${name} ${pid}` : `${name} ${pid}/${tid}`;
  }

  /**
   * Labels from a node outwards.
   * @param {number} node
   */
  stackOf(node) {
    const labels = [];
    for (let at = node; at >= 0; at = this.parents[at]) labels.push(this.labelOf(at));
    return labels;
  }
}

/**
 * By node, the first one that is neither this node nor below it.
 * @param {Int32Array} parents
 */
function endsOfNodes(parents) {
  const ends = new Int32Array(parents.length);
  for (let node = parents.length - 1; node >= 0; node--) {
    if (ends[node] === 0) ends[node] = node + 1;
    const parent = parents[node];
    if (parent >= 0 && ends[parent] === 0) ends[parent] = ends[node];
  }
  return ends;
}

/**
 * When waits begin: a thread is blocked first, and waits for a CPU then, and both have the time of the first.
 * @param {Profile} profile
 */
function beginsOfWaits(profile) {
  const { starts, stacks, times, weights } = profile;
  const begins = times.slice();
  for (let thread = 0; thread + 1 < starts.length; thread++) {
    let [before, end] = [-1, 0];
    for (let row = starts[thread]; row < starts[thread + 1]; row++) {
      if (stacks[row] <= 0 || !profile.isWait(stacks[row] - 1)) continue;
      begins[row] = times[row] === before ? end : times[row];
      [before, end] = [times[row], begins[row] + weights[row]];
    }
  }
  return begins;
}

/**
 * By row, when its wait ends, 0 if it is none; and a running maximum within each thread of the times at which rows end.
 * @param {Profile} profile
 * @param {Float64Array} begins
 */
function endsOfWaits(profile, begins) {
  const { starts, stacks, times, weights } = profile;
  const ends = new Float64Array(begins.length);
  const lasts = new Float64Array(begins.length);
  for (let thread = 0; thread + 1 < starts.length; thread++) {
    let last = -Infinity;
    for (let row = starts[thread]; row < starts[thread + 1]; row++) {
      if (stacks[row] > 0 && profile.isWait(stacks[row] - 1)) ends[row] = begins[row] + weights[row];
      last = Math.max(last, times[row], ends[row]);
      lasts[row] = last;
    }
  }
  return { ends, lasts };
}

/**
 * Frames that differ by their places alone are one function.
 * @param {Uint32Array} names
 * @param {Uint32Array} images
 * @param {Uint8Array} flags
 */
function functionsOf(names, images, flags) {
  const functionOf = new Uint32Array(names.length);
  /** @type {number[]} */
  const frameOfFunction = [];
  const most = names.reduce((a, b) => Math.max(a, b), 0) + 1;
  /** @type {Map<number, number>} */
  const functions = new Map();
  for (let frame = 0; frame < names.length; frame++) {
    // A number for each: such keys take no memory of their own.
    const key = (images[frame] * most + names[frame]) * 256 + flags[frame];
    let found = functions.get(key);
    if (found === undefined) {
      found = functions.size;
      functions.set(key, found);
      frameOfFunction.push(frame);
    }
    functionOf[frame] = found;
  }
  return { functionOf, frameOfFunction };
}

/**
 * @param {Head} head
 * @param {Reading} reading
 */
function readStacks(head, reading) {
  const n = head.n_nodes;
  const ups = reading.fill(new Uint32Array(n));
  const labels = reading.fill(new Uint32Array(n));
  const parents = new Int32Array(n);
  const depths = new Uint32Array(n);
  /** @type {number[]} */
  const path = [];
  for (let node = 0; node < n; node++) {
    path.length -= ups[node];
    parents[node] = path.length > 0 ? path[path.length - 1] : -1;
    depths[node] = path.length;
    path.push(node);
  }
  return { labels, parents, depths };
}

/**
 * @param {Head} head
 * @param {Reading} reading
 */
function readLosses(head, reading) {
  /** @type {{time: number, samples: number}[]} */
  const losses = [];
  let time = 0;
  for (let loss = 0; loss < head.n_losses; loss++) {
    time += reading.difference();
    losses.push({ time, samples: reading.unsigned() });
  }
  return losses;
}
