// Legends: what colours of boxes and cells stand for.

/** Modules that a legend names; colours of others are in the tips of their boxes. */
const LEGEND_MODULES = 6;

/**
 * Swatches, each with its text. Some stand for what can be kept, by a click, or dropped, by one with Alt.
 * @param {HTMLElement} place
 * @param {[colour: string, text: string, of?: Omit<Transform, "kind">][]} entries
 * @param {App} [app]
 */
function showLegend(place, entries, app) {
  keepFocus(() => place.replaceChildren(...entries.flatMap(([colour, text, of]) => {
    const swatch = made("i");
    swatch.style.background = colour;
    if (of === undefined || app === undefined) return [swatch, ` ${text}`];
    const button = made("button", undefined, "entry");
    button.type = "button";
    button.title = "Click: keep stacks with it; Alt-click: drop them; right-click: more";
    button.addEventListener("click", ({ altKey }) => app.addTransform({ kind: altKey ? "drop" : "keep", ...of }));
    button.addEventListener("contextmenu", (event) => {
      event.preventDefault();
      app.menu.open(placeOf(event), transformItems(app, of.grouping, of.key));
    });
    button.append(swatch, ` ${text}`);
    return [button];
  })));
}

/** Colours of modules, with what stacks count that have them, the heaviest first; or of kinds of code. */
class ModuleLegend {
  /**
   * @param {App} app
   * @param {HTMLElement} place
   */
  constructor(app, place) {
    this.app = app;
    this.element = made("span", undefined, "legend modules");
    place.append(this.element);
    /** @type {{counts: Counts, images: Map<number, {weight: number, frame: number, isSeveral: boolean}>} | null} */
    this.known = null;
  }

  show() {
    const { profile, counts, comparison, theme, whole, state } = this.app;
    this.element.hidden = comparison !== null;
    if (this.element.hidden) return;
    if (theme.by === "kind") return this.showKinds();
    if (this.known?.counts !== counts) this.known = { counts, images: totalsOfImages(profile, counts.totals(profile).weights) };
    const entries = [...this.known.images].sort(([, one], [, other]) => other.weight - one.weight).slice(0, LEGEND_MODULES);
    showLegend(this.element, entries.map(([image, { weight, frame, isSeveral }]) => {
      const name = isSeveral ? "kernel and modules" : middleCut(profile.imageOfFrame(frame), 30);
      return [theme.fill(frame), `${name} ${shareWithTime(profile.head.events[state.event], weight, whole)}`,
        isSeveral ? undefined : { grouping: "image", key: image < 0 ? profile.images[frame] : image }];
    }), this.app);
    if (entries.length > 0) this.element.prepend("Total:");
  }

  /** Kinds of code with what they count themselves. */
  showKinds() {
    const { profile, counts, theme, whole } = this.app;
    const { parents, labels, flags } = profile;
    /** @type {{[kind in Kind | "nameless"]: number}} */
    const sums = { user: 0, inlined: 0, jit: 0, kernel: 0, nameless: 0 };
    counts.weights.forEach((weight, node) => {
      const code = weight === 0 ? -1 : profile.codeOf(node);
      if (code < 0 || parents[code] < 0) return;
      const frame = labels[code];
      sums[(flags[frame] & FLAGS.nameless) !== 0 ? "nameless" : kindOf(flags[frame])] += weight;
    });
    const { kinds, unknown } = theme.colours;
    /** @type {[string, string][]} */
    const entries = KINDS.map(([kind, name]) => [`hsl(${hslText(kinds[kind])})`, `${name} ${percent(sums[kind], whole)}`]);
    if (sums.nameless > 0) entries.push([unknown, `without a name ${percent(sums.nameless, whole)}`]);
    showLegend(this.element, entries);
    this.element.prepend("Self:");
  }
}
