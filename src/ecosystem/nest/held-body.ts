import type { IncomingMessage } from "node:http";
import type { OnReadOpts, Socket } from "node:net";
import { ChunkedBody } from "./chunked-body.ts";

/**
 * All held streams read into this one buffer. A buffer for each read would be garbage outside of the engine's memory, and
 * that of some hundred full accounts sets off a collection of everything.
 */
const shared: Buffer = Buffer.allocUnsafeSlow(64 * 1024);

/** Who hears a body. A piece is good until the call returns: what is to be kept must be copied. */
export interface BodyListener {
  piece(bytes: Buffer): void;
  /** It has said that it ends here. A connection that breaks off is told by the response. */
  ended(): void;
}

/**
 * The body of an answer that is held for hours. Node's parser reads its head; what follows goes past it, since for each
 * piece it would make such a buffer again and send it through a stream of its own. An answer that we can't read in this way
 * is left to the parser.
 */
export class HeldBody {
  /** How its socket is to read. */
  readonly onread: OnReadOpts;
  readonly #socket: () => Socket;
  #response: IncomingMessage | undefined;
  /** How much of the end of a head has come: it may be cut anywhere. */
  #headEnd = 0;
  /** What takes the body's bytes, once the head is read; undefined when the parser does. */
  #decode: ((bytes: Buffer) => void) | undefined;
  #listener: BodyListener | undefined;
  /** What came before anybody listened. */
  #early: Buffer[] = [];

  constructor(socket: () => Socket) {
    this.#socket = socket;
    this.onread = {
      buffer: shared,
      callback: (length) => {
        this.#take(shared.subarray(0, length));
        return true;
      },
    };
  }

  /** To be told while the parser is given the last byte of the head. */
  begin(response: IncomingMessage): void {
    this.#response = response;
    if (response.statusCode !== 200 || this.#headEnd < headEnd.length) return;
    this.#decode = this.#decoderFor(response);
    // Nothing comes that way any more but the end.
    if (this.#decode) response.resume();
  }

  listen(listener: BodyListener): void {
    this.#listener = listener;
    if (!this.#decode) this.#response?.on("data", (bytes: Buffer) => listener.piece(bytes));
    const early = this.#early;
    this.#early = [];
    for (const bytes of early) this.#decode?.(bytes);
  }

  pause(): void {
    (this.#decode ? this.#socket() : this.#response)?.pause();
  }

  resume(): void {
    (this.#decode ? this.#socket() : this.#response)?.resume();
  }

  #take(bytes: Buffer): void {
    let at = 0;
    while (!this.#response && at < bytes.length) {
      const end = this.#endOfHead(bytes, at);
      this.#socket().emit("data", bytes.subarray(at, end));
      at = end;
    }
    if (at === bytes.length) return;
    const rest = bytes.subarray(at);
    if (!this.#decode) this.#socket().emit("data", rest);
    else if (this.#listener) this.#decode(rest);
    else this.#early.push(Buffer.from(rest));
  }

  /** Behind the empty line, or behind all there is. */
  #endOfHead(bytes: Buffer, start: number): number {
    if (this.#headEnd === headEnd.length) this.#headEnd = 0;
    for (let at = start; at < bytes.length; at++) {
      const byte = bytes[at];
      this.#headEnd = byte === headEnd[this.#headEnd] ? this.#headEnd + 1 : byte === headEnd[0] ? 1 : 0;
      if (this.#headEnd === headEnd.length) return at + 1;
    }
    return bytes.length;
  }

  #decoderFor({ headers }: IncomingMessage): ((bytes: Buffer) => void) | undefined {
    const { "transfer-encoding": encoding, "content-length": length } = headers;
    const give = (bytes: Buffer) => this.#listener?.piece(bytes);
    if (length !== undefined) return undefined;
    if (encoding === undefined) return give;
    if (encoding.toLowerCase() !== "chunked") return undefined;
    const chunked = new ChunkedBody(give);
    return (bytes) => {
      const state = chunked.take(bytes);
      if (state === "ended") this.#listener?.ended();
      else if (state === "broken") this.#response?.destroy();
    };
  }
}

const headEnd: Buffer = Buffer.from("\r\n\r\n");
