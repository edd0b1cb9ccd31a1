import { type IncomingMessage, request } from "node:http";

/** A stream as raw bytes, for data that a strict parser would refuse. */
export interface RawStream {
  readonly response: IncomingMessage;
  /** The text received so far. */
  readonly text: () => string;
  /** The received chunks. */
  readonly pieces: readonly Buffer[];
  /** Resolves when the received text satisfies the predicate; fails when the stream ends before. */
  until(isComplete: (text: string) => boolean): Promise<string>;
  /** Resolves when the stream is over: ended properly, or broken. */
  readonly over: Promise<"ended" | "broken">;
  close(): void;
}

export async function openRawStream(url: string, token: string): Promise<RawStream> {
  const headers = { Accept: "text/event-stream", Authorization: `Bearer ${token}` };
  const sent = request(url, { headers, agent: false });
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    sent.on("response", resolve).on("error", reject).end();
  });
  sent.on("error", () => {});
  const pieces: Buffer[] = [];
  let watchers: (() => void)[] = [];
  let isOver = false;
  const wake = () => {
    for (const watcher of watchers.splice(0)) watcher();
  };
  response.on("data", (bytes: Buffer) => {
    pieces.push(bytes);
    wake();
  });
  const over = new Promise<"ended" | "broken">((resolve) => {
    response.on("error", () => resolve("broken"));
    response.on("end", () => resolve("ended"));
    response.on("close", () => {
      isOver = true;
      wake();
    });
  });
  const text = () => Buffer.concat(pieces).toString("utf8");
  return {
    response,
    text,
    pieces,
    over,
    async until(isComplete) {
      while (!isComplete(text())) {
        if (isOver) throw new Error(`the stream is over after ${JSON.stringify(text().slice(-200))}`);
        await new Promise<void>((resolve) => watchers.push(resolve));
      }
      return text();
    },
    close: () => {
      watchers = [];
      response.destroy();
    },
  };
}
