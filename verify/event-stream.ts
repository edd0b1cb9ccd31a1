import type { Json } from "./deployment.ts";
import { Failure } from "./outcome.ts";
import { type Verification, wait } from "./verification.ts";

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
  static async open(verification: Verification, deviceId: number, lastEventId?: string): Promise<EventStream> {
    const { deployment, found } = verification;
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
    await stream.until(
      verification,
      ({ name }) => name === "heartbeat" || lastEventId !== undefined,
      "the first heartbeat",
    );
    return stream;
  }

  close(): void {
    this.#closing.abort();
  }

  /** The first event that is meant. */
  async until(
    { signal }: Verification,
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
    let unread = "";
    for await (const bytes of body) {
      const frames = (unread + text.decode(bytes, { stream: true })).split("\n\n");
      unread = frames.pop() ?? "";
      for (const frame of frames) this.#hear(frame);
    }
  }

  /** A frame without a name is a comment, or tells how soon to come back. */
  #hear(frame: string): void {
    const fields = new Map<string, string>();
    for (const line of frame.split("\n")) {
      const [, field = "", value = ""] = /^([a-z]+): ?(.*)$/.exec(line) ?? [];
      fields.set(field, value);
    }
    const name = fields.get("event");
    if (name === undefined) return;
    try {
      this.heard.push({ id: fields.get("id") ?? "", name, data: JSON.parse(fields.get("data") ?? "null") });
    } catch {
      // What can't be read was not told; whoever waits for it says so.
    }
  }
}
