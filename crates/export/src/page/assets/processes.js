// Stacks below their processes: a tree of its own, which flame graphs and call trees unfold. Tables count the profile's.

/**
 * Stacks in preorder, as an `Unfolding` takes them: numbers of labels are those of `Profile.labelsOfFrames`, once
 * `ofRoots` is added to those of outermost nodes.
 * @typedef {{parents: Int32Array, labels: Int32Array | Uint32Array, ends: Int32Array, ofRoots: number}} Stacks
 * @typedef {{weights: Float64Array, samples: Float64Array}} NodeCounts
 */

/** More nodes take too much memory. */
const MOST_GROUPED = 1 << 22;

/**
 * The stacks of a profile, below the names of their threads.
 * @param {Profile} profile
 * @returns {Stacks}
 */
function stacksByThread(profile) {
  const { parents, labels, names } = profile;
  return { parents, labels, ends: profile.nodeEnds(), ofRoots: names.length };
}

/** Grows node by node. */
class GroupedStacks {
  /**
   * @param {number} n_sides
   * @param {number} room
   */
  constructor(n_sides, room) {
    this.n = 0;
    this.parents = new Int32Array(room);
    this.labels = new Int32Array(room);
    /** @type {NodeCounts[]} */
    this.sides = Array.from({ length: n_sides }, () => ({ weights: new Float64Array(room), samples: new Float64Array(room) }));
  }

  /**
   * @param {number} parent
   * @param {number} label
   */
  push(parent, label) {
    if (this.n === this.parents.length) {
      const room = 2 * this.n;
      this.parents = longer(this.parents, room);
      this.labels = longer(this.labels, room);
      this.sides = this.sides.map(({ weights, samples }) => ({ weights: longer(weights, room), samples: longer(samples, room) }));
    }
    this.parents[this.n] = parent;
    this.labels[this.n] = label;
    return this.n++;
  }

  /** @returns {{stacks: Stacks, sides: NodeCounts[]}} */
  done() {
    const { n } = this;
    const parents = this.parents.subarray(0, n);
    const sides = this.sides.map(({ weights, samples }) => ({ weights: weights.subarray(0, n), samples: samples.subarray(0, n) }));
    return { stacks: { parents, labels: this.labels.subarray(0, n), ends: endsOfNodes(parents), ofRoots: 0 }, sides };
  }
}

/**
 * What is selected, below processes in the order of their first samples; `null` if these are too many nodes.
 * @param {Profile} profile
 * @param {SampleSelection[]} selections what each side counts
 */
function stacksByProcess(profile, selections) {
  const { parents, labels, names, processes, n_comms: nComms, head } = profile;
  // Threads of several processes seldom have the same stacks.
  const grouped = new GroupedStacks(selections.length, Math.min(MOST_GROUPED, Math.ceil(1.5 * parents.length) + 1024));
  const kept = keptNodes(profile, selections[0]);
  const counted = selections.map(() => ({ weights: new Float64Array(parents.length), samples: new Float64Array(parents.length) }));
  // By node, the last process that has it, and its place there.
  const seen = new Int32Array(parents.length).fill(-1);
  const places = new Int32Array(parents.length);
  const nodes = new Int32Array(parents.length);
  const threadsOf = processes.map(() => /** @type {number[]} */ ([]));
  head.threads.forEach(([pid], thread) => threadsOf[profile.processRanks().get(pid) ?? 0].push(thread));
  for (const [process, threads] of threadsOf.entries()) {
    let n = 0;
    selections.forEach((selection, side) => {
      const { weights, samples } = counted[side];
      const visit = rowsOfSpan(profile, selection, (node, weight, sum) => {
        if (node < 0 || (kept !== null && kept[node] === 0)) return;
        weights[node] += weight;
        samples[node] += sum;
        for (let at = node; at >= 0 && seen[at] !== process; at = parents[at]) {
          seen[at] = process;
          nodes[n++] = at;
        }
      });
      for (const thread of threads) forSpansOf(profile, selection, thread, visit);
    });
    if (n === 0) continue;
    if (grouped.n + n >= MOST_GROUPED) return null;
    const root = grouped.push(-1, names.length + nComms + process);
    nodes.subarray(0, n).sort();
    for (let place = 0; place < n; place++) {
      const node = nodes[place];
      const parent = parents[node];
      const at = grouped.push(parent < 0 ? root : places[parent], labels[node] + (parent < 0 ? names.length : 0));
      places[node] = at;
      for (let side = 0; side < counted.length; side++) {
        const [from, to] = [counted[side], grouped.sides[side]];
        to.weights[at] = from.weights[node];
        to.samples[at] = from.samples[node];
        from.weights[node] = from.samples[node] = 0;
      }
    }
  }
  return grouped.done();
}

/**
 * Gives processes names that boxes can have, behind those of threads. Returns the processes in the order of these.
 * @param {Profile} profile
 */
function addProcessNames(profile) {
  const { head } = profile;
  const processes = [...profile.processRanks().keys()];
  if (head.by_name || profile.sides !== null || processes.length < 2) return [];
  for (const pid of processes) head.comms.push(head.strings.push(nameInGrouping(profile, "process", pid)) - 1);
  return processes;
}
