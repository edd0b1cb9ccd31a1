import type { Readable } from "node:stream";
import { limits } from "../../model/limits.ts";
import { refusals } from "../answer/refusal.ts";

/** A line of a body. One that can't be read has a problem and no text that could be parsed. */
export interface BodyLine {
  readonly text: string;
  readonly problem?: string;
}

const newline = 0x0a;

/**
 * Reads a body of lines (NDJSON) as a stream: a chunk is read only when a line is needed that has not arrived, so that
 * a slow reader of lines holds the sender back. Blank lines are left out.
 */
export class LineReader {
  readonly #chunks: AsyncIterator<Buffer>;
  readonly #mostBytes: number;
  readonly #waiting: BodyLine[] = [];
  /** The pieces of a line whose end has not arrived; they are dropped once the line is too long. */
  #pieces: Buffer[] = [];
  #pieceBytes = 0;
  #bytes = 0;
  #isOver = false;

  constructor(body: Readable, mostBytes: number) {
    // The body stays open for an answer that ends early: destroying it would cut the connection.
    this.#chunks = body.iterator({ destroyOnReturn: false });
    this.#mostBytes = mostBytes;
  }

  /** Waits for `atLeast` lines or the end, and returns up to `most` lines without taking them. */
  async peek(atLeast: number, most: number): Promise<readonly BodyLine[]> {
    while (this.#waiting.length < atLeast && !this.#isOver) await this.#read();
    return this.#waiting.slice(0, most);
  }

  take(count: number): void {
    this.#waiting.splice(0, count);
  }

  async #read(): Promise<void> {
    const { value: chunk, done } = await this.#chunks.next();
    if (done) {
      this.#isOver = true;
      this.#endLine();
      return;
    }
    this.#bytes += chunk.length;
    if (this.#bytes > this.#mostBytes) throw refusals.bodyTooLarge(this.#mostBytes);
    let from = 0;
    for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, from)) {
      this.#add(chunk.subarray(from, at));
      this.#endLine();
      from = at + 1;
    }
    this.#add(chunk.subarray(from));
  }

  #add(piece: Buffer): void {
    if (piece.length === 0) return;
    this.#pieceBytes += piece.length;
    if (this.#pieceBytes > limits.batchLineBytes) this.#pieces = [];
    else this.#pieces.push(piece);
  }

  #endLine(): void {
    const [pieces, bytes] = [this.#pieces, this.#pieceBytes];
    this.#pieces = [];
    this.#pieceBytes = 0;
    if (bytes > limits.batchLineBytes) {
      this.#waiting.push({ text: "", problem: `The line is longer than ${limits.batchLineBytes} bytes.` });
      return;
    }
    const text = decode(pieces);
    if (text === undefined) this.#waiting.push({ text: "", problem: "The line isn't UTF-8." });
    else if (text.trim() !== "") this.#waiting.push({ text });
  }
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

function decode(pieces: readonly Buffer[]): string | undefined {
  try {
    return utf8.decode(pieces.length === 1 ? pieces[0] : Buffer.concat(pieces));
  } catch {
    return undefined;
  }
}
