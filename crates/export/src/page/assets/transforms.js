// Transforms of stacks: each changes what stacks are, one after the other, before anything counts them. Each is a chip,
// a part of the link, and undone alone.

/**
 * @typedef {"keep" | "drop" | "omit" | "focus" | "merge" | "show" | "self" | "collapse" | "recursion" | "types"} TransformKind
 * @typedef {Grouping | RowGrouping | "wait" | "all" | "path" | "lines" | "pattern"} TransformedGrouping A path is of functions, or of lines.
 * @typedef {{kind: TransformKind, grouping: TransformedGrouping, key: number, path?: number[], text?: string}} Transform
 */

/**
 * What each is called in the menu and on its chip (NAME, or what follows, is what it is of), its letter there, its tip,
 * what it can be of, and what it does.
 * @type {{[kind in TransformKind]: {menu: string, chip: string, key: string, title: string, of: TransformedGrouping[],
 *   apply: (stacks: StackColumns, profile: Profile, transform: Transform) => void}}}
 */
const TRANSFORMS = {
  keep: {
    menu: "Keep stacks with NAME anywhere", chip: "stacks with", key: "k", title: "Count only samples that have it anywhere in their stack",
    of: ["function", "image", "thread", "line", "wait", "process", "task", "cpu", "level", "state", "cause", "pattern"],
    apply: (stacks, profile, transform) => stacks.keepRows(nodesBelow(profile, transform), 1),
  },
  drop: {
    menu: "Drop stacks with NAME anywhere", chip: "stacks without", key: "d",
    title: "Leave out samples that have it anywhere in their stack: its own, and those of all that it calls",
    of: ["function", "image", "thread", "line", "wait", "process", "task", "cpu", "level", "state", "cause", "pattern"],
    apply: (stacks, profile, transform) => stacks.keepRows(nodesBelow(profile, transform), 0),
  },
  omit: {
    menu: "Drop what ran in NAME itself", chip: "not in NAME itself", of: ["function", "image"], key: "x",
    title: "Leave out its own samples (self), and keep those of what it calls: as rprof report -d '!NAME', or -S '!NAME' for a function",
    apply: (stacks, profile, transform) => stacks.keepRows(nodesOf(profile, transform), 0),
  },
  focus: {
    menu: "Focus on", chip: "focus on", of: ["function", "path", "lines", "pattern"], key: "f", title: "Begin stacks at it, and leave out samples without it",
    // Nothing is outside of a thread.
    apply: (stacks, profile, transform) => stacks.focus(transform.grouping === "pattern"
      ? nodesThatMatch(profile, transform, false) : nodesOf(profile, transform)),
  },
  merge: {
    menu: "Merge into callers:", chip: "merged:", of: ["function", "image", "path", "lines", "pattern"], key: "m",
    title: "Its own time is that of who calls it",
    apply: (stacks, profile, transform) => stacks.merge(nodesOf(profile, transform)),
  },
  show: {
    menu: "Show only", chip: "only", of: ["pattern"], key: "", title: "",
    apply: (stacks, profile, transform) => stacks.showOnly(nodesThatMatch(profile, transform, false)),
  },
  self: {
    menu: "Focus on self time of", chip: "self time of", of: ["function", "path", "lines"], key: "o",
    title: "Count only samples in it, not those in functions that it calls",
    apply: (stacks, profile, transform) => stacks.focusOnSelf(nodesOf(profile, transform)),
  },
  collapse: {
    menu: "Collapse", chip: "collapsed:", of: ["function", "image"], key: "c", title: "One frame with all that it calls",
    apply: (stacks, profile, transform) => {
      if (transform.grouping === "function") stacks.collapse(nodesOf(profile, transform));
      else stacks.collapseRuns(nodesOf(profile, transform), frameOfImage(profile, transform.key));
    },
  },
  recursion: {
    menu: "Collapse recursion of", chip: "recursion collapsed:", of: ["function"], key: "r",
    title: "Its calls of itself are the outermost one",
    apply: (stacks, profile, transform) => stacks.collapseRecursion(nodesOf(profile, transform)),
  },
  types: {
    menu: "Hide type arguments", chip: "type arguments hidden", of: ["all"], key: "h", title: "Vec<u8>::push and Vec<u32>::push are one",
    apply: (_, profile) => hideTypes(profile),
  },
};

/** A link has no more. */
const MOST_TRANSFORMS = 40;

/**
 * The kinds that a profile can have of something. Of two recordings, what changed beyond noise is known of whole stacks.
 * @param {Profile} profile
 * @param {TransformedGrouping} grouping
 */
