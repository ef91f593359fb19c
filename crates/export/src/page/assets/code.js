// Code of functions: a stream beside the profile, unpacked when somebody looks at it. PAGE.md has the format.

/**
 * Numbers of instructions, lines and functions are those within a function; where there may be none they are one more,
 * and 0 is none.
 * @typedef {{event: number, samples: number, weight: number, at: number[], n: number[], weights: number[]}} CodeEventHead
 * @typedef {{first: number, last: number, head: number, depth: number, parent: number, n: number, ranges: number[]}} LoopHead
 * @typedef {{name: string, image: string, file: string, notes: string[], parts: [string, string, number][],
 *   offsets: number[], texts: string[], lines: number[], chains: number[], targets: number[], left: number[],
 *   sources: [string, (number | string | null)[]][], places: number[], inlined: (string | null)[][], loops: LoopHead[],
 *   events: CodeEventHead[]}} FunctionHead
 * @typedef {{has_places: boolean, n_left_out: number, n_texts: number, functions: FunctionHead[],
 *   refused: [string, string | null, string][]}} CodeHead Of what cannot be shown: its image, its function if not all
 *   of the image, why.
 */

/** A call, or a jump to another function, with the address and the symbol that it goes to. */
const CALL = /^(?:call|jmp|bl|b|jal|j|tail)[a-z]?\s+(?:\w+,\s*)?(?:0x)?([\da-f]+)\s+<[^]+>$/;

/** A function's code. */
class FunctionCode {
  /**
   * @param {FunctionHead} head
   * @param {number} first number of its first instruction among those of all functions
   */
  constructor(head, first) {
    this.head = head;
    this.first = first;
    this.n = head.texts.length;
    /** Where each instruction is, from the start of its part. */
    this.offsets = new Float64Array(this.n);
    /** @type {{symbol: string, address: bigint, start: number, end: number}[]} */
    this.parts = [];
    let at = 0;
    for (const [symbol, address, n] of head.parts) {
      this.parts.push({ symbol, address: BigInt(`0x${address}`), start: at, end: at + n });
      for (let offset = 0, end = at + n; at < end; at++) this.offsets[at] = offset += head.offsets[at];
    }
    /** Functions that are inlined into it. */
    this.inlined = new Set(head.inlined.flatMap((chain) => chain.filter((_, at) => at % 2 === 0).slice(0, -1)));
    this.imageName = head.image.slice(head.image.lastIndexOf("/") + 1);
  }

  /**
   * In hexadecimal digits.
   * @param {number} at
   */
  address(at) {
    const part = this.parts.find(({ end }) => at < end);
    return part === undefined ? "" : (part.address + BigInt(this.offsets[at])).toString(16);
  }

  /**
   * Whether an instruction is of any function that is inlined.
   * @param {number} at
   */
  isInlined(at) {
    return (this.head.inlined[this.head.chains[at] - 1]?.length ?? 0) > 2;
  }

  /**
   * Whether an instruction is of a function that is inlined.
   * @param {number} at
   * @param {string} name
   */
  isOf(at, name) {
    const chain = this.head.inlined[this.head.chains[at] - 1];
    return chain !== undefined && chain.slice(0, -2).includes(name);
  }

  /**
   * A line that instructions are of: its file and number.
   * @param {number} line
   * @returns {{path: string, line: number, text: string | null}}
   */
  line(line) {
    const [source, number] = [this.head.places[2 * line], this.head.places[2 * line + 1]];
    const [path, lines] = this.head.sources[source] ?? ["", []];
    for (let at = 0; at < lines.length; at += 2) {
      if (lines[at] === number) return { path, line: number, text: /** @type {string | null} */ (lines[at + 1]) };
    }
    return { path, line: number, text: null };
  }
}

/** The code of all functions that the page has code of. */
class PageCode {
  /**
   * @param {CodeHead} head
   * @param {Reading} reading
   * @param {Profile} profile
   */
  constructor(head, reading, profile) {
    this.head = head;
    let first = 0;
    this.functions = head.functions.map((one) => {
      const code = new FunctionCode(one, first);
      first += code.n;
      return code;
    });
    this.nInstructions = first;
    /**
     * Of each row the instruction among all that it was sampled at, one more, or 0; `null` if that is not known.
     * @type {Uint32Array | null}
     */
    this.places = head.has_places ? readPlaces(reading, profile) : null;
    /** @type {{ofNode: Int32Array, ofInstruction: Int32Array, others: Int32Array} | null} */
    this.where = null;
    /** By image and address, the function that begins there. @type {Map<string, number>} */
    this.byAddress = new Map();
    this.functions.forEach(({ head, parts }, number) => {
      for (const { address } of parts) this.byAddress.set(`${head.image}\n${address.toString(16)}`, number);
    });
    /** @type {Map<string, number[]>} */
    this.byName = new Map();
    this.functions.forEach(({ head, inlined }, number) => {
      for (const name of new Set([head.name, ...inlined])) {
        if (name === null) continue;
        const list = this.byName.get(name);
        if (list === undefined) this.byName.set(name, [number]);
        else list.push(number);
      }
    });
  }

