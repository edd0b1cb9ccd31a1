import { GrowingBytes, giveBack } from "./growing-bytes.ts";

/** One event of a Server-Sent Events stream. The data stays bytes: most of it is only compared with what came before. */
export interface StreamEvent {
  readonly name: string;
  readonly data: Buffer;
}

/**
 * Cuts the bytes of a stream into its events as the HTML standard says (9.2.6): lines may end in CR, LF or CRLF, a byte
 * order mark may open the stream, chunks may end anywhere. Two liberties: a named event needs no data, so that a bare
 * `auth_revoked` is heard, and `id` and `retry` are passed over, since this ecosystem never resumes.
 */
export class EventSplitter {
  readonly #limitBytes: number;
  readonly #line = new GrowingBytes();
  readonly #joinedData = new GrowingBytes();
  #data: Buffer | undefined;
  /** Whether the present line, and the data so far, is a piece of the chunk, which is good only while it is split. */
  #isLineLent = false;
  #isDataLent = false;
  /** The last line that came in several pieces. */
  #pieced: Buffer | undefined;
  #name = "";
  #isFirstLine = true;
  #lastWasCarriageReturn = false;
  #isOverfull = false;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  /** True once an event was larger than the limit: nothing more is read from then on. */
  get isOverfull(): boolean {
    return this.#isOverfull;
  }

  /** The events that this chunk completes; it is good until then. So is the data of each until the next is asked for. */
  *split(chunk: Buffer): Generator<StreamEvent, void> {
    if (chunk.length === 0 || this.#isOverfull) return;
    let start = this.#lastWasCarriageReturn && chunk[0] === lineFeed ? 1 : 0;
    this.#lastWasCarriageReturn = chunk[chunk.length - 1] === carriageReturn;
    let nextLf = indexFrom(chunk, lineFeed, start);
    let nextCr = indexFrom(chunk, carriageReturn, start);
    for (let end = Math.min(nextLf, nextCr); end < chunk.length; end = Math.min(nextLf, nextCr)) {
      const line = this.#wholeLine(chunk.subarray(start, end));
      start = end === nextCr && chunk[end + 1] === lineFeed ? end + 2 : end + 1;
      if (nextLf < start) nextLf = indexFrom(chunk, lineFeed, start);
      if (nextCr < start) nextCr = indexFrom(chunk, carriageReturn, start);
      const event = this.#takeLine(line);
      if (this.#isOverfull) return;
      if (!event) continue;
      yield event;
      if (this.#pieced) giveBack(this.#pieced);
      this.#pieced = undefined;
    }
    if (this.#isDataLent) this.#data = Buffer.from(this.#data!);
    this.#isDataLent = false;
    if (start < chunk.length) this.#line.append(chunk.subarray(start));
    this.#checkSize(this.#line.length);
  }

  #wholeLine(tail: Buffer): Buffer {
    this.#isLineLent = this.#line.length === 0;
    if (this.#isLineLent) return tail;
    this.#line.append(tail);
    this.#pieced = this.#line.take();
    return this.#pieced;
  }

  #takeLine(bytes: Buffer): StreamEvent | undefined {
    const line = this.#isFirstLine && bytes.subarray(0, 3).equals(byteOrderMark) ? bytes.subarray(3) : bytes;
    this.#isFirstLine = false;
    if (line.length === 0) return this.#endEvent();
    this.#checkSize(line.length);
    if (!this.#isOverfull) this.#takeField(line);
    return undefined;
  }

  #takeField(line: Buffer): void {
    const colon = line.indexOf(":");
    const nameEnd = colon < 0 ? line.length : colon;
    if (nameEnd > longestFieldName) return;
    const valueStart = line[nameEnd + 1] === space ? nameEnd + 2 : nameEnd + 1;
    const field = line.toString("latin1", 0, nameEnd);
    if (field === "data") this.#addData(line.subarray(valueStart));
    else if (field === "event") this.#name = line.toString("utf8", valueStart);
  }

  #addData(value: Buffer): void {
    if (this.#data === undefined) {
      this.#data = value;
      this.#isDataLent = this.#isLineLent;
      return;
    }
    if (this.#joinedData.length === 0) this.#joinedData.append(this.#data);
    this.#joinedData.append(lineFeedBytes);
    this.#joinedData.append(value);
  }

  #endEvent(): StreamEvent | undefined {
    const name = this.#name;
    const data = this.#joinedData.length > 0 ? this.#joinedData.take() : this.#data;
    this.#name = "";
    this.#data = undefined;
    this.#isDataLent = false;
    if (name === "" && data === undefined) return undefined;
    return { name: name === "" ? "message" : name, data: data ?? noData };
  }

  #checkSize(lineLength: number): void {
    const dataLength = Math.max(this.#joinedData.length, this.#data?.length ?? 0);
    if (dataLength + lineLength > this.#limitBytes) this.#isOverfull = true;
  }
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const space = 0x20;
const byteOrderMark: Buffer = Buffer.from([0xef, 0xbb, 0xbf]);
const lineFeedBytes: Buffer = Buffer.from("\n");
const noData: Buffer = Buffer.alloc(0);
const longestFieldName = "event".length;

/** Where the byte is next; past the end when it isn't, so that the nearer of two is simply the smaller. */
function indexFrom(chunk: Buffer, byte: number, start: number): number {
  const index = chunk.indexOf(byte, start);
  return index < 0 ? chunk.length : index;
}
