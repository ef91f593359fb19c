// The table: real rows and cells, which screen readers and printers know.

addView({
  name: "table",
  key: "2",
  title: "Table",
  ofTime: false,
  make: (app, section) => new TableView(app, section),
});

class TableView {
  /**
   * @param {App} app
   * @param {HTMLElement} section
   */
  constructor(app, section) {
    this.app = app;
    const { profile } = app;
    /** @type {[Grouping, string][]} */
    const groupings = [["function", "functions"], ["image", "shared objects"], ["thread", "threads by name"],
      ["task", "threads"], ["process", "processes"], ["cpu", "CPUs"],
      ["level", "user or kernel"], ["state", "running or waiting"], ["cause", "causes of waits"], ["line", "source lines"]];
    const grouping = choice("grouping", "Rows", groupings, (value) => app.set({ grouping: /** @type {Grouping} */ (value) }));
    const known = groupingsOf(profile);
    allow(grouping.select, (value) => known.some((one) => one === value));
    this.grouping = grouping.select;
    const bar = made("div", undefined, "bar");
    const label = made("label");
    this.significant = placed(label, "input", "significant");
    this.significant.type = "checkbox";
    this.significant.addEventListener("change", () => app.set({ significant: this.significant.checked }));
    label.append(" only significant changes");
    this.onlySignificant = label;
    bar.append(grouping.label, label);
    section.append(bar);
    this.table = new Table(placed(section, "div", "table-place"), profile, {
      order: (order) => app.set(order),
      choose: (row) => app.chooseRow(row),
      open: (row) => app.openRow(row),
      menu: (row, event) => app.menuOfRow(row, event),
      seen: (top) => rowsSeen(app, top),
    });
  }

  show() {
    const { app } = this;
    const { grouping, sort, up, search, event, significant } = app.state;
    const { comparison } = app;
    this.grouping.value = grouping;
    // Rows of other groupings are not tested.
    const isTested = comparison !== null && comparison.isTested && (grouping === "function" || grouping === "line");
    this.onlySignificant.hidden = !isTested;
    this.significant.checked = significant;
    this.table.show(app.rows(grouping), {
      isWanted: isTested && significant ? (row) => isSignificant(comparison, /** @type {ChangedRow} */ (row)) : () => true,
      order: { grouping, sort, up },
      event: app.profile.head.events[event],
      search,
      whole: app.whole,
      comparison,
    });
  }

  search() {
    this.show();
  }
}

/**
 * Whether a row has a change that is marked.
 * @param {Comparison} comparison
 * @param {ChangedRow} row
 */
function isSignificant(comparison, { own, all, ownDirections, directions }) {
  return comparison.degree(own, ownDirections) !== 0 || comparison.degree(all, directions) !== 0;
}

/** Rows that are there soon, as many as most screens have; and how many more each time. */
const FIRST_ROWS = 40;
const MORE_ROWS = 100;

/**
 * What rows are called: one and several.
 * @type {Record<Grouping, [string, string]>}
 */
const NOUNS = {
  function: ["function", "functions"],
  image: ["shared object", "shared objects"],
  thread: ["thread name", "thread names"],
  line: ["source line", "source lines"],
  process: ["process", "processes"],
  task: ["thread", "threads"],
  cpu: ["CPU", "CPUs"],
  level: ["level", "levels"],
  state: ["state", "states"],
  cause: ["cause", "causes"],
};

/**
 * What numbers of samples are called, if these are waits, too.
 * @type {{[kind: string]: string | undefined}}
 */
const OWN_COUNTS = { "off-cpu-time": "Self waits", "wall-time": "Self count" };

/** @typedef {{grouping: Grouping, sort: SortBy, up: boolean}} TableOrder */

