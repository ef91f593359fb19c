// Filters by process, thread, CPU, and whether a thread runs: transforms of rows, whatever their stacks. What they leave
// is what `rprof report` counts with --pid, --tid and --cpu. Rows of the table by the same.

/** @typedef {"process" | "task" | "cpu" | "level" | "state" | "cause"} RowGrouping */

/** The stack of rows that filters by CPU leave out: percentages are not of them, as in `rprof report --cpu`. */
const IN_NO_TOTAL = -2;

/** Instead of an id: nothing is known of it. */
const NO_ID = -1;

/** Levels of code, by key: that of the innermost function. */
const LEVELS = ["user", "kernel", "hypervisor", "guest kernel", "guest user"];

/** What threads do, by key. */
const STATES = ["running", "waiting"];

/**
 * What such filters are called, one and several, and the flag of `rprof report`, if it has one.
 * @type {{[grouping in RowGrouping]: {one: string, many: string, flag: string}}}
 */
const ROW_GROUPINGS = {
  process: { one: "process", many: "processes", flag: "--pid" },
  task: { one: "thread", many: "threads", flag: "--tid" },
  cpu: { one: "CPU", many: "CPUs", flag: "--cpu" },
  level: { one: "level", many: "levels", flag: "" },
  state: { one: "state", many: "states", flag: "" },
  cause: { one: "cause", many: "causes", flag: "" },
};

/**
 * Whether it is of rows, not of stacks.
 * @param {string} grouping
 * @returns {grouping is RowGrouping}
 */
function isRowGrouping(grouping) {
  return grouping in ROW_GROUPINGS;
}

/**
 * Those that a profile tells apart.
 * @param {Profile} profile
 * @returns {RowGrouping[]}
 */
function rowGroupingsOf({ head, sides, flags }) {
  if (sides !== null) return [];
  /** @type {RowGrouping[]} */
  const known = head.by_name ? [] : ["process", "task"];
  if (head.has_cpus) known.push("cpu");
  if (flags.some((one) => (one & FLAGS.level) !== 0)) known.push("level");
  if (head.waits !== undefined) known.push("state", "cause");
  return known;
}

/**
 * Whether a profile has what a filter is of.
 * @param {Profile} profile
 * @param {RowGrouping} grouping
 * @param {number} key
 */
function hasRowsIn(profile, grouping, key) {
  if (!rowGroupingsOf(profile).includes(grouping)) return false;
  if (grouping === "cpu") return profile.cpus.includes(key + 1);
  if (grouping === "state") return key < STATES.length;
  if (grouping === "level") return key < LEVELS.length;
  if (grouping === "cause") return key === 0 || (profile.recorded.flags[key - 1] & FLAGS.wait) !== 0;
  const at = grouping === "process" ? 0 : 1;
  return profile.head.threads.some((thread) => thread[at] === key);
}

/**
 * The id of a row: a process, a thread, a CPU, a level.
 * @param {Profile} profile
 * @param {RowGrouping} grouping
 * @returns {(thread: number, row: number) => number}
 */
function idsByGrouping(profile, grouping) {
  const { head, cpus } = profile;
  if (grouping === "level") {
    const { stacks, labels, parents, flags } = profile;
    return (_, row) => {
      const node = stacks[row] > 0 ? profile.codeOf(stacks[row] - 1) : -1;
      return node < 0 || parents[node] < 0 ? NO_ID : flags[labels[node]] & FLAGS.level;
    };
  }
  if (grouping === "state") {
    const { stacks } = profile;
    return (_, row) => (stacks[row] > 0 && profile.isWait(stacks[row] - 1) ? 1 : 0);
  }
  if (grouping === "cause") {
    const { stacks, labels } = profile;
    // One more than the frame of a wait; what runs is 0.
    return (_, row) => (stacks[row] > 0 && profile.isWait(stacks[row] - 1) ? labels[stacks[row] - 1] + 1 : 0);
  }
  if (grouping === "cpu") return (_, row) => (head.has_cpus ? cpus[row] - 1 : NO_ID);
  const at = grouping === "process" ? 0 : 1;
  const ids = Int32Array.from(head.threads, (thread) => thread[at]);
  return (thread) => ids[thread];
}

/**
 * What a process, a thread or a CPU is called.
 * @param {Profile} profile
 * @param {RowGrouping} grouping
 * @param {number} key
 */
function nameInGrouping(profile, grouping, key) {
  if (grouping === "cpu") return key < 0 ? "unknown CPU" : `CPU ${key}`;
  if (grouping === "state") return STATES[key] ?? "";
  if (grouping === "level") return LEVELS[key] ?? "unknown level";
  if (grouping === "cause") return key === 0 ? STATES[0] : nameOfCause(profile, key - 1);
  profile.lastNames ??= lastNames(profile);
  const found = profile.lastNames[grouping].get(key);
  return `${found === undefined ? "" : profile.text(profile.head.threads[found][2])} ${key}`.trim();
}

/**
 * By process and by thread, which entry of the threads has the name that it had last: each name has one. And by entry,
 * that of the same thread of the same process: dead tasks without ids are not one.
 * @param {Profile} profile
 */