function transformsOf(profile, grouping) {
  const kinds = /** @type {TransformKind[]} */ (Object.keys(TRANSFORMS));
  return kinds.filter((kind) => TRANSFORMS[kind].of.includes(grouping) && (profile.sides === null || kind === "keep"));
}

/**
 * What a transform is of, by name; nothing if it is of all.
 * @param {Profile} profile
 * @param {Transform} transform
 */
function nameOfTransformed(profile, { grouping, key, path = [], text = "" }) {
  if (grouping === "all") return "";
  if (grouping === "pattern") return `/${text}/`;
  if (grouping === "path" || grouping === "lines") return namesOfRow(profile, grouping === "path" ? "function" : "line", path[path.length - 1])[0];
  if (isRowGrouping(grouping)) return nameInGrouping(profile, grouping, key);
  return namesOfRow(profile, grouping === "wait" ? "function" : grouping, key)[0];
}

/**
 * Those that the words of a link say, as far as the profile has them.
 * @param {string} words
 * @param {Profile} profile
 * @returns {Transform[]}
 */
function transformsFrom(words, profile) {
  const transforms = [];
  for (const word of words.split("~").slice(0, MOST_TRANSFORMS)) {
    const [kind, grouping, of = ""] = word.split(".");
    const known = transformsOf(profile, /** @type {TransformedGrouping} */ (grouping)).find((one) => one === kind);
    const place = placeFromLink(grouping, of);
    if (known === undefined || place === null) continue;
    const transform = { kind: known, grouping: /** @type {TransformedGrouping} */ (grouping), ...place };
    if (isKnown(profile, transform)) transforms.push(transform);
  }
  return transforms;
}

/** @param {Transform[]} transforms */
function transformWords(transforms) {
  return transforms.map((one) => `${one.kind}.${one.grouping}.${placeInLink(one)}`).join("~");
}

/**
 * Whether a profile has what a transform is of. A collapsed image is a function of its own.
 * @param {Profile} profile
 * @param {Transform} transform
 */
function isKnown(profile, { grouping, key, path }) {
  const { names, images } = profile.recorded;
  if (grouping === "all" || grouping === "pattern") return key === 0;
  if (path !== undefined) {
    // Those of collapsed shared objects come after all others.
    const most = grouping === "lines" ? names.length + new Set(images).size : mostFunctions(profile);
    return path.every((number, at) => number < (at === 0 ? profile.n_comms : most));
  }
  if (isRowGrouping(grouping)) return hasRowsIn(profile, grouping, key);
  if (grouping === "thread") return key < profile.n_comms;
  if (grouping === "image") return images.includes(key);
  return key < (grouping === "line" ? names.length : mostFunctions(profile));
}

/**
 * How many functions there are with those that collapsed images are.
 * @param {Profile} profile
 */
function mostFunctions({ recorded: { frameOfFunction, images } }) {
  return frameOfFunction.length + new Set(images).size;
}

/**
 * Gives a profile the stacks that transforms make of those that were recorded.
 * @param {Profile} profile
 * @param {Transform[]} transforms
 * @param {"alike" | "apart"} threads whether threads that are alike are one
 */
function transform(profile, transforms, threads) {
  profile.restore();
  if (threads === "alike") joinAlike(profile);
  if (transforms.some(({ kind, grouping }) => kind === "collapse" && grouping === "image")) addFramesOfImages(profile);
  filterRows(profile, transforms);
  for (const one of transforms) {
    if (isRowGrouping(one.grouping)) continue;
    const stacks = new StackColumns(profile);
    TRANSFORMS[one.kind].apply(stacks, profile, one);
    stacks.moveInto(profile);
  }
  profile.forget();
}

/**
 * By node, whether it is of a row of the table, or waits for something.
 * @param {Profile} profile
 * @param {Transform} transform
 */
function nodesOf(profile, transform) {
  const { grouping, key } = transform;
  if (grouping === "path" || grouping === "lines") return nodesAtPath(profile, transform);
  if (grouping === "pattern") return nodesThatMatch(profile, transform, true);
  const is = new Uint8Array(profile.parents.length);
  if (grouping === "wait") {
    const { functionOf, labels } = profile;
    for (let node = 0; node < is.length; node++) is[node] = profile.isWait(node) && functionOf[labels[node]] === key ? 1 : 0;
    return is;
  }
  if (grouping === "function" || grouping === "image") {
    const { parents, labels, functionOf, images } = profile;
    const of = grouping === "function" ? functionOf : images;
    const hasWaits = profile.head.waits !== undefined;
    // As rows of the table have it: a wait is its function's own.
    for (let node = 0; node < is.length; node++) {
      if (hasWaits && profile.isWait(node)) is[node] = is[parents[node]];
      else is[node] = parents[node] >= 0 && of[labels[node]] === key ? 1 : 0;
    }
    return is;
  }
  const rows = rowsOfNodes(profile, /** @type {Grouping} */ (grouping));
  // A link, or a chip of before, may name one of several threads that are one now.
  const wanted = grouping === "thread" ? profile.joined?.[key] ?? key : key;
  for (let node = 0; node < is.length; node++) is[node] = rows[node] === wanted ? 1 : 0;
  return is;
}

