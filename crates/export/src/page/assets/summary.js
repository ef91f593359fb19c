// The summary: what was recorded, where the time went, how good the recording is, and how a terminal shows the same.

addView({
  name: "summary",
  key: "7",
  title: "Summary",
  ofTime: false,
  ofOne: true,
  make: (app, section) => new Summary(app, section),
});

/** Rows of each table. */
const SUMMARY_ROWS = 10;

/** What is said of the machine, in this order. */
const ABOUT = { host: "Host", cpu: "CPU", arch: "Architecture", os_release: "Linux", recorder: "Recorded by" };

class Summary {
  /**
   * @param {App} app
   * @param {HTMLElement} section
   */
  constructor(app, section) {
    this.app = app;
    this.outer = "flame";
    this.place = placed(section, "div", "summary-place");
    /**
     * By event.
     * @type {Map<number, Sum | null>}
     */
    this.running = new Map();
  }

  show() {
    const { app } = this;
    const event = app.profile.head.events[app.state.event];
    const functions = app.rows("function");
    const hasWaits = app.profile.head.waits !== undefined;
    // Of two ranges, these are of B.
    const rowsOf = (/** @type {Grouping} */ grouping) =>
      app.comparison === null ? app.rows(grouping) : tableRows(app.profile, app.counts, grouping);
    const keep = (/** @type {TransformedGrouping} */ grouping) => (/** @type {Row} */ row) => app.addTransform({ kind: "keep", grouping, key: row.key });
    const shares = [
      ...(hasWaits ? [this.table("Time by cause", rowsOf("cause"), "total", keep("cause"))] : []),
      this.table(hasWaits ? "Running functions by self" : "Functions by self", hasWaits ? rowsThatRun(app) : functions, "self", (row) => app.open(app.profile.frameOfFunction[row.key])),
      this.table("Functions by total", functions, "total", (row) => app.open(app.profile.frameOfFunction[row.key])),
      this.table("Shared objects by self", rowsOf("image"), "self", keep("image")),
      hasWaits
        ? tableOfThreadTimes(app, (thread) => chooseThread(app, thread))
        : this.threads(rowsOf),
    ];
    const tables = made("div", undefined, "summary-tables");
    tables.append(...shares);
    this.place.replaceChildren(this.facts(event), tables, this.command());
  }

  /**
   * Threads by name; by id where most of the time is that of threads of one name.
   * @param {(grouping: Grouping) => Row[]} rowsOf
   */
  threads(rowsOf) {
    const { app } = this;
    const keep = (/** @type {"thread" | "task"} */ grouping) => (/** @type {Row} */ row) =>
      app.addTransform({ kind: "keep", grouping, key: row.key });
    const names = rowsOf("thread");
    const all = names.reduce((sum, { total }) => sum + total, 0);
    const isOneName = names.some(({ total }) => 2 * total > all) && groupingsOf(app.profile).some((one) => one === "task");
    const tasks = isOneName ? rowsOf("task") : [];
    if (tasks.length > names.length) return this.table("Threads by total", tasks, "total", keep("task"));
    return this.table("Threads by total", names, "total", keep("thread"));
  }

  /** @param {EventHead} event */
  facts(event) {
    const { profile } = this.app;
    const { about, wall_ms: wallMs, span_ns: span, has_times: hasTimes } = profile.head;
    const command = /** @type {string[]} */ (about.command ?? []);
    /** @type {[string, string][]} */
    const facts = [["Command", command.join(" ")]];
    for (const [name, title] of Object.entries(ABOUT)) facts.push([title, String(about[name] ?? "")]);
    if (wallMs) facts.push(["Recorded", `${new Date(wallMs).toISOString().replace("T", " ").slice(0, 19)} UTC`]);
    if (hasTimes) facts.push(["Duration", duration(span)]);
    const lost = event.lost > 0 ? `, ${event.lost_at_least ? "at least " : ""}${wholeNumber(event.lost)} lost` : ", none lost";
    facts.push(["Event", `${event.name}: ${counted(event.samples, ...nounsOf(event))}${lost}`]);
    const each = event.kind === "cpu-time" && event.each !== null ? `: ${counted(event.samples, "sample", "samples")} of ${duration(event.each)} each` : "";
    facts.push(["Total", `${amount(event, event.weight)}${each}`]);
    if (event.kind === "cpu-time" && hasTimes && span > 0) {
      facts.push(["CPUs in use", `${(event.weight / span).toFixed(2)} on average`]);
    }
    const { event: number } = this.app.state;
    const run = this.running.get(number) ?? runningOf(this.app);
    this.running.set(number, run);
    if (run !== null) {
      facts.push(["CPU time", `${duration(run.weight)}, measured by context switches; without --wall it is estimated from ` +
        `${counted(run.samples, "sample", "samples")}, and differs a little`]);
    }
    if (profile.sides === null && profile.head.waits === undefined && profile.waits.n === 0) {
      facts.push(["Waits", "not in this page: rprof record --off-cpu records them, rprof export --wall shows them"]);
    }
    if (!profile.head.by_name) {
      const threads = threadsOfEvent(profile, this.app.state.event);
      const processes = new Set(threads.map(([pid]) => pid)).size;
      const n = new Set(threads.map(([, tid]) => tid)).size;
      facts.push(["Threads", `${wholeNumber(n)} in ${counted(processes, "process", "processes")}`]);
    }
    const list = made("dl", undefined, "facts");
    for (const [name, text] of facts) if (text !== "") list.append(made("dt", name), made("dd", text));
    return list;
  }

