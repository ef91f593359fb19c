// Colours, light and dark: calm ones for boxes by image or by kind, a few for what is to be seen at once. Text on boxes
// has a contrast of 4.5 to 1; the colours of the five heaviest images, of the kernel, and of kinds differ for those who
// see no red or no green, too. In dark and light each has about the same hue (tests/page/colours.js).

/** Hues of images that have no colour of their own. */
const HUES = [212, 38, 168, 282, 96, 330, 190, 54, 250, 140];

/**
 * What a frame is: colours by kind stand for it.
 * @typedef {"user" | "inlined" | "jit" | "kernel"} Kind
 * @type {[Kind, string][]}
 */
const KINDS = [["user", "user"], ["inlined", "inlined"], ["jit", "JIT"], ["kernel", "kernel"]];

const THEMES = {
  light: {
    paper: "#ffffff", ink: "#1c2026", faint: "#646b78", line: "#e3e5e9", comm: "#e4e7ec", unknown: "#ececec",
    thin: "#c9ced6", accent: "#2f6fd0", match: "#ffd54a", matchInk: "#1c2026", area: "#7fa6dd", brush: "rgba(47,111,208,.16)",
    loss: "#d1495b", throttle: "#e09f3e", kernel: [15, 63, 74], user: [46, 80], spread: 3,
    images: [[234, 70, 71], [285, 72, 85], [102, 69, 66], [337, 46, 66], [147, 36, 90]],
    kinds: { user: [230, 73, 69], inlined: [59, 83, 80], jit: [134, 25, 48], kernel: [28, 86, 50] },
    wait: 1, heat: [[243, 246, 251], [190, 211, 240], [110, 156, 218], [46, 92, 172]],
    less: [70, 160, 230], alike: [225, 225, 225], more: [240, 140, 20],
  },
  dark: {
    paper: "#16181d", ink: "#e6e8ec", faint: "#969daa", line: "#2b2f37", comm: "#333843", unknown: "#3a3d44",
    thin: "#4a505c", accent: "#7fb0ff", match: "#d9a400", matchInk: "#14161a", area: "#4d78b8", brush: "rgba(127,176,255,.2)",
    loss: "#ff7b8a", throttle: "#e0a458", kernel: [15, 53, 23], user: [28, 30], spread: 3,
    images: [[238, 60, 42], [290, 51, 35], [96, 62, 25], [331, 29, 25], [141, 27, 32]],
    kinds: { user: [236, 30, 48], inlined: [53, 92, 24], jit: [140, 8, 39], kernel: [34, 50, 24] },
    wait: 0.4, heat: [[26, 29, 36], [36, 56, 92], [58, 100, 168], [112, 164, 232]],
    less: [32, 104, 176], alike: [62, 66, 74], more: [152, 74, 0],
  },
};

/** Of lanes, in percent. */
const LANE_SATURATION = 48;

/** Shades of a heat map. */
const HEAT_STEPS = 64;

/**
 * What is the same whatever counts: by node its image, and whether it is the outermost of that on its way.
 * @typedef {{parents: Int32Array, labels: Uint32Array, images: Uint32Array, rows: Int32Array, isOutermost: Uint8Array,
 *   kernel: number}} ImageColumns
 */

class Theme {
  /** @param {Profile} profile */
  constructor(profile) {
    this.profile = profile;
    this.ranks = ranksOfImages(profile);
    /** Colours of what is waited for, by label. */
    this.waits = new Map([...(profile.head.waits ?? []), ...coloursOfWaits(profile)].map(([label, ...colour]) => [label, colour]));
    /**
     * What was chosen, if not what the system has.
     * @type {"light" | "dark" | null}
     */
    this.chosen = null;
    /** What colours of boxes stand for. @type {"module" | "kind"} */
    this.by = "module";
    this.isPrinted = false;
    this.isDark = false;
    /** @type {typeof THEMES.light} */
    this.colours = THEMES.light;
    this.isSystemDark = matchMedia("(prefers-color-scheme: dark)");
    /** @type {Map<string, string>} */
    this.fills = new Map();
    /**
     * By frame, those that were asked for.
     * @type {(string | undefined)[]}
     */
    this.fillOf = [];
    /** @type {number[][]} */
    this.heats = [];
    this.apply();
  }

  /** Boxes ask for their colours one by one: what these depend on is looked at here. */
  apply() {
    this.isDark = !this.isPrinted && (this.chosen === null ? this.isSystemDark.matches : this.chosen === "dark");
    this.colours = this.isDark ? THEMES.dark : THEMES.light;
    document.documentElement.dataset.theme = this.isDark ? "dark" : "light";
    this.fills.clear();
    this.fillOf = new Array(this.profile.names.length);
    this.heats = [];
  }

  /**
   * Colours stand for something.
   * @param {"module" | "kind"} by
   */
  show(by) {
    if (by === this.by) return;
    this.by = by;
    this.apply();
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
    if (label < 0) return this.colours.comm;
    return (this.fillOf[label] ??= this.fillOfFrame(label));
  }

