// Waits in a table: how often and how long threads waited for what, and who ended it.

addView({
  name: "waits",
  key: "w",
  title: "Waits",
  ofTime: true,
  ofOne: true,
  isThere: ({ head, waits }) => head.waits !== undefined || waits.n > 0,
  make: (app, section) => new WaitTable(app, section),
});

/**
 * What one thread waited for, and who ended it: -1 and `null` if rows are of all threads, or of any waker.
 * @typedef {{thread: number, label: number, queue: Queue, waker: number | null, count: number, sum: number, median: number | null,
 *   longest: number | null, lengths: number[]}} WaitRow Without single waits, or of several sums, not all numbers are known.
 * @typedef {{title: string, isNumber: boolean, value: (row: WaitRow) => number | string}} WaitColumn
 * @typedef {{thread: boolean, waker: boolean}} WaitRowsBy
 *
 * Why a runnable thread waits: another one took its CPU, or it was woken and has none yet.
 * @typedef {"" | "preempted" | "queued"} Queue
 */

class WaitTable {
  /**
   * @param {App} app
   * @param {HTMLElement} section
   */
  constructor(app, section) {
    this.app = app;
    const { profile } = app;
    const bar = made("div", undefined, "bar");
    const box = (/** @type {string} */ id, /** @type {string} */ text) => {
      const label = made("label");
      bar.append(label);
      const input = placed(label, "input", id);
      input.type = "checkbox";
      input.addEventListener("change", () => this.show());
      label.append(` ${text}`);
      return input;
    };
    this.threads = box("waits-threads", "by thread");
    this.threads.checked = true;
    this.wakers = box("waits-wakers", "by waker");
    this.wakers.checked = profile.head.waits === undefined;
    /** @type {HTMLElement} */ (this.wakers.parentElement).hidden = profile.waits.n === 0;
    /**
     * The cause that rows are of, where no filter of stacks applies to them.
     * @type {number | null}
     */
    this.cause = null;
    this.remove = made("button", "", "small");
    this.remove.type = "button";
    this.remove.addEventListener("click", () => this.showCause(null));
    this.note = made("span");
    bar.append(this.remove, this.note);
    section.append(bar);
    const place = placed(section, "div", "waits-place", "table-place");
    const table = made("table", undefined, "waits");
    this.head = made("thead");
    table.append(this.head);
    this.lined = rowsInSteps(table, (/** @type {WaitRow} */ row) => this.line(row), ["more row", "more rows"]);
    place.append(table, this.lined.more);
    this.sort = { by: "Total", up: false };
    /** @type {WaitRow[]} */
    this.rows = [];
    /** @type {WaitColumn[]} */
    this.columns = [];
  }

  show() {
    const { cause } = this;
    const { profile } = this.app;
    const by = { thread: this.threads.checked, waker: this.wakers.checked };
    const isTimed = by.waker || profile.head.waits === undefined;
    const rows = !isTimed ? rowsOfWaits(this.app, by) : this.hasSums(by) ? rowsOfSums(this.app, by) : rowsOfTimedWaits(this.app, by);
    this.rows = cause === null ? rows : rows.filter(({ label }) => label === cause);
    this.columns = this.columnsOf(by);
    this.remove.hidden = cause === null;
    this.remove.textContent = cause === null ? "" : `${nameOfCause(profile, cause)} ✕`;
    this.note.textContent = this.said(by, isTimed);
    this.sorted();
  }

  /**
   * Whether rows are sums of all waits. A page has no sums for a time range or for one name of a thread, and at most 20,000
   * in all: the finest may be missing.
   * @param {WaitRowsBy} by
   */
  hasSums(by) {
    const { profile: { head }, state: { range, thread } } = this.app;
    const hasOneName = thread === null || head.threads.filter(([, tid]) => tid === head.threads[thread][1]).length === 1;
    return range === null && hasOneName && sumsOfWaits(this.app, by).length > 0;
  }

  /** @param {number | null} cause */
  showCause(cause) {
    this.cause = cause;
    this.show();
  }

  /**
   * @param {WaitRowsBy} by
   * @returns {WaitColumn[]}
   */
  columnsOf(by) {
    const { profile } = this.app;
    const nameOf = (/** @type {WaitRow} */ { label, queue }) => `${nameOfCause(profile, label)}${queue === "" ? "" : ` (${queue})`}`;
    return [
      ...(by.thread ? [{ title: "Thread", isNumber: false, value: (/** @type {WaitRow} */ { thread }) => profile.nameOfThread(thread) }] : []),
      { title: "Waits for", isNumber: false, value: nameOf },
      { title: "Waits", isNumber: true, value: ({ count }) => count },
      { title: "Total", isNumber: true, value: ({ sum }) => sum },
      { title: "Mean", isNumber: true, value: ({ sum, count }) => sum / count },
      { title: "p50", isNumber: true, value: ({ median }) => median ?? -1 },
      { title: "Max", isNumber: true, value: ({ longest }) => longest ?? -1 },
      ...(by.waker ? [{ title: "Woken by", isNumber: false, value: (/** @type {WaitRow} */ row) => this.nameOfWaker(row) }] : []),
    ];
  }

