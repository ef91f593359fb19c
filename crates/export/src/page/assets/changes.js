// Columns of the table: of one recording, and of what changed between two.

/**
 * @typedef {"self" | "total" | "ownSamples" | "name" | "image" | "selfBefore" | "selfAfter" | "selfChange" | "totalBefore"
 *   | "totalAfter" | "totalChange"} SortBy
 * @typedef {{by: SortBy, title: string, isNumber: boolean, cell: (row: any, table: Table) => HTMLElement}} Column
 */

/** @type {Column} */
const NAME = { by: "name", title: "Name", isNumber: false, cell: (row, table) => table.name(row) };

/** @type {Column[]} */
const COLUMNS = [
  { by: "self", title: "Self", isNumber: true, cell: (row, table) => table.share(row.self) },
  { by: "total", title: "Total", isNumber: true, cell: (row, table) => table.share(row.total) },
  { by: "ownSamples", title: "Self samples", isNumber: true, cell: (row, table) => table.samples(row) },
  { by: "image", title: "Shared object", isNumber: false, cell: (row) => made("td", row.image, "image") },
  NAME,
];

/**
 * Those that have something to say of rows of a grouping.
 * @param {Grouping} grouping
 */
function columnsOf(grouping) {
  return grouping === "function" || grouping === "line" ? COLUMNS : COLUMNS.filter(({ by }) => by !== "image");
}

/** @type {Column[]} */
const CHANGE_COLUMNS = [
  { by: "selfBefore", title: "Self before", isNumber: true, cell: (row, table) => table.side(row.own, "before") },
  { by: "selfAfter", title: "after", isNumber: true, cell: (row, table) => table.side(row.own, "after") },
  { by: "selfChange", title: "Change", isNumber: true, cell: (row, table) => table.change(row.own, row.ownDirections) },
  { by: "totalBefore", title: "Total before", isNumber: true, cell: (row, table) => table.side(row.all, "before") },
  { by: "totalAfter", title: "after", isNumber: true, cell: (row, table) => table.side(row.all, "after") },
  { by: "totalChange", title: "Change", isNumber: true, cell: (row, table) => table.change(row.all, row.directions) },
  NAME,
];

/**
 * What a row is sorted by; changes by their size.
 * @param {any} row
 * @param {SortBy} by
 */
function sortedBy(row, by) {
  return by === "selfChange" || by === "totalChange" ? Math.abs(row[by]) : row[by];
}
