// Colours, light and dark: calm ones for boxes by image, a few for what is to be seen at once.

/** Hues of images, the heaviest image first; neighbours differ for those who see no red or no green, too. */
const HUES = [212, 38, 168, 282, 96, 330, 190, 54, 250, 140];

const THEMES = {
  light: {
    paper: "#ffffff", ink: "#1c2026", faint: "#6b7280", line: "#e3e5e9", comm: "#e4e7ec", unknown: "#ececec",
    thin: "#c9ced6", accent: "#2f6fd0", match: "#ffd54a", matchInk: "#1c2026", area: "#7fa6dd", brush: "rgba(47,111,208,.16)",
    loss: "#d1495b", throttle: "#e09f3e", kernel: [18, 52, 80], user: [46, 80], spread: 5,
    heat: [[244, 246, 250], [160, 190, 232], [58, 110, 190], [25, 45, 100]], alike: [225, 225, 225],
  },
  dark: {
    paper: "#16181d", ink: "#e6e8ec", faint: "#969daa", line: "#2b2f37", comm: "#333843", unknown: "#3a3d44",
    thin: "#4a505c", accent: "#7fb0ff", match: "#d9a400", matchInk: "#14161a", area: "#4d78b8", brush: "rgba(127,176,255,.2)",
    loss: "#ff7b8a", throttle: "#e0a458", kernel: [18, 32, 34], user: [28, 34], spread: 4,
    heat: [[26, 29, 36], [44, 72, 118], [86, 142, 222], [205, 226, 255]], alike: [70, 73, 80],
  },
};

/** More of it, less of it: those who see no red or no green tell orange from blue, too. */
const CHANGE = { more: [240, 140, 20], less: [70, 160, 230] };

class Theme {
  /** @param {Profile} profile */
  constructor(profile) {
    this.profile = profile;
    this.ranks = ranksOfImages(profile);
    /**
     * What was chosen, if not what the system has.
     * @type {"light" | "dark" | null}
     */
    this.chosen = null;
    this.isPrinted = false;
    this.isSystemDark = matchMedia("(prefers-color-scheme: dark)");
    /** @type {Map<string, string>} */
    this.fills = new Map();
    this.apply();
  }

  get isDark() {
    if (this.isPrinted) return false;
    return this.chosen === null ? this.isSystemDark.matches : this.chosen === "dark";
  }

  get colours() {
    return this.isDark ? THEMES.dark : THEMES.light;
  }

  apply() {
    document.documentElement.dataset.theme = this.isDark ? "dark" : "light";
    this.fills.clear();
  }

  toggle() {
    this.chosen = this.isDark ? "light" : "dark";
    this.apply();
  }

  /**
   * The colour of a box.
   * @param {number} label
   */
  fill(label) {
    const colours = this.colours;
    if (label < 0) return colours.comm;
    const { names, images, flags } = this.profile;
    if ((flags[label] & FLAGS.nameless) !== 0) return colours.unknown;
    const isKernel = (flags[label] & FLAGS.level) !== 0;
    const shade = (Math.imul(names[label], 0x9e3779b1) >>> 28) % 5;
    const key = isKernel ? `k${shade}` : `${images[label]} ${shade}`;
    let fill = this.fills.get(key);
    if (fill === undefined) {
      const rank = this.ranks.get(images[label]) ?? 0;
      const [hue, saturation, lightness] = isKernel ? colours.kernel : [HUES[rank % HUES.length], ...colours.user];
      fill = `hsl(${hue} ${saturation}% ${lightness + (shade - 2) * colours.spread * 0.5}%)`;
      this.fills.set(key, fill);
    }
    return fill;
  }

  /**
   * From none to all.
   * @param {number} share
   */
  heat(share) {
    const steps = this.colours.heat;
    const at = Math.min(0.9999, Math.max(0, share)) * (steps.length - 1);
    const from = steps[Math.floor(at)];
    const to = steps[Math.floor(at) + 1];
    return `rgb(${from.map((part, idx) => Math.round(part + (to[idx] - part) * (at % 1))).join(" ")})`;
  }

  /**
   * From -1, vanished, to 1, new.
   * @param {number} degree
   */
  change(degree) {
    const alike = this.colours.alike;
    const end = degree > 0 ? CHANGE.more : CHANGE.less;
    const strength = Math.sqrt(Math.abs(degree));
    return `rgb(${alike.map((part, idx) => Math.round(part + strength * (end[idx] - part))).join(" ")})`;
  }
}

/**
 * Places of images by how many samples they have.
 * @param {Profile} profile
 */
function ranksOfImages(profile) {
  /** @type {Map<number, number>} */
  const sums = new Map();
  for (let row = 0; row < profile.stacks.length; row++) {
    const node = profile.stacks[row] - 1;
    if (node < 0 || profile.parents[node] < 0) continue;
    const frame = profile.labels[node];
    if ((profile.flags[frame] & FLAGS.level) !== 0) continue;
    const image = profile.images[frame];
    sums.set(image, (sums.get(image) ?? 0) + profile.samplesOf(row));
  }
  const sorted = [...sums].sort(([a, one], [b, other]) => other - one || a - b);
  return new Map(sorted.map(([image], rank) => [image, rank]));
}

/**
 * A canvas in the size that it has on the screen, ready to be drawn on.
 * @param {HTMLCanvasElement} canvas
 * @param {number} width
 * @param {number} height
 */
function sized(canvas, width, height) {
  const scale = globalThis.devicePixelRatio || 1;
  const [w, h] = [Math.max(1, Math.round(width * scale)), Math.max(1, Math.round(height * scale))];
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}
