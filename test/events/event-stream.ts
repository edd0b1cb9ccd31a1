export interface ReceivedEvent {
  readonly id: string;
  readonly name: string;
  // biome-ignore lint/suspicious/noExplicitAny: the shape is what the tests look at
  readonly data: any;
}

export interface StreamPlan {
  readonly query?: string;
  readonly lastEventId?: string;
}

/** A reader of `/v3/events` that records all events, and whose connection a test can pause and resume. */
export class EventStream {
  readonly received: ReceivedEvent[] = [];
  readonly answer: Response;
  readonly #abort: AbortController;
  /** Resolves when the service has ended the stream. */
  readonly ended: Promise<void>;
  #changed = Promise.withResolvers<void>();

  private constructor(answer: Response, abort: AbortController) {
    this.answer = answer;
    this.#abort = abort;
    this.ended = this.#read();
  }

  static async open(
    baseUrl: string,
    token: string,
    { query = "", lastEventId }: StreamPlan = {},
  ): Promise<EventStream> {
    const abort = new AbortController();
    const headers: Record<string, string> = { authorization: `Bearer ${token}` };
    if (lastEventId !== undefined) headers["last-event-id"] = lastEventId;
    const answer = await fetch(`${baseUrl}/v3/events${query}`, { headers, signal: abort.signal });
    if (answer.status !== 200) throw new Error(`no stream: ${answer.status} ${await answer.text()}`);
    return new EventStream(answer, abort);
  }

  /** All events except heartbeats. */
  get events(): readonly ReceivedEvent[] {
    return this.received.filter(({ name }) => name !== "heartbeat");
  }

  get lastEventId(): string {
    return this.received.at(-1)?.id ?? "";
  }

  close(): void {
    this.#abort.abort();
  }

  /** The events, when this many of them match. */
  async until(
    count: number,
    counts = (event: ReceivedEvent) => event.name !== "heartbeat",
  ): Promise<readonly ReceivedEvent[]> {
    for (;;) {
      const counted = this.received.filter(counts);
      if (counted.length >= count) return counted;
      await this.#changed.promise;
    }
  }

  async #read(): Promise<void> {
    const text = new TextDecoder();
    let unread = "";
    try {
      for await (const bytes of this.answer.body!) {
        const frames = (unread + text.decode(bytes, { stream: true })).split("\n\n");
        unread = frames.pop()!;
        for (const frame of frames) this.#receive(frame);
        this.#tell();
      }
    } catch (error) {
      if (!this.#abort.signal.aborted) throw error;
    }
  }

  /** A frame without a name is a comment or the retry time. */
  #receive(frame: string): void {
    const fields = new Map(frame.split("\n").map((line) => [line.split(": ", 1)[0]!, line.replace(/^.*?: /, "")]));
    const name = fields.get("event");
    if (name) this.received.push({ id: fields.get("id") ?? "", name, data: JSON.parse(fields.get("data") ?? "null") });
  }

  #tell(): void {
    const { resolve } = this.#changed;
    this.#changed = Promise.withResolvers();
    resolve();
  }
}
