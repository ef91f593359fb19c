// Columns that are used again: a loop over fresh memory takes several times as long as one over memory that was used.

/** Columns that are kept at most. */
const MOST_SPARE = 12;

/** Bytes that are kept at most. */
const MOST_SPARE_BYTES = 64 << 20;

/** Columns of numbers that nothing reads any more. */
class SpareColumns {
  constructor() {
    /** @type {(Int32Array | Float64Array)[]} */
    this.list = [];
  }

  /**
   * A column with any numbers in it.
   * @template {Int32Array | Float64Array} C
   * @param {new (length: number) => C} type
   * @param {number} length
   * @returns {C}
   */
  take(type, length) {
    const at = this.list.findIndex((one) => one.constructor === type && one.length === length);
    if (at < 0) return new type(length);
    return /** @type {C} */ (this.list.splice(at, 1)[0]);
  }

  /** @param {(Int32Array | Float64Array)[]} columns */
  give(...columns) {
    let bytes = 0;
    const all = [...columns, ...this.list].slice(0, MOST_SPARE);
    this.list = all.filter(({ byteLength }) => {
      const hasRoom = bytes + byteLength <= MOST_SPARE_BYTES;
      bytes += hasRoom ? byteLength : 0;
      return hasRoom;
    });
  }
}
