import { everyAnswer } from "../open-exchanges.ts";
import type { Answer } from "./answer.ts";

/** How long a connection on which nothing is asked stays open. */
export const keepAliveMs = 72_000;

const noId = "0".repeat(36);

/**
 * An answer that is sent many times, as the bytes that Node would make of it, head and body in one piece. Only the
 * request's id and the date are written anew each time.
 */
export class PreparedAnswer {
  #bytes: Buffer;
  readonly #bodyAt: number;
  readonly #idAt: number;
  readonly #dateAt: number;
  #date = "";

  constructor({ headers, body }: Omit<Answer, "status">) {
    const length = Buffer.byteLength(body);
    const all = { ...everyAnswer(noId), ...headers, "content-length": String(length) };
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
    const start = `HTTP/1.1 200 OK\r\n${lines.join("")}Date: `;
    const head = `${start}${dateNow()}\r\nConnection: keep-alive\r\nKeep-Alive: timeout=${keepAliveMs / 1_000}\r\n\r\n`;
    this.#bytes = Buffer.concat([Buffer.from(head, "latin1"), Buffer.from(body)]);
    this.#bodyAt = head.length;
    this.#idAt = start.indexOf(noId);
    this.#dateAt = start.length;
  }

  get body(): Buffer {
    return this.#bytes.subarray(this.#bodyAt);
  }

  /** Good until the next time; whoever needs them for longer says so with `keep`. */
  bytesFor(requestId: string): Buffer {
    const date = dateNow();
    this.#bytes.write(requestId, this.#idAt, "latin1");
    if (date !== this.#date) {
      this.#bytes.write(date, this.#dateAt, "latin1");
      this.#date = date;
    }
    return this.#bytes;
  }

  /** Whoever was handed the bytes last still needs them as they are. */
  keep(): void {
    this.#bytes = Buffer.from(this.#bytes);
  }
}

let date = "";

/** Asking the clock for each answer would cost more than all else about its head. */
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
