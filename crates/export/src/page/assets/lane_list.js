// Which lanes there are: processes with their threads, the heaviest first, or CPUs in their order.

/**
 * A lane. Its key is the process, the number of the thread in the profile, or the CPU; a process with a single thread is
 * that thread's lane. A thread that changed its name is one lane, of several numbers; its key is that of its last name.
 * @typedef {{kind: "process" | "thread" | "cpu", key: number, name: string, weight: number, threads: number[],
 *   depth: number, isOpen: boolean}} Lane
 */

/**
 * Lanes of threads, below those of their processes.
 * @param {Profile} profile
 * @param {SampleSelection} selection
 * @param {Set<number>} closed processes that hide their threads
 * @returns {Lane[]}
 */
function threadLanes(profile, selection, closed) {
  const { threads, by_name: isByName } = profile.head;
  const weights = new Float64Array(threads.length);
  const kept = keptNodes(profile, selection);
  forRows(profile, { ...selection, thread: null }, (node, weight, _samples, _time, thread) => {
    if (node >= 0 && (kept === null || kept[node] === 1)) weights[thread] += weight;
  });
  // Threads of one name are of many processes.
  const pidOf = (/** @type {number} */ thread) => (isByName ? -1 - thread : threads[thread][0]);
  /** @type {Map<number, Lane[]>} */
  const processes = new Map();
  /** @type {Map<number, Lane>} */
  const lanes = new Map();
  const { same } = (profile.lastNames ??= lastNames(profile));
  const left = threadsLeft(profile, selection);
  const times = selection.range ?? [-Infinity, Infinity];
  weights.forEach((weight, thread) => {
    // One that waited all the time has no samples.
    if (weight === 0 && (left === null || !left(thread) || !profile.waits.hasAny(thread, times))) return;
    const key = isByName ? thread : same[thread];
    const known = lanes.get(key);
    if (known !== undefined) {
      known.threads.push(thread);
      known.weight += weight;
      return;
    }
    const lane = { ...laneOfThread(profile, key, weight), threads: [thread] };
    lanes.set(key, lane);
    const pid = pidOf(thread);
    const others = processes.get(pid);
    if (others === undefined) processes.set(pid, [lane]);
    else others.push(lane);
  });
  // Whatever is selected, lanes stay where they are.
  const ran = ranOfThreads(profile, selection.event);
  /** @type {Map<number, {ran: number, first: number}>} */
  const all = new Map();
  ran.forEach((weight, thread) => {
    const one = all.get(pidOf(thread));
    if (one === undefined) all.set(pidOf(thread), { ran: weight, first: thread });
    else one.ran += weight;
  });
  const ranOfLanes = ranByLane(profile, ran);
  const groups = [...processes].map(([pid, lanes]) => {
    sortLanes(lanes, ranOfLanes);
    const weight = lanes.reduce((sum, lane) => sum + lane.weight, 0);
    return { pid, lanes, weight, .../** @type {{ran: number, first: number}} */ (all.get(pid)) };
  });
  groups.sort((a, b) => b.ran - a.ran || a.first - b.first);
  return groups.flatMap(({ pid, lanes, weight }) => {
    if (lanes.length === 1) return lanes;
    const isOpen = !closed.has(pid);
    const name = nameInGrouping(profile, "process", pid);
    /** @type {Lane} */
    const process = { kind: "process", key: pid, name, weight, threads: lanes.flatMap(({ threads }) => threads), depth: 0, isOpen };
    return isOpen ? [process, ...lanes.map((lane) => ({ ...lane, depth: 1 }))] : [process];
  });
}

/**
 * By key of a thread's lane, how much it ran under all its names.
 * @param {Profile} profile
 * @param {Float64Array} ran
 */
function ranByLane(profile, ran) {
  if (profile.head.by_name) return ran;
  const { same } = (profile.lastNames ??= lastNames(profile));
  const sums = new Float64Array(ran.length);
  ran.forEach((weight, thread) => (sums[same[thread]] += weight));
  return sums;
}

/**
 * Those that ran most first.
 * @param {Lane[]} lanes
 * @param {Float64Array} ran
 */
function sortLanes(lanes, ran) {
  return lanes.sort((a, b) => ran[b.key] - ran[a.key] || a.key - b.key);
}

/**
 * All numbers of a thread that has one or several names, in order of time.
 * @param {Profile} profile
 * @param {number} key
 */
function namesOfThread(profile, key) {
  const { head, starts, times } = profile;
  if (head.by_name) return [key];
  const { same } = (profile.lastNames ??= lastNames(profile));
  const all = [...head.threads.keys()].filter((thread) => same[thread] === same[key]);
  const begin = (/** @type {number} */ thread) => (starts[thread + 1] > starts[thread] ? times[starts[thread]] : Infinity);
  return all.sort((a, b) => (a === key ? 1 : b === key ? -1 : begin(a) - begin(b) || a - b));
}

/**
 * What selects the thread of a lane: its name if it has one, else its id.
 * @param {Profile} profile
 * @param {number} key
 * @returns {{thread: number} | {filter: Transform}}
 */
function selectionOfThread(profile, key) {
  if (namesOfThread(profile, key).length === 1) return { thread: key };
  return { filter: { kind: "keep", grouping: "task", key: profile.head.threads[key][1] } };
}

