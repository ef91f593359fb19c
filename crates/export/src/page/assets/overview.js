// The strip of time above all views: how busy it was, where samples are missing, and which range is shown.

/** Space for labels. */
const AXIS = 16;
/** Parts of time that are told apart. */
const SLOTS = 600;

class Overview {
  /**
   * @param {HTMLElement} place
   * @param {Theme} theme
   * @param {(range: [number, number] | null) => void} choose
   */
  constructor(place, theme, choose) {
    this.place = place;
    this.theme = theme;
    this.profile = theme.profile;
    this.choose = choose;
    this.canvas = made("canvas");
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "img");
    place.append(this.canvas);
    /** @type {[number, number] | null} */
    this.range = null;
    this.slots = new TimeSlots(this.profile, 0, [0, 1]);
    /** What the slots are of. */
    this.key = "";
    this.span = Math.max(1, this.profile.head.span_ns);
    this.brush();
  }

  /**
   * Sums by slot of time.
   * @param {SampleSelection} selection
   */
  show(selection) {
    const { profile, span } = this;
    this.range = selection.range;
    if (!profile.head.has_times) return;
    // It shows all times, whatever the range.
    const { event, thread, keep, transforms, threads } = selection;
    const key = JSON.stringify([event, thread, keep, transforms, threads]);
    if (key !== this.key) {
      this.key = key;
      const slots = new TimeSlots(profile, SLOTS, [0, span]);
      const kept = keptNodes(profile, selection);
      forRows(profile, { event, thread, range: null }, (node, weight, _samples, time, _thread, row) => {
        if (node < -1 || (kept !== null && (node < 0 || kept[node] === 0))) return;
        slots.add(node, weight, time, row);
      });
      this.slots = slots;
    }
    this.draw();
  }

  draw() {
    const { clientWidth: width, clientHeight: height } = this.place;
    if (width === 0) return;
    const context = sized(this.canvas, width, height);
    const colours = this.theme.colours;
    const base = height - AXIS;
    const { all, n } = this.slots;
    const most = all.reduce((a, b) => Math.max(a, b), 0) || 1;
    context.fillStyle = colours.area;
    context.beginPath();
    context.moveTo(0, base);
    all.forEach((slot, at) => {
      const y = base - (slot / most) * (base - 10);
      context.lineTo((at / n) * width, y);
      context.lineTo(((at + 1) / n) * width, y);
    });
    context.lineTo(width, base);
    context.fill();
    if (this.slots.waits.size > 0) this.drawWaits(context, width, base, most);
    this.drawAxis(context, width, base);
    this.drawGaps(context, width, base);
    this.drawRange(context, width, base);
    this.canvas.setAttribute("aria-label", this.label());
  }

  /**
   * What threads wait for, on what runs.
   * @param {CanvasRenderingContext2D} context
   * @param {number} width
   * @param {number} base
   * @param {number} most
   */
  drawWaits(context, width, base, most) {
    const { n } = this.slots;
    for (let slot = 0; slot < n; slot++) {
      // Whole pixels, so that there is nothing between two slots.
      const [from, to] = [Math.round((slot / n) * width), Math.round(((slot + 1) / n) * width)];
      drawParts(context, this.theme, this.slots, slot, { x: from, width: to - from, base, height: base - 10, most });
    }
  }

  label() {
    const range = this.range === null ? "everything" : `${duration(this.range[0])} to ${duration(this.range[1])}`;
    return `Samples over ${duration(this.span)}; shown: ${range}. Arrow keys move the range; with Shift, its end.`;
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {number} width
   * @param {number} base
   */
  drawAxis(context, width, base) {
    const colours = this.theme.colours;
    context.strokeStyle = colours.line;
    context.beginPath();
    context.moveTo(0, base + 0.5);
    context.lineTo(width, base + 0.5);
    context.stroke();
    context.fillStyle = colours.faint;
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    const step = niceStep(this.span / Math.max(2, width / 110));
    for (let time = 0; time <= this.span; time += step) {
      const x = (time / this.span) * width;
      context.fillRect(x, base, 1, 3);
      if (x < width - 50) context.fillText(duration(time), x + 4, base + AXIS / 2 + 1);
    }
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {number} width
   * @param {number} base
   */
  drawGaps(context, width, base) {
    const head = this.profile.head;
    context.fillStyle = this.theme.colours.throttle;
    for (const [since] of head.throttles) {
      context.fillRect((since / this.span) * width, base - 3, Math.max(2, (1e9 / this.span) * width), 3);
    }
    context.fillStyle = this.theme.colours.loss;
    for (const { time } of this.profile.losses) context.fillRect((time / this.span) * width - 1, 0, 2, base);
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {number} width
   * @param {number} base
   */
  drawRange(context, width, base) {
    if (this.range === null) return;
    const [from, to] = this.range.map((time) => (time / this.span) * width);
    context.fillStyle = this.theme.colours.brush;
    context.fillRect(from, 0, Math.max(1, to - from), base);
    context.fillStyle = this.theme.colours.accent;
    context.fillRect(from - 1, 0, 2, base);
    context.fillRect(to - 1, 0, 2, base);
  }

  brush() {
    dragOver(this.canvas, (from, to) => {
      this.range = to - from < 3 ? null : this.times(from, to);
      this.draw();
    }, () => this.choose(this.range));
    this.canvas.addEventListener("keydown", (event) => {
      if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
      event.preventDefault();
      const step = ((event.key === "ArrowLeft" ? -1 : 1) * this.span) / 50;
      const [from, to] = this.range ?? [0, this.span / 10];
      const end = Math.min(this.span, Math.max(from + this.span / 100, to + step));
      this.choose(event.shiftKey ? [from, end] : [Math.max(0, from + step), end]);
    });
  }

  /**
   * @param {number} from
   * @param {number} to
   * @returns {[number, number]}
   */
  times(from, to) {
    const scale = this.span / this.place.clientWidth;
    return [Math.max(0, Math.floor(from * scale)), Math.min(this.span, Math.ceil(to * scale))];
  }
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
 * Calls back with both ends of a drag, from left to right.
 * @param {HTMLCanvasElement} canvas
 * @param {(from: number, to: number) => void} move
 * @param {(x: number, y: number) => void} end
 */
function dragOver(canvas, move, end) {
  followDrag(canvas, (from, to) => {
    const left = canvas.getBoundingClientRect().left;
    move(Math.min(from.clientX, to.clientX) - left, Math.max(from.clientX, to.clientX) - left);
  }, (_from, last) => end(last.clientX, last.clientY));
}

/**
 * Calls back with where a drag began, and where it is or ended.
 * @param {HTMLCanvasElement} canvas
 * @param {(from: PointerEvent, to: PointerEvent) => void} move
 * @param {(from: PointerEvent, last: PointerEvent) => void} end
 */
function followDrag(canvas, move, end) {
  canvas.addEventListener("pointerdown", (from) => {
    if (from.button !== 0) return;
    /** @param {PointerEvent} to */
    const moved = (to) => move(from, to);
    moved(from);
    canvas.setPointerCapture(from.pointerId);
    canvas.addEventListener("pointermove", moved);
    canvas.addEventListener("pointerup", (last) => {
      canvas.removeEventListener("pointermove", moved);
      moved(last);
      end(from, last);
    }, { once: true });
  });
}
