// The views. The script of each registers it here: its tab, its section and its key come from that.

/**
 * What the page asks of a view. `show` shows the counts of the selection; `draw` draws it again in another size or
 * colours; `resized` draws it again if it has another size than it was drawn in; `search` marks what is now searched for; `back` undoes a step of its own, if there is one; `chosen` says what
 * else changes when its tab is chosen; `outer` is the view that Escape leads to.
 * @typedef {{show: () => void, draw?: () => void, resized?: () => void, search?: () => void, back?: () => boolean,
 *   chosen?: () => Partial<State>, outer?: string}} View
 * @typedef {{name: string, key: string, title: string, ofTime: boolean, ofOne?: boolean, isThere?: (profile: Profile) => boolean,
 *   make: (app: App, section: HTMLElement) => View}} ViewEntry
 */

/**
 * In the order of their keys, which is that of their tabs; the first is shown first.
 * @type {ViewEntry[]}
 */
const VIEWS = [];

/** @param {ViewEntry} entry */
function addView(entry) {
  VIEWS.push(entry);
  VIEWS.sort((a, b) => compared(a.key, b.key));
}

/**
 * The views that a profile has: some are of times, some of one recording alone, some of what not every page has.
 * @param {Profile} profile
 */
function viewsOf(profile) {
  return VIEWS.filter(({ ofTime, ofOne, isThere }) =>
    (profile.head.has_times || !ofTime) && (profile.sides === null || !ofOne) && (isThere?.(profile) ?? true));
}

/** What nobody waits for is done after so many milliseconds at the latest. */
const LATEST_MS = 100;

/**
 * Calls back when the next frame is shown and nothing that the user does waits: for what nobody waits for.
 * @param {() => void} what
 */
function afterFrame(what) {
  requestAnimationFrame(() => {
    if (globalThis.requestIdleCallback === undefined) setTimeout(what, 0);
    else requestIdleCallback(() => what(), { timeout: LATEST_MS });
  });
}

/**
 * Asks for a frame before the work that it is to show: browsers that are asked afterwards wait for the screen's next turn
 * then, up to 16 ms.
 */
function askForFrame() {
  requestAnimationFrame(() => {});
}

/**
 * Pictures that are drawn with the next frame.
 * @type {Set<{draw: () => void}>}
 */
const TO_DRAW = new Set();

/** @param {{draw: () => void}} picture */
function drawSoon(picture) {
  if (TO_DRAW.size === 0) requestAnimationFrame(drawAsked);
  TO_DRAW.add(picture);
}

function drawAsked() {
  const pictures = [...TO_DRAW];
  TO_DRAW.clear();
  for (const picture of pictures) picture.draw();
}

/** Lays the page out and draws it, once all is known: until the screen's next turn, the browser would only wait. */
function prepareFrame() {
  void document.body.offsetHeight;
  drawAsked();
}

/** No row of a table has fewer pixels. */
const LEAST_ROW = 20;

/**
 * How many rows of a table are above the end of what is seen, at most.
 * @param {App} app
 * @param {number} top pixels that it is scrolled
 */
function rowsSeen(app, top) {
  return Math.ceil((top + app.room) / LEAST_ROW);
}

