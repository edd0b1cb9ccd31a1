import type { Connector, StreamEnd, StreamListener } from "../../src/ecosystems/connector.ts";
import type { Home } from "../../src/home/home.ts";

/** One connection of a connector, with what it reported to its listener. */
export interface Listening {
  /** What the listener received, in order. */
  readonly heard: readonly (Home | "unchanged" | "partial")[];
  /** Resolves when the listener was called this often; rejects when the stream ends before. */
  until(count: number): Promise<void>;
  readonly ended: Promise<StreamEnd>;
  stop(): void;
}

/** `stored`: whether what the listener received is durable. */
export function listen(
  connector: Connector,
  token: string,
  stored = async () => true,
  more: Pick<StreamListener, "slowed" | "doubtful" | "storedThings"> = {},
): Listening {
  const heard: (Home | "unchanged" | "partial")[] = [];
  const waiting = new Set<() => void>();
  const hear = (what: Home | "unchanged" | "partial") => {
    heard.push(what);
    for (const look of [...waiting]) look();
  };
  const listener: StreamListener = {
    home: hear,
    unchanged: () => hear("unchanged"),
    partial: () => hear("partial"),
    stored,
    ...more,
  };
  const controller = new AbortController();
  const ended = connector.follow(token, listener, controller.signal);
  const until = (count: number) =>
    new Promise<void>((resolve, reject) => {
      const look = () => {
        if (heard.length < count) return;
        waiting.delete(look);
        resolve();
      };
      waiting.add(look);
      look();
      ended.then(({ reason }) => reject(new Error(`ended as ${reason} after ${heard.length} of ${count}`)), reject);
    });
  return { heard, until, ended, stop: () => controller.abort() };
}
