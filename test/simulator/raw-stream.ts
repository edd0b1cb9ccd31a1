import { type IncomingMessage, request } from "node:http";

/** A stream as bytes: for what a strict reader would refuse. */
export interface RawStream {
  readonly response: IncomingMessage;
  /** What has come so far. */
  readonly text: () => string;
  /** How the bytes came in pieces. */
  readonly pieces: readonly Buffer[];
  /** Resolves as soon as what has come satisfies the claim; fails when the stream is over before. */
  until(claim: (text: string) => boolean): Promise<string>;
  /** Resolves when the stream is over: ended in order, or broken off. */
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
    async until(claim) {
      while (!claim(text())) {
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