function lastNames({ head: { threads }, starts, times, waits }) {
  const lastOf = (/** @type {number} */ thread) => {
    const row = starts[thread + 1] > starts[thread] ? times[starts[thread + 1] - 1] : -Infinity;
    const wait = waits.starts[thread + 1] > waits.starts[thread] ? waits.lasts[waits.starts[thread + 1] - 1] : -Infinity;
    return Math.max(row, wait);
  };
  const order = [...threads.keys()].map((thread) => ({ thread, last: lastOf(thread) })).sort((a, b) => a.last - b.last || a.thread - b.thread);
  /** @type {Map<string, number>} */
  const last = new Map();
  const idOf = (/** @type {number} */ thread) => (threads[thread][1] < 0 ? `entry ${thread}` : `${threads[thread][0]}/${threads[thread][1]}`);
  for (const { thread } of order) last.set(idOf(thread), thread);
  const same = Int32Array.from(threads, (_, thread) => last.get(idOf(thread)) ?? thread);
  /** @type {{process: Map<number, number>, task: Map<number, number>, same: Int32Array}} */
  const names = { process: new Map(), task: new Map(), same };
  // The first thread of a process names it, if it is known.
  for (const isFirst of [false, true]) {
    for (const { thread } of order) {
      const [pid, tid] = threads[thread];
      names.task.set(tid, thread);
      if ((pid === tid) === isFirst) names.process.set(pid, thread);
    }
  }
  return names;
}

/**
 * Leaves out the rows that transforms do not want. Several of one grouping that are kept are kept together, as in a list
 * of `rprof report`.
 * @param {Profile} profile
 * @param {Transform[]} transforms
 */
function filterRows(profile, transforms) {
  for (const grouping of /** @type {RowGrouping[]} */ (Object.keys(ROW_GROUPINGS))) {
    const of = transforms.filter((one) => one.grouping === grouping);
    if (of.length === 0) continue;
    const kept = new Set(of.filter(({ kind }) => kind === "keep").map(({ key }) => key));
    const dropped = new Set(of.filter(({ kind }) => kind === "drop").map(({ key }) => key));
    const idOf = idsByGrouping(profile, grouping);
    const stacks = profile.stacks.slice();
    const { starts } = profile;
    const out = grouping === "cpu" ? IN_NO_TOTAL : -1;
    for (let thread = 0; thread + 1 < starts.length; thread++) {
      for (let row = starts[thread]; row < starts[thread + 1]; row++) {
        const id = idOf(thread, row);
        const isKept = (kept.size === 0 || kept.has(id)) && !dropped.has(id);
        if (!isKept && stacks[row] > IN_NO_TOTAL) stacks[row] = out;
      }
    }
    profile.stacks = stacks;
  }
}

/**
 * Which threads filters by process and thread leave; `null` if others leave out parts of what threads do.
 * @param {Profile} profile
 * @param {{keep: string, transforms: Transform[]}} selection
 * @returns {((thread: number) => boolean) | null}
 */
function threadsLeft({ head }, { keep, transforms }) {
  if (keep !== "" || transforms.some(({ kind, grouping }) => kind !== "types" && grouping !== "process" && grouping !== "task")) return null;
  const accepts = (/** @type {RowGrouping} */ grouping, /** @type {number} */ id) => {
    const of = transforms.filter((one) => one.grouping === grouping);
    const kept = of.filter(({ kind }) => kind === "keep");
    return (kept.length === 0 || kept.some(({ key }) => key === id)) && !of.some(({ kind, key }) => kind === "drop" && key === id);
  };
  return (thread) => accepts("process", head.threads[thread][0]) && accepts("task", head.threads[thread][1]);
}

/**
 * What each process, thread or CPU counts. A wait is of the CPU that its thread left.
 * @param {Profile} profile
 * @param {SampleSelection} selection
 * @param {RowGrouping} grouping
 * @returns {Row[]}
 */
function rowsByGrouping(profile, selection, grouping) {
  const idOf = idsByGrouping(profile, grouping);
  const kept = keptNodes(profile, selection);
  /** @type {Map<number, Sum>} */
  const sums = new Map();
  forRows(profile, selection, (node, weight, samples, _time, thread, row) => {
    if (node < 0 || (kept !== null && kept[node] === 0)) return;
    const id = idOf(thread, row);
    const sum = sums.get(id);
    if (sum === undefined) sums.set(id, { weight, samples });
    else {
      sum.weight += weight;
      sum.samples += samples;
    }
  });
  return [...sums].map(([key, { weight, samples }]) => ({
    key, name: nameInGrouping(profile, grouping, key), image: "", self: weight, total: weight, samples, ownSamples: samples,
  }));
}

/**
 * What a chip says of a filter; `before` are the chips before it.
 * @param {Profile} profile
 * @param {Transform} one
 * @param {Transform[]} before
 */
function chipOfGrouping(profile, { kind, grouping, key }, before) {
  const of = /** @type {RowGrouping} */ (grouping);
  const { one } = ROW_GROUPINGS[of];
  const name = middleCut(nameInGrouping(profile, of, key), 60);
  const said = of === "process" || of === "task" ? `${one} ${name}` : name;
  if (kind === "drop") return `without ${said}`;
  const isMore = before.some((other) => other.kind === "keep" && other.grouping === grouping);
  return isMore ? `or ${said}` : said;
}

/**
 * The flags of `rprof report` that keep the same rows.
 * @param {Profile} profile
 * @param {Transform[]} transforms
 */
function flagsOfRows(profile, transforms) {
  const words = [];
  for (const grouping of rowGroupingsOf(profile)) {
    if (ROW_GROUPINGS[grouping].flag === "") continue;
    const kept = transforms.filter((one) => one.kind === "keep" && one.grouping === grouping && one.key >= 0).map(({ key }) => key);
    if (kept.length > 0) words.push(ROW_GROUPINGS[grouping].flag, [...new Set(kept)].join(","));
  }
  return words;
}
