// Numbers and names as people read them. Names of others reach the page through textContent and fillText only.

/**
 * @param {number} part
 * @param {number} whole
 */
function percent(part, whole) {
  if (whole <= 0) return "0.00 %";
  return `${((100 * part) / whole).toFixed(2)} %`;
}

/**
 * A whole number as reports and the notes of a page have it.
 * @param {number} value
 */
function wholeNumber(value) {
  return Math.round(value).toString();
}

/**
 * A span of time with three digits or so.
 * @param {number} ns
 */
function duration(ns) {
  const size = Math.abs(ns);
  if (size >= 1e9) return `${(ns / 1e9).toFixed(size >= 1e11 ? 0 : size >= 1e10 ? 1 : 2)} s`;
  if (size >= 1e6) return `${(ns / 1e6).toFixed(size >= 1e8 ? 0 : 1)} ms`;
  if (size >= 1e3) return `${(ns / 1e3).toFixed(size >= 1e5 ? 0 : 1)} µs`;
  return `${Math.round(ns)} ns`;
}

/**
 * What an event counts.
 * @param {EventHead} event
 * @param {number} weight
 */
function amount(event, weight) {
  return event.kind.endsWith("-time") ? duration(weight) : wholeNumber(weight);
}

/**
 * A shared object after the name of a function; the kernel's has brackets of its own.
 * @param {string} image
 */
function inBrackets(image) {
  return image === "" ? "" : /^\[.*\]$/.test(image) ? ` ${image}` : ` [${image}]`;
}

/**
 * What an event counts, one and several: samples, and what threads wait for.
 * @param {EventHead} event
 * @returns {[string, string]}
 */
function nounsOf({ kind }) {
  if (kind === "off-cpu-time") return ["wait", "waits"];
  return kind === "wall-time" ? ["sample or wait", "samples and waits"] : ["sample", "samples"];
}

/**
 * A share, and the time that it is, if that is what the event counts.
 * @param {EventHead} event
 * @param {number} weight
 * @param {number} whole
 */
function shareWithTime(event, weight, whole) {
  const share = percent(weight, whole);
  return event.kind.endsWith("-time") ? `${share} (${duration(weight)})` : share;
}

/**
 * @param {number} n
 * @param {string} one
 * @param {string} many
 */
function counted(n, one, many) {
  return `${wholeNumber(n)} ${n === 1 ? one : many}`;
}

/** The folder of a Python function's file, as trampolines have it, and what is said of inlined functions. */
const SAID_LAST = /(?<=^py::[^:]*:).*\/| \(inlined\)$/;

/**
 * Methods of Java as the JVM's perf map has them, `long shop.Orders.total(shop.Item[])`, and as its agents do,
 * `Lshop/Orders;::total([Lshop/Item;)J`: type, package, class, method, arguments, and the place if there is one.
 */
const JAVA = [
  /^([^ ():]+ )((?:[^ ().:/]+\.)*)([^ ().:]+)()(\.[^ ().:]+)(\([^()]*\)?)( \S+:\d{1,9})?$/,
  /^(L)((?:[^ ();/]+\/)*)([^ ();/]+)(;)((?:::|\.)?[^ ();/:.]+)(\([^ ]*)?( \S+:\d{1,9})?$/,
];

/**
 * A method of Java in parts; `null` if the name is none.
 * @param {string} name
 */
function javaMethod(name) {
  const found = JAVA[0].exec(name) ?? JAVA[1].exec(name);
  if (found === null) return null;
  const [, type, packages, own, mark, method, args = "", place = ""] = found;
  return { type, packages, own, mark, method, args, place };
}

/**
 * What a name may be cut to, the longest first: of a method of Java class and method stay, whatever else goes.
 * @param {string} name
 */
function shorterNames(name) {
  const java = javaMethod(name);
  if (java === null) return [];
  const { packages, own, method, args, place } = java;
  const short = `${own}${/^[.:]/.test(method) ? "" : "."}${method}`;
  const simpleArgs = args.replace(/(?:[^ (),.]+\.)+/g, "");
  const whole = packages.replaceAll("/", ".") + short;
  return [whole + args, whole + simpleArgs, short + simpleArgs, short + (args.length > 2 ? "(…)" : args), short].map((one) => one + place);
}

/**
 * A name cut in the middle: its beginning and its end say most, and the number of a line, or of Java the method, all of
 * it.
 * @param {string} whole
 * @param {number} most characters
 */
function middleCut(whole, most) {
  if (whole.length <= most) return whole;
  const said = whole.replace(SAID_LAST, "");
  const shorter = shorterNames(said);
  const name = [said, ...shorter].find((one) => one.length <= most) ?? shorter.at(-1) ?? said;
  if (name.length <= most) return name;
  const kept = (shorter.length > 0 ? /(?:\.|::)[^.:]*( \S+:\d+)?$/ : /:\d{1,9}$/).exec(name)?.[0].length ?? 0;
  const half = Math.floor((most - 1) / 2);
  const end = kept >= most - 1 ? half : shorter.length > 0 ? kept : Math.max(half, kept);
  return `${name.slice(0, most - 1 - end)}…${name.slice(name.length - end)}`;
}

/**
 * Shows a name that has no room without its middle: the end stays, or class and method.
 * @param {HTMLElement} place
 * @param {string} name
 */
function showCut(place, name) {
  const java = javaMethod(name);
  const end = Math.max(0, name.length - CUT_END);
  const parts = java === null ? [[name.slice(0, end), "less"], [name.slice(end), ""]]
    : [[java.type + java.packages, "least"], [java.own + java.mark, "less"], [java.method, ""], [java.args, "least"], [java.place, ""]];
  place.classList.add("cut");
  place.replaceChildren(...parts.map(([text, className]) => made("span", text, className)));
}

/** Characters at the end of a name that stay: the name of a line's file, say. */
const CUT_END = 16;

/** Characters of a name that are searched: a pattern's time grows with their square, if not faster. */
const SEARCHED = 500;

/**
 * What is searched for: a regular expression without regard to case, or, if it is none, the text itself. Every pattern
 * of the page is matched here.
 */
class Pattern {
  /** @param {string} text */
  constructor(text) {
    this.isText = false;
    try {
      this.pattern = new RegExp(text, "i");
    } catch {
      this.isText = true;
      this.pattern = new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "i");
    }
  }

  /**
   * Whether the beginning of a name matches.
   * @param {string} name
   */
  matches(name) {
    return this.pattern.test(name.length > SEARCHED ? name.slice(0, SEARCHED) : name);
  }
}

/**
 * An element of the page.
 * @template {HTMLElement} T
 * @param {string} id
 * @param {new () => T} type
 * @returns {T}
 */
function element(id, type) {
  const found = document.getElementById(id);
  if (!(found instanceof type)) throw new Error(`the page has no #${id}`);
  return found;
}

/**
 * What is placed again keeps the focus, if it has it.
 * @param {() => void} place
 */
function keepFocus(place) {
  const focused = document.activeElement;
  place();
  if (focused instanceof HTMLElement && focused !== document.activeElement && focused.isConnected) focused.focus();
}

/**
 * A new element with a text.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {string} [text]
 * @param {string} [className]
 * @returns {HTMLElementTagNameMap[K]}
 */
function made(tag, text, className) {
  const one = document.createElement(tag);
  if (text !== undefined) one.textContent = text;
  if (className !== undefined) one.className = className;
  return one;
}

/**
 * @param {string} text
 * @returns {Promise<void>}
 */
async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Without the right to the clipboard, what is selected can still be copied.
    const area = made("textarea", text, "offscreen");
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}
