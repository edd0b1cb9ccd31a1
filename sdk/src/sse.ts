import { UnexpectedAnswer } from "./errors.ts";

/** @internal */
export interface ServerSentMessage {
  readonly event: string;
  readonly data: string;
  /** A new stream can resume after this id. */
  readonly id: string | undefined;
}

/** @internal */
export interface ServerSentMessages {
  readonly messages: readonly ServerSentMessage[];
  /** The reconnection delay (`retry`), if the text that was read holds one. */
  readonly retryMs: number | undefined;
}

/** Limit for one message, in characters: much longer than any message of the service. */
const maxLength = 4_000_000;

/**
 * Incremental parser of Server-Sent Events; the text may be split anywhere. An empty line completes a message. An
 * incomplete message at the end of the stream is dropped.
 * @internal
 */
export class ServerSentReader {
  #rest = "";
  #event = "";
  #data: string[] = [];
  #id: string | undefined;

  read(text: string): ServerSentMessages {
    const messages: ServerSentMessage[] = [];
    let retryMs: number | undefined;
    const lines = (this.#rest + text).split(/\r\n|\n|\r(?!$)/);
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
    // Each line counts, also an empty one.
    const bufferedLength = this.#rest.length + this.#data.reduce((sum, { length }) => sum + length + 1, 0);
    if (bufferedLength > maxLength) throw new UnexpectedAnswer("An event is longer than any of the service's.");
    return { messages, retryMs };
  }
}
