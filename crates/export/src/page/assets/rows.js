// Rows of the table: what each function, image, thread or line counts itself, and with what it called.

/**
 * @typedef {"function" | "image" | "thread" | "line" | RowGrouping} Grouping
 * @typedef {{key: number, name: string, image: string, self: number, total: number, samples: number,
 *   ownSamples: number}} Row
 */

/**
 * What is the same whatever counts: the row that each node is of, whether it is the outermost of its row on its way, and
 * how many rows there are.
 * @typedef {{grouping: Grouping, key: object[], rowOf: Int32Array, isOutermost: Uint8Array, n: number}} RowColumns
 */

/** Groupings for which that is kept. */
const MOST_ROW_COLUMNS = 4;

/**
 * @param {Profile} profile
 * @param {Grouping} grouping
 * @returns {RowColumns}
 */
function rowColumns(profile, grouping) {
  const { parents, labels, functionOf, images } = profile;
  const key = [parents, labels, functionOf, images];
  const known = profile.rowColumns.find((one) => one.grouping === grouping && one.key.every((column, at) => column === key[at]));
  const found = known ?? { grouping, key, ...outermostRows(profile, rowsOfNodes(profile, grouping), grouping) };
  profile.rowColumns = [found, ...profile.rowColumns.filter((one) => one !== found).slice(0, MOST_ROW_COLUMNS - 1)];
  return found;
}

/**
 * @param {Profile} profile
 * @param {Int32Array} rowOf
 * @param {Grouping} [grouping] threads are told by outermost nodes
 */
function outermostRows({ parents }, rowOf, grouping) {
  let n = 0;
  for (const row of rowOf) if (row >= n) n = row + 1;
  const isOutermost = new Uint8Array(rowOf.length);
  if (grouping === "thread") {
    for (let node = 0; node < rowOf.length; node++) if (parents[node] < 0) isOutermost[node] = 1;
    return { rowOf, isOutermost, n };
  }
  // How often each row is on the way to a node.
  const onPath = new Uint32Array(n);
  // All below a node follow it: the way to a node is a part of that to the node before.
  for (let node = 0, last = -1; node < parents.length; last = node++) {
    for (; last !== parents[node]; last = parents[last]) {
      const left = rowOf[last];
      if (left >= 0) onPath[left]--;
    }
    const row = rowOf[node];
    if (row >= 0 && onPath[row]++ === 0) isOutermost[node] = 1;
  }
  return { rowOf, isOutermost, n };
}

/**
 * The row that each node is of; -1 if it is of none.
 * @param {Profile} profile
 * @param {Grouping} grouping
 */
function rowsOfNodes(profile, grouping) {
  const { parents, labels } = profile;
  const rows = new Int32Array(parents.length);
  const roots = grouping === "thread" ? rootsOf(profile) : null;
  for (let node = 0; node < parents.length; node++) {
    if (roots !== null) rows[node] = labels[roots[node]];
    // As in reports, a wait is its function's own time.
    else if (profile.isWait(node)) rows[node] = rows[parents[node]];
    else if (parents[node] < 0) rows[node] = -1;
    else if (grouping === "function") rows[node] = profile.functionOf[labels[node]];
    else if (grouping === "image") rows[node] = profile.images[labels[node]];
    else rows[node] = labels[node];
  }
  return rows;
}

/**
 * Rows of what is selected. A row counts a sample once, however often it is in its stack.
 * @param {Profile} profile
 * @param {Counts} counts
 * @param {Grouping} grouping
 * @param {(key: number) => boolean} [isWanted]
 * @returns {Row[]}
 */
function tableRows(profile, counts, grouping, isWanted = () => true) {
  if (isRowGrouping(grouping)) return rowsByGrouping(profile, counts.selection, grouping);
  const { rowOf, isOutermost, n } = rowColumns(profile, grouping);
  const totals = counts.totals(profile);
  const self = new Float64Array(n);
  const ownSamples = new Float64Array(n);
  const total = new Float64Array(n);
  const samples = new Float64Array(n);
  for (let node = 0; node < rowOf.length; node++) {
    const row = rowOf[node];
    if (row < 0 || totals.samples[node] === 0) continue;
    self[row] += counts.weights[node];
    ownSamples[row] += counts.samples[node];
    if (isOutermost[node] === 1) {
      total[row] += totals.weights[node];
      samples[row] += totals.samples[node];
    }
  }
  /** @type {Row[]} */
  const rows = [];
  for (let key = 0; key < n; key++) {
    if (samples[key] > 0 && isWanted(key)) {
      const [name, image] = namesOfRow(profile, grouping, key);
      const sums = { self: self[key], total: total[key], samples: samples[key], ownSamples: ownSamples[key] };
      rows.push({ key, name, image, ...sums });
    }
  }
  return rows;
}

/**
 * Those rows whose names match.
 * @param {Profile} profile
 * @param {Row[]} rows
 * @param {Grouping} grouping
 * @param {string} text
 */
function rowsWith(profile, rows, grouping, text) {
  if (isRowGrouping(grouping)) {
    const pattern = new Pattern(text);
    return rows.filter(({ name }) => pattern.matches(name));
  }
  const strings = stringsWith(profile, text);
  const { names, places, frameOfFunction, head } = profile;
  return rows.filter(({ key }) => {
    if (grouping === "thread") return strings[head.comms[key]] === 1;
    if (grouping === "image") return strings[key] === 1;
    const frame = grouping === "line" ? key : frameOfFunction[key];
    return strings[names[frame]] === 1 || (grouping === "line" && places[frame] > 0 && strings[places[frame] - 1] === 1);
  });
}

/**
 * @param {Profile} profile
 * @param {Grouping} grouping
 * @param {number} key
 * @returns {[string, string]}
 */
function namesOfRow(profile, grouping, key) {
  if (isRowGrouping(grouping)) return [nameInGrouping(profile, grouping, key), ""];
  switch (grouping) {
    case "thread":
      return [profile.text(profile.head.comms[key]), ""];
    case "image":
      return [profile.text(key), ""];
    case "line":
      return [profile.nameWithPlace(key), profile.imageOfFrame(key)];
    default: {
      const frame = profile.frameOfFunction[key];
      return [profile.text(profile.names[frame]), profile.imageOfFrame(frame)];
    }
  }
}