/**
 * By node, whether it or one further out is.
 * @param {Profile} profile
 * @param {Transform} transform
 */
function nodesBelow(profile, transform) {
  const has = nodesOf(profile, transform);
  const ends = profile.nodeEnds();
  // What is below the outermost ones follows them.
  for (let node = 0; node < has.length;) {
    const end = has[node] === 0 ? node + 1 : ends[node];
    if (has[node] === 1) has.fill(1, node, end);
    node = end;
  }
  return has;
}

/** @typedef {{parents: Int32Array, labels: Uint32Array, moved: Int32Array, ends?: Int32Array}} ContractedTree */

/** Stacks, as they become others. */
class StackColumns {
  /** @param {Profile} profile */
  constructor(profile) {
    this.profile = profile;
    this.parents = profile.parents;
    this.labels = profile.labels;
    /** By node, whether what ends there still counts. @type {Uint8Array | null} */
    this.counts = null;
    /** The tree without the nodes that others stand for, and where each node is in it, if it changes. @type {ContractedTree | null} */
    this.tree = null;
    /** Whether all that is below a node still follows it. */
    this.isInOrder = true;
  }

  /**
   * @param {Uint8Array} has by node; it becomes what counts
   * @param {number} wanted
   */
  keepRows(has, wanted) {
    if (wanted === 0) for (let node = 0; node < has.length; node++) has[node] = 1 - has[node];
    this.counts = has;
  }

  /**
   * Each node that is not the root of its stack: `stand` says which node stands for it, by its parent's; `outerOf`, on
   * which it stands, if not on its parent.
   * @param {(node: number, parent: number) => number} stand
   * @param {(node: number, parent: number) => number} [outerOf]
   */
  each(stand, outerOf) {
    const { profile, parents: all } = this;
    const n = all.length;
    const { spare } = profile;
    const to = spare.take(Int32Array, n);
    const moved = new Int32Array(n);
    const [parents, labels] = [new Int32Array(n), new Uint32Array(n)];
    const hasWaits = profile.head.waits !== undefined;
    let n_left = 0;
    // What stands for a node comes before it, as its parent does.
    for (let node = 0; node < n; node++) {
      let outer = -1;
      if (all[node] >= 0) {
        const parent = to[all[node]];
        // What a thread waits for stays where a stack ends.
        const stands = hasWaits && profile.isWait(node) ? node : stand(node, parent);
        if (stands !== node) {
          to[node] = stands;
          moved[node] = moved[stands];
          continue;
        }
        outer = moved[outerOf === undefined ? parent : outerOf(node, parent)];
      }
      to[node] = node;
      const place = n_left++;
      moved[node] = place;
      parents[place] = outer;
      labels[place] = this.labels[node];
    }
    spare.give(to);
    this.tree = { parents: parents.subarray(0, n_left), labels: labels.subarray(0, n_left), moved };
  }

  /** @param {Uint8Array} is */
  merge(is) {
    const { profile, parents: all } = this;
    const n = all.length;
    const moved = new Int32Array(n);
    const [parents, labels, ends] = [new Int32Array(n), new Uint32Array(n), new Int32Array(n)];
    const hasWaits = profile.head.waits !== undefined;
    const { labels: labelled } = this;
    let n_left = 0;
    // It is what users do most: no call for each node.
    for (let node = 0; node < n; node++) {
      const outer = all[node];
      if (is[node] === 1 && outer >= 0 && !(hasWaits && profile.isWait(node))) {
        moved[node] = moved[outer];
        continue;
      }
      const place = n_left++;
      const parent = outer < 0 ? -1 : moved[outer];
      moved[node] = place;
      parents[place] = parent;
      labels[place] = labelled[node];
      // The node before, and its ancestors below this one's parent, end here: so nobody has to look for ends later.
      for (let last = place - 1; last !== parent; last = parents[last]) ends[last] = place;
    }
    for (let last = n_left - 1; last >= 0; last = parents[last]) ends[last] = n_left;
    const [left, endsOfLeft] = [parents.subarray(0, n_left), ends.subarray(0, n_left)];
    this.tree = { parents: left, labels: labels.subarray(0, n_left), moved, ends: endsOfLeft };
  }