/**
 * Selects the thread of a lane instead of others, or all again. What else is selected stays so.
 * @param {App} app
 * @param {number} key
 */
function chooseThread(app, key) {
  const { profile, state } = app;
  const selection = selectionOfThread(profile, key);
  const isOfTasks = (/** @type {Transform} */ { kind, grouping }) => kind === "keep" && grouping === "task";
  const others = state.transforms.filter((one) => !isOfTasks(one));
  const tasks = state.transforms.filter(isOfTasks);
  if ("thread" in selection) {
    const isChosen = state.thread === selection.thread;
    return app.set({ thread: isChosen ? null : selection.thread, transforms: others, zoom: [], span: null });
  }
  const isChosen = tasks.length === 1 && transformWords(tasks) === transformWords([selection.filter]);
  if (!isChosen && !app.hasRoomFor(others)) return;
  app.set({ thread: null, transforms: isChosen ? others : [...others, selection.filter], zoom: [], span: null });
}

/**
 * By thread, how much it ran in the whole recording; of time off the CPU, how long it waited.
 * @param {Profile} profile
 * @param {number} event
 */
function ranOfThreads(profile, event) {
  const known = profile.ranOfThreads.get(event);
  if (known !== undefined) return known;
  const { recorded, starts, events, weights, head } = profile;
  const each = head.events[event]?.each ?? 0;
  const ran = new Float64Array(head.threads.length);
  const waited = new Float64Array(head.threads.length);
  for (let thread = 0; thread + 1 < starts.length; thread++) {
    for (let row = starts[thread]; row < starts[thread + 1]; row++) {
      if (head.has_events && events[row] !== event) continue;
      const node = recorded.stacks[row] - 1;
      const isWait = head.waits !== undefined && node >= 0 && recorded.parents[node] >= 0 && (recorded.flags[recorded.labels[node]] & FLAGS.wait) !== 0;
      (isWait ? waited : ran)[thread] += head.has_weights ? weights[row] : profile.samplesOf(row) * each;
    }
  }
  const found = ran.some((weight) => weight > 0) ? ran : waited;
  profile.ranOfThreads.set(event, found);
  return found;
}

/**
 * @param {Profile} profile
 * @param {number} thread
 * @param {number} weight
 * @returns {Lane}
 */
function laneOfThread(profile, thread, weight) {
  return { kind: "thread", key: thread, name: profile.nameOfThread(thread), weight, threads: [thread], depth: 0, isOpen: false };
}

/**
 * Lanes of CPUs.
 * @param {Profile} profile
 * @param {SampleSelection} selection
 * @returns {Lane[]}
 */
function cpuLanes(profile, selection) {
  const rows = rowsByGrouping(profile, { ...selection, thread: null }, "cpu").sort((a, b) => a.key - b.key);
  return rows.map(({ key, name, total }) => ({ kind: "cpu", key, name, weight: total, threads: [], depth: 0, isOpen: false }));
}

/** Who ran on a CPU, by slot of time: how much in all, and the thread that ran most; -1 where none did. */
class CpuSlots {
  /** @param {number} n */
  constructor(n) {
    this.all = new Float64Array(n);
    this.who = new Int32Array(n).fill(-1);
    this.most = new Float64Array(n);
  }
}

/**
 * By CPU, who ran there.
 * @param {Profile} profile
 * @param {SampleSelection} selection
 * @param {number} n
 * @param {[number, number]} times
 */
function whoRan(profile, selection, n, times) {
  const { cpus, head } = profile;
  const kept = keptNodes(profile, selection);
  const n_threads = head.threads.length;
  const slots = new TimeSlots(profile, n, times, selection.event);
  /** @type {Map<number, {all: CpuSlots, sums: Map<number, number>}>} */
  const found = new Map();
  forRows(profile, { ...selection, thread: null, range: slots.rangeOfRows(times) }, (node, weight, _samples, time, thread, row) => {
    if (node < 0 || profile.isWait(node) || (kept !== null && kept[node] === 0)) return;
    const cpu = cpus[row] - 1;
    let one = found.get(cpu);
    if (one === undefined) found.set(cpu, (one = { all: new CpuSlots(n), sums: new Map() }));
    const { all, sums } = one;
    slots.eachSlot(weight, time, (slot, part) => {
      const key = slot * n_threads + thread;
      const sum = (sums.get(key) ?? 0) + part;
      sums.set(key, sum);
      all.all[slot] += part;
    });
  });
  /** @type {Map<number, CpuSlots>} */
  const ran = new Map();
  for (const [cpu, { all, sums }] of found) {
    for (const [key, sum] of sums) {
      const slot = Math.floor(key / n_threads);
      if (sum <= all.most[slot]) continue;
      all.most[slot] = sum;
      all.who[slot] = key % n_threads;
    }
    ran.set(cpu, all);
  }
  return ran;
}

/**
 * A colour for a process; names say which it is.
 * @param {Theme} theme
 * @param {number} pid
 */
function colourOfProcess(theme, pid) {
  // Neighbours in the order of their first samples differ.
  const rank = theme.profile.processRanks().get(pid) ?? 0;
  return theme.lane(HUES[rank % HUES.length]);
}
