// Which nodes transforms of a path, or by pattern, are of: a path is one node of the flame graph, a pattern is what was
// searched for. How links say them.

/** Deeper nodes have no transforms of their own: a link has no room for them. */
const MOST_ON_PATH = 2000;

/** Patterns whose matches are kept. */
const MOST_PATTERNS = 8;

/** @typedef {{menu: string, chip: string, key: string, title: string}} TransformWords */

/**
 * What transforms of one node are called.
 * @type {{[kind in TransformKind]?: TransformWords}}
 */
const OF_NODE = {
  focus: {
    menu: "Focus on subtree only", chip: "focus on subtree", key: "F",
    title: "Begin stacks at this node, and leave out samples on other paths",
  },
  merge: { menu: "Merge node only", chip: "merged node", key: "N", title: "On this path only, its own time is that of its caller" },
  self: { menu: "Focus on self time of this node only", chip: "self time of node", key: "O", title: "Count only samples in it on this path" },
};

/**
 * What transforms of threads are called.
 * @type {{[kind in TransformKind]?: TransformWords}}
 */
const OF_THREADS = {
  keep: { menu: "Keep threads", chip: "threads", key: "k", title: "Count only samples of threads with this name" },
  drop: { menu: "Drop threads", chip: "without threads", key: "d", title: "Leave out samples of threads with this name" },
};

/**
 * What transforms by pattern are called.
 * @type {{[kind in TransformKind]?: TransformWords}}
 */
const OF_PATTERN = {
  keep: { menu: "Keep stacks with a match", chip: "stacks with", key: "k", title: "Count only samples with a match anywhere in their stack (pprof: focus)" },
  drop: { menu: "Drop stacks with a match", chip: "stacks without", key: "d", title: "Leave out samples with a match anywhere in their stack (pprof: ignore)" },
  focus: { menu: "Begin stacks at a match", chip: "from", key: "f", title: "Leave out callers of the outermost match, and stacks without a match (pprof: show_from)" },
  merge: { menu: "Merge matches into callers", chip: "merged:", key: "m", title: "Hide functions that match: their own time is that of who calls them (pprof: hide)" },
  show: {
    menu: "Show only matches", chip: "only", key: "o",
    title: "Merge all other functions into their callers, and leave out stacks without a match (pprof: show)",
  },
};

/**
 * The transform of a node, by the labels on its path from the outermost one.
 * @param {Profile} profile
 * @param {number[]} path
 * @returns {Omit<Transform, "kind"> | null}
 */
function placeOfPath({ n_comms: n, isByLine, functionOf, flags }, path) {
  const frames = path.slice(1);
  const isThread = path[0] < 0 && path[0] >= -n && frames.every((label) => label >= 0);
  if (!isThread || frames.length === 0 || path.length > MOST_ON_PATH || (flags[frames[frames.length - 1]] & FLAGS.wait) !== 0) return null;
  const numbers = isByLine ? frames : frames.map((frame) => functionOf[frame]);
  return { grouping: isByLine ? "lines" : "path", key: 0, path: [-1 - path[0], ...numbers] };
}

/**
 * By node, whether it is the one at the end of a path.
 * @param {Profile} profile
 * @param {Transform} transform
 */
function nodesAtPath(profile, { grouping, path = [] }) {
  const { parents, labels, functionOf, joined } = profile;
  const is = new Uint8Array(parents.length);
  // How much of the path leads to a node; what is on no part of it is 0.
  const lengths = new Uint16Array(parents.length);
  const thread = joined?.[path[0]] ?? path[0];
  for (let node = 0; node < is.length; node++) {
    const parent = parents[node];
    if (parent < 0) lengths[node] = labels[node] === thread ? 1 : 0;
    else if (lengths[parent] > 0 && lengths[parent] < path.length) {
      const number = grouping === "lines" ? labels[node] : functionOf[labels[node]];
      lengths[node] = number === path[lengths[parent]] ? lengths[parent] + 1 : 0;
    }
    if (lengths[node] === path.length) is[node] = 1;
  }
  return is;
}

/**
 * By node, whether its name matches, or, where stacks are of source lines, its place; names of threads do, or do not.
 * @param {Profile} profile
 * @param {Transform} transform
 * @param {boolean} hasThreads
 */
function nodesThatMatch(profile, { text = "" }, hasThreads) {
  const { parents, labels, names, places, isByLine, head } = profile;
  const { strings } = head;
  let known = profile.patterns.find((one) => one.text === text && one.strings === strings);
  if (known === undefined) {
    const pattern = new Pattern(text);
    known = { text, strings, has: Uint8Array.from(strings, (name) => (pattern.matches(name) ? 1 : 0)) };
  }
  const { has } = known;
  profile.patterns = [known, ...profile.patterns.filter((one) => one !== known).slice(0, MOST_PATTERNS - 1)];
  const is = new Uint8Array(parents.length);
  for (let node = 0; node < is.length; node++) {
    const label = labels[node];
    if (parents[node] >= 0) is[node] = has[names[label]] | (isByLine && places[label] > 0 ? has[places[label] - 1] : 0);
    else is[node] = hasThreads ? has[head.comms[label]] : 0;
  }
  return is;
}

/**
 * What a transform is called in menus and on its chip.
 * @param {Transform} transform
 * @returns {TransformWords}
 */
function wordsOfKind({ kind, grouping }) {
  const of = grouping === "pattern" ? OF_PATTERN : grouping === "thread" ? OF_THREADS : grouping === "path" || grouping === "lines" ? OF_NODE : {};
  return of[kind] ?? TRANSFORMS[kind];
}

/**
 * Words with the name of what they are about, in its place or behind them.
 * @param {string} words
 * @param {string} name
 */
function withName(words, name) {
  return words.includes("NAME") ? words.replace("NAME", () => name) : `${words} ${name}`.trim();
}

/**
 * What a chip says of a transform of stacks.
 * @param {Profile} profile
 * @param {Transform} one
 */
function saidOfTransform(profile, one) {
  const { grouping } = one;
  const of = grouping === "image" ? "shared object " : ["all", "function", "path", "lines", "pattern", "thread"].includes(grouping) ? "" : `${grouping} `;
  return withName(wordsOfKind(one).chip, `${of}${middleCut(nameOfTransformed(profile, one), 60)}`);
}

/**
 * What a link says of what a transform is of.
 * @param {Transform} transform
 */
function placeInLink({ key, path, text }) {
  if (path !== undefined) return path.join("-");
  // What separates transforms, and their parts, is no part of a pattern.
  return text === undefined ? String(key) : encodeURIComponent(text).replace(/[.~]/g, (c) => (c === "." ? "%2E" : "%7E"));
}

/**
 * What a link's word says a transform is of; `null` if it says nothing.
 * @param {string} grouping
 * @param {string} word
 * @returns {Pick<Transform, "key" | "path" | "text"> | null}
 */
function placeFromLink(grouping, word) {
  const isNumber = (/** @type {string} */ one) => /^\d{1,10}$/.test(one);
  if (grouping === "pattern") {
    try {
      const text = decodeURIComponent(word);
      return text === "" ? null : { key: 0, text };
    } catch {
      return null;
    }
  }
  if (grouping !== "path" && grouping !== "lines") return isNumber(word) ? { key: Number(word) } : null;
  const path = word.split("-");
  return path.length > 1 && path.length <= MOST_ON_PATH && path.every(isNumber) ? { key: 0, path: path.map(Number) } : null;
}