  /** @param {WaitRow} row */
  nameOfWaker({ waker, queue }) {
    const { profile } = this.app;
    // Nobody wakes a thread that could run.
    if (waker === null || waker === 0) return queue === "preempted" ? "" : "[unknown]";
    return (waker & 1) === 1 ? profile.nameOfThread((waker - 1) / 2) : profile.text((waker - 2) / 2);
  }

  /**
   * @param {WaitRowsBy} by
   * @param {boolean} isTimed whether rows are of the page's waits, not of its samples
   */
  said(by, isTimed) {
    const { app } = this;
    const { waits, head } = app.profile;
    const said = [];
    const { n_all_waits: all } = head;
    if (isTimed && !this.hasSums(by) && all !== undefined && all > waits.n) {
      const hasAll = head.waits !== undefined || this.hasSums({ ...by, waker: false });
      const others = hasAll ? `; without "by waker" they are of all` : "";
      const range = app.state.range === null && app.state.thread === null ? "" : " in the recording";
      said.push(`All numbers are of the ${wholeNumber(waits.n)} longest of ${wholeNumber(all)} waits${range}: ` +
        `counts and totals are too low, mean and p50 too high${others}.`);
    }
    if (isTimed && this.rows.some(({ median }) => median === null)) said.push("The p50 of some threads together is not known.");
    if (isTimed && threadsLeft(app.profile, app.state) === null) said.push("Filters of stacks and CPUs do not apply here.");
    if (head.waits === undefined) said.push("Pages by rprof export --off-cpu have the functions that wait.");
    if (this.rows.some(({ label }) => /futex|lock/.test(nameOfCause(app.profile, label)))) {
      said.push("No locks are recorded: rprof record --off-cpu --lock, then rprof lock, says which they wait for.");
    }
    return said.join(" ");
  }

  sorted() {
    const { by, up } = this.sort;
    const { value } = this.columns.find(({ title }) => title === by) ?? this.columns[0];
    const sign = up ? 1 : -1;
    this.rows.sort((a, b) => sign * compared(value(a), value(b)) || b.sum - a.sum || a.thread - b.thread || a.label - b.label);
    const line = made("tr");
    line.append(...this.columns.map(({ title, isNumber }) => {
      const cell = made("th", undefined, isNumber ? "number" : "");
      cell.scope = "col";
      cell.setAttribute("aria-sort", title !== by ? "none" : up ? "ascending" : "descending");
      const button = made("button", `${title}${title !== by ? "" : up ? " ▴" : " ▾"}`);
      button.type = "button";
      button.addEventListener("click", () => {
        this.sort = { by: title, up: title === by ? !up : !isNumber };
        this.sorted();
      });
      cell.append(button);
      return cell;
    }));
    keepFocus(() => this.head.replaceChildren(line));
    this.lined.show(this.rows);
  }

  /** @param {WaitRow} row */
  line(row) {
    const { app } = this;
    const line = made("tr");
    line.append(...this.columns.map(({ title, isNumber, value }) => {
      const said = value(row);
      if (typeof said === "number") {
        return made("td", said < 0 ? "" : title === "Waits" ? wholeNumber(said) : duration(said), "number");
      }
      const cell = made("td", title === "Woken by" ? said : undefined);
      if (title === "Woken by") return cell;
      const button = made("button", said, "link");
      button.type = "button";
      const isThread = title === "Thread";
      const hasSamples = app.profile.head.waits !== undefined;
      button.title = isThread ? "Show this thread alone" : hasSamples ? "Keep these waits" : "Show these waits alone";
      button.addEventListener("click", () => {
        if (isThread) chooseThread(app, row.thread);
        else if (!hasSamples) this.showCause(row.label);
        else app.addTransform({ kind: "keep", grouping: "wait", key: app.profile.functionOf[row.label] });
      });
      cell.append(button);
      return cell;
    }));
    return line;
  }
}

/**
 * By thread, who has the name that it had last: a thread that changed its name is one row.
 * @param {Profile} profile
 */
function namesLeft(profile) {
  const { head } = profile;
  if (head.by_name) return head.threads.map((_, thread) => thread);
  profile.lastNames ??= lastNames(profile);
  const { task } = profile.lastNames;
  return head.threads.map(([, tid], thread) => task.get(tid) ?? thread);
}

/**
 * A cause without its brackets.
 * @param {Profile} profile
 * @param {number} label
 */
function nameOfCause(profile, label) {
  return profile.text(profile.names[label]).replace(/^\[(.*)\]$/, "$1");
}

/**
 * What is counted of waits, by thread and cause, as `rprof report -s tid,cause` has it. How long each was is known where
 * rows are single waits.
 * @param {App} app
 * @param {WaitRowsBy} by
 */
