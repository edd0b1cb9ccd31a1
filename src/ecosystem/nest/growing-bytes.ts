/**
 * Bytes that come in pieces, put together in one buffer that doubles: a peer that sends them one at a time costs neither a
 * buffer for each nor a copy of the whole for each. It begins as large as it was the last
 * time. It holds no memory while it is empty.
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
      const larger = Buffer.allocUnsafeSlow(
        Math.max(needed, this.#bytes.length * 2, this.#length === 0 ? this.#lastLength : 0),
      );
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