/** The views of a page, with their tabs and sections. */
class Views {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    /** @type {{entry: ViewEntry, tab: HTMLElement, section: HTMLElement, view: View}[]} */
    this.list = VIEWS.map((entry) => {
      const tab = this.tab(entry);
      const section = made("section");
      section.id = entry.name;
      section.setAttribute("role", "tabpanel");
      section.setAttribute("aria-labelledby", tab.id);
      element("main", HTMLElement).append(section);
      return { entry, tab, section, view: entry.make(app, section) };
    });
    /**
     * By name.
     * @type {{[name: string]: View}}
     */
    this.all = Object.fromEntries(this.list.map(({ entry, view }) => [entry.name, view]));
    // Phones have room for a view's options when these are asked for.
    const fold = element("fold", HTMLButtonElement);
    fold.addEventListener("click", () => {
      fold.setAttribute("aria-expanded", String(document.body.classList.toggle("unfolded")));
    });
    this.isNarrow = matchMedia("(max-width: 720px)");
    element("tabs", HTMLElement).addEventListener("keydown", (event) => {
      const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
      if (step === 0) return;
      event.preventDefault();
      this.besides(step);
    });
  }

  /** @param {ViewEntry} entry */
  tab(entry) {
    const { name, title } = entry;
    const tab = made("button", title);
    tab.type = "button";
    tab.id = `${name}-tab`;
    tab.dataset.view = name;
    tab.dataset.title = title;
    tab.setAttribute("role", "tab");
    tab.setAttribute("aria-controls", name);
    tab.hidden = !viewsOf(this.app.profile).includes(entry);
    tab.addEventListener("click", () => this.app.view(name));
    element("found", HTMLElement).before(tab);
    return tab;
  }

  /**
   * Shows the view whose tab is the next one, or the one before.
   * @param {number} step
   */
  besides(step) {
    const tabs = this.list.filter(({ tab }) => !tab.hidden);
    const at = tabs.findIndex(({ entry }) => entry.name === this.app.state.view);
    const { entry, tab } = tabs[(at + step + tabs.length) % tabs.length];
    this.app.view(entry.name);
    tab.focus();
  }

  get shown() {
    return this.all[this.app.state.view];
  }

  show() {
    for (const { entry, tab, section } of this.list) {
      const isShown = entry.name === this.app.state.view;
      tab.setAttribute("aria-selected", String(isShown));
      tab.tabIndex = isShown ? 0 : -1;
      section.hidden = !isShown;
      // Tabs are a row that scrolls there.
      if (isShown && this.isNarrow.matches) tab.scrollIntoView({ block: "nearest", inline: "center" });
    }
    this.shown.show();
  }

  draw() {
    for (const { view } of this.list) view.draw?.();
  }
}

/**
 * A choice among values, with a label before it.
 * @param {string} id
 * @param {string} text
 * @param {[value: string, text: string][]} options
 * @param {(value: string) => void} choose
 */
function choice(id, text, options, choose) {
  const select = made("select");
  select.id = id;
  for (const [value, said] of options) {
    const option = made("option", said);
    option.value = value;
    select.append(option);
  }
  select.addEventListener("change", () => choose(select.value));
  const label = made("label", `${text} `);
  label.append(select);
  return { label, select };
}

/**
 * Lets a choice have these values only.
 * @param {HTMLSelectElement} select
 * @param {(value: string) => boolean} has
 */
function allow(select, has) {
  for (const option of select.options) option.hidden = option.disabled = !has(option.value);
}

/**
 * Adds an element to a section.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {HTMLElement} section
 * @param {K} tag
 * @param {string} id
 * @param {string} [className]
 */
function placed(section, tag, id, className) {
  const one = made(tag, undefined, className);
  one.id = id;
  section.append(one);
  return one;
}

/** Rows of such a table that are there at once, and how many more each time. */
const ROWS_AT_A_TIME = 200;

/**
 * Rows of a table, some at a time: a button adds more.
 * @template T
 * @param {HTMLTableElement} table
 * @param {(row: T) => HTMLTableRowElement} line
 * @param {[string, string]} nouns of more rows, one and several
 */
function rowsInSteps(table, line, nouns) {
  const body = made("tbody");
  table.append(body);
  const more = made("button", "", "more");
  more.type = "button";
  /** @type {T[]} */
  let left = [];
  const append = () => {
    body.append(...left.slice(0, ROWS_AT_A_TIME).map((row) => line(row)));
    left = left.slice(ROWS_AT_A_TIME);
    more.hidden = left.length === 0;
    more.textContent = `Show more (${counted(left.length, ...nouns)})`;
  };
  more.addEventListener("click", append);
  /** @param {T[]} rows */
  const show = (rows) => {
    body.replaceChildren();
    left = rows;
    append();
  };
  return { more, show };
}
