// The call tree: rows that open, with what each stack counts.

addView({
  name: "tree",
  key: "6",
  title: "Call tree",
  ofTime: false,
  make: (app, section) => new CallTree(app, section),
});

/**
 * @typedef {"total" | "self" | "samples" | "name"} TreeSort
 * @typedef {{by: TreeSort, title: string, isNumber: boolean}} TreeColumn
 */

/** @type {TreeColumn[]} */
const TREE_COLUMNS = [
  { by: "total", title: "Total", isNumber: true },
  { by: "self", title: "Self", isNumber: true },
  { by: "samples", title: "Samples", isNumber: true },
  { by: "name", title: "Function", isNumber: false },
];

/** Rows that are there at once, and how many more each time. */
const TREE_ROWS = 100;

/** Rows that `*` opens at most. */
const MOST_OPENED = 2000;

/** Matches of a search whose paths are opened, the heaviest first. */
const MOST_FOUND = 20;

/** At first, rows are open as long as one of them has more than this of the one that calls it. */
const MAIN_SHARE = 0.5;

class CallTree {
  /**
   * @param {App} app
   * @param {HTMLElement} section
   */
  constructor(app, section) {
    this.app = app;
    this.outer = "flame";
    const label = made("label");
    this.inverted = placed(label, "input", "tree-inverted");
    this.inverted.type = "checkbox";
    this.inverted.addEventListener("change", () => app.set({ inverted: this.inverted.checked, zoom: [], span: null }));
    label.append(" inverted");
    const roots = rootsChoice(app, "tree-roots");
    this.roots = roots.select;
    this.help = made("span");
    const bar = made("div", undefined, "bar");
    bar.append(roots.label, label, this.help);
    section.append(bar);
    const place = placed(section, "div", "tree-place", "table-place");
    this.table = made("table");
    this.table.setAttribute("role", "treegrid");
    this.table.setAttribute("aria-label", "Call tree");
    this.head = made("thead");
    this.body = made("tbody");
    this.more = made("button", "", "more");
    this.more.type = "button";
    this.more.addEventListener("click", () => {
      this.limit += TREE_ROWS;
      this.draw();
    });
    this.table.append(this.head, this.body);
    place.append(this.table, this.more);
    /** How far it is scrolled: to ask the browser would lay out what is about to be replaced. */
    this.top = 0;
    place.addEventListener("scroll", () => (this.top = place.scrollTop), { passive: true });
    this.body.addEventListener("keydown", (event) => {
      if (!event.ctrlKey && !event.altKey && !event.metaKey && this.key(event.key)) {
        event.preventDefault();
        event.stopPropagation();
      }
    });
    this.limit = TREE_ROWS;
    /**
     * Lines that can be shown again, by box.
     * @type {Map<number, HTMLElement>}
     */
    this.lines = new Map();
    /**
     * Boxes whose lines are shown, or are to be.
     * @type {number[]}
     */
    this.wanted = [];
    this.boxes = new Boxes(0).close();
    /**
     * What the boxes are of.
     * @type {{counts: Counts | null, key: string}}
     */
    this.known = { counts: null, key: "" };
    /**
     * Open boxes.
     * @type {Set<number>}
     */
    this.open = new Set();
    this.focused = -1;
    this.searched = "";
    /** @type {{frames: Uint8Array, comms: Uint8Array} | null} */
    this.matches = null;
  }

  show() {
    const { app } = this;
    const { state, counts, comparison } = app;
    this.inverted.checked = state.inverted;
    this.roots.value = state.roots;
    const key = JSON.stringify([state.inverted, state.frames, comparison?.per, state.widths, state.threads, state.roots]);
    // Pictures that were made later may have taken the place of these boxes.
    const isGone = this.boxes.unfolding?.isReleased === true;
    if (isGone || this.known.counts !== counts || this.known.key !== key) {
      const paths = [...this.open].map((box) => this.boxes.pathOf(box).reverse());
      this.boxes = app.boxes.ofStacks("heavy");
      this.known = { counts, key };
      // What was open stays so, as far as it is still there.
      this.open = new Set(paths.map((path) => this.boxes.find(path)).filter((box) => box >= 0));
      if (this.open.size === 0) this.openMain();
      this.focused = -1;
      this.limit = TREE_ROWS;
      this.searched = "";
    }
    const isGrouped = state.roots === "threads" || this.boxes.isGrouped;
    this.help.textContent = isGrouped ? "Arrow keys move and expand; * expands the subtree." : TOO_MANY_STACKS;
    this.search();
  }

  /** Opens what most goes through. */
  openMain() {
    const { boxes, open } = this;
    let box = -1;
    for (;;) {
      const [first] = boxes.childrenOf(box);
      if (first === undefined) return;
      const whole = box < 0 ? boxes.whole : boxes.widths[box];
      if (boxes.widths[first] < MAIN_SHARE * whole) return;
      open.add(first);
      box = first;
    }
  }

