import { UnexpectedAnswer } from "./errors.ts";

/** @internal */
export interface ServerSentMessage {
  readonly event: string;
  readonly data: string;
  /** Where a new stream can go on: behind this message. */
  readonly id: string | undefined;
}

/** @internal */
export interface ServerSentMessages {
  readonly messages: readonly ServerSentMessage[];
  /** How soon to come back when the connection is lost, if the stream has said so. */
  readonly retryMs: number | undefined;
}

/** No message of the service is nearly as long. */
const longestMessage = 4_000_000;

/**
 * Reads Server-Sent Events from pieces of text, wherever they were cut. A message counts once its empty line is there:
 * half a message is none.
 * @internal
 */
export class ServerSentReader {
  #rest = "";
  #event = "";
  #data: string[] = [];
  #id: string | undefined;

  read(piece: string): ServerSentMessages {
    const messages: ServerSentMessage[] = [];
    let retryMs: number | undefined;
    const lines = (this.#rest + piece).split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line === "") {
        if (this.#data.length > 0)
          messages.push({ event: this.#event || "message", data: this.#data.join("\n"), id: this.#id });
        this.#event = "";
        this.#data = [];
        continue;
      }
      const [, field = "", value = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
      if (field === "data") this.#data.push(value);
      else if (field === "event") this.#event = value;
      else if (field === "id" && !value.includes("\0")) this.#id = value;
      else if (field === "retry" && /^\d{1,9}$/.test(value)) retryMs = Number(value);
    }
    const held = this.#rest.length + this.#data.reduce((sum, { length }) => sum + length, 0);
    if (held > longestMessage) throw new UnexpectedAnswer("An event is longer than any of the service's.");
    return { messages, retryMs };
  }
}
