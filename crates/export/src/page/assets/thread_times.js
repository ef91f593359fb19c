// What each thread did for how long: it ran, or it waited, by cause.

/** Causes that have columns of their own, the longest. */
const MOST_CAUSES = 5;

/**
 * Threads of what is shown, those that ran longest first.
 * @param {App} app
 * @param {(thread: number) => void} choose
 */
function tableOfThreadTimes(app, choose) {
  const { profile } = app;
  const { threads, causes } = timesOfThreads(app);
  const columns = [RUNS, ...[...causes].sort(([, a], [, b]) => b - a).slice(0, MOST_CAUSES).map(([label]) => label)];
  const hasOthers = causes.size > MOST_CAUSES;
  const table = made("table", undefined, "times");
  table.append(made("caption", "Threads by what they did"));
  const head = made("tr");
  const titles = columns.map((label) => (label === RUNS ? STATES[0] : nameOfCause(profile, label)));
  for (const title of [...titles, ...(hasOthers ? ["others"] : []), "thread"]) {
    const cell = made("th", title, title === "thread" ? "" : "number");
    cell.scope = "col";
    head.append(cell);
  }
  const body = made("tbody");
  const rows = [...threads].map(([thread, times]) => ({ thread, times, ran: times.get(RUNS) ?? 0 }));
  const all = (/** @type {Map<number, number>} */ times) => [...times.values()].reduce((a, b) => a + b, 0);
  rows.sort((a, b) => b.ran - a.ran || all(b.times) - all(a.times) || a.thread - b.thread);
  for (const { thread, times } of rows.slice(0, SUMMARY_ROWS)) {
    const line = made("tr");
    const shown = columns.map((label) => times.get(label) ?? 0);
    if (hasOthers) shown.push(all(times) - shown.reduce((a, b) => a + b, 0));
    line.append(...shown.map((time) => made("td", time > 0 ? duration(time) : "", "number")));
    const name = made("th", undefined, "name");
    name.scope = "row";
    const button = made("button", profile.nameOfThread(thread));
    button.type = "button";
    button.addEventListener("click", () => choose(thread));
    name.append(button);
    line.append(name);
    body.append(line);
  }
  const heading = made("thead");
  heading.append(head);
  table.append(heading, body);
  return table;
}

/**
 * By thread, how long it ran and waited for what; and all of each cause.
 * @param {App} app
 */
function timesOfThreads({ profile, state }) {
  const kept = keptNodes(profile, state);
  const last = namesLeft(profile);
  /** @type {Map<number, Map<number, number>>} */
  const threads = new Map();
  /** @type {Map<number, number>} */
  const causes = new Map();
  forRows(profile, state, (node, weight, _samples, _time, thread) => {
    if (node < 0 || (kept !== null && kept[node] === 0)) return;
    const label = profile.isWait(node) ? profile.labels[node] : RUNS;
    let times = threads.get(last[thread]);
    if (times === undefined) threads.set(last[thread], (times = new Map()));
    times.set(label, (times.get(label) ?? 0) + weight);
    if (label !== RUNS) causes.set(label, (causes.get(label) ?? 0) + weight);
  });
  return { threads, causes };
}