  /**
   * @param {string} title
   * @param {Row[]} rows
   * @param {"self" | "total"} by
   * @param {(row: Row) => void} open
   */
  table(title, rows, by, open) {
    const { app } = this;
    const table = made("table");
    table.append(made("caption", title));
    const body = made("tbody");
    for (const row of heaviestRows(rows, by, SUMMARY_ROWS)) {
      const line = made("tr");
      const share = shareCell(app.profile.head.events[app.state.event], row[by], app.whole);
      const name = made("th", undefined, "name");
      name.scope = "row";
      const button = made("button");
      showCut(button, row.name);
      button.type = "button";
      button.title = row.name.slice(0, 1000);
      button.addEventListener("click", () => open(row));
      name.append(button);
      line.append(share, name);
      body.append(line);
    }
    table.append(body);
    return table;
  }

  /** How a terminal shows the same. */
  command() {
    const { words, lacks, state } = commandOf(this.app);
    const text = words.map(quoted).join(" ");
    const box = made("div", undefined, "command");
    box.append(made("h2", "In a terminal"), made("code", text));
    const copy = made("button", "Copy");
    copy.type = "button";
    copy.addEventListener("click", () => void copyText(text));
    box.append(copy);
    if (state !== null) box.append(made("p", `Of its rows, those in state ${state} are shown here; its percentages are of all.`));
    if (lacks.length > 0) box.append(made("p", `Not included, because only the page can do it: ${lacks.join(", ")}.`, "lacks"));
    return box;
  }
}

/**
 * Rows of functions without what waits: that is where all threads leave their CPUs.
 * @param {App} app
 */
function rowsThatRun({ profile, counts }) {
  const running = new Counts(profile);
  counts.weights.forEach((weight, node) => {
    if (weight === 0 || profile.isWait(node)) return;
    running.weights[node] = weight;
    running.samples[node] = counts.samples[node];
  });
  const rows = tableRows(profile, running, "function");
  running.release(profile);
  return rows;
}

/**
 * What runs, of all of an event that counts what waits, too.
 * @param {App} app
 * @returns {Sum | null}
 */
function runningOf({ profile, state }) {
  if (profile.head.events[state.event].kind !== "wall-time") return null;
  const { head, recorded, events, weights } = profile;
  const sum = { weight: 0, samples: 0 };
  recorded.stacks.forEach((stack, row) => {
    const node = stack - 1;
    if (stack <= IN_NO_TOTAL || (head.has_events && events[row] !== state.event)) return;
    if (node >= 0 && recorded.parents[node] >= 0 && (recorded.flags[recorded.labels[node]] & FLAGS.wait) !== 0) return;
    sum.weight += weights[row];
    sum.samples += profile.samplesOf(row);
  });
  return sum;
}

/**
 * The first of some rows, as they would be sorted.
 * @param {Row[]} rows
 * @param {"self" | "total"} by
 * @param {number} n
 */
function heaviestRows(rows, by, n) {
  /** @type {Row[]} */
  const first = [];
  const compare = (/** @type {Row} */ a, /** @type {Row} */ b) => b[by] - a[by] || compared(a.name, b.name);
  for (const row of rows) {
    if (row[by] === 0 || (first.length === n && compare(row, first[n - 1]) >= 0)) continue;
    const at = first.findIndex((other) => compare(row, other) < 0);
    first.splice(at < 0 ? first.length : at, 0, row);
    if (first.length > n) first.pop();
  }
  return first;
}

/**
 * Threads that have samples of an event, or waits: others are known because they woke one of them.
 * @param {Profile} profile
 * @param {number} event
 */
