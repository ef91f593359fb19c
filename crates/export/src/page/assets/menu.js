// The context menu: what can be done with a function, a module or threads. It opens where the pointer is, or with the
// keyboard.

/** @typedef {{text: string, act: () => void, title?: string, key?: string, isFirst?: boolean}} MenuItem The first of a group, its letter. */

class Menu {
  constructor() {
    this.place = element("menu", HTMLElement);
    /**
     * What had the focus before.
     * @type {Element | null}
     */
    this.before = null;
    this.place.addEventListener("keydown", (event) => this.key(event));
    this.place.addEventListener("focusout", (event) => {
      if (!(event.relatedTarget instanceof Node && this.place.contains(event.relatedTarget))) this.place.hidden = true;
    });
    addEventListener("pointerdown", (event) => {
      if (!(event.target instanceof Node && this.place.contains(event.target))) this.place.hidden = true;
    });
  }

  /**
   * @param {{x: number, y: number}} at
   * @param {MenuItem[]} items
   * @param {string} [title]
   */
  open({ x, y }, items, title = "Transforms") {
    if (items.length === 0) return;
    this.place.setAttribute("aria-label", title);
    this.before = document.activeElement;
    this.place.replaceChildren(...items.flatMap(({ text, act, title: says = "", key = "", isFirst = false }) => {
      const item = made("button", text);
      item.type = "button";
      item.title = says;
      item.dataset.key = key;
      if (key !== "") item.setAttribute("aria-keyshortcuts", key);
      item.setAttribute("role", "menuitem");
      item.tabIndex = -1;
      item.addEventListener("click", () => {
        this.close();
        act();
      });
      return isFirst ? [made("hr"), item] : [item];
    }));
    this.place.hidden = false;
    const { width, height } = this.place.getBoundingClientRect();
    this.place.style.left = `${Math.max(4, Math.min(x, document.documentElement.clientWidth - width - 4))}px`;
    this.place.style.top = `${Math.max(4, Math.min(y, innerHeight - height - 4))}px`;
    this.focus(0);
  }

  close() {
    this.place.hidden = true;
    if (this.before instanceof HTMLElement && this.before.isConnected) this.before.focus();
  }

  /** @param {number} at */
  focus(at) {
    const items = [...this.place.querySelectorAll("button")];
    items[(at + items.length) % items.length].focus();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const items = [...this.place.querySelectorAll("button")];
    const at = items.findIndex((item) => item === document.activeElement);
    const typed = event.ctrlKey || event.altKey || event.metaKey ? undefined : items.find((item) => item.dataset.key === event.key);
    if (event.key === "ArrowDown") this.focus(at + 1);
    else if (event.key === "ArrowUp") this.focus(at - 1);
    else if (event.key === "Home") this.focus(0);
    else if (event.key === "End") this.focus(items.length - 1);
    else if (event.key === "Escape" || event.key === "Tab") this.close();
    else if (typed !== undefined) typed.click();
    // The page's own keys rest meanwhile; those of the browser do what they always do.
    else return event.stopPropagation();
    event.stopPropagation();
    event.preventDefault();
  }
}

/**
 * The transforms that can be of something.
 * @param {App} app
 * @param {TransformedGrouping} grouping
 * @param {number} key
 * @param {{path?: number[], text?: string}} [more] a node, or a pattern
 * @returns {MenuItem[]}
 */
function transformItems(app, grouping, key, more = {}) {
  return transformsOf(app.profile, grouping).map((kind) => {
    const transform = { kind, grouping, key, ...more };
    const name = middleCut(nameOfTransformed(app.profile, transform), 60);
    if (isRowGrouping(grouping)) {
      const said = `${grouping === "process" || grouping === "task" ? `${ROW_GROUPINGS[grouping].one} ` : ""}${name}`;
      return { text: `${kind === "keep" ? "Keep" : "Drop"} ${said}`, key: kind[0], act: () => app.addTransform(transform) };
    }
    // What a node or a pattern is, is said where the menu opens.
    const of = grouping === "image" ? `shared object ${name}` : more.path === undefined && more.text === undefined ? name : "";
    const { menu, title, key: letter } = wordsOfKind(transform);
    // Of shared objects with Shift: they are in the menu of their functions.
    const typed = grouping === "image" ? letter.toUpperCase() : letter;
    return { text: withName(menu, of), title, key: typed, act: () => app.addTransform(transform) };
  });
}

/**
 * Items with a line above the first.
 * @param {MenuItem[]} items
 */
function group(items) {
  return items.map((item, at) => ({ ...item, isFirst: at === 0 }));
}

/**
 * What can be done with a box or a row: a frame, or for -1, -2.. threads of a name.
 * @param {App} app
 * @param {number} label
 * @param {number[]} [path] of a node of the flame graph
 * @returns {MenuItem[]}
 */
function itemsOf(app, label, path) {
  const { profile } = app;
  if (label < 0) {
    const { grouping, key } = rowOfLabel(app.profile, label);
    return transformItems(app, grouping, key);
  }
  if ((profile.flags[label] & FLAGS.wait) !== 0) return transformItems(app, "wait", profile.functionOf[label]);
  const isHidden = app.state.transforms.some(({ kind }) => kind === "types");
  const image = profile.images[label];
  const node = path === undefined ? null : placeOfPath(profile, path);
  return [
    { text: "Callers and callees", key: "s", title: "Who calls it, and what it calls, whatever the path", act: () => app.open(label) },
    ...(app.hasCode ? [{ text: "Show code", key: "a", title: "Its instructions and source lines", act: () => app.showCode(label) }] : []),
    ...group(transformItems(app, "function", profile.functionOf[label])),
    ...group(node === null ? [] : transformItems(app, node.grouping, node.key, node)),
    ...group(profile.text(image) === "" ? [] : transformItems(app, "image", image)),
    ...group(isHidden ? [] : transformItems(app, "all", 0)),
    ...group([{ text: "Copy name", key: "y", act: () => void copyText(profile.nameOf(label)) }]),
  ];
}

/**
 * What can be done with what is searched for.
 * @param {App} app
 */
function itemsOfSearch(app) {
  const text = app.state.search;
  const items = transformItems(app, "pattern", 0, { text });
  return items.map((item) => ({ ...item, act: () => {
    const { transforms } = app.state;
    item.act();
    if (app.state.transforms !== transforms) app.set({ search: "", asked: undefined });
  } }));
}

/**
 * Where a menu opens: at the pointer, or, if it was asked for by a key, at what has the focus.
 * @param {MouseEvent} event
 */
function placeOf(event) {
  if (event.clientX > 0 || event.clientY > 0 || !(event.target instanceof Element)) return { x: event.clientX, y: event.clientY };
  const { left, bottom } = event.target.getBoundingClientRect();
  return { x: left, y: bottom };
}
