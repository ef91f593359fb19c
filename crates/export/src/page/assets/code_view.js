// Instructions and source lines of a function, with what they count.

addView({
  name: "code",
  key: "8",
  title: "Code",
  ofTime: false,
  ofOne: true,
  isThere: () => HAS_CODE,
  make: (app, section) => new CodeView(app, section),
});

/** Pixels of a row: all have the same, so that only those which are seen need be there. */
const CODE_ROW = 18;

/** Rows above and below those that are seen. */
const CODE_MARGIN = 20;

class CodeView {
  /**
   * @param {App} app
   * @param {HTMLElement} section
   */
  constructor(app, section) {
    this.app = app;
    this.outer = "flame";
    /** @type {PageCode | null} */
    this.code = null;
    /** Whether the code is being unpacked. */
    this.isAsked = false;
    /** @type {{counts: Counts, event: number, code: CodeCounts} | null} */
    this.known = null;
    const bar = made("div", undefined, "bar");
    section.append(bar);
    const one = choice("code-function", "Function", [], (value) => this.choose(Number(value)));
    this.functions = one.select;
    this.functions.title = "Percentages are with the code that is inlined into each function";
    /** @type {[State["codeRows"], string][]} */
    const forms = [["instruction", "instructions"], ["line", "source lines"]];
    const rows = choice("code-rows", "Rows", forms, (value) => app.set({ codeRows: /** @type {State["codeRows"]} */ (value) }));
    this.rowsOf = rows.select;
    /** @type {[State["codeShares"], string][]} */
    const wholes = [["all", "everything"], ["function", "this function"]];
    const shares = choice("code-shares", "Shares of", wholes, (value) =>
      app.set({ codeShares: /** @type {State["codeShares"]} */ (value) }));
    this.shares = shares.select;
    const hottest = made("button", "Hottest row");
    hottest.type = "button";
    hottest.addEventListener("click", () => this.showHottest());
    bar.append(one.label, rows.label, shares.label, hottest);
    this.said = placed(section, "p", "code-said");
    this.sites = placed(section, "div", "code-sites", "bar");
    this.table = new CodeTable(placed(section, "div", "code-place"), (row) => this.open(row), (row) => this.linkOf(row));
    this.notes = placed(section, "ul", "code-notes");
    /** What the rows are of. */
    this.shown = { listing: -1, codeRows: "" };
    /** @type {CodeRow[]} */
    this.rows = [];
    /** @type {JumpLanes | null} */
    this.lanes = null;
  }

  /** It is about what is selected. */
  chosen() {
    const label = this.app.details.chosen?.labels[0] ?? -1;
    return label >= 0 ? { focus: this.app.profile.functionOf[label], listing: null } : {};
  }

  show() {
    const { app } = this;
    if (this.code === null) {
      if (!this.isAsked) void this.unpack();
      return;
    }
    const { profile, state } = app;
    const counts = this.counts(this.code);
    const found = state.focus === null ? null : this.code.of(profile, state.focus);
    const listing = state.listing ?? found?.listings[0] ?? (found === null ? this.hottest(counts) : -1);
    this.listFunctions(this.code, counts, listing);
    this.rowsOf.value = state.codeRows;
    this.shares.value = state.codeShares;
    const code = this.code.functions[listing];
    if (code === undefined) return this.showNone(found?.name ?? "", found !== null && this.code.isRecorded(profile, state.focus));
    const name = found?.listings.includes(listing) ? found.name : code.head.name;
    const isInlined = name !== code.head.name;
    this.say(code, counts, isInlined ? name : null);
    this.showSites(found, listing, counts);
    const isOther = this.shown.listing !== listing || this.shown.codeRows !== state.codeRows;
    if (isOther) {
      this.shown = { listing, codeRows: state.codeRows };
      this.rows = state.codeRows === "line" ? sourceRows(code) : instructionRows(code);
      this.lanes = state.codeRows === "line" ? null : new JumpLanes(code);
    }
    this.table.body.style.setProperty("--lanes", String((this.lanes?.lanes.length || -2) + 2));
    this.table.show(this.rows, this.cells(code, counts, isInlined ? name : null), isOther);
    if (isOther) this.showHottest();
    this.showNotes(code);
  }

  /** Unpacks the code before somebody looks at it. */
  async prepare() {
    if (!this.isAsked) await this.unpack();
    this.code?.whereRowsAre(this.app.profile);
  }

