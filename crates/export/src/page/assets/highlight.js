// Colours of code: words, numbers, texts and comments of source lines; registers, numbers and symbols of instructions.
// They are found when a row is shown, line by line: a comment that began on an earlier line is not known.

/** @typedef {{text: string, of: "" | "keyword" | "string" | "number" | "comment" | "register" | "symbol"}} Token */

/** Longer lines are not looked at: they are shown as they are. */
const MOST_COLOURED = 1000;

/** Words of the languages that programs with DWARF are written in. */
const KEYWORDS = new Set(("abstract alignas alignof and as asm async auto await bool boolean break case catch char class concept const " +
  "const_cast consteval constexpr constinit continue crate def default defer delete do double dyn elif else enum except explicit export " +
  "extends extern false final finally float fn for fallthrough from func go goto if impl import in inline instanceof int interface " +
  "lambda let long loop map match mod move mut mutable namespace new nil noexcept None not null nullptr operator or override package pass " +
  "private protected pub public raise range ref register reinterpret_cast requires restrict return select Self self short signed sizeof " +
  "static static_cast struct super switch template this throw trait true True try type typedef typename union unsafe unsigned use " +
  "using var virtual void volatile where while with yield False").split(" "));

/** Files in which `#` begins a comment. */
const HASH_COMMENTS = /\.(py|rb|sh|pl|jl|nim|cr|ex|exs)$/;

/** Of each language, the parts of a line; what is no such part stays as it is. */
const SOURCE_PARTS = /(\/\/.*|\/\*.*?(?:\*\/|$))|("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)'|\x60[^\x60]*\x60)|(\b(?:0[xX][\da-fA-F_]+|\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?)[A-Za-z\d_]*)|([A-Za-z_]\w*)/g;
const HASH_PARTS = /(#.*)|("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(\b(?:0[xX][\da-fA-F_]+|\d[\d_]*(?:\.\d+)?)[A-Za-z\d_]*)|([A-Za-z_]\w*)/g;

/**
 * The parts of a source line.
 * @param {string} text
 * @param {string} path
 * @returns {Token[]}
 */
function sourceTokens(text, path) {
  // Comments of several lines begin them so, and so does nothing that ends with a semicolon.
  if (/^\s*\*(\s(?!.*;\s*$)|\/|$)/.test(text)) return [{ text, of: "comment" }];
  return tokens(text, HASH_COMMENTS.test(path) ? HASH_PARTS : SOURCE_PARTS, ([, comment, string, number, word]) =>
    (comment !== undefined ? "comment" : string !== undefined ? "string" : number !== undefined ? "number" : KEYWORDS.has(word) ? "keyword" : ""));
}

/** A comment, a symbol, a register, a number. `#0x10` is a number of 64-bit ARM, `# 4010` a comment. */
const INSTRUCTION_PARTS = /(#\s.*|\/\/.*|;.*)|(<.*>)|(%[a-z]\w*)|([$#]-?(?:0x[\da-f]+|\d+(?:\.\d+)?)\b|-?\b0x[\da-f]+\b)/g;

/**
 * The parts of an instruction.
 * @param {string} text
 * @returns {Token[]}
 */
function instructionTokens(text) {
  const [, mnemonic, rest] = /^(\S+)([^]*)$/.exec(text) ?? ["", "", text];
  const parts = tokens(rest, INSTRUCTION_PARTS, ([, comment, symbol, register]) =>
    (comment !== undefined ? "comment" : symbol !== undefined ? "symbol" : register !== undefined ? "register" : "number"));
  return [{ text: mnemonic, of: "keyword" }, ...parts];
}

/**
 * @param {string} text
 * @param {RegExp} parts
 * @param {(found: RegExpMatchArray) => Token["of"]} kindOf
 * @returns {Token[]}
 */
function tokens(text, parts, kindOf) {
  if (text.length > MOST_COLOURED) return [{ text, of: "" }];
  /** @type {Token[]} */
  const list = [];
  let end = 0;
  for (const found of text.matchAll(parts)) {
    const at = /** @type {number} */ (found.index);
    if (at > end) list.push({ text: text.slice(end, at), of: "" });
    list.push({ text: found[0], of: kindOf(found) });
    end = at + found[0].length;
  }
  if (end < text.length) list.push({ text: text.slice(end), of: "" });
  return list;
}

/**
 * Shows tokens.
 * @param {HTMLElement} place
 * @param {Token[]} list
 */
function showTokens(place, list) {
  place.append(...list.map(({ text, of }) => (of === "" ? document.createTextNode(text) : made("span", text, `token-${of}`))));
}
