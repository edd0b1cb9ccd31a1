import { createParser, type EventSourceMessage } from "eventsource-parser";
import { Failure } from "../outcome.ts";
import { type RowContext, wait } from "../row-context.ts";
import type { Json } from "./deployment.ts";

export interface ReceivedEvent {
  readonly id: string;
  readonly name: string;
  readonly data: Json;
}

/** A reader of `/v3/events` that keeps all events. */
export class EventStream {
  readonly received: ReceivedEvent[] = [];
  readonly #closing = new AbortController();

  /** Resolves after the first heartbeat, which shows that the stream is open. */
  static async open(context: RowContext, deviceId: number, lastEventId?: string): Promise<EventStream> {
    const { deployment, shared } = context;
    const stream = new EventStream();
    const headers: Record<string, string> = {
      authorization: `Bearer ${shared.tokens!.accessToken}`,
      accept: "text/event-stream",
      ...(lastEventId !== undefined && { "last-event-id": lastEventId }),
    };
    const path = `/v3/events?deviceId=${deviceId}`;
    const answer = await deployment.open(path, headers, stream.#closing.signal).catch(() => undefined);
    const type = answer?.headers.get("content-type") ?? "no answer";
    if (answer?.status !== 200 || !answer.body || !type.startsWith("text/event-stream")) {
      stream.close();
      throw new Failure({
        seen: `GET /v3/events did not open an event stream: ${answer?.status ?? ""} ${type}.`,
        side: "between",
        next: "Call the service directly; a proxy must pass text/event-stream on without buffering.",
      });
    }
    void stream.#read(answer.body).catch(() => undefined);
    await stream.until(context, ({ name }) => name === "heartbeat" || lastEventId !== undefined, "the first heartbeat");
    return stream;
  }

  close(): void {
    this.#closing.abort();
  }

  /** Resolves with the first matching event; fails with a Failure when none comes in time. */
  async until(
    { signal }: RowContext,
    matches: (event: ReceivedEvent) => boolean,
    what: string,
    withinMs = 10_000,
  ): Promise<ReceivedEvent> {
    const untilMs = performance.now() + withinMs;
    for (;;) {
      const event = this.received.find(matches);
      if (event) return event;
      if (performance.now() > untilMs) {
        throw new Failure({
          seen: `The event stream was open, but ${what} did not come within ${withinMs / 1000} seconds.`,
          side: "between",
          next: "Call the service directly: a proxy that buffers responses holds events back.",
        });
      }
      await wait(20, signal);
    }
  }

  async #read(body: ReadableStream<Uint8Array>): Promise<void> {
    const text = new TextDecoder();
    const parser = createParser({ onEvent: (message) => this.#receive(message) });
    for await (const bytes of body) parser.feed(text.decode(bytes, { stream: true }));
  }

  #receive({ id = "", event: name, data }: EventSourceMessage): void {
    if (name === undefined) return;
    try {
      this.received.push({ id, name, data: JSON.parse(data) });
    } catch {
      // An event without JSON is dropped: the row that waits for it reports that it did not come.
    }
  }
}