  /**
   * The colour of a wait, or of what runs beside waits (-1); `undefined` for what is no wait.
   * @param {number} label
   */
  wait(label) {
    const parts = this.waits.get(label)?.map((part) => Math.round(part * this.colours.wait));
    return parts === undefined ? undefined : `rgb(${parts.join(" ")})`;
  }

  /**
   * The colour of a wait as a thin bar, or in a legend of these, where no text stands on it: 3 to 1 on the paper.
   * @param {number} label
   */
  waitBar(label) {
    const parts = this.waits.get(label);
    if (parts === undefined) return undefined;
    const key = `bar ${label}`;
    let fill = this.fills.get(key);
    if (fill === undefined) {
      fill = this.barOf(parts);
      this.fills.set(key, fill);
    }
    return fill;
  }

  /** @param {number[]} parts red, green, blue */
  barOf(parts) {
    const [paper, end] = this.isDark ? [0x18, 255] : [0xff, 0];
    for (let share = 0; ; share += 0.05) {
      const mixed = parts.map((part) => Math.round(part + share * (end - part)));
      const [one, other] = [luminance(mixed), luminance([paper, paper, paper])].sort((a, b) => b - a);
      if ((one + 0.05) / (other + 0.05) >= 3 || share >= 1) return `rgb(${mixed.join(" ")})`;
    }
  }

  /**
   * The colour of a wait in the timeline and in legends: in the dark that of boxes is too dark where no text stands on it.
   * @param {number} label
   */
  waitArea(label) {
    return this.isDark ? this.waitBar(label) : this.wait(label);
  }

  /**
   * The ink for names on such an area: black or white, which is read better.
   * @param {number} label
   */
  waitInk(label) {
    const parts = this.waitArea(label)?.match(/\d+/g)?.map(Number) ?? [255, 255, 255];
    // Both contrasts are the same there.
    return luminance(parts) > 0.179 ? "#000000" : "#ffffff";
  }

  /**
   * A hue for bars that have names on them: 3 to 1 on the paper, and names 4.5 to 1 on it.
   * @param {number} hue
   */
  lane(hue) {
    const key = `lane ${hue}`;
    const known = this.fills.get(key);
    if (known !== undefined) return known;
    const wanted = this.isDark ? 0.133 : 0.265;
    let [low, high] = [0, 100];
    while (high - low > 0.1) {
      const middle = (low + high) / 2;
      if (luminance(rgbOf([hue, LANE_SATURATION, middle])) < wanted) low = middle;
      else high = middle;
    }
    const fill = `rgb(${rgbOf([hue, LANE_SATURATION, low]).map(Math.round).join(" ")})`;
    this.fills.set(key, fill);
    return fill;
  }

  /** @param {number} label */
  fillOfFrame(label) {
    const colours = this.colours;
    const { names, images, flags } = this.profile;
    const wait = this.wait(label);
    if (wait !== undefined) return wait;
    // What is in no known image, as the rest of a truncated stack, is no image of its own.
    if (!hasImage(this.profile, label)) return colours.unknown;
    if (this.by === "kind") {
      return (flags[label] & FLAGS.nameless) !== 0 ? colours.unknown : `hsl(${hslText(colours.kinds[kindOf(flags[label])])})`;
    }
    const isKernel = (flags[label] & FLAGS.level) !== 0;
    const shade = (Math.imul(names[label], 0x9e3779b1) >>> 28) % 5;
    const key = isKernel ? `k${shade}` : `${images[label]} ${shade}`;
    let fill = this.fills.get(key);
    if (fill === undefined) {
      const rank = this.ranks.get(images[label]) ?? 0;
      const own = isKernel ? colours.kernel : colours.images[rank] ?? [HUES[rank % HUES.length], ...colours.user];
      const [hue, saturation, lightness] = own;
      fill = `hsl(${hslText([hue, saturation, lightness + (shade - 2) * colours.spread * 0.5])})`;
      this.fills.set(key, fill);
    }
    return fill;
  }

  /**
   * The colour of a change, from vanished to new: those who see no red or no green tell them apart, too.
   * @param {number} degree
   */
  changed(degree) {
    const key = `c${Math.round(degree * 1000)}`;
    const known = this.fills.get(key);
    if (known !== undefined) return known;
    const { less, alike, more } = this.colours;
    const end = degree > 0 ? more : less;
    // Small changes are to be seen, too.
    const strength = Math.sqrt(Math.abs(degree));
    const fill = `rgb(${alike.map((part, idx) => Math.round(part + strength * (end[idx] - part))).join(" ")})`;
    this.fills.set(key, fill);
    return fill;
  }

  /**
   * Red, green and blue from none to all.
   * @param {number} share
   */
  heat(share) {
    const step = Math.round(Math.min(1, Math.max(0, share)) * HEAT_STEPS);
    const known = this.heats[step];
    if (known !== undefined) return known;
    const ends = this.colours.heat;
    const at = Math.min(0.9999, step / HEAT_STEPS) * (ends.length - 1);
    const from = ends[Math.floor(at)];
    const to = ends[Math.floor(at) + 1];
    return (this.heats[step] = from.map((part, idx) => Math.round(part + (to[idx] - part) * (at % 1))));
  }
}

