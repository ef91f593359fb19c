// What instructions and source lines count: of what is selected if the page knows where each sample was taken, else of
// the whole recording.

/** What each instruction of all functions counts. */
class CodeCounts {
  /** @param {number} n */
  constructor(n) {
    this.weights = new Float64Array(n);
    this.samples = new Float64Array(n);
    /** Whether these are counts of the whole recording, whatever is selected. */
    this.isWhole = false;
    /**
     * What each function counts, at instructions that the page leaves out, too.
     * @type {Sum[]}
     */
    this.functions = [];
    /**
     * What functions count that the page has no code of, by their numbers in the profile.
     * @type {Map<number, number>}
     */
    this.others = new Map();
  }

  /**
   * @param {PageCode} code
   * @param {Profile} profile
   * @param {SampleSelection} selection
   */
  static of(code, profile, selection) {
    const counts = new CodeCounts(code.nInstructions);
    const { weights, samples, others } = counts;
    const { places } = code;
    const where = code.whereRowsAre(profile);
    const { stacks } = profile.recorded;
    /** @type {(row: number, weight: number) => void} */
    const addOther = (row, weight) => {
      const other = where.others[stacks[row] - 1] ?? -1;
      if (other >= 0) others.set(other, (others.get(other) ?? 0) + weight);
    };
    if (places === null) {
      counts.isWhole = true;
      for (const { head, first } of code.functions) {
        const event = head.events.find(({ event }) => event === selection.event);
        counts.functions.push({ weight: event?.weight ?? 0, samples: event?.samples ?? 0 });
        event?.at.forEach((at, nth) => {
          weights[first + at] = event.weights[nth];
          samples[first + at] = event.n[nth];
        });
      }
      const recorded = profile.beside();
      recorded.restore();
      forRows(recorded, { event: selection.event, range: null, thread: null }, (_node, weight, _n, _time, _thread, row) => addOther(row, weight));
      return counts;
    }
    const kept = keptNodes(profile, selection);
    counts.functions = code.functions.map(() => ({ weight: 0, samples: 0 }));
    const { ofNode, ofInstruction } = where;
    forRows(profile, selection, (node, weight, n, _time, _thread, row) => {
      const place = places[row];
      if (node < 0 || (kept !== null && kept[node] === 0)) return;
      const number = place > 0 ? ofInstruction[place - 1] : ofNode[stacks[row] - 1];
      if (number >= 0) {
        counts.functions[number].weight += weight;
        counts.functions[number].samples += n;
      } else addOther(row, weight);
      if (place === 0) return;
      weights[place - 1] += weight;
      samples[place - 1] += n;
    });
    return counts;
  }

  /**
   * The sum of some of a function's instructions.
   * @param {FunctionCode} code
   * @param {(at: number) => boolean} has
   * @returns {Sum}
   */
  sum({ first, n }, has) {
    const sum = { weight: 0, samples: 0 };
    for (let at = 0; at < n; at++) {
      if (!has(at)) continue;
      sum.weight += this.weights[first + at];
      sum.samples += this.samples[first + at];
    }
    return sum;
  }

  /**
   * By line of a function, what its instructions count.
   * @param {FunctionCode} code
   */
  lines(code) {
    const sums = code.head.places.slice(code.head.places.length / 2).map(() => ({ weight: 0, samples: 0 }));
    code.head.lines.forEach((line, at) => {
      if (line === 0) return;
      sums[line - 1].weight += this.weights[code.first + at];
      sums[line - 1].samples += this.samples[code.first + at];
    });
    return sums;
  }

