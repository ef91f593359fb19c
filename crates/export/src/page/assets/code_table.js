// The rows of code that are seen: all have one height, so that no others need be there.

/** Pixels of a row. */
const CODE_ROW = 18;

/** Rows above and below those that are seen; of other code, these come after its first frame. */
const CODE_MARGIN = 20;
const FIRST_MARGIN = 2;

/**
 * @typedef {{title: string, follow: () => void}} CodeLink
 * @typedef {{share: number, self: string, total: string, title: string, lanes: string, isFaint: boolean}} CodeCells
 */

class CodeTable {
  /**
   * @param {HTMLElement} place
   * @param {(row: CodeRow) => void} open
   * @param {(row: CodeRow) => CodeLink | null} linkOf
   */
  constructor(place, open, linkOf) {
    this.place = place;
    this.open = open;
    this.linkOf = linkOf;
    this.space = made("div", undefined, "code-space");
    this.body = made("div", undefined, "code-rows");
    this.body.setAttribute("role", "table");
    this.body.setAttribute("aria-label", "Code");
    place.tabIndex = 0;
    place.append(this.space);
    this.space.append(this.body);
    /** How far it is scrolled, and how high it is: to ask the browser would lay out what is about to be replaced. */
    this.top = 0;
    this.height = 0;
    this.isMoving = false;
    place.addEventListener("scroll", () => {
      // It is on its way to where it is drawn.
      if (this.isMoving || Math.abs(place.scrollTop - this.top) < 1) return;
      this.top = place.scrollTop;
      this.draw();
    });
    new ResizeObserver(([{ contentRect }]) => {
      if (contentRect.height === 0 || Math.abs(contentRect.height - this.height) <= 1) return;
      this.height = contentRect.height;
      this.draw();
    }).observe(place);
    /** @type {CodeRow[]} */
    this.rows = [];
    /** @type {(row: CodeRow) => CodeCells} */
    this.cells = () => ({ share: 0, self: "", total: "", title: "", lanes: "", isFaint: false });
    this.hasTotals = false;
    this.current = -1;
    this.heading = made("div");
    /** The number of the first row that is there. */
    this.first = 0;
    /**
     * Rows that are there, by number: they have no gaps.
     * @type {Map<number, HTMLElement>}
     */
    this.lines = new Map();
  }

  /**
   * @param {CodeRow[]} rows
   * @param {(row: CodeRow) => CodeCells} cells
   * @param {number | null} current the row to move to, if the rows are others than before
   */
  show(rows, cells, current) {
    this.rows = rows;
    this.cells = cells;
    this.hasTotals = rows.some(({ kind }) => kind === "file");
    this.lines.clear();
    this.heading = this.headingLine();
    this.body.replaceChildren(this.heading);
    this.space.style.height = `${(rows.length + 1) * CODE_ROW}px`;
    this.body.setAttribute("aria-rowcount", String(rows.length + 1));
    if (current !== null) return this.moveTo(current);
    this.draw();
    this.scroll();
  }

  get isHidden() {
    return this.place.closest("[hidden]") !== null;
  }

  /**
   * Shows a row in the middle.
   * @param {number} at
   */
  moveTo(at) {
    this.lines.get(this.current)?.classList.remove("code-current");
    this.current = at;
    this.lines.get(at)?.classList.add("code-current");
    if (this.isHidden) return;
    this.height ||= this.place.clientHeight;
    const most = (this.rows.length + 1) * CODE_ROW - this.height;
    this.top = Math.max(0, Math.min(most, Math.round(at * CODE_ROW - this.height / 2)));
    this.draw();
    this.scroll();
  }

  /** Scrolls to what is drawn, once all else has its place. */
  scroll() {
    if (this.isMoving) return;
    this.isMoving = true;
    requestAnimationFrame(() => {
      this.isMoving = false;
      this.place.scrollTop = this.top;
    });
  }

