// The time line that the strip and the lanes share: where it begins and ends on the screen, its axis, and which part of
// it a sample stands for.

/** Space for an axis. */
const AXIS = 16;
/** Space for names left of it, where there is room, and where there is little. */
const NAMES_WIDE = 208;
const NAMES_NARROW = 104;
/** Screens that are narrower have little. */
const NARROW = 720;

/** Pixels that are near. */
const SNAP = 4;

/**
 * Where time begins on a picture that is so wide.
 * @param {number} width
 */
function timeLeft(width) {
  return width < NARROW ? NAMES_NARROW : NAMES_WIDE;
}

/** Times and the places of a picture where they are. */
class TimeScale {
  /**
   * @param {number} width of the picture
   * @param {[number, number]} times of its left and its right end
   */
  constructor(width, [start, end]) {
    this.left = timeLeft(width);
    this.width = Math.max(1, width - this.left);
    this.start = start;
    this.end = Math.max(start + 1, end);
    this.perNs = this.width / (this.end - start);
  }

  /** @param {number} time */
  x(time) {
    return this.left + (time - this.start) * this.perNs;
  }

  /**
   * The time at a place, within those that are shown.
   * @param {number} x
   */
  time(x) {
    return Math.min(this.end, Math.max(this.start, this.start + (x - this.left) / this.perNs));
  }

  /**
   * Times of both ends of a drag; near an end of what is shown, that is meant.
   * @param {number} from
   * @param {number} to
   * @returns {[number, number]}
   */
  range(from, to) {
    const begin = from - this.left <= SNAP ? this.start : this.time(from);
    const end = this.left + this.width - to <= SNAP ? this.end : this.time(to);
    return [Math.floor(begin), Math.ceil(end)];
  }

  /**
   * Draws ticks with their times.
   * @param {CanvasRenderingContext2D} context
   * @param {Theme} theme
   * @param {number} y
   */
  drawAxis(context, { colours }, y) {
    const right = this.left + this.width;
    context.fillStyle = colours.line;
    context.fillRect(this.left, y, this.width, 1);
    context.fillStyle = colours.faint;
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    context.textAlign = "left";
    const step = niceStep((this.end - this.start) / Math.max(2, this.width / 110));
    for (let time = Math.ceil(this.start / step) * step; time <= this.end; time += step) {
      const x = this.x(time);
      context.fillRect(x, y, 1, 3);
      const text = tickText(time, step);
      if (x + 4 + context.measureText(text).width <= right) context.fillText(text, x + 4, y + AXIS / 2 + 1);
    }
  }
}

/**
 * A time with as many digits as neighbours need to differ.
 * @param {number} time
 * @param {number} step
 */
function tickText(time, step) {
  const [unit, name] = step >= 1e7 || time >= 1e9 ? [1e9, "s"] : step >= 1e4 ? [1e6, "ms"] : step >= 10 ? [1e3, "µs"] : [1, "ns"];
  const digits = Math.max(0, Math.ceil(Math.log10(unit / step) - 1e-9));
  return `${(time / unit).toFixed(Math.min(9, digits))} ${name}`;
}

/**
 * A step of an axis: 1, 2 or 5, and zeros.
 * @param {number} least
 */
function niceStep(least) {
  const unit = 10 ** Math.floor(Math.log10(Math.max(1, least)));
  return [1, 2, 5, 10].map((step) => step * unit).find((step) => step >= least) ?? 10 * unit;
}

/**
 * How long before its time a sample begins to stand for its thread: as long as it counts, or as one at the event's rate
 * takes. An event that just happens stands for its moment.
 * @param {Profile} profile
 * @param {number} event
 * @returns {(weight: number) => number}
 */
function standsFor({ head }, event) {
  const { kind, hz } = head.events[event];
  if (head.slot_ns > 0) return () => 0;
  if (kind.endsWith("-time")) return (weight) => weight;
  const period = kind !== "occurrence" && hz !== undefined ? 1e9 / hz : 0;
  return () => period;
}

/**
 * How long a sample of an event stands for at most.
 * @param {Profile} profile
 * @param {number} event
 */
function longestStand({ head, longest }, event) {
  const { kind, hz, each } = head.events[event];
  if (head.slot_ns > 0) return head.slot_ns;
  if (!kind.endsWith("-time")) return kind !== "occurrence" && hz !== undefined ? 1e9 / hz : 0;
  return each ?? longest;
}