  /**
   * By loop of a function, what it and loops in it count.
   * @param {FunctionCode} code
   */
  loops({ head, first }) {
    const sums = head.loops.map(({ ranges }) => {
      const sum = { weight: 0, samples: 0 };
      for (let range = 0; range < ranges.length; range += 2) {
        for (let at = ranges[range]; at < ranges[range + 1]; at++) {
          sum.weight += this.weights[first + at];
          sum.samples += this.samples[first + at];
        }
      }
      return sum;
    });
    // Inner loops come after those that they are in.
    for (let loop = sums.length - 1; loop >= 0; loop--) {
      const outer = sums[head.loops[loop].parent - 1];
      if (outer === undefined) continue;
      outer.weight += sums[loop].weight;
      outer.samples += sums[loop].samples;
    }
    return sums;
  }
}

/**
 * What each row of a function's code counts.
 * @param {FunctionCode} code
 * @param {CodeCounts} counts
 * @returns {(row: CodeRow) => Sum}
 */
function sumsOfRows(code, counts) {
  const { weights, samples } = counts;
  const lines = counts.lines(code);
  const loops = counts.loops(code);
  return (row) => {
    const sum = { weight: 0, samples: 0 };
    const at = code.first + row.at;
    if (row.kind === "instruction") return { weight: weights[at], samples: samples[at] };
    if (row.kind === "loop") return loops[row.line];
    if (row.kind === "source") return lines[row.line] ?? sum;
    if (row.kind !== "line") return sum;
    for (let one = row.at; one < row.end; one++) {
      sum.weight += weights[code.first + one];
      sum.samples += samples[code.first + one];
    }
    return sum;
  };
}

/**
 * The number of the row that counts most, of instructions that are wanted and of source lines.
 * @param {CodeRow[]} rows
 * @param {(row: CodeRow) => Sum} sumOf
 * @param {(at: number) => boolean} isWanted
 */
function hottestRow(rows, sumOf, isWanted) {
  let [most, found] = [0, 0];
  rows.forEach((row, number) => {
    if (row.kind !== "source" && (row.kind !== "instruction" || !isWanted(row.at))) return;
    const { weight } = sumOf(row);
    if (weight > most) [most, found] = [weight, number];
  });
  return found;
}

/**
 * By place in the source, what the stacks of a function count there, including callees, and what all of it counts: a
 * sample once, however often the place is in its stack. A line of inlined code counts where it is a part of this function.
 * @param {Profile} profile
 * @param {Counts} counts
 * @param {FunctionCode} code
 */
function totalsOfLines(profile, counts, code) {
  const { flags, labels, parents } = profile;
  // Transforms may hide a part of names.
  const { places, names, head: { strings } } = profile.recorded;
  const own = strings.indexOf(code.head.name);
  const sums = counts.totals(profile).weights;
  // By frame, 1 if it is one of the function's own, 2 if it is inlined: then it is part of what its caller is part of.
  const ofFrames = Uint8Array.from(flags, (of, frame) => ((of & FLAGS.inlined) !== 0 ? 2 : names[frame] === own ? 1 : 0));
  const isPart = new Uint8Array(parents.length);
  /** By node, the place if it is in the function, or 0. */
  const placeOf = new Uint32Array(parents.length);
  const isWithin = new Uint8Array(parents.length);
  let whole = 0;
  /** @type {Map<string, number>} */
  const totals = new Map();
  for (let node = 0; node < parents.length; node++) {
    const parent = parents[node];
    if (parent < 0) continue;
    const kind = ofFrames[labels[node]];
    isPart[node] = kind === 2 ? isPart[parent] : kind;
    isWithin[node] = isWithin[parent];
    if (isPart[node] === 0 || sums[node] === 0) continue;
    if (isWithin[node] === 0) whole += sums[node];
    isWithin[node] = 1;
    const place = places[labels[node]] ?? 0;
    if (place === 0) continue;
    placeOf[node] = place;
    let isAgain = false;
    for (let at = parents[node]; at >= 0 && !isAgain; at = parents[at]) isAgain = placeOf[at] === place;
    if (!isAgain) totals.set(strings[place - 1], (totals.get(strings[place - 1]) ?? 0) + sums[node]);
  }
  return { totals, whole };
}
