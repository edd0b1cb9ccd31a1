import { commonHeaders } from "../open-exchanges.ts";
import type { Answer } from "./answer.ts";

/** How long an idle connection stays open. */
export const keepAliveMs = 72_000;

const noId = "0".repeat(36);

/**
 * An answer that is sent many times: one buffer with the bytes that Node would send, head and body. For each request only
 * the request's id and the date are written into it.
 */
export class PreparedAnswer {
  #bytes: Buffer;
  readonly #bodyAt: number;
  readonly #idAt: number;
  readonly #dateAt: number;
  #date = "";

  constructor({ headers, body }: Omit<Answer, "status">) {
    const length = Buffer.byteLength(body);
    const all = { ...commonHeaders(noId), ...headers, "content-length": String(length) };
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
    const start = `HTTP/1.1 200 OK\r\n${lines.join("")}Date: `;
    const head = `${start}${dateNow()}\r\nConnection: keep-alive\r\nKeep-Alive: timeout=${keepAliveMs / 1_000}\r\n\r\n`;
    this.#bytes = Buffer.concat([Buffer.from(head, "latin1"), Buffer.from(body)]);
    this.#bodyAt = head.length;
    this.#idAt = start.indexOf(noId);
    this.#dateAt = start.length;
  }

  get bodyBytes(): number {
    return this.#bytes.length - this.#bodyAt;
  }

  get body(): Buffer {
    return this.#bytes.subarray(this.#bodyAt);
  }

  /** The bytes to send. The next call overwrites them unless the caller calls `keep`. */
  bytesFor(requestId: string): Buffer {
    const date = dateNow();
    this.#bytes.write(requestId, this.#idAt, "latin1");
    if (date !== this.#date) {
      this.#bytes.write(date, this.#dateAt, "latin1");
      this.#date = date;
    }
    return this.#bytes;
  }

  /** Later calls write into a copy, because the bytes of the last call are still being sent. */
  keep(): void {
    this.#bytes = Buffer.from(this.#bytes);
  }
}

let date = "";

/** Cached for the rest of the second: formatting a date would cost more than the rest of the head. */
function dateNow(): string {
  if (date === "") {
    const now = new Date();
    date = now.toUTCString();
    setTimeout(forgetDate, 1_000 - now.getMilliseconds()).unref();
  }
  return date;
}

function forgetDate(): void {
  date = "";
}