  async unpack() {
    this.isAsked = true;
    this.said.textContent = "Unpacking the code.";
    try {
      this.code = await decodeCode(this.app.profile);
      codeElement().remove();
    } catch (error) {
      this.said.textContent = `Cannot show the code: ${error instanceof Error ? error.message : error}`;
      return;
    }
    if (this.app.state.view === "code") this.show();
  }

  /**
   * What instructions count of what is selected; counted once for all functions.
   * @param {PageCode} code
   */
  counts(code) {
    const { counts, state, profile } = this.app;
    if (this.known?.counts !== counts || this.known.event !== state.event) {
      this.known = { counts, event: state.event, code: CodeCounts.of(code, profile, state) };
    }
    return this.known.code;
  }

  /** @param {CodeCounts} counts */
  hottest(counts) {
    const sums = counts.functions;
    return sums.reduce((most, { weight }, at) => (weight > sums[most].weight ? at : most), 0);
  }

  /**
   * All functions with code, the hottest first.
   * @param {PageCode} code
   * @param {CodeCounts} counts
   * @param {number} listing
   */
  listFunctions(code, counts, listing) {
    const { whole } = this.app;
    const all = code.functions.map((one, number) => ({ one, number, sum: counts.functions[number].weight }));
    all.sort((a, b) => b.sum - a.sum);
    const options = all.map(({ one, number, sum }) => {
      const option = made("option", `${percent(sum, whole)}  ${middleCut(one.head.name, 80)}`);
      option.value = String(number);
      return option;
    });
    this.functions.replaceChildren(...options);
    this.functions.value = String(listing);
  }

  /**
   * What is 100 %.
   * @param {FunctionCode} code
   * @param {CodeCounts} counts
   * @param {string | null} inlined
   */
  whole(code, counts, inlined) {
    const { app } = this;
    if (this.app.state.codeShares === "all") return counts.isWhole ? app.profile.head.events[app.state.event].weight : app.whole;
    return counts.sum(code, (at) => inlined === null || code.isOf(at, inlined)).weight;
  }

  /**
   * @param {FunctionCode} code
   * @param {CodeCounts} counts
   * @param {string | null} inlined the function whose code it is about, if that is a part of this one
   */
  say(code, counts, inlined) {
    const { app } = this;
    const whole = counts.functions[this.code?.functions.indexOf(code) ?? 0];
    const { weight, samples } = counts.sum(code, (at) => inlined === null || code.isOf(at, inlined));
    const event = app.profile.head.events[app.state.event];
    const what = inlined === null ? code.head.name : `${inlined}, inlined into ${code.head.name}`;
    // Long functions are there in part.
    const all = inlined !== null || whole.samples === samples ? "" : ` (${counted(whole.samples, "sample", "samples")} in all of it)`;
    const { shown } = app.counts;
    const isPart = counts.isWhole && (shown.weight !== event.weight || app.state.transforms.length > 0);
    const of = isPart ? ` of the whole recording: the page does not know where each sample was taken, so its filters do not apply` : "";
    const own = counts.sum(code, (at) => !code.isInlined(at)).weight;
    const total = counts.isWhole ? event.weight : app.whole;
    // Rows of functions have what is inlined into them as its own.
    const parts = inlined !== null || own === weight ? "" : ` (self ${percent(own, total)}, inlined ${percent(weight - own, total)})`;
    const lanes = (this.lanes?.hidden ?? 0) > 0 ? ` ${counted(this.lanes?.hidden ?? 0, "jump is", "jumps are")} not drawn.` : "";
    this.said.textContent = `${what}${inBrackets(code.imageName)}: ${counted(samples, "sample", "samples")} at the instructions shown, ` +
      `${amount(event, weight)}, ${percent(weight, total)}${parts}${all}${of}.${lanes}`;
  }

