import type { TestContext } from "node:test";
import { type SimulatorOptions, startSimulator } from "../../simulator/simulator.ts";
import { openRawStream, type RawStream } from "./raw-stream.ts";
import { openStream, type StreamReader } from "./stream-reader.ts";

// biome-ignore lint/suspicious/noExplicitAny: tests look into JSON of any shape.
export type AnyJson = any;

export interface Answer {
  readonly status: number;
  readonly body: AnyJson;
  readonly headers: Headers;
}

/** A simulator on a free port, and calls to it. Everything ends with the test. */
export async function simulatorWorld(test: TestContext, options: SimulatorOptions = {}) {
  const simulator = await startSimulator({ port: 0, ...options });
  const readers: { close(): void }[] = [];
  test.after(async () => {
    for (const reader of readers) reader.close();
    await simulator.stop();
  });

  const call = async (method: string, path: string, body?: unknown, token?: string): Promise<Answer> => {
    const response = await fetch(simulator.url + path, {
      method,
      headers: token === undefined ? {} : { Authorization: `Bearer ${token}` },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: text === "" ? undefined : JSON.parse(text), headers: response.headers };
  };

  return {
    simulator,
    call,
    /** Makes an account over HTTP, with calls to read its parts. */
    async account(plan?: unknown) {
      const { body } = await call("POST", "/simulator/accounts", plan);
      const { accountId, token } = body as { accountId: string; token: string };
      const control = `/simulator/accounts/${accountId}`;
      return {
        accountId,
        token,
        get: (path: string) => call("GET", path, undefined, token),
        put: (path: string, value: unknown) => call("PUT", path, value, token),
        scene: (scene: string, args: object = {}) => call("POST", `${control}/scene`, { scene, ...args }),
        document: async (): Promise<AnyJson> => (await call("GET", `${control}/document`)).body,
        replace: (document: unknown) => call("PUT", `${control}/document`, document),
        control: (method: string, path: string, body?: unknown) => call(method, `${control}/${path}`, body),
        stream: async (path = "/", otherToken = token): Promise<StreamReader> => {
          const reader = await openStream(simulator.url + path, otherToken);
          readers.push(reader);
          return reader;
        },
        /** A stream as raw bytes, for data that a strict parser would refuse. */
        rawStream: async (path = "/", otherToken = token): Promise<RawStream> => {
          const reader = await openRawStream(simulator.url + path, otherToken);
          readers.push(reader);
          return reader;
        },
        fault: (fault: string, args: object = {}) => call("POST", "/simulator/faults", { fault, accountId, ...args }),
      };
    },
  };
}

/** A manual clock; moving it runs due timers in order. */
export function movedClock(startMs: number) {
  let nowMs = startMs;
  let timers: { dueMs: number; run: () => void }[] = [];
  return {
    nowMs: () => nowMs,
    after: (delayMs: number, run: () => void) => {
      const timer = { dueMs: nowMs + delayMs, run };
      timers.push(timer);
      return () => {
        timers = timers.filter((other) => other !== timer);
      };
    },
    move(byMs: number) {
      const endMs = nowMs + byMs;
      for (;;) {
        const next = timers.filter((timer) => timer.dueMs <= endMs).sort((a, b) => a.dueMs - b.dueMs)[0];
        if (next === undefined) break;
        timers = timers.filter((timer) => timer !== next);
        nowMs = Math.max(nowMs, next.dueMs);
        next.run();
      }
      nowMs = endMs;
    },
    waiting: () => timers.length,
  };
}

/** Waits until the claim holds; the test's own timeout is the deadline. */
export async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setImmediate(resolve));
}

/** The only value of an object with one entry, or the first of several. */
export function first(listing: AnyJson): AnyJson {
  return Object.values(listing)[0];
}