  /**
   * Where an instruction goes to: a function that the page has code of, or an instruction of its own function.
   * @param {FunctionCode} code
   * @param {number} at
   * @returns {{listing: number} | {at: number} | null}
   */
  targetOf({ head }, at) {
    if (head.targets[at] > 0) return { at: head.targets[at] - 1 };
    const [, address] = CALL.exec(head.texts[at]) ?? [];
    const listing = address === undefined ? undefined : this.byAddress.get(`${head.image}\n${address}`);
    return listing === undefined ? null : { listing };
  }

  /**
   * The function of each instruction; and by node of what was recorded, the function with code that its innermost frame
   * is of, or is inlined into; -1 if there is none. Then `others` has the number that the function has in the profile.
   * @param {Profile} profile
   */
  whereRowsAre(profile) {
    if (this.where !== null) return this.where;
    const { labels, parents, flags, names, images, functionOf, head: { strings } } = profile.recorded;
    const ofInstruction = new Int32Array(this.nInstructions);
    this.functions.forEach(({ first, n }, number) => ofInstruction.fill(number, first, first + n));
    const ofFrame = Int32Array.from(names, (string, frame) => {
      const name = strings[string];
      const image = strings[images[frame]];
      const isOne = (/** @type {FunctionCode} */ { head, imageName }) => head.name === name && (imageName === image || head.image === image);
      return this.byName.get(name)?.find((number) => isOne(this.functions[number])) ?? -1;
    });
    const ofNode = new Int32Array(parents.length).fill(-1);
    const others = new Int32Array(parents.length).fill(-1);
    for (let node = 0; node < ofNode.length; node++) {
      const parent = parents[node];
      if (parent < 0) continue;
      const isPart = (flags[labels[node]] & (FLAGS.inlined | FLAGS.wait)) !== 0 && parents[parent] >= 0;
      ofNode[node] = isPart ? ofNode[parent] : ofFrame[labels[node]];
      others[node] = isPart ? others[parent] : ofNode[node] < 0 ? functionOf[labels[node]] : -1;
    }
    this.where = { ofNode, ofInstruction, others };
    return this.where;
  }

  /**
   * Whether a number is of a function that was recorded: others are of what transforms made.
   * @param {Profile} profile
   * @param {number | null} number
   */
  isRecorded(profile, number) {
    return number !== null && profile.recorded.frameOfFunction[number] !== undefined;
  }

  /**
   * Why the code of a function of the profile cannot be shown, if that is known.
   * @param {Profile} profile
   * @param {number} number
   */
  whyNot(profile, number) {
    const { frameOfFunction, names, images, head } = profile.recorded;
    const frame = frameOfFunction[number];
    const [name, image] = [head.strings[names[frame]], head.strings[images[frame]]];
    const found = this.head.refused.find(([ofImage, ofFunction]) => ofImage === image && (ofFunction === null || ofFunction === name));
    return found?.[2] ?? null;
  }

  /**
   * The code of a function of the profile: its own, and that of functions that it is inlined into.
   * @param {Profile} profile
   * @param {number} number
   * @returns {{name: string, listings: number[]}}
   */
  of(profile, number) {
    const { frameOfFunction, names, images, head } = profile.recorded;
    const frame = frameOfFunction[number];
    if (frame === undefined) return { name: profile.text(profile.names[profile.frameOfFunction[number]] ?? -1), listings: [] };
    const name = head.strings[names[frame]];
    const image = head.strings[images[frame]];
    const all = this.byName.get(name) ?? [];
    const isOwn = (/** @type {number} */ one) => this.functions[one].head.name === name;
    const isOfImage = (/** @type {number} */ one) => [this.functions[one].imageName, this.functions[one].head.image].includes(image);
    const listings = all.filter((one) => isOfImage(one));
    const own = listings.filter(isOwn);
    return { name, listings: [...own, ...listings.filter((one) => !isOwn(one))] };
  }
}

/**
 * Which instruction each row was sampled at: of each frame the instructions of its rows, then of each row the rank.
 * @param {Reading} reading
 * @param {Profile} profile
 */
function readPlaces(reading, profile) {
  const { labels, stacks } = profile.recorded;
  /** @type {Uint32Array[]} */
  const ofFrame = [];
  for (let frame = 0; frame < profile.head.n_frames; frame++) {
    const list = new Uint32Array(reading.unsigned());
    let number = 0;
    for (let rank = 0; rank < list.length; rank++) list[rank] = number += reading.difference();
    ofFrame.push(list);
  }
  const places = new Uint32Array(stacks.length);
  for (let row = 0; row < stacks.length; row++) {
    if (stacks[row] === 0) continue;
    const list = ofFrame[labels[stacks[row] - 1]];
    if (list === undefined || list.length === 0) continue;
    const rank = reading.unsigned();
    if (rank > 0) places[row] = list[rank - 1] + 1;
  }
  return places;
}

/** Where the stream is. */
function codeElement() {
  return element("code-data", HTMLElement);
}

/** Whether the page has code. */
const HAS_CODE = codeElement().textContent !== "";

/**
 * @param {Profile} profile
 * @returns {Promise<PageCode>}
 */
async function decodeCode(profile) {
  const reading = new Reading(await inflated(bytesOfBase64((codeElement().textContent ?? "").trim())));
  const magic = String.fromCharCode(...reading.take(8));
  if (magic !== "RPROFCD1") throw new Error("the code has an unknown format version: this file is damaged");
  const json = reading.take(reading.unsigned());
  /** @type {CodeHead} */
  const head = JSON.parse(new TextDecoder().decode(json));
  return new PageCode(head, reading, profile);
}