  /**
   * What the outermost one calls is its own.
   * @param {Uint8Array} is
   */
  collapse(is) {
    this.each((node, parent) => (is[parent] === 1 ? parent : node));
  }

  /**
   * Frames that call each other are one.
   * @param {Uint8Array} is
   * @param {number} label
   */
  collapseRuns(is, label) {
    const labels = (this.labels = this.labels.slice());
    this.each((node, parent) => {
      if (is[node] === 0) return node;
      labels[node] = label;
      return is[parent] === 1 ? parent : node;
    });
  }

  /**
   * Inner calls are the outermost one.
   * @param {Uint8Array} is
   */
  collapseRecursion(is) {
    this.isInOrder = false;
    // By node, the outermost one on its way.
    const outermost = new Int32Array(is.length).fill(-1);
    this.each((node, parent) => {
      const found = outermost[parent];
      const stands = is[node] === 1 && found >= 0 ? found : node;
      outermost[node] = found < 0 && is[node] === 1 ? node : found;
      return stands;
    });
  }

  /**
   * Stacks begin at the outermost one, below the name of the thread.
   * @param {Uint8Array} is
   */
  focus(is) {
    const roots = new Int32Array(is.length);
    const isWithin = new Uint8Array(is.length);
    for (let node = 0; node < is.length; node++) {
      const parent = this.parents[node];
      roots[node] = parent < 0 ? node : roots[parent];
      isWithin[node] = is[node] === 1 || (parent >= 0 && isWithin[parent] === 1) ? 1 : 0;
    }
    const { parents } = this;
    this.each(
      (node, parent) => (isWithin[node] === 1 ? node : parent),
      (node, parent) => (isWithin[parents[node]] === 0 ? roots[node] : parent),
    );
    this.counts = isWithin;
  }

  /**
   * Samples in them alone, each below the name of its thread.
   * @param {Uint8Array} is
   */
  focusOnSelf(is) {
    const { profile, parents } = this;
    const hasWaits = profile.head.waits !== undefined;
    const isWait = (/** @type {number} */ node) => hasWaits && profile.isWait(node);
    const roots = rootsOf(this);
    const counts = new Uint8Array(is.length);
    for (let node = 0; node < is.length; node++) counts[node] = isWait(node) ? is[parents[node]] : is[node];
    this.isInOrder = false;
    this.each(
      (node, parent) => (is[node] === 1 ? node : parent),
      (node, parent) => (isWait(node) ? parent : roots[node]),
    );
    this.counts = counts;
  }

  /**
   * Others are merged into their callers; stacks without any are left out.
   * @param {Uint8Array} is
   */
  showOnly(is) {
    const { parents } = this;
    const isOther = new Uint8Array(is.length);
    const has = is.slice();
    for (let node = 0; node < is.length; node++) {
      if (parents[node] >= 0) has[node] |= has[parents[node]];
      isOther[node] = 1 - is[node];
    }
    this.merge(isOther);
    this.counts = has;
  }

  /**
   * Makes a profile's stacks of them.
   * @param {Profile} profile
   */
  moveInto(profile) {
    const { counts, tree } = this;
    if (tree !== null) Object.assign(profile, { parents: tree.parents, labels: tree.labels });
    if (tree?.ends !== undefined) profile.knownEnds.set(tree.parents, tree.ends);
    const moved = tree === null || this.isInOrder ? tree?.moved ?? null : inPreorder(profile, tree.moved);
    if (moved !== null || counts !== null) profile.moveStacks(counts, moved);
  }
}

/**
 * Images as functions, behind those that were recorded: their numbers do not depend on what else is transformed.
 * @param {Profile} profile
 */
function addFramesOfImages(profile) {
  const { names, images, flags, places, functionOf, frameOfFunction } = profile;
  const known = [...new Set(images)];
  const n = names.length;
  const first = known.map((image) => images.indexOf(image));
  profile.names = Uint32Array.from([...names, ...known]);
  profile.images = Uint32Array.from([...images, ...known]);
  profile.flags = Uint8Array.from([...flags, ...first.map((frame) => flags[frame] & FLAGS.level)]);
  profile.places = Uint32Array.from([...places, ...known.map(() => 0)]);
  profile.functionOf = Uint32Array.from([...functionOf, ...known.map((_, at) => frameOfFunction.length + at)]);
  profile.frameOfFunction = [...frameOfFunction, ...known.map((_, at) => n + at)];
}

