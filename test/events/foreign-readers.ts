import { createRequire } from "node:module";
import { EventSource } from "eventsource";
import { createEventSource } from "eventsource-client";
import { events as eventsIn } from "fetch-event-stream";
import { hasAllForeign } from "../set-up/extent.ts";

const require = createRequire(import.meta.url);
const LaunchDarklySource = require("launchdarkly-eventsource").EventSource;
const { fetchEventSource } = require("@microsoft/fetch-event-source") as typeof import("@microsoft/fetch-event-source");

/** What a third-party client has received: its `attribute` events, in order, and other facts. */
export interface ForeignReader {
  readonly client: string;
  readonly events: { readonly id: string; readonly value: string }[];
  readonly resyncs: unknown[];
  heartbeats: number;
  /** Messages without a name or without data; the service sends none. */
  empty: number;
  /** Resolves at the first heartbeat: from then on every event is sent. */
  readonly opened: Promise<void>;
  /** Resolves when this many events were received. */
  until(count: number): Promise<void>;
  close(): void;
}

type Hear = (name: string, id: string, data: string) => void;

export function foreignReaders(url: string, token: string): readonly ForeignReader[] {
  const others = [ofEventSourceClient, ofLaunchDarkly, ofFetchEventSource, ofFetchEventStream];
  return [ofEventSource, ...(hasAllForeign ? others : [])].map((open) => open(url, token));
}

/** `message` is the name of events without a name. */
const names = ["attribute", "heartbeat", "resync", "message"];

/**
 * As the standard says, it gives up for good after an error answer, such as a proxy's while no service runs. A program
 * then opens a new one with the last id.
 */
export function ofEventSource(url: string, token: string): ForeignReader {
  let lastId = "";
  let source: EventSource;
  let isClosed = false;
  const { reader, hear } = reading("eventsource", () => {
    isClosed = true;
    source.close();
  });
  const open = () => {
    source = new EventSource(lastId === "" ? url : `${url}?lastEventId=${lastId}`, {
      fetch: (address, init) =>
        fetch(address, { ...init, headers: { ...init.headers, authorization: `Bearer ${token}` } }),
    });
    for (const name of names) {
      source.addEventListener(name, (event) => {
        lastId = event.lastEventId;
        hear(name, event.lastEventId, event.data);
      });
    }
    source.addEventListener("error", ({ target }) => {
      if ((target as EventSource).readyState === EventSource.CLOSED && !isClosed) setTimeout(open, 100);
    });
  };
  open();
  return reader;
}

function ofEventSourceClient(url: string, token: string): ForeignReader {
  const source = createEventSource({
    url,
    headers: { authorization: `Bearer ${token}` },
    onMessage: ({ event = "", id = "", data }) => hear(event, id, data),
  });
  const { reader, hear } = reading("eventsource-client", () => source.close());
  return reader;
}

function ofLaunchDarkly(url: string, token: string): ForeignReader {
  const source = new LaunchDarklySource(url, {
    headers: { authorization: `Bearer ${token}` },
    initialRetryDelayMillis: 100,
  });
  // Without a listener a broken connection would end the process.
  source.onerror = () => undefined;
  const { reader, hear } = reading("launchdarkly-eventsource", () => source.close());
  for (const name of names) {
    source.addEventListener(name, (event: { lastEventId: string; data: string }) =>
      hear(name, event.lastEventId, event.data),
    );
  }
  return reader;
}

/** It treats every block as a message, also one without data. It is made for browsers, and looks for a page. */
function ofFetchEventSource(url: string, token: string): ForeignReader {
  const page = { addEventListener: () => undefined, removeEventListener: () => undefined };
  Object.assign(globalThis, { window: globalThis, document: page });
  const closing = new AbortController();
  const { reader, hear } = reading("@microsoft/fetch-event-source", () => closing.abort());
  void fetchEventSource(url, {
    headers: { authorization: `Bearer ${token}` },
    openWhenHidden: true,
    signal: closing.signal,
    onmessage: ({ event, id, data }) => hear(event, id, data),
    onerror: () => 100,
    onclose() {
      throw new Error("the stream ended, and is opened again");
    },
  });
  return reader;
}

/** It reads one answer; a program reconnects by itself. It treats a block without data as a message. */
function ofFetchEventStream(url: string, token: string): ForeignReader {
  const closing = new AbortController();
  const { signal } = closing;
  const { reader, hear } = reading("fetch-event-stream", () => closing.abort());
  const headers: Record<string, string> = { authorization: `Bearer ${token}` };
  const read = async () => {
    const answer = await fetch(url, { headers, signal });
    if (answer.status !== 200) return;
    for await (const { event = "", id = "", data = "" } of eventsIn(answer, signal)) {
      headers["last-event-id"] = String(id);
      hear(event, String(id), data);
    }
  };
  void (async () => {
    while (!signal.aborted) {
      await read().catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  })();
  return reader;
}

function reading(client: string, close: () => void): { readonly reader: ForeignReader; readonly hear: Hear } {
  const opened = Promise.withResolvers<void>();
  const waiting: { readonly count: number; readonly resolve: () => void }[] = [];
  const reader: ForeignReader = {
    client,
    events: [],
    resyncs: [],
    heartbeats: 0,
    empty: 0,
    opened: opened.promise,
    until: (count) =>
      reader.events.length >= count
        ? Promise.resolve()
        : new Promise((resolve) => void waiting.push({ count, resolve })),
    close,
  };
  const hear: Hear = (name, id, data) => {
    if (name === "" || name === "message" || data === "") reader.empty += 1;
    if (name === "heartbeat") {
      reader.heartbeats += 1;
      opened.resolve();
    }
    if (name === "resync") reader.resyncs.push(JSON.parse(data));
    if (name === "attribute") reader.events.push({ id, value: JSON.parse(data).value });
    for (const { count, resolve } of waiting) if (reader.events.length >= count) resolve();
  };
  return { reader, hear };
}
