// Rows of bars, written as pixels: a canvas takes longer for thousands of small rectangles than for one picture.

/** How much of a colour is left where something else is searched for, of 255. */
const DIM = 115;

class Bars {
  constructor() {
    /** @type {ImageData | null} */
    this.image = null;
    /** It may be larger than the picture: sizes change with each line of chips. */
    this.room = new ArrayBuffer(0);
    this.pixels = new Uint32Array(0);
    /** The pixels of one row of bars from left to right. */
    this.line = new Uint32Array(0);
    this.width = 0;
    this.scale = 1;
    this.height = 0;
    /**
     * What colours are as pixels.
     * @type {Map<string, number>}
     */
    this.colours = new Map();
    const probe = made("canvas");
    probe.width = probe.height = 1;
    this.probe = /** @type {CanvasRenderingContext2D} */ (probe.getContext("2d", { willReadFrequently: true }));
  }

  /**
   * @param {HTMLCanvasElement} canvas what they are drawn on
   * @param {number} height of a row
   */
  begin({ width, height: whole }, height) {
    if (this.image?.width !== width || this.image.height !== whole) {
      const n_bytes = 4 * width * whole;
      const { byteLength } = this.room;
      // A printed picture has all levels, and may be far larger than the screen: its room is not kept.
      if (byteLength < n_bytes || byteLength > 4 * n_bytes) this.room = new ArrayBuffer(n_bytes);
      this.image = new ImageData(new Uint8ClampedArray(this.room, 0, n_bytes), width, whole);
      this.pixels = new Uint32Array(this.room, 0, width * whole);
      this.line = new Uint32Array(width);
    }
    this.pixels.fill(0);
    this.line.fill(0);
    this.width = width;
    this.scale = globalThis.devicePixelRatio || 1;
    this.height = height;
    return this;
  }

  /**
   * A bar of the row; it has at least one pixel.
   * @param {number} from
   * @param {number} to
   * @param {string} colour
   * @param {boolean} isDim
   */
  add(from, to, colour, isDim) {
    const first = Math.round(from * this.scale);
    this.line.fill(this.pixel(colour, isDim), first, Math.max(first + 1, Math.round(to * this.scale)));
  }

  /**
   * The row is done: it is drawn, and the next one begins.
   * @param {number} y
   */
  end(y) {
    const { width, line, pixels, scale } = this;
    const last = Math.min(Math.round((y + this.height) * scale), pixels.length / width);
    for (let at = Math.max(0, Math.round(y * scale)); at < last; at++) pixels.set(line, at * width);
    line.fill(0);
  }

  /** @param {CanvasRenderingContext2D} context */
  show(context) {
    if (this.image !== null) context.putImageData(this.image, 0, 0);
  }

  /**
   * @param {string} colour
   * @param {boolean} isDim
   */
  pixel(colour, isDim) {
    const key = isDim ? `dim ${colour}` : colour;
    let pixel = this.colours.get(key);
    if (pixel === undefined) {
      this.probe.fillStyle = colour;
      this.probe.fillRect(0, 0, 1, 1);
      const [red, green, blue] = this.probe.getImageData(0, 0, 1, 1).data;
      pixel = new Uint32Array(Uint8Array.of(red, green, blue, isDim ? DIM : 255).buffer)[0];
      this.colours.set(key, pixel);
    }
    return pixel;
  }
}
