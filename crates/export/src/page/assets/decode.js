// From the text in the page to numbers: base64, deflate, numbers of seven bits a byte. PAGE.md has the format.

/**
 * @param {string} text
 * @returns {Uint8Array}
 */
function bytesOfBase64(text) {
  const native = /** @type {any} */ (Uint8Array).fromBase64;
  if (typeof native === "function") return native.call(Uint8Array, text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at++) bytes[at] = binary.charCodeAt(at);
  return bytes;
}

/**
 * @param {Uint8Array} bytes
 * @returns {Promise<Uint8Array>}
 */
async function inflated(bytes) {
  const Inflater = /** @type {any} */ (globalThis).DecompressionStream;
  if (Inflater === undefined) throw new Error("this browser is too old: it lacks DecompressionStream");
  const stream = new Blob([bytes]).stream().pipeThrough(new Inflater("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Reads numbers one after the other. */
class Reading {
  /** @param {Uint8Array} bytes */
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }

  /** @param {number} n */
  take(n) {
    if (this.at + n > this.bytes.length) throw new Error("the profile is truncated: this file is damaged");
    this.at += n;
    return this.bytes.subarray(this.at - n, this.at);
  }

  /** A number that is not negative; exact up to 2^53. */
  unsigned() {
    const bytes = this.bytes;
    let byte = bytes[this.at++];
    let number = byte & 0x7f;
    let unit = 128;
    while (byte >= 0x80) {
      byte = bytes[this.at++];
      number += (byte & 0x7f) * unit;
      unit *= 128;
    }
    if (byte === undefined) throw new Error("the profile is truncated: this file is damaged");
    return number;
  }

  /** The difference of two numbers. */
  difference() {
    const number = this.unsigned();
    return number % 2 === 1 ? -(number + 1) / 2 : number / 2;
  }

  /**
   * @template {Uint8Array | Uint32Array | Float64Array} T
   * @param {T} column
   * @returns {T}
   */
  fill(column) {
    const bytes = this.bytes;
    for (let at = 0; at < column.length; at++) {
      // Most are one byte.
      const byte = bytes[this.at];
      if (byte < 0x80) {
        column[at] = byte;
        this.at++;
      } else column[at] = this.unsigned();
    }
    return column;
  }

  /**
   * Differences within each thread.
   * @template {Int32Array | Uint16Array | Float64Array} T
   * @param {T} column
   * @param {Uint32Array} starts
   * @returns {T}
   */
  fillDifferences(column, starts) {
    if (column.length === 0) return column;
    const bytes = this.bytes;
    for (let thread = 0; thread + 1 < starts.length; thread++) {
      let value = 0;
      for (let at = starts[thread]; at < starts[thread + 1]; at++) {
        const byte = bytes[this.at];
        if (byte < 0x80) {
          value += (byte >>> 1) ^ -(byte & 1);
          this.at++;
        } else value += this.difference();
        column[at] = value;
      }
    }
    return column;
  }
}

/**
 * @param {string} text
 * @returns {Promise<Profile>}
 */
async function decode(text) {
  const reading = new Reading(await inflated(bytesOfBase64(text.trim())));
  const magic = String.fromCharCode(...reading.take(8));
  if (magic !== "RPROFPG1") throw new Error("the profile has an unknown format version: this file is damaged");
  const json = reading.take(reading.unsigned());
  /** @type {Head} */
  const head = JSON.parse(new TextDecoder().decode(json));
  return new Profile(head, reading);
}
