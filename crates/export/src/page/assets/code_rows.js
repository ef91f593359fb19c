// The rows of a function's code, and the jumps beside them.

/**
 * A row: an instruction, a source line above its instructions or among others, or a sentence on what follows. `end` is
 * the instruction after those that a line stands for here; `place` is what stacks call a source line.
 * @typedef {{kind: "part" | "chain" | "line" | "loop" | "end" | "instruction" | "left" | "file" | "gap" | "source",
 *   at: number, line: number, end: number, text: string, number: string, place: string}} CodeRow
 */

/** Lanes that jumps are drawn in at most. */
const MOST_LANES = 8;

/**
 * @param {CodeRow["kind"]} kind
 * @param {Partial<CodeRow>} [row]
 * @returns {CodeRow}
 */
function codeRow(kind, row) {
  return { kind, at: -1, line: -1, end: -1, text: "", number: "", place: "", ...row };
}

/**
 * Instructions with the source lines, inlined functions and loops that they are of, as `rprof annotate` has them.
 * @param {FunctionCode} code
 */
function instructionRows(code) {
  const { head, parts } = code;
  /** @type {CodeRow[]} */
  const rows = [];
  const hasInlined = code.inlined.size > 0;
  const left = new Map(pairs(head.left));
  const starts = grouped(head.loops.map(({ first }, loop) => [first, loop]));
  const ends = grouped(head.loops.map(({ last }, loop) => [last, loop]).reverse());
  const leftRow = (/** @type {number} */ at) => {
    const n = left.get(at);
    if (n !== undefined) rows.push(codeRow("left", { at, text: `… ${counted(n, "instruction", "instructions")} far from samples` }));
    left.delete(at);
  };
  for (const { symbol, address, start, end } of parts) {
    rows.push(codeRow("part", { at: start, text: `${address.toString(16)} <${symbol}>` }));
    let [line, chain] = [-1, -1];
    for (let at = start; at < end; at++) {
      leftRow(at);
      for (const loop of starts.get(at) ?? []) rows.push(codeRow("loop", { at, line: loop, text: loopText(code, loop) }));
      if (hasInlined && chain !== head.chains[at]) {
        chain = head.chains[at];
        if (chain > 0) rows.push(codeRow("chain", { at, text: chainText(head.inlined[chain - 1]) }));
      }
      if (line !== head.lines[at]) {
        line = head.lines[at];
        if (line > 0) rows.push(lineRow(code, at, end));
      }
      rows.push(codeRow("instruction", { at, number: code.address(at), text: head.texts[at] }));
      for (const loop of ends.get(at) ?? []) rows.push(codeRow("end", { at: at + 1, line: loop, text: `end of loop ${loop + 1}` }));
    }
  }
  leftRow(code.n);
  return rows;
}

/**
 * The line of an instruction, for all up to the next line.
 * @param {FunctionCode} code
 * @param {number} at
 * @param {number} end
 */
function lineRow(code, at, end) {
  const number = code.head.lines[at];
  let next = at;
  while (next < end && code.head.lines[next] === number) next++;
  const { path, line, text } = code.line(number - 1);
  const place = `${path.slice(path.lastIndexOf("/") + 1)}:${line}`;
  return codeRow("line", { at, line: number - 1, end: next, text: text === null ? place : `${place}  ${text}`, place });
}

/**
 * @param {FunctionCode} code
 * @param {number} loop
 */
function loopText(code, loop) {
  const { parent, n, head } = code.head.loops[loop];
  const within = parent > 0 ? ` in loop ${parent}` : "";
  return `loop ${loop + 1}${within}: ${counted(n, "instruction", "instructions")}, entered at ${code.address(head)}`;
}

/**
 * Functions that instructions are part of, innermost first.
 * @param {(string | null)[]} chain
 */
function chainText(chain) {
  let text = `in ${chain[0]}`;
  for (let at = 2; at < chain.length; at += 2) {
    const place = chain[at + 1];
    const short = place === null ? "" : ` at ${place.slice(place.lastIndexOf("/") + 1)}`;
    text += `, inlined into ${chain[at]}${short}`;
  }
  return text;
}

/**
 * Source lines alone, file by file.
 * @param {FunctionCode} code
 */