function threadsOfEvent({ head, recorded, starts, events, waits }, event) {
  return head.threads.filter((_, thread) => {
    if (waits.starts[thread + 1] > waits.starts[thread]) return true;
    for (let row = starts[thread]; row < starts[thread + 1]; row++) {
      if (recorded.stacks[row] > IN_NO_TOTAL && (!head.has_events || events[row] === event)) return true;
    }
    return false;
  });
}

/**
 * The words of a command that reads the same samples, and what it cannot say.
 * @param {App} app
 */
function commandOf({ state, profile, counts }) {
  const words = ["rprof", "report", "-i", recordingOf(profile)];
  const lacks = profile.head.is_filtered ? ["the filters that the page was made with"] : [];
  const event = profile.head.events[state.event];
  const { kind } = event;
  const only = kind === "wall-time" ? onlyState(state.transforms) : null;
  if (kind === "off-cpu-time" || only === "waiting") words.push("--off-cpu");
  else if (kind === "wall-time") words.push("--wall");
  if (only === "running") words.push("-s", "state,sym");
  const { threads, by_name: isByName, start_ns: start } = profile.head;
  if (state.thread !== null) {
    const [, tid, comm] = threads[state.thread];
    const isSaid = !/[,\\]/.test(profile.text(comm));
    if (!isByName) words.push("--tid", String(tid));
    // A thread that changed its name is several.
    const isNamed = isByName || threads.filter((thread) => thread[1] === tid).length > 1;
    if (isNamed && isSaid) words.push("--comms", profile.text(comm));
    else if (isNamed) lacks.push(profile.text(comm));
  }
  if (state.range !== null) {
    const times = partsOf(state).map((range) => (range ?? []).map((time) => seconds(BigInt(start) + BigInt(time))).join(","));
    words.push("--time", times.join(" "));
  }
  const ofRows = flagsOfRows(profile, state.transforms);
  // Flags of one kind are one list; a selected thread is one of its own.
  if (ofRows.includes("--tid") && words.includes("--tid")) lacks.push(profile.nameOfThread(state.thread ?? 0));
  else words.push(...ofRows);
  const { items, said } = stacksKept(profile, state);
  if (items.length > 0) words.push("--keep-stacks", items.join(","));
  const omitted = omittedBy(profile, state.transforms);
  words.push(...omitted.words);
  for (const one of omitted.said) said.add(one);
  for (const one of state.transforms) {
    if (said.has(one)) continue;
    // A dead task has no id that a flag takes.
    if (one.kind === "keep" && isRowGrouping(one.grouping) && ROW_GROUPINGS[one.grouping].flag !== "" && one.key >= 0) continue;
    if (one.grouping === "state" && only !== null) continue;
    const comms = one.kind === "keep" && one.grouping === "thread" ? commsOf(profile, one.key, state.threads) : [];
    // Names that the page escapes are others in the recording.
    const isSaid = comms.length > 0 && !words.includes("--comms") && comms.every((name) => /^[^,\\]+$/.test(name));
    if (isSaid) words.push("--comms", comms.join(","));
    else if (isRowGrouping(one.grouping)) lacks.push(chipOfGrouping(profile, one, []));
    else lacks.push(saidOfTransform(profile, one));
  }
  if (state.shares === "all" && counts.total.weight !== event.weight) lacks.push("percentages of the whole recording");
  if (state.shares === "shown" && counts.shown.weight !== counts.total.weight && only !== "running") words.push("--percentage", "relative");
  if (state.against !== null) lacks.push(`the comparison with ${saidOfRange(state.against)}`);
  if (state.keep !== "" && !said.has(state.keep)) lacks.push(`with ${middleCut(state.keep, 60)}`);
  return { words, lacks, state: only === "running" ? only : null };
}

/**
 * The names and patterns of `--keep-stacks` that keep the same stacks, and the filters that these say: any of those that
 * are wanted is enough for a report, so more than one of them is not said.
 * @param {Profile} profile
 * @param {State} state
 */
function stacksKept(profile, { transforms, keep }) {
  /** @type {(Transform | string)[]} */
  const filters = transforms.filter(({ kind, grouping }) => kind !== "omit" && (grouping === "function" || grouping === "pattern"));
  // What follows a transform is of other stacks.
  const first = firstOfOtherStacks(transforms);
  const before = filters.filter((one) => first < 0 || transforms.indexOf(/** @type {Transform} */ (one)) < first);
  if (keep !== "" && first < 0) before.push(keep);
  const wanted = before.filter((one) => typeof one === "string" || one.kind === "keep");
  /** @type {Set<Transform | string>} */
  const said = new Set();
  /** @type {string[]} */
  const items = [];
  for (const one of before) {
    const isWanted = wanted.includes(one);
    const item = typeof one === "string" || one.grouping === "pattern" ? patternOfReport(profile, typeof one === "string" ? one : one.text ?? "")
      : nameOfReport(profile, one.key);
    if (item === null || (isWanted && wanted.length > 1)) continue;
    said.add(one);
    items.push(isWanted ? item : `!${item}`);
  }
  return { items, said };
}