  /**
   * Where else the function's code is.
   * @param {{name: string, listings: number[]} | null} found
   * @param {number} listing
   * @param {CodeCounts} counts
   */
  showSites(found, listing, counts) {
    const listings = found?.listings ?? [];
    this.sites.hidden = found === null || !listings.includes(listing) || listings.length < 2;
    if (this.sites.hidden || found === null || this.code === null) return this.sites.replaceChildren();
    const { functions } = this.code;
    const sites = listings.map((number) => {
      const code = functions[number];
      const isOwn = code.head.name === found.name;
      const { samples } = counts.sum(code, (at) => isOwn || code.isOf(at, found.name));
      const where = isOwn ? "standalone" : `in ${middleCut(code.head.name, 50)}`;
      const button = made("button", `${where} (${counted(samples, "sample", "samples")})`);
      button.type = "button";
      button.setAttribute("aria-pressed", String(number === listing));
      button.addEventListener("click", () => this.app.set({ listing: number }));
      return { button, samples };
    });
    sites.sort((a, b) => b.samples - a.samples);
    this.sites.replaceChildren(made("span", `${middleCut(found.name, 60)}:`), ...sites.slice(0, 12).map(({ button }) => button));
  }

  /**
   * @param {string} name
   * @param {boolean} isFunction
   */
  showNone(name, isFunction) {
    this.shown = { listing: -1, codeRows: "" };
    this.sites.hidden = true;
    this.rows = [];
    this.table.show([], () => ({ share: 0, self: "", total: "", title: "", lanes: "", isFaint: false }), true);
    const n = this.code?.functions.length ?? 0;
    this.said.replaceChildren(`The page has no code of ${middleCut(name, 100)}: it has that of the ` +
      `${counted(n, "hottest function", "hottest functions")} whose files were found.`);
    this.notes.replaceChildren();
    // Names in brackets are of no function, and escaped ones are not what the file has.
    if (!isFunction || /^\[|\\/.test(name)) return;
    const command = `rprof annotate -i perf.data ${quoted(name)}`;
    const copy = made("button", "Copy");
    copy.type = "button";
    copy.addEventListener("click", () => void copyText(command));
    this.said.append(" In a terminal: ", made("code", middleCut(command, 200)), " ", copy);
  }

  /** @param {FunctionCode} code */
  showNotes(code) {
    const { n_left_out: left, n_texts: texts } = this.code?.head ?? { n_left_out: 0, n_texts: 0 };
    const notes = [...code.head.notes];
    const event = code.head.events.find(({ event }) => event === this.app.state.event);
    const away = (event?.samples ?? 0) - (event?.n.reduce((a, b) => a + b, 0) ?? 0);
    if (away > 0) notes.push(`${counted(away, "sample", "samples")} of the recording in this function are at instructions that the page leaves out.`);
    if (texts > 0) notes.push(`This file contains source text of ${counted(texts, "file", "files")}: who has the page can read it.`);
    if (left > 0) notes.push(`${counted(left, "function", "functions")} with fewer samples, or without a file of their code, are not in the page.`);
    this.notes.replaceChildren(...notes.map((note) => made("li", note)));
  }

  /**
   * What is said of a row beside its text.
   * @param {FunctionCode} code
   * @param {CodeCounts} counts
   * @param {string | null} inlined
   * @returns {(row: CodeRow) => CodeCells}
   */
  cells(code, counts, inlined) {
    const { app, lanes } = this;
    const event = app.profile.head.events[app.state.event];
    const whole = this.whole(code, counts, inlined);
    const lines = counts.lines(code);
    const loops = counts.loops(code);
    const { totals, whole: wholeTotal } = this.lanes === null ? totalsOfLines(app.profile, app.counts, code) : { totals: new Map(), whole: 0 };
    // With callees, a function counts more than of its own.
    const totalOf = app.state.codeShares === "all" ? whole : wholeTotal;
    const { weights, samples } = counts;
    return (row) => {
      /** @type {Sum} */
      let sum = { weight: 0, samples: 0 };
      const at = code.first + row.at;
      if (row.kind === "instruction") sum = { weight: weights[at], samples: samples[at] };
      else if (row.kind === "loop") sum = loops[row.line];
      else if (row.kind === "source") sum = lines[row.line] ?? sum;
      else if (row.kind === "line") {
        for (let one = row.at; one < row.end; one++) {
          sum.weight += weights[code.first + one];
          sum.samples += samples[code.first + one];
        }
      }
      const total = totals.get(row.place) ?? 0;
      const beside = row.kind === "instruction" ? lanes?.beside(row.at) : lanes?.before(row.at);
      return {
        share: whole > 0 ? sum.weight / whole : 0,
        self: sum.samples > 0 ? percent(sum.weight, whole) : "",
        total: total > 0 ? percent(total, totalOf) : "",
        title: sum.samples > 0 ? `${counted(sum.samples, "sample", "samples")}, ${amount(event, sum.weight)}` : "",
        lanes: beside ?? "",
        isFaint: inlined !== null && row.kind === "instruction" && !code.isOf(row.at, inlined),
      };
    };
  }

  /** Moves to the row that counts most. */
  showHottest() {
    let [most, at] = [0, 0];
    const cells = this.table.cells;
    this.rows.forEach((row, number) => {
      const isOne = row.kind === "instruction" || row.kind === "source";
      const { share, isFaint } = isOne ? cells(row) : { share: 0, isFaint: false };
      if (!isFaint && share > most) [most, at] = [share, number];
    });
    this.table.moveTo(at);
  }

  /**
   * The code that the list of functions names.
   * @param {number} listing
   */
  choose(listing) {
    const { profile } = this.app;
    const name = this.code?.functions[listing]?.head.name;
    const { frameOfFunction, names, head } = profile.recorded;
    const focus = frameOfFunction.findIndex((frame) => head.strings[names[frame]] === name);
    this.app.set({ focus: focus < 0 ? null : focus, listing });
  }

  /**
   * From a source line to its first instruction.
   * @param {CodeRow} row
   */
  open(row) {
    if (row.kind !== "source" || row.line < 0) return;
    const { line } = row;
    this.app.set({ codeRows: "instruction" });
    this.table.moveTo(this.rows.findIndex((one) => one.kind === "line" && one.line === line));
  }

  /**
   * What a click on what an instruction goes to does; `null` if it goes nowhere in the page.
   * @param {CodeRow} row
   * @returns {CodeLink | null}
   */
  linkOf(row) {
    const code = this.code?.functions[this.shown.listing];
    if (row.kind !== "instruction" || code === undefined || this.code === null) return null;
    const target = this.code.targetOf(code, row.at);
    if (target === null) return null;
    if ("listing" in target) {
      const { listing } = target;
      return { title: `Show the code of ${this.code.functions[listing].head.name.slice(0, 500)}`, follow: () => this.choose(listing) };
    }
    return {
      title: "Show where it jumps to",
      follow: () => this.table.moveTo(this.rows.findIndex(({ kind, at }) => kind === "instruction" && at === target.at)),
    };
  }

  resized() {
    this.table.draw();
  }

  draw() {
    this.table.draw();
  }
}

/**
 * @typedef {{title: string, follow: () => void}} CodeLink
 * @typedef {{share: number, self: string, total: string, title: string, lanes: string, isFaint: boolean}} CodeCells
 */

/** Rows of one height: those that are seen are there. */
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
    place.addEventListener("scroll", () => this.draw());
    /** @type {CodeRow[]} */
    this.rows = [];
    /** @type {(row: CodeRow) => CodeCells} */
    this.cells = () => ({ share: 0, self: "", total: "", title: "", lanes: "", isFaint: false });
    this.hasTotals = false;
    this.current = -1;
  }

  /**
   * @param {CodeRow[]} rows
   * @param {(row: CodeRow) => CodeCells} cells
   * @param {boolean} isOther whether the rows are others than before
   */
  show(rows, cells, isOther) {
    this.rows = rows;
    this.cells = cells;
    this.hasTotals = rows.some(({ kind }) => kind === "file");
    if (isOther) {
      this.current = -1;
      this.place.scrollTop = 0;
    }
    this.space.style.height = `${(rows.length + 1) * CODE_ROW}px`;
    this.body.setAttribute("aria-rowcount", String(rows.length + 1));
    this.draw();
  }

  /**
   * Shows a row in the middle.
   * @param {number} at
   */
  moveTo(at) {
    this.current = at;
    this.place.scrollTop = Math.max(0, at * CODE_ROW - this.place.clientHeight / 2);
    this.draw();
  }

  draw() {
    if (this.place.offsetParent === null) return;
    const isPrinted = matchMedia("print").matches;
    const first = isPrinted ? 0 : Math.max(0, Math.floor(this.place.scrollTop / CODE_ROW) - CODE_MARGIN);
    const n = isPrinted ? this.rows.length : Math.ceil(this.place.clientHeight / CODE_ROW) + 2 * CODE_MARGIN;
    const rows = this.rows.slice(first, first + n).map((row, at) => this.line(row, first + at));
    this.body.style.top = `${first * CODE_ROW}px`;
    this.body.replaceChildren(this.heading(), ...rows);
  }

  heading() {
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