/**
 * Relative luminance (WCAG 2).
 * @param {number[]} parts red, green, blue
 */
function luminance(parts) {
  const [red, green, blue] = parts.map((part) => (part <= 10 ? part / 3294.6 : ((part / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/**
 * Red, green and blue, up to 255.
 * @param {number[]} hsl degrees, then percents
 */
function rgbOf([hue, saturation, lightness]) {
  const light = lightness / 100;
  const half = (saturation / 100) * Math.min(light, 1 - light);
  return [0, 8, 4].map((part) => {
    const at = (part + hue / 30) % 12;
    return 255 * (light - half * Math.max(-1, Math.min(at - 3, 9 - at, 1)));
  });
}

/** @param {number[]} parts */
function hslText([hue, saturation, lightness]) {
  return `${hue} ${saturation}% ${lightness}%`;
}

/**
 * @param {number} flags
 * @returns {Kind}
 */
function kindOf(flags) {
  if ((flags & FLAGS.level) !== 0) return "kernel";
  if ((flags & FLAGS.jit) !== 0) return "jit";
  return (flags & FLAGS.inlined) !== 0 ? "inlined" : "user";
}

/**
 * Whether it is known which shared object a frame is in.
 * @param {Profile} profile
 * @param {number} frame
 */
function hasImage(profile, frame) {
  const image = profile.imageOfFrame(frame);
  return image !== "" && image !== "[unknown]";
}

/**
 * Places of images by how many samples have them in their stacks.
 * @param {Profile} profile
 */
function ranksOfImages(profile) {
  const byNode = new Float64Array(profile.parents.length);
  for (let row = 0; row < profile.stacks.length; row++) {
    if (profile.stacks[row] > 0) byNode[profile.stacks[row] - 1] += profile.samplesOf(row);
  }
  for (let node = byNode.length - 1; node >= 0; node--) {
    const parent = profile.parents[node];
    if (parent >= 0) byNode[parent] += byNode[node];
  }
  const sums = totalsOfImages(profile, byNode);
  const sorted = [...sums].filter(([image]) => image >= 0).sort(([a, one], [b, other]) => other.weight - one.weight || a - b);
  return new Map(sorted.map(([image], rank) => [image, rank]));
}

/**
 * The image that each node is in; the kernel and its modules are one, behind all others. -1 is none.
 * @param {Profile} profile
 * @returns {ImageColumns}
 */
function imageColumns(profile) {
  const { parents, labels, images, flags } = profile;
  const known = profile.imageColumns;
  if (known?.parents === parents && known.labels === labels && known.images === images) return known;
  const kernel = profile.head.strings.length;
  const ofFrames = Int32Array.from(flags, (of, frame) =>
    ((of & FLAGS.wait) !== 0 || !hasImage(profile, frame) ? -1 : (of & FLAGS.level) !== 0 ? kernel : images[frame]));
  const rows = new Int32Array(parents.length);
  for (let node = 0; node < rows.length; node++) rows[node] = parents[node] < 0 ? -1 : ofFrames[labels[node]];
  const { isOutermost } = outermostRows(profile, rows);
  profile.imageColumns = { parents, labels, images, rows, isOutermost, kernel };
  return profile.imageColumns;
}

/**
 * By image, or -1 for the kernel and its modules: what stacks weigh that have it, one of its frames, and whether these are
 * of several images.
 * @param {Profile} profile
 * @param {Float64Array} totals by node, with all below it
 */
function totalsOfImages(profile, totals) {
  const { labels, images } = profile;
  const { rows, isOutermost, kernel } = imageColumns(profile);
  /** @type {Map<number, {weight: number, frame: number, isSeveral: boolean}>} */
  const sums = new Map();
  for (let node = 0; node < rows.length; node++) {
    if (isOutermost[node] === 0 || totals[node] === 0) continue;
    const key = rows[node] === kernel ? -1 : rows[node];
    const frame = labels[node];
    const sum = sums.get(key);
    if (sum === undefined) sums.set(key, { weight: totals[node], frame, isSeveral: false });
    else {
      sum.weight += totals[node];
      sum.isSeveral ||= images[sum.frame] !== images[frame];
    }
  }
  return sums;
}

/**
 * The pixels of a part of the screen.
 * @param {number} width
 * @param {number} height
 */
function pixels(width, height) {
  const scale = globalThis.devicePixelRatio || 1;
  return [Math.max(1, Math.round(width * scale)), Math.max(1, Math.round(height * scale))];
}

/**
 * Whether a canvas was drawn in this size.
 * @param {HTMLCanvasElement} canvas
 * @param {number} width
 * @param {number} height
 */
function hasSize(canvas, width, height) {
  const [w, h] = pixels(width, height);
  return canvas.width === w && canvas.height === h;
}

/**
 * A canvas in the size that it has on the screen, ready to be drawn on.
 * @param {HTMLCanvasElement} canvas
 * @param {number} width
 * @param {number} height
 */
function sized(canvas, width, height) {
  const scale = globalThis.devicePixelRatio || 1;
  if (!hasSize(canvas, width, height)) {
    [canvas.width, canvas.height] = pixels(width, height);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}