/**
 * The number of the first transform that makes other stacks; -1 if all leave what they keep as it is.
 * @param {Transform[]} transforms
 */
function firstOfOtherStacks(transforms) {
  return transforms.findIndex(({ kind, grouping }) => !isRowGrouping(grouping) && !["keep", "drop", "omit"].includes(kind));
}

/**
 * The flags that leave out what ran in shared objects and functions themselves, and the transforms that these say.
 * @param {Profile} profile
 * @param {Transform[]} transforms
 */
function omittedBy(profile, transforms) {
  const first = firstOfOtherStacks(transforms);
  /** @type {{words: string[], said: Transform[]}} */
  const omitted = { words: [], said: [] };
  for (const [grouping, flag] of [["image", "-d"], ["function", "-S"]]) {
    const names = transforms.flatMap((one, at) => {
      if (one.kind !== "omit" || one.grouping !== grouping || (first >= 0 && at > first)) return [];
      const image = profile.recorded.head.strings[one.key] ?? "";
      const name = grouping === "function" ? nameOfReport(profile, one.key) : /^\[?\w[\w.+-]*\]?$/.test(image) ? image : null;
      if (name !== null) omitted.said.push(one);
      return name === null ? [] : [`!${name}`];
    });
    if (names.length > 0) omitted.words.push(flag, names.join(","));
  }
  return omitted;
}

/**
 * A pattern as reports take it; `null` if they may read it otherwise, or if it matches what they do not look at.
 * @param {Profile} profile
 * @param {string} text
 */
function patternOfReport({ recorded, hasLongNames, isByLine, n_comms: n }, text) {
  const { head: { strings, comms }, names, flags, places } = recorded;
  const pattern = new Pattern(text);
  const hasPlace = isByLine && places.some((place) => place > 0 && pattern.matches(strings[place - 1]));
  const isOther = hasPlace || comms.slice(0, n).some((comm) => pattern.matches(strings[comm])) ||
    flags.some((of, frame) => (of & FLAGS.wait) !== 0 && pattern.matches(strings[names[frame]]));
  return hasLongNames || pattern.isText || isOther || !/^[\w :.*+?|^$<>&~-]+$/.test(text) ? null : `/(?i)${text}/`;
}

/**
 * The name of a function as reports take it; `null` if it has to be quoted, or others have it.
 * @param {Profile} profile
 * @param {number} key
 */
function nameOfReport({ recorded: { head, names, frameOfFunction } }, key) {
  const string = names[frameOfFunction[key] ?? -1];
  const name = head.strings[string] ?? "";
  return /^[A-Za-z_][\w.:@$]*$/.test(name) && frameOfFunction.filter((frame) => names[frame] === string).length === 1 ? name : null;
}

/**
 * What threads do, if filters leave one of both.
 * @param {Transform[]} transforms
 */
function onlyState(transforms) {
  const of = transforms.filter(({ grouping }) => grouping === "state");
  const has = (/** @type {TransformKind} */ kind, /** @type {number} */ key) => of.some((one) => one.kind === kind && one.key === key);
  const left = STATES.filter((_, key) => !has("drop", key) && (has("keep", key) || !has("keep", 1 - key)));
  return of.length > 0 && left.length === 1 ? left[0] : null;
}

/**
 * The names of threads that a row of them has.
 * @param {Profile} profile
 * @param {number} comm
 * @param {State["threads"]} threads
 */
function commsOf(profile, comm, threads) {
  const { head } = profile.recorded;
  const alike = threads === "alike" ? alikeThreads(profile).find(([, comms]) => comms[0] === comm) : undefined;
  return [...new Set((alike?.[1] ?? [comm]).map((one) => head.strings[head.comms[one]]))];
}

/**
 * Nanoseconds as commands take them.
 * @param {bigint} ns
 */
function seconds(ns) {
  return `${ns / 1000000000n}.${String(ns % 1000000000n).padStart(9, "0")}`;
}

/**
 * The file that commands read.
 * @param {Profile} profile
 */
function recordingOf(profile) {
  return profile.head.recording ?? "perf.data";
}

/**
 * A word of a shell.
 * @param {string} word
 */
function quoted(word) {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replace(/'/g, "'\\''")}'`;
}
