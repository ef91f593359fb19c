// The table: real rows and cells, which screen readers and printers know.

const MORE_ROWS = 200;

/**
 * @typedef {"self" | "total" | "samples" | "name" | "image"} SortBy
 * @typedef {{grouping: Grouping, sort: SortBy, up: boolean}} TableOrder
 */

/** @type {{by: SortBy, title: string, isNumber: boolean}[]} */
const COLUMNS = [
  { by: "self", title: "Self", isNumber: true },
  { by: "total", title: "Total", isNumber: true },
  { by: "samples", title: "Samples", isNumber: true },
  { by: "name", title: "Name", isNumber: false },
  { by: "image", title: "Image", isNumber: false },
];

class Table {
  /**
   * @param {HTMLElement} place
   * @param {Profile} profile
   * @param {{order: (order: TableOrder) => void, choose: (row: Row) => void, open: (row: Row) => void}} events
   */
  constructor(place, profile, events) {
    this.profile = profile;
    this.events = events;
    this.table = made("table");
    this.caption = made("caption");
    this.head = made("thead");
    this.body = made("tbody");
    this.more = made("button", "More rows", "more");
    this.more.type = "button";
    this.more.addEventListener("click", () => this.append());
    this.table.append(this.caption, this.head, this.body);
    place.append(this.table, this.more);
    /** @type {Row[]} */
    this.rows = [];
    this.shown = 0;
    /** @type {TableOrder} */
    this.order = { grouping: "function", sort: "self", up: false };
  }

  /**
   * @param {Counts} counts
   * @param {{order: TableOrder, event: EventHead, search: string}} shown
   */
  show(counts, { order, event, search }) {
    this.order = order;
    this.event = event;
    this.whole = counts.total.weight;
    const pattern = search === "" ? null : patternOf(search).pattern;
    const rows = tableRows(this.profile, counts, order.grouping);
    const found = rows.filter((row) => pattern === null || pattern.test(row.name));
    const { sort, up } = order;
    found.sort((a, b) => (up ? 1 : -1) * compared(a[sort], b[sort]) || compared(b.total, a.total) || compared(a.name, b.name));
    this.rows = found;
    this.caption.textContent = `${counted(found.length, "row", "rows")} by ${order.grouping}`;
    this.drawHead();
    this.body.replaceChildren();
    this.shown = 0;
    this.append();
  }

  drawHead() {
    const line = made("tr");
    for (const { by, title, isNumber } of COLUMNS) {
      const cell = made("th", undefined, isNumber ? "number" : "");
      cell.scope = "col";
      const isSorted = this.order.sort === by;
      cell.setAttribute("aria-sort", !isSorted ? "none" : this.order.up ? "ascending" : "descending");
      const button = made("button", `${title}${isSorted ? (this.order.up ? " ▴" : " ▾") : ""}`);
      button.type = "button";
      button.addEventListener("click", () => {
        this.events.order({ ...this.order, sort: by, up: isSorted ? !this.order.up : !isNumber });
      });
      cell.append(button);
      line.append(cell);
    }
    this.head.replaceChildren(line);
  }

  append() {
    const lines = this.rows.slice(this.shown, this.shown + MORE_ROWS).map((row) => this.line(row));
    this.body.append(...lines);
    this.shown += lines.length;
    const left = this.rows.length - this.shown;
    this.more.hidden = left === 0;
    this.more.textContent = `Show more: ${counted(left, "row", "rows")} left`;
  }

  /** @param {Row} row */
  line(row) {
    const line = made("tr");
    line.append(this.share(row.self), this.share(row.total), made("td", grouped(row.samples), "number"));
    const name = made("th", undefined, "name");
    name.scope = "row";
    const button = made("button", row.name);
    button.type = "button";
    button.title = row.name.slice(0, 1000);
    button.addEventListener("click", () => this.events.choose(row));
    button.addEventListener("dblclick", () => this.events.open(row));
    name.append(button);
    line.append(name, made("td", row.image, "image"));
    return line;
  }

  /** @param {number} weight */
  share(weight) {
    const cell = made("td", percent(weight, this.whole ?? 0), "number share");
    const event = /** @type {EventHead} */ (this.event);
    cell.title = amount(event, weight);
    cell.style.setProperty("--share", `${(100 * weight) / (this.whole || 1)}%`);
    return cell;
  }
}

/**
 * @param {number | string} a
 * @param {number | string} b
 */
function compared(a, b) {
  return a < b ? -1 : a > b ? 1 : 0;
}