class Table {
  /**
   * @param {HTMLElement} place
   * @param {Profile} profile
   * @param {{order: (order: TableOrder) => void, choose: (row: Row) => void, open: (row: Row) => void,
   *   menu: (row: Row, event: MouseEvent) => void, seen: (top: number) => number}} events `seen`: how many rows are
   *   seen when the table is scrolled so far
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
    this.more.addEventListener("click", () => this.append(MORE_ROWS));
    this.table.append(this.caption, this.head, this.body);
    place.append(this.table, this.more);
    /** How far it is scrolled: to ask the browser would lay out what is about to be replaced. */
    this.top = 0;
    place.addEventListener("scroll", () => (this.top = place.scrollTop), { passive: true });
    /** @type {Row[]} */
    this.rows = [];
    this.shown = 0;
    /** @type {Column[]} */
    this.columns = COLUMNS;
    /** @type {Comparison | null} */
    this.comparison = null;
    /**
     * Rows of what was shown, in their last order: many go from one table to another and back.
     * @type {WeakMap<Row[], {key: string, rows: Row[]}>}
     */
    this.sorted = new WeakMap();
    /** @type {TableOrder} */
    this.order = { grouping: "function", sort: "self", up: false };
  }

  /**
   * @param {Row[]} rows
   * @param {{order: TableOrder, event: EventHead, search: string, whole: number, comparison: Comparison | null,
   *   isWanted: (row: Row) => boolean}} shown
   */
  show(rows, { order, event, search, whole, comparison, isWanted }) {
    this.order = order;
    this.event = event;
    this.whole = whole;
    this.comparison = comparison;
    this.columns = comparison === null ? columnsOf(order.grouping) : CHANGE_COLUMNS;
    this.table.classList.toggle("changes", comparison !== null);
    const all = this.sortedRows(rows, order).filter(isWanted);
    this.rows = search === "" ? all : rowsWith(this.profile, all, order.grouping, search);
    this.caption.textContent = counted(this.rows.length, ...NOUNS[order.grouping]);
    this.drawHead();
    this.body.replaceChildren();
    this.shown = 0;
    const { seen } = this.events;
    const first = Math.max(FIRST_ROWS, seen(0));
    this.append(Math.min(first, seen(this.top)));
    // Those below what is seen come after the frame.
    const shown = this.rows;
    if (this.shown < first) afterFrame(() => this.rows === shown && this.append(Math.max(0, first - this.shown)));
  }

  /**
   * All rows in an order, which stays for all that is searched among them.
   * @param {Row[]} all
   * @param {TableOrder} order
   * @returns {Row[]}
   */
  sortedRows(all, { sort, up }) {
    const key = `${sort} ${up}`;
    const known = this.sorted.get(all);
    if (known?.key === key) return known.rows;
    const sign = up ? 1 : -1;
    // What they are sorted by is looked up once: there may be many thousands.
    const keyed = all.map((row) => ({ row, mark: this.isMarked(row, sort), by: sortedBy(row, sort) }));
    keyed.sort((a, b) =>
      sign * (a.mark - b.mark || compared(a.by, b.by)) || compared(b.row.total, a.row.total) || compared(a.row.name, b.row.name));
    const rows = keyed.map(({ row }) => row);
    this.sorted.set(all, { key, rows });
    return rows;
  }

  /**
   * 1 if a row is sorted by a change that is significant, else 0: those are larger, whatever their size.
   * @param {Row} row
   * @param {SortBy} by
   */
  isMarked(row, by) {
    if (this.comparison === null || (by !== "selfChange" && by !== "totalChange")) return 0;
    const { own, all, ownDirections, directions } = /** @type {ChangedRow} */ (row);
    return (by === "selfChange" ? this.comparison.degree(own, ownDirections) : this.comparison.degree(all, directions)) !== 0 ? 1 : 0;
  }

  drawHead() {
    const line = made("tr");
    for (const { by, title, isNumber } of this.columns) {
      const cell = made("th", undefined, isNumber ? "number" : by);
      cell.scope = "col";
      const isSorted = this.order.sort === by;
      cell.setAttribute("aria-sort", !isSorted ? "none" : this.order.up ? "ascending" : "descending");
      const said = by === "ownSamples" ? OWN_COUNTS[this.event?.kind ?? ""] ?? title : title;
      const button = made("button", `${said}${isSorted ? (this.order.up ? " ▴" : " ▾") : ""}`);
      button.type = "button";
      button.addEventListener("click", () => {
        this.events.order({ ...this.order, sort: by, up: isSorted ? !this.order.up : !isNumber });
      });
      cell.append(button);
      line.append(cell);
    }
    this.head.replaceChildren(line);
  }

  /** @param {number} n */
  append(n) {
    const lines = this.rows.slice(this.shown, this.shown + n).map((row) => this.line(row));
    this.body.append(...lines);
    this.shown += lines.length;
    const left = this.rows.length - this.shown;
    this.more.hidden = left === 0;
    this.more.textContent = `Show more (${counted(left, "more row", "more rows")})`;
  }

  /** @param {Row} row */
  line(row) {
    const line = made("tr");
    line.append(...this.columns.map(({ cell }) => cell(row, this)));
    line.addEventListener("contextmenu", (event) => {
      this.events.choose(row);
      this.events.menu(row, event);
    });
    return line;
  }

  /** @param {Row} row */
  name(row) {
    const name = made("th", undefined, "name");
    name.scope = "row";
    const button = made("button");
    showCut(button, row.name);
    button.type = "button";
    button.title = row.name.slice(0, 1000);
    button.addEventListener("click", () => this.events.choose(row));
    button.addEventListener("dblclick", () => this.events.open(row));
    name.append(button);
    return name;
  }

  /**
   * @param {BothSums} both
   * @param {"before" | "after"} side
   */
  side(both, side) {
    const { weight, samples } = both[side];
    const cell = made("td", samples === 0 ? "" : this.comparison?.said(weight, side), "number");
    cell.title = counted(samples, ...nounsOf(/** @type {EventHead} */ (this.event)));
    return cell;
  }

  /**
   * @param {BothSums} both
   * @param {number} directions in which it changed beyond noise
   */
  change(both, directions) {
    const { comparison } = this;
    if (comparison === null || both.before.samples + both.after.samples === 0) return made("td", "", "number");
    const cell = made("td", comparison.between(both).replace(" points", ""), "number change");
    const relative = comparison.relative(both);
    if (relative !== "") cell.append(made("small", ` ${relative}`));
    cell.title = comparison.text(both);
    const degree = comparison.degree(both, directions);
    cell.classList.toggle("rise", degree > 0);
    cell.classList.toggle("fall", degree < 0);
    return cell;
  }

  /** @param {Row} row */
  samples(row) {
    const cell = made("td", wholeNumber(row.ownSamples), "number");
    cell.title = `${wholeNumber(row.samples)} total, including callees`;
    return cell;
  }

  /** @param {number} weight */
  share(weight) {
    return shareCell(/** @type {EventHead} */ (this.event), weight, this.whole ?? 0);
  }
}

/**
 * A cell with a share, a bar behind it, and the time that it is.
 * @param {EventHead} event
 * @param {number} weight
 * @param {number} whole
 */
function shareCell(event, weight, whole) {
  const cell = made("td", undefined, "number share");
  if (event.kind.endsWith("-time")) cell.append(made("small", weight === 0 ? "" : duration(weight)), " ");
  else cell.title = amount(event, weight);
  cell.append(percent(weight, whole));
  cell.style.setProperty("--share", `${(100 * weight) / (whole || 1)}%`);
  return cell;
}

/**
 * @param {number | string} a
 * @param {number | string} b
 */
function compared(a, b) {
  return a < b ? -1 : a > b ? 1 : 0;
}