  search() {
    const { profile, state } = this.app;
    this.matches = state.search === "" ? null : labelsWith(profile, state.search);
    if (state.search !== this.searched) this.openFound();
    this.searched = state.search;
    this.lines.clear();
    this.draw();
  }

  /** Opens the way to what is searched for: to the outermost matches, the heaviest first. */
  openFound() {
    const { boxes, open } = this;
    if (this.matches === null) return;
    // By box, whether it or one further out matches.
    const { levels } = boxes;
    const isWithin = new Uint8Array(boxes.n);
    /** @type {number[]} */
    const found = [];
    for (const level of levels) {
      for (const box of level) {
        const parent = boxes.parents[box];
        if (parent >= 0 && isWithin[parent] === 1) isWithin[box] = 1;
        else if (this.isFound(box)) {
          isWithin[box] = 1;
          found.push(box);
        }
      }
    }
    found.sort((a, b) => boxes.widths[b] - boxes.widths[a]);
    for (const box of found.slice(0, MOST_FOUND)) {
      for (let at = boxes.parents[box]; at >= 0; at = boxes.parents[at]) open.add(at);
    }
  }

  /** @param {number} box */
  isFound(box) {
    const label = this.boxes.labels[box];
    if (this.matches === null) return false;
    return (label < 0 ? this.matches.comms[-1 - label] : this.matches.frames[label]) === 1;
  }

  /** The boxes of all rows, from top to bottom. */
  rows() {
    /** @type {number[]} */
    const rows = [];
    /** @type {number[]} */
    const todo = [];
    // There may be a million of them: no list of arguments.
    const add = (/** @type {number} */ parent) => {
      const children = this.childrenOf(parent);
      for (let at = children.length - 1; at >= 0; at--) todo.push(children[at]);
    };
    add(-1);
    for (let box = todo.pop(); box !== undefined; box = todo.pop()) {
      rows.push(box);
      if (this.open.has(box)) add(box);
    }
    return rows;
  }

  /**
   * In the order that was chosen.
   * @param {number} box
   */
  childrenOf(box) {
    const { boxes } = this;
    const children = boxes.childrenOf(box);
    const { treeSort } = this.app.state;
    if (treeSort === "total") return children;
    const { profile } = this.app;
    return children.slice().sort((a, b) => {
      if (treeSort === "self") return boxes.own[b] - boxes.own[a] || boxes.widths[b] - boxes.widths[a];
      if (treeSort === "samples") return boxes.samples[b] - boxes.samples[a];
      return compared(profile.nameOf(boxes.labels[a]), profile.nameOf(boxes.labels[b]));
    });
  }

  draw() {
    if (this.app.state.view !== "tree") return;
    this.drawHead();
    const rows = this.rows();
    const hadFocus = this.body.contains(document.activeElement);
    if (!rows.includes(this.focused)) this.focused = rows[0] ?? -1;
    // What has the focus is there.
    this.limit = Math.max(this.limit, rows.indexOf(this.focused) + 1);
    const wanted = rows.slice(0, this.limit);
    // Those below what is seen come after the frame.
    const first = Math.max(rowsSeen(this.app, this.top), rows.indexOf(this.focused) + 1);
    this.place(wanted.slice(0, first), wanted);
    if (wanted.length > first) afterFrame(() => this.wanted === wanted && this.place(wanted));
    this.wanted = wanted;
    const left = rows.length - this.limit;
    this.more.hidden = left <= 0;
    this.more.textContent = `Show more (${counted(left, "more row", "more rows")})`;
    if (hadFocus) this.lineOf(this.focused)?.focus();
  }

  /**
   * Shows lines of boxes; those that were shown before stay in their places, also those of boxes that follow.
   * @param {number[]} boxes
   * @param {number[]} [wanted]
   */
  place(boxes, wanted = boxes) {
    const { body, lines } = this;
    const placed = boxes.map((box) => {
      const line = lines.get(box) ?? this.line(box);
      lines.set(box, line);
      line.tabIndex = box === this.focused ? 0 : -1;
      return line;
    });
    const all = new Set(wanted.map((box) => lines.get(box)));
    for (const line of [...body.children]) if (!all.has(/** @type {HTMLElement} */ (line))) line.remove();
    let at = body.firstElementChild;
    for (const line of placed) {
      if (line === at) at = at.nextElementSibling;
      else body.insertBefore(line, at);
    }
  }