  /** Rows come and go with what is seen; those that are there stay. */
  draw() {
    if (this.isHidden) return;
    const { rows, lines, body, top } = this;
    this.height ||= this.place.clientHeight;
    const isPrinted = matchMedia("print").matches;
    const isNew = lines.size === 0 && !isPrinted;
    const margin = isNew ? FIRST_MARGIN : CODE_MARGIN;
    const first = isPrinted ? 0 : Math.max(0, Math.floor(top / CODE_ROW) - margin);
    const end = isPrinted ? rows.length : Math.min(rows.length, Math.ceil((top + this.height) / CODE_ROW) + margin);
    /** @type {HTMLElement[]} */
    const before = [];
    /** @type {HTMLElement[]} */
    const after = [];
    for (let at = first; at < end; at++) {
      if (lines.has(at)) continue;
      const line = this.line(rows[at], at);
      lines.set(at, line);
      (at < this.first ? before : after).push(line);
    }
    for (const [at, line] of lines) {
      if (at >= first && at < end) continue;
      line.remove();
      lines.delete(at);
    }
    this.heading.after(...before);
    body.append(...after);
    this.first = first;
    body.style.top = `${first * CODE_ROW}px`;
    if (isNew && lines.size > 0) afterFrame(() => this.draw());
  }

  headingLine() {
    const line = made("div", undefined, "code-row code-head");
    line.setAttribute("role", "row");
    const titles = ["Self", ...(this.hasTotals ? ["Total"] : []), "", this.hasTotals ? "Line" : "Address", "Code"];
    line.append(...titles.map((title, at) => {
      const cell = made("span", title, ["code-share", ...(this.hasTotals ? ["code-share"] : []), "code-lanes", "code-number", "code-text"][at]);
      cell.setAttribute("role", "columnheader");
      return cell;
    }));
    return line;
  }

  /**
   * The code of a row, in colours; what an instruction goes to is a link.
   * @param {CodeRow} row
   */
  textOf(row) {
    const text = made("span", undefined, "code-text");
    if (row.kind === "source" || row.kind === "line") {
      // Among instructions, the place comes first.
      const n = row.kind === "line" ? row.place.length : 0;
      text.append(row.text.slice(0, n));
      showTokens(text, sourceTokens(row.text.slice(n), row.place.replace(/:\d+$/, "")));
      return text;
    }
    if (row.kind !== "instruction") {
      text.append(row.text);
      return text;
    }
    const list = instructionTokens(row.text);
    const link = this.linkOf(row);
    const symbol = link === null ? undefined : list.find(({ of }) => of === "symbol");
    if (link === null || symbol === undefined) {
      showTokens(text, list);
      return text;
    }
    const at = list.indexOf(symbol);
    showTokens(text, list.slice(0, at));
    const button = made("button", symbol.text, "code-link token-symbol");
    button.type = "button";
    button.title = link.title;
    button.addEventListener("click", (event) => {
      event.stopPropagation();
      link.follow();
    });
    text.append(button);
    showTokens(text, list.slice(at + 1));
    return text;
  }

  /**
   * @param {CodeRow} row
   * @param {number} at
   */
  line(row, at) {
    const { share, self, total, title, lanes, isFaint } = this.cells(row);
    const line = made("div", undefined, `code-row code-${row.kind}${isFaint ? " code-faint" : ""}${at === this.current ? " code-current" : ""}`);
    line.setAttribute("role", "row");
    line.setAttribute("aria-rowindex", String(at + 2));
    const own = made("span", self, "code-share");
    own.title = title;
    own.style.setProperty("--share", `${Math.min(100, 100 * share)}%`);
    const cells = [own];
    if (this.hasTotals) cells.push(made("span", total, "code-share"));
    const text = this.textOf(row);
    text.title = row.text.length > 100 ? row.text.slice(0, 1000) : "";
    cells.push(made("span", lanes, "code-lanes"), made("span", row.number, "code-number"), text);
    for (const cell of cells) cell.setAttribute("role", "cell");
    line.append(...cells);
    line.addEventListener("click", () => this.open(row));
    return line;
  }
}
