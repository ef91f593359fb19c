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

/** Hotter functions without code that are named, for each reason. */
const MOST_HOTTER = 3;

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
    this.bar = made("div", undefined, "bar");
    section.append(this.bar);
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
    hottest.addEventListener("click", () => this.table.moveTo(this.hottestRow()));
    this.bar.append(one.label, rows.label, shares.label, hottest);
    this.said = placed(section, "p", "code-said");
    this.hotter = placed(section, "ul", "code-hotter");
    this.sites = placed(section, "div", "code-sites", "bar");
    this.table = new CodeTable(placed(section, "div", "code-place"), (row) => this.open(row), (row) => this.linkOf(row));
    this.notes = placed(section, "ul", "code-notes");
    /** What the rows are of. */
    this.shown = { listing: -1, codeRows: "" };
    /** @type {CodeRow[]} */
    this.rows = [];
    /** @type {JumpLanes | null} */
    this.lanes = null;
    /**
     * What the list of functions says.
     * @type {{counts: CodeCounts | null, whole: number}}
     */
    this.listed = { counts: null, whole: 0 };
    /** Which row counts most. */
    this.hottestRow = () => 0;
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
    const hottest = this.hottest(counts);
    const listing = state.listing ?? found?.listings[0] ?? (found === null ? hottest : -1);
    this.bar.hidden = hottest < 0;
    this.listFunctions(this.code, counts, listing);
    this.rowsOf.value = state.codeRows;
    this.shares.value = state.codeShares;
    const isHottest = hottest < 0 ? found === null : listing === hottest;
    this.showHotter(this.code, counts, isHottest ? counts.functions[hottest]?.weight ?? 0 : Infinity);
    const code = this.code.functions[listing];
    if (code === undefined) return this.showNone(found?.name ?? "", this.code);
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
    this.showNotes(code);
    const inlined = isInlined ? name : null;
    this.hottestRow = () => hottestRow(this.rows, sumsOfRows(code, counts), (at) => inlined === null || code.isOf(at, inlined));
    this.table.show(this.rows, this.cells(code, counts, inlined), isOther ? this.hottestRow() : null);
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

  /**
   * The function that counts most, -1 if none has code.
   * @param {CodeCounts} counts
   */
  hottest(counts) {
    const sums = counts.functions;
    return sums.reduce((most, { weight }, at) => (weight > sums[most].weight ? at : most), sums.length > 0 ? 0 : -1);
  }

  /**
   * All functions with code, the hottest first.
   * @param {PageCode} code
   * @param {CodeCounts} counts
   * @param {number} listing
   */
  listFunctions(code, counts, listing) {
    const { whole } = this.app;
    if (this.listed.counts === counts && this.listed.whole === whole) return void (this.functions.value = String(listing));
    this.listed = { counts, whole };
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
   * Functions without code that count more than the hottest one with code, or all if there is none, and why.
   * @param {PageCode} code
   * @param {CodeCounts} counts
   * @param {number} least
   */
  showHotter(code, counts, least) {
    const { profile, state, whole } = this.app;
    const total = counts.isWhole ? profile.head.events[state.event].weight : whole;
    const all = [...counts.others].filter(([, weight]) => weight > least).sort(([, a], [, b]) => b - a);
    /** @type {Map<string, [number, number][]>} */
    const reasons = new Map();
    for (const [number, weight] of all) {
      const why = code.whyNot(profile, number) ?? "";
      reasons.set(why, [...(reasons.get(why) ?? []), [number, weight]]);
    }
    const lines = [...reasons].map(([why, functions]) => {
      const named = functions.slice(0, MOST_HOTTER).map(([number, weight]) => {
        const name = profile.recorded.head.strings[profile.recorded.names[profile.recorded.frameOfFunction[number]]];
        return `${middleCut(name, 60)} ${percent(weight, total)}`;
      });
      const more = functions.length > MOST_HOTTER ? ` and ${functions.length - MOST_HOTTER} more` : "";
      const hotter = code.functions.length > 0 ? "Hotter: " : "";
      return made("li", `${hotter}${named.join(", ")}${more}: no code${why === "" ? " in the page" : `, because ${why}`}`);
    });
    this.hotter.replaceChildren(...lines);
  }

  /**
   * @param {string} name
   * @param {PageCode} code
   */
  showNone(name, code) {
    const { profile, state } = this.app;
    this.shown = { listing: -1, codeRows: "" };
    this.sites.hidden = true;
    this.rows = [];
    this.hottestRow = () => 0;
    this.table.show([], () => ({ share: 0, self: "", total: "", title: "", lanes: "", isFaint: false }), 0);
    this.notes.replaceChildren();
    const isRecorded = code.isRecorded(profile, state.focus);
    const why = state.focus !== null && isRecorded ? code.whyNot(profile, state.focus) : null;
    const n = code.functions.length;
    if (n === 0 && name === "") return this.said.replaceChildren("The page has no code.");
    const none = `The page has no code of ${middleCut(name, 100)}`;
    // Nor has a terminal.
    if (why !== null) return this.said.replaceChildren(`${none}, because ${why}`);
    this.said.replaceChildren(n === 0 ? `${none}, nor of any other function.` :
      `${none}: it has that of the ${counted(n, "hottest function", "hottest functions")} whose files were found.`);
    // Names in brackets are of no function, and escaped ones are not what the file has.
    if (!isRecorded || /^\[|\\/.test(name)) return;
    const own = name.replace(/ \(inlined\)$/, "");
    if (own !== name) this.said.append(" Inlined code is a part of its callers.");
    const command = `rprof annotate -i ${quoted(recordingOf(profile))} ${quoted(own)}`;
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
    const sumOf = sumsOfRows(code, counts);
    const { totals, whole: wholeTotal } = this.lanes === null ? totalsOfLines(app.profile, app.counts, code) : { totals: new Map(), whole: 0 };
    // With callees, a function counts more than of its own.
    const totalOf = app.state.codeShares === "all" ? whole : wholeTotal;
    return (row) => {
      const sum = sumOf(row);
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

  draw() {
    this.table.draw();
  }
}
