/**
 * Bytes that come in pieces, put together in one buffer that doubles: a peer that sends them one at a time costs neither a
 * buffer for each nor a copy of the whole for each. It begins as large as it was the last time, and holds no memory while
 * it is empty.
 */
export class GrowingBytes {
  #bytes: Buffer = nothing;
  #length = 0;
  #lastLength = 0;

  get length(): number {
    return this.#length;
  }

  append(piece: Buffer): void {
    const needed = this.#length + piece.length;
    if (needed > this.#bytes.length) {
      const larger = bufferFor(Math.max(needed, this.#bytes.length * 2, this.#length === 0 ? this.#lastLength : 0));
      this.#bytes.copy(larger, 0, 0, this.#length);
      this.#bytes = larger;
    }
    piece.copy(this.#bytes, this.#length);
    this.#length = needed;
  }

  /** Hands over what has come and starts anew with another buffer. */
  take(): Buffer {
    const taken = this.#bytes.subarray(0, this.#length);
    this.#bytes = nothing;
    this.#lastLength = this.#length;
    this.#length = 0;
    return taken;
  }
}

const nothing: Buffer = Buffer.alloc(0);

/**
 * Buffers that were given back, for whoever needs one next. Large ones are dear: they lie outside of the engine's memory,
 * and the garbage of some hundred full accounts would set off a collection of everything.
 */
const spare: Buffer[] = [];
const mostSpare = 32;
const largestSpareBytes = 256 * 1024;

/** Gives back what was taken; whoever still looks at it sees what others write. */
export function giveBack(taken: Buffer): void {
  const { buffer } = taken;
  if (spare.length < mostSpare && buffer.byteLength <= largestSpareBytes) spare.push(Buffer.from(buffer));
}

function bufferFor(length: number): Buffer {
  const found = spare.findLastIndex((one) => one.length >= length && one.length <= 2 * length);
  return found < 0 ? Buffer.allocUnsafeSlow(length) : spare.splice(found, 1)[0]!;
}