  drawHead() {
    const line = made("tr");
    for (const { by, title, isNumber } of TREE_COLUMNS) {
      const cell = made("th", undefined, isNumber ? "number" : "");
      cell.scope = "col";
      const isSorted = this.app.state.treeSort === by;
      cell.setAttribute("aria-sort", !isSorted ? "none" : by === "name" ? "ascending" : "descending");
      const button = made("button", `${title}${isSorted ? (by === "name" ? " ▴" : " ▾") : ""}`);
      button.type = "button";
      button.addEventListener("click", () => this.app.set({ treeSort: by }));
      cell.append(button);
      line.append(cell);
    }
    this.head.replaceChildren(line);
  }

  /** @param {number} box */
  line(box) {
    const { app, boxes } = this;
    const { profile, state, comparison, whole } = app;
    const line = made("tr");
    line.dataset.box = String(box);
    line.setAttribute("aria-level", String(boxes.depths[box] + 1));
    const isLeaf = boxes.childrenOf(box).length === 0;
    const isOpen = this.open.has(box);
    if (!isLeaf) line.setAttribute("aria-expanded", String(isOpen));
    const event = profile.head.events[state.event];
    /** @param {number} weight */
    const share = (weight) => shareCell(event, weight, whole);
    const label = boxes.labels[box];
    const name = made("th", undefined, "name tree-name");
    name.scope = "row";
    name.style.setProperty("--depth", String(boxes.depths[box]));
    const twisty = made("span", isLeaf ? "" : isOpen ? "▾" : "▸", "twisty");
    twisty.setAttribute("aria-hidden", "true");
    twisty.addEventListener("click", () => this.toggle(box));
    const text = made("span", undefined, this.isFound(box) ? "found" : "");
    showCut(text, profile.nameOf(label));
    text.title = app.describe(boxes, box);
    name.append(twisty, text);
    const image = label < 0 ? "" : profile.imageOfFrame(label);
    if (image !== "") name.append(made("small", ` ${image}`));
    if (comparison !== null) {
      const cell = made("td", app.sumOf(boxes, box), "number");
      cell.colSpan = 3;
      line.append(cell);
    } else {
      line.append(share(boxes.widths[box]), boxes.hasOwn ? share(boxes.own[box]) : made("td", "", "number"));
      line.append(made("td", wholeNumber(boxes.samples[box]), "number"));
    }
    line.append(name);
    line.addEventListener("click", () => this.choose(box));
    line.addEventListener("dblclick", () => this.toggle(box));
    line.addEventListener("contextmenu", (event) => {
      event.preventDefault();
      this.choose(box);
      app.menu.open(placeOf(event), itemsOf(app, label, boxes.pathFromRoot(box)));
    });
    return line;
  }

  /** @param {number} box */
  lineOf(box) {
    const line = this.body.querySelector(`[data-box="${box}"]`);
    return line instanceof HTMLElement ? line : null;
  }

  /** @param {number} box */
  choose(box) {
    const before = this.lineOf(this.focused);
    if (before !== null) before.tabIndex = -1;
    this.focused = box;
    let line = this.lineOf(box);
    if (line === null) {
      this.draw();
      line = this.lineOf(box);
    }
    if (line !== null) {
      line.tabIndex = 0;
      line.focus();
    }
    this.app.select(this.boxes, box);
  }

  /** @param {number} box */
  toggle(box) {
    if (!this.open.delete(box)) this.open.add(box);
    this.lines.delete(box);
    this.draw();
  }

  /**
   * Whether a key meant something.
   * @param {string} name
   */
  key(name) {
    const { boxes, open, focused: box } = this;
    if (box < 0) return false;
    const rows = this.rows();
    const at = rows.indexOf(box);
    const isOpen = open.has(box);
    const children = this.childrenOf(box);
    if (name === "ArrowDown") this.choose(rows[Math.min(rows.length - 1, at + 1)]);
    else if (name === "ArrowUp") this.choose(rows[Math.max(0, at - 1)]);
    else if (name === "Home") this.choose(rows[0]);
    else if (name === "End") this.choose(rows[rows.length - 1]);
    else if (name === "ArrowRight" && children.length > 0) isOpen ? this.choose(children[0]) : this.toggle(box);
    else if (name === "ArrowLeft" && isOpen) this.toggle(box);
    else if (name === "ArrowLeft" && boxes.parents[box] >= 0) this.choose(boxes.parents[box]);
    else if (name === "*") this.openAll(box);
    else if (name === "Enter") this.app.open(boxes.labels[box]);
    else return name === "ArrowLeft" || name === "ArrowRight";
    return true;
  }

  /**
   * Opens what is below a row, level by level.
   * @param {number} box
   */
  openAll(box) {
    const todo = [box];
    for (let at = 0; at < todo.length && at < MOST_OPENED; at++) {
      this.open.add(todo[at]);
      for (const child of this.boxes.childrenOf(todo[at])) if (todo.length < MOST_OPENED) todo.push(child);
    }
    this.lines.clear();
    this.draw();
  }
}
