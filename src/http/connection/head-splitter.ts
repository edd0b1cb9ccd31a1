const lineFeed = 0x0a;
const carriageReturn = 0x0d;
/**
 * A head ends with an empty line. The line before it may end in a bare line feed if the client leaves out the version.
 */
const emptyLine = Buffer.from("\n\r\n");

/**
 * Splits the bytes of a connection into pieces that hold the end of at most one request head. It only finds boundaries;
 * the parser interprets the bytes. A body of known length is one piece, so that text in it that looks like a head isn't
 * split.
 */
export class HeadSplitter {
  #bodyBytesLeft = 0;
  /** The last two bytes so far: an empty line may be split over two reads. */
  #last = 0;
  #lastButOne = 0;

  /** Called when the last piece ended a head. */
  begun(contentLength: string | undefined): void {
    this.#bodyBytesLeft = contentLength === undefined ? 0 : Number(contentLength);
  }

  /** Whether the next byte belongs to a body of known length. */
  get isInBody(): boolean {
    return this.#bodyBytesLeft > 0;
  }

  /** The next piece of `bytes`, which must not be empty. */
  next(bytes: Buffer): Buffer {
    const length = this.#lengthOfNext(bytes);
    this.#bodyBytesLeft = Math.max(0, this.#bodyBytesLeft - length);
    this.#lastButOne = length > 1 ? bytes[length - 2]! : this.#last;
    this.#last = bytes[length - 1]!;
    return length === bytes.length ? bytes : bytes.subarray(0, length);
  }

  #lengthOfNext(bytes: Buffer): number {
    if (this.#bodyBytesLeft > 0) return Math.min(this.#bodyBytesLeft, bytes.length);
    if (this.#lastButOne === lineFeed && this.#last === carriageReturn && bytes[0] === lineFeed) return 1;
    if (this.#last === lineFeed && bytes[0] === carriageReturn && bytes[1] === lineFeed) return 2;
    const at = bytes.indexOf(emptyLine);
    return at < 0 ? bytes.length : at + emptyLine.length;
  }
}