/**
 * The frame that such an image is.
 * @param {Profile} profile
 * @param {number} image
 */
function frameOfImage(profile, image) {
  return profile.recorded.names.length + [...new Set(profile.recorded.images)].indexOf(image);
}

/**
 * Functions that differ in type arguments alone are one. Numbers of functions stay what they are.
 * @param {Profile} profile
 */
function hideTypes(profile) {
  const strings = [...profile.head.strings];
  const names = profile.names.slice();
  /** @type {Map<string, number>} */
  const functions = new Map();
  /** @type {Map<string, number>} */
  const texts = new Map(strings.map((text, number) => [text, number]));
  const joined = profile.frameOfFunction.map((frame, number) => {
    const text = withoutTypes(profile.text(names[frame]));
    if (!texts.has(text)) texts.set(text, strings.push(text) - 1);
    names[frame] = /** @type {number} */ (texts.get(text));
    const key = `${names[frame]} ${profile.images[frame]} ${profile.flags[frame]}`;
    if (!functions.has(key)) functions.set(key, number);
    return /** @type {number} */ (functions.get(key));
  });
  profile.functionOf = profile.functionOf.map((one) => joined[one]);
  profile.names = names.map((_, frame) => names[profile.frameOfFunction[profile.functionOf[frame]]]);
  profile.head = { ...profile.head, strings };
}

/** Parts of names in which `<` and `>` are no brackets. */
const NO_BRACKETS = /(?<![\p{L}\p{N}_])operator(<=>|<<|<|>>|>|->)|->|=>/uy;

/**
 * A name with `<...>` for arguments of types: `Vec<T>::push` is `Vec<...>::push`. What begins with `<`, as
 * `<T as Trait>::f`, keeps its outermost pair. It is `without_type_arguments` of crates/base.
 * @param {string} name
 */
function withoutTypes(name) {
  let out = "";
  /**
   * For each open bracket, whether it is hidden.
   * @type {boolean[]}
   */
  const open = [];
  let isHidden = false;
  for (let at = 0; at < name.length;) {
    NO_BRACKETS.lastIndex = at;
    const part = NO_BRACKETS.exec(name)?.[0] ?? name[at];
    at += part.length;
    if (part === "<") {
      const begins = name.startsWith("impl ", at) || /^$|[<(&* [,]$/.test(out.slice(-1));
      if (!isHidden) out += begins ? "<" : "<...";
      open.push(isHidden);
      isHidden ||= !begins;
    } else if (part === ">") {
      isHidden = open.pop() ?? isHidden;
      if (!isHidden) out += ">";
    } else if (!isHidden) out += part;
  }
  return out;
}

/**
 * Names of threads that differ in digits alone, by what they have in common: `rayon-1` and `rayon-2` are `rayon-<N>`.
 * @param {Profile} profile
 */
function alikeThreads({ n_comms: n, recorded: { head } }) {
  /** @type {Map<string, number[]>} */
  const alike = new Map();
  head.comms.slice(0, n).forEach((string, comm) => {
    const name = head.strings[string].replace(/\d+/g, "<N>");
    const list = alike.get(name);
    if (list === undefined) alike.set(name, [comm]);
    else list.push(comm);
  });
  return [...alike].filter(([, comms]) => new Set(comms.map((comm) => head.comms[comm])).size > 1);
}

/** @param {Profile} profile */
function hasAlike(profile) {
  return alikeThreads(profile).length > 0;
}

/**
 * Makes such threads one, in a profile as it was recorded.
 * @param {Profile} profile
 */
function joinAlike(profile) {
  profile.alike ??= joinedAlike(profile);
  Object.assign(profile, profile.alike);
}

/**
 * What is other if such threads are one.
 * @param {Profile} profile
 * @returns {Partial<Profile>}
 */
function joinedAlike(profile) {
  const alike = alikeThreads(profile);
  if (alike.length === 0) return {};
  const strings = [...profile.head.strings];
  const comms = [...profile.head.comms];
  const joined = Uint32Array.from(comms.keys());
  for (const [name, list] of alike) {
    comms[list[0]] = strings.push(name) - 1;
    for (const comm of list) joined[comm] = list[0];
  }
  const labels = profile.labels.slice();
  for (let node = 0; node < labels.length; node++) if (profile.parents[node] < 0) labels[node] = joined[labels[node]];
  return { joined, labels, head: { ...profile.head, strings, comms } };
}
