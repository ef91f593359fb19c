// Other events over time, each a strip below that of the event which is shown.

/** Strips at most, those with most samples. */
const MOST_COUNTERS = 5;

class Counters {
  /** @param {Profile} profile */
  constructor(profile) {
    this.profile = profile;
    /** @type {{event: number, slots: TimeSlots, most: number}[]} */
    this.list = [];
  }

  /**
   * Counts the events that are not shown.
   * @param {SampleSelection} selection
   * @param {number} span
   */
  count(selection, span) {
    const { profile } = this;
    const { events } = profile.head;
    const others = [...events.keys()].filter((event) => event !== selection.event && events[event].samples > 0);
    others.sort((a, b) => events[b].samples - events[a].samples || a - b);
    const list = others.slice(0, MOST_COUNTERS).sort((a, b) => a - b).map((event) => {
      const slots = slotsOfEvent(profile, selection, event, span);
      return { event, slots, most: slots.all.reduce((a, b) => Math.max(a, b), 0) };
    });
    this.list = list.filter(({ most }) => most > 0);
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {Theme} theme
   * @param {TimeScale} scale
   * @param {number} top
   */
  draw(context, { colours }, scale, top) {
    this.list.forEach(({ event, slots, most }, at) => {
      const y = top + at * COUNTER;
      const { name } = this.profile.head.events[event];
      context.fillStyle = colours.line;
      context.fillRect(0, y, scale.left + scale.width, 1);
      context.font = "11px system-ui, sans-serif";
      context.textBaseline = "middle";
      const rate = rateOf(this.profile, event, most, slots);
      const roomBeside = (/** @type {string} */ text) => scale.left - 28 - context.measureText(text).width;
      // The name before words.
      const said = context.measureText(name).width <= roomBeside(`up to ${rate}`) ? `up to ${rate}` : rate;
      const room = roomBeside(said);
      context.textAlign = "left";
      context.fillStyle = colours.ink;
      context.fillText(shortened(context, name, room), 16, y + COUNTER / 2 + 1);
      context.textAlign = "right";
      context.fillStyle = colours.faint;
      context.fillText(said, scale.left - 8, y + COUNTER / 2 + 1);
      context.textAlign = "left";
      context.fillStyle = colours.accent;
      const width = scale.width / slots.n;
      slots.all.forEach((sum, slot) => {
        if (sum === 0) return;
        const height = Math.max(1, (sum / most) * (COUNTER - 4));
        context.fillRect(scale.left + slot * width, y + COUNTER - height, Math.max(1, width), height);
      });
    });
  }

  /**
   * What each counts at a part of the time.
   * @param {number} share
   */
  saidAt(share) {
    return this.list.map(({ event, slots }) => {
      const sum = slots.all[Math.min(slots.n - 1, Math.floor(share * slots.n))];
      return `${this.profile.head.events[event].name} ${rateOf(this.profile, event, sum, slots)}`;
    });
  }
}

/**
 * What a slot counts, for each second: of times, how many threads ran or waited at once.
 * @param {Profile} profile
 * @param {number} event
 * @param {number} sum
 * @param {TimeSlots} slots
 */
function rateOf({ head }, event, sum, slots) {
  const { kind } = head.events[event];
  const rate = sum / ((slots.end - slots.start) / Math.max(1, slots.n) / 1e9);
  if (!kind.endsWith("-time")) return `${short(rate)}/s`;
  // A sample stands for about as long as it counts: a slot may get one more of a thread than it has room for.
  return `${Math.min(rate / 1e9, slots.mostAtOnce).toFixed(1)} ${kind === "cpu-time" ? "CPUs" : "threads"}`;
}

/**
 * A number with three digits or so: 950, 12.3 k, 4.56 M.
 * @param {number} value
 */
function short(value) {
  const [unit, name] = value >= 1e9 ? [1e9, " G"] : value >= 1e6 ? [1e6, " M"] : value >= 1e4 ? [1e3, " k"] : [1, ""];
  const size = value / unit;
  return `${unit === 1 && Number.isInteger(size) ? size : size.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : 2)}${name}`;
}
