import { createParser, type EventSourceMessage } from "eventsource-parser";
import { Failure } from "../outcome.ts";
import { type RowContext, wait } from "../row-context.ts";
import type { Json } from "./deployment.ts";

export interface HeardEvent {
  readonly id: string;
  readonly name: string;
  readonly data: Json;
}

/** A reader of `/v3/events` that keeps what it hears. */
export class EventStream {
  readonly heard: HeardEvent[] = [];
  readonly #closing = new AbortController();

  /** Resolves when the first heartbeat has said that the stream is there. */
  static async open(context: RowContext, deviceId: number, lastEventId?: string): Promise<EventStream> {
    const { deployment, found } = context;
    const stream = new EventStream();
    const headers: Record<string, string> = {
      authorization: `Bearer ${found.tokens!.accessToken}`,
      accept: "text/event-stream",
      ...(lastEventId !== undefined && { "last-event-id": lastEventId }),
    };
    const path = `/v3/events?deviceId=${deviceId}`;
    const answer = await deployment.open(path, headers, stream.#closing.signal).catch(() => undefined);
    const type = answer?.headers.get("content-type") ?? "no answer";
    if (answer?.status !== 200 || !answer.body || !type.startsWith("text/event-stream")) {
      stream.close();
      throw new Failure({
        seen: `GET /v3/events gave no stream of events: ${answer?.status ?? ""} ${type}.`,
        side: "between",
        next: "Ask the service itself, without what stands before it; a proxy must pass text/event-stream on unbuffered.",
      });
    }
    void stream.#read(answer.body).catch(() => undefined);
    await stream.until(context, ({ name }) => name === "heartbeat" || lastEventId !== undefined, "the first heartbeat");
    return stream;
  }

  close(): void {
    this.#closing.abort();
  }

  /** The first event that is meant. */
  async until(
    { signal }: RowContext,
    isMeant: (event: HeardEvent) => boolean,
    what: string,
    withinMs = 10_000,
  ): Promise<HeardEvent> {
    const untilMs = performance.now() + withinMs;
    for (;;) {
      const event = this.heard.find(isMeant);
      if (event) return event;
      if (performance.now() > untilMs) {
        throw new Failure({
          seen: `The stream of events was open, but ${what} did not come within ${withinMs / 1000} seconds.`,
          side: "between",
          next: "Ask the service itself, without what stands before it: a proxy that buffers answers holds events back.",
        });
      }
      await wait(20, signal);
    }
  }

  async #read(body: ReadableStream<Uint8Array>): Promise<void> {
    const text = new TextDecoder();
    const parser = createParser({ onEvent: (message) => this.#hear(message) });
    for await (const bytes of body) parser.feed(text.decode(bytes, { stream: true }));
  }

  #hear({ id = "", event: name, data }: EventSourceMessage): void {
    if (name === undefined) return;
    try {
      this.heard.push({ id, name, data: JSON.parse(data) });
    } catch {
      // An event that is no JSON does not count as heard: the row that waits for it reports that it did not come.
    }
  }
}