function sourceRows(code) {
  const { places, sources } = code.head;
  /** @type {Map<string, number>} */
  const numbers = new Map();
  for (let line = 0; line < places.length / 2; line++) numbers.set(`${places[2 * line]} ${places[2 * line + 1]}`, line);
  return sources.flatMap(([path, lines], source) => {
    const rows = [codeRow("file", { text: path })];
    let before = 0;
    for (const [number, text] of pairs(/** @type {number[]} */ (lines))) {
      if (before > 0 && number > before + 1) rows.push(codeRow("gap", { text: "⋯" }));
      before = number;
      const said = /** @type {unknown} */ (text);
      const line = numbers.get(`${source} ${number}`) ?? -1;
      const place = `${path.slice(path.lastIndexOf("/") + 1)}:${number}`;
      rows.push(codeRow("source", { line, number: String(number), text: said === null ? "(no text)" : String(said), place }));
    }
    return rows;
  });
}

/**
 * Two numbers each.
 * @param {number[]} list
 * @returns {[number, number][]}
 */
function pairs(list) {
  return Array.from({ length: list.length / 2 }, (_, at) => [list[2 * at], list[2 * at + 1]]);
}

/**
 * Second numbers by first ones.
 * @param {number[][]} list
 */
function grouped(list) {
  /** @type {Map<number, number[]>} */
  const groups = new Map();
  for (const [key, value] of list) groups.set(key, [...(groups.get(key) ?? []), value]);
  return groups;
}

/** @typedef {{target: number, sources: number[], first: number, last: number}} Jump All jumps to one instruction. */

/** Jumps of a function, in lanes: short ones are next to the code. It is what `rprof annotate` draws. */
class JumpLanes {
  /** @param {FunctionCode} code */
  constructor(code) {
    const sources = grouped(code.head.targets.flatMap((target, at) => (target > 0 ? [[target - 1, at]] : [])));
    /** @type {Jump[]} */
    const jumps = [...sources].map(([target, sources]) => ({
      target, sources, first: Math.min(target, sources[0]), last: Math.max(target, sources[sources.length - 1]),
    }));
    jumps.sort((a, b) => a.last - a.first - (b.last - b.first) || a.first - b.first);
    /** @type {Jump[][]} */
    this.lanes = [];
    this.hidden = 0;
    for (const jump of jumps) {
      let lane = this.lanes.find((lane) => lane.every(({ first, last }) => last < jump.first || first > jump.last));
      if (lane === undefined && this.lanes.length < MOST_LANES) this.lanes.push((lane = []));
      if (lane === undefined) this.hidden += jump.sources.length;
      else lane.push(jump);
    }
    for (const lane of this.lanes) lane.sort((a, b) => a.first - b.first);
    this.lanes.reverse();
  }

  /**
   * What stands beside an instruction.
   * @param {number} at
   */
  beside(at) {
    if (this.lanes.length === 0) return "";
    let [cells, isJoined, isTarget] = ["", false, false];
    for (const lane of this.lanes) {
      const jump = jumpAt(lane, at);
      if (jump !== undefined && (jump.target === at || jump.sources.includes(at))) {
        isTarget ||= jump.target === at;
        const sign = jump.first === jump.last ? "├┼" : at === jump.first ? "╭┬" : at === jump.last ? "╰┴" : "├┼";
        cells += sign[isJoined ? 1 : 0];
        isJoined = true;
      } else if (jump !== undefined) cells += isJoined ? "┼" : "│";
      else cells += isJoined ? "─" : " ";
    }
    return cells + (isTarget ? "─▸" : isJoined ? "──" : "  ");
  }

  /**
   * What stands beside a row before an instruction.
   * @param {number} at
   */
  before(at) {
    const cells = this.lanes.map((lane) => ((jumpAt(lane, at - 1)?.last ?? -1) >= at ? "│" : " "));
    return cells.length === 0 ? "" : `${cells.join("")}  `;
  }
}

/**
 * The jump of a lane that passes an instruction.
 * @param {Jump[]} lane
 * @param {number} at
 */
function jumpAt(lane, at) {
  let [low, high] = [0, lane.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (lane[middle].first <= at) low = middle + 1;
    else high = middle;
  }
  const jump = lane[low - 1];
  return jump !== undefined && jump.last >= at ? jump : undefined;
}