function rowsOfWaits({ profile, state }, by) {
  const kept = keptNodes(profile, state);
  const isSingle = profile.head.slot_ns === 0;
  const last = namesLeft(profile);
  /** @type {Map<number, WaitRow>} */
  const rows = new Map();
  forRows(profile, state, (node, weight, samples, _time, thread) => {
    if (node < 0 || !profile.isWait(node) || (kept !== null && kept[node] === 0)) return;
    const label = profile.labels[node];
    const who = by.thread ? last[thread] : -1;
    const key = who * profile.names.length + label;
    let row = rows.get(key);
    if (row === undefined) rows.set(key, (row = newWaitRow(who, label, "", null)));
    row.count += samples;
    row.sum += weight;
    if (isSingle) row.lengths.push(weight);
  });
  return rowsWithMedians(rows.values());
}

/**
 * @param {number} thread
 * @param {number} label
 * @param {Queue} queue
 * @param {number | null} waker
 * @returns {WaitRow}
 */
function newWaitRow(thread, label, queue, waker) {
  return { thread, label, queue, waker, count: 0, sum: 0, median: null, longest: null, lengths: [] };
}

/**
 * @param {Iterable<WaitRow>} rows
 * @returns {WaitRow[]}
 */
function rowsWithMedians(rows) {
  return Array.from(rows, (row) => {
    const { lengths } = row;
    if (lengths.length === 0) return row;
    lengths.sort((a, b) => a - b);
    return { ...row, median: lengths[Math.ceil(0.5 * lengths.length) - 1], longest: lengths[lengths.length - 1] };
  });
}

/**
 * The sums that rows are made of: by thread, too, if one is chosen, or filters by process or thread apply.
 * @param {App} app
 * @param {WaitRowsBy} by
 */
function sumsOfWaits({ profile, state }, by) {
  const isFiltered = threadsLeft(profile, state) !== null && state.transforms.some(({ kind }) => kind !== "types");
  const isByThread = by.thread || state.thread !== null || isFiltered;
  return profile.waits.groups.filter(({ thread, waker }) => (thread >= 0) === isByThread && (waker !== null) === by.waker);
}

/**
 * All waits, by thread, cause and waker. The median of several sums is not known.
 * @param {App} app
 * @param {WaitRowsBy} by
 */
function rowsOfSums(app, by) {
  const { profile, state } = app;
  const { waitLabels } = profile;
  const last = namesLeft(profile);
  const accepts = threadsLeft(profile, state) ?? (() => true);
  /** @type {Map<string, WaitRow>} */
  const rows = new Map();
  for (const { thread, cause, waker, queue, count, sum, median, longest } of sumsOfWaits(app, by)) {
    if (thread >= 0 && ((state.thread !== null && state.thread !== thread) || !accepts(thread))) continue;
    const who = by.thread ? last[thread] : -1;
    const key = `${who} ${cause} ${waker} ${queue}`;
    const row = rows.get(key) ?? newWaitRow(who, waitLabels[cause], queue, waker);
    rows.set(key, {
      ...row, count: row.count + count, sum: row.sum + sum, median: row.count === 0 ? median : null,
      longest: Math.max(row.longest ?? 0, longest),
    });
  }
  return [...rows.values()];
}

/**
 * The longest waits, by thread, cause and waker.
 * @param {App} app
 * @param {WaitRowsBy} by
 */
function rowsOfTimedWaits({ profile, state }, by) {
  const { waits, waitLabels, head } = profile;
  const last = namesLeft(profile);
  const accepts = threadsLeft(profile, state) ?? (() => true);
  const runnable = waitLabels.find((label) => nameOfCause(profile, label) === "runnable");
  /** @type {Map<string, WaitRow>} */
  const rows = new Map();
  for (let thread = 0; thread < head.threads.length; thread++) {
    if ((state.thread !== null && state.thread !== thread) || !accepts(thread)) continue;
    const ranges = partsOf(state);
    const [first, end] = state.range ?? [0, Infinity];
    waits.each(thread, [first, end], (wait) => {
      let length = 0;
      for (const range of ranges) {
        const [from, to] = range ?? [0, Infinity];
        length += Math.max(0, Math.min(to, waits.endOf(wait)) - Math.max(from, waits.begins[wait]));
      }
      if (length <= 0) return;
      const label = waitLabels[waits.causeOf(wait)];
      const waker = by.waker ? waits.wakers[wait] : null;
      const queue = by.waker && label === runnable ? queueOf(profile, thread, wait) : "";
      const who = by.thread ? last[thread] : -1;
      const key = `${who} ${label} ${waker} ${queue}`;
      let row = rows.get(key);
      if (row === undefined) rows.set(key, (row = newWaitRow(who, label, queue, waker)));
      row.count++;
      row.sum += length;
      row.lengths.push(length);
    });
  }
  return rowsWithMedians(rows.values());
}

/**
 * Why a runnable thread waited; nothing if the wait before it may be left out.
 * @param {Profile} profile
 * @param {number} thread
 * @param {number} wait
 * @returns {Queue}
 */
function queueOf({ waits, head }, thread, wait) {
  const before = wait - 1;
  const isAfterWait = before >= waits.starts[thread] && waits.isWoken(before) && waits.endOf(before) === waits.begins[wait];
  if (waits.wakers[wait] !== 0 || isAfterWait) return "queued";
  return (head.n_all_waits ?? waits.n) > waits.n ? "" : "preempted";
}
