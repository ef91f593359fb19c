// Time ranges that are typed: `1.5 s - 2 s`, `250-300 ms`, `30%-35%`, several with `+` between them; an end that is left
// out is that of the recording.

/** Nanoseconds of each unit. */
const UNITS = /** @type {{[unit: string]: number}} */ ({ ns: 1, us: 1e3, "µs": 1e3, ms: 1e6, s: 1e9, min: 6e10, h: 3.6e12 });

/**
 * The range that a text says, within a recording; `null` if it says none.
 * @param {string} text
 * @param {number} span
 * @returns {[number, number] | null}
 */
function rangeOfText(text, span) {
  const time = "(?:(\\d+(?:\\.\\d*)?|\\.\\d+)\\s*(ns|us|µs|ms|s|min|h|%)?)?";
  const found = new RegExp(`^\\s*${time}\\s*(?:-|–|,|to|\\.\\.)\\s*${time}\\s*$`).exec(text);
  if (found === null) return null;
  const [, first, ownUnit, second, lastUnit] = found;
  if (first === undefined && second === undefined) return null;
  /**
   * @param {string | undefined} number
   * @param {string} unit
   * @param {number} otherwise
   */
  const ns = (number, unit, otherwise) => {
    if (number === undefined) return otherwise;
    return unit === "%" ? (Number(number) * span) / 100 : Number(number) * UNITS[unit];
  };
  const unit = lastUnit ?? ownUnit ?? "s";
  const [from, to] = [ns(first, ownUnit ?? unit, 0), ns(second, lastUnit ?? unit, span)].map((at) => Math.min(span, Math.round(at)));
  return from < to ? [from, to] : null;
}

/** The button beside the total that becomes a field. */
class TypedRange {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.button = made("button", "Type a time range", "small");
    this.button.type = "button";
    this.button.id = "type-range";
    this.button.addEventListener("click", () => this.edit(true));
    this.field = made("input");
    this.field.id = "typed-range";
    this.field.placeholder = "1.5 s - 2 s, 30%-35%";
    this.field.title = "Several with + between them: 1 s - 2 s + 30%-35%";
    this.field.setAttribute("aria-label", "Time range");
    this.isEdited = false;
    this.field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== "Escape") return;
      event.stopPropagation();
      event.preventDefault();
      if (event.key === "Escape") this.edit(false);
      else this.apply();
    });
    // A click that takes the focus away is still to reach what it is on: nothing moves before it has.
    let isPressed = false;
    addEventListener("pointerdown", () => (isPressed = true), true);
    for (const end of ["pointerup", "pointercancel"]) addEventListener(end, () => (isPressed = false), true);
    this.field.addEventListener("blur", () => {
      const leave = () => setTimeout(() => this.leave(), 0);
      if (isPressed) addEventListener("pointerup", leave, { once: true });
      else leave();
    });
  }

  /** The field is a button again, unless something was typed. */
  leave() {
    const { field } = this;
    if (!this.isEdited || !field.isConnected || document.activeElement === field || field.value !== this.said()) return;
    this.isEdited = false;
    this.app.showChips();
    this.app.ranges.show();
  }

  /** @returns {HTMLElement[]} */
  shown() {
    const { profile } = this.app;
    if (!profile.head.has_times || profile.sides !== null) return [];
    return [this.isEdited ? this.field : this.button];
  }

  /** The ranges that are shown, in all digits. */
  said() {
    const ranges = partsOf(this.app.state).flatMap((range) => (range === null ? [] : [range]));
    return ranges.map((range) => range.map((at) => `${Number((at / 1e9).toFixed(9))} s`).join(" - ")).join(" + ");
  }

  /** @param {boolean} isEdited */
  edit(isEdited) {
    if (this.isEdited === isEdited) return;
    this.isEdited = isEdited;
    this.field.value = this.said();
    this.field.setCustomValidity("");
    this.app.showChips();
    this.app.ranges.show();
    if (!isEdited) return void this.button.focus();
    this.field.focus();
    this.field.select();
  }

  apply() {
    const { app, field } = this;
    const span = Math.max(1, app.profile.head.span_ns);
    const ranges = field.value.trim() === "" ? [] : field.value.split("+").map((text) => rangeOfText(text, span));
    const known = ranges.flatMap((range) => (range === null ? [] : [range]));
    const isTooMany = known.length > MOST_RANGES || (known.length > 1 && app.state.against !== null);
    if (known.length < ranges.length || isTooMany) {
      field.setCustomValidity(known.length < ranges.length
        ? `No time range within ${duration(span)}: type one as 1.5 s - 2 s, 250-300 ms or 30%-35%`
        : app.state.against === null ? `No more than ${MOST_RANGES} ranges` : "Two ranges are compared: end the comparison to show further ones");
      return void field.reportValidity();
    }
    this.isEdited = false;
    app.set(known.length > 1 ? { ...joinedRanges(known), zoom: [], span: null } : app.ranges.showing(known[0] ?? null));
    this.button.focus();
  }
}
