import { type IncomingMessage, request } from "node:http";

export interface StreamEvent {
  readonly event: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into JSON of any shape.
  readonly data: any;
}

/** A strict reader of server-sent events: it accepts only the two lines that each frame must have. */
export interface StreamReader {
  readonly status: number;
  readonly contentType: string | undefined;
  /** The next event; fails when the stream is over. */
  next(): Promise<StreamEvent>;
  /** Resolves when the stream is over: ended properly, or broken. */
  readonly over: Promise<"ended" | "broken">;
  close(): void;
}

export async function openStream(url: string, token: string): Promise<StreamReader> {
  const headers = { Accept: "text/event-stream", Authorization: `Bearer ${token}` };
  const sent = request(url, { headers, agent: false });
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    sent.on("response", resolve).on("error", reject).end();
  });
  sent.on("error", () => {});
  const events: StreamEvent[] = [];
  const waiting: { resolve: (event: StreamEvent) => void; reject: (error: Error) => void }[] = [];
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let pending = "";
  let failure: Error | undefined;

  const take = (bytes: Uint8Array) => {
    pending += decoder.decode(bytes, { stream: true });
    const frames = pending.split("\n\n");
    pending = frames.pop()!;
    for (const text of frames) {
      const event = parseFrame(text);
      const reader = waiting.shift();
      if (reader) reader.resolve(event);
      else events.push(event);
    }
  };
  const fail = (error: Error) => {
    failure ??= error;
    for (const reader of waiting.splice(0)) reader.reject(failure);
  };
  response.on("data", (bytes) => {
    try {
      take(bytes);
    } catch (error) {
      fail(error as Error);
    }
  });
  const over = new Promise<"ended" | "broken">((resolve) => {
    response.on("error", () => resolve("broken"));
    response.on("end", () => resolve("ended"));
    response.on("close", () => fail(new Error("the stream is over")));
  });

  return {
    status: response.statusCode!,
    contentType: response.headers["content-type"],
    next: () => {
      const event = events.shift();
      if (event !== undefined) return Promise.resolve(event);
      if (failure !== undefined) return Promise.reject(failure);
      return new Promise((resolve, reject) => waiting.push({ resolve, reject }));
    },
    over,
    close: () => response.destroy(),
  };
}

function parseFrame(text: string): StreamEvent {
  const match = /^event: ([a-z_-]+)\ndata: ([^\r\n]*)$/.exec(text);
  if (match === null) throw new Error(`not a frame: ${JSON.stringify(text.slice(0, 200))}`);
  return { event: match[1]!, data: JSON.parse(match[2]!) };
}
