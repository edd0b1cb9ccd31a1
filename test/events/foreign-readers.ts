import { createRequire } from "node:module";
import { EventSource } from "eventsource";
import { createEventSource } from "eventsource-client";

const LaunchDarklySource = createRequire(import.meta.url)("launchdarkly-eventsource").EventSource;

/** What a client that others have written has heard: its `attribute` events, in order, and what else matters. */
export interface ForeignReader {
  readonly client: string;
  readonly events: { readonly id: string; readonly value: string }[];
  readonly resyncs: unknown[];
  heartbeats: number;
  /** The first heartbeat has come: from here on everything is told. */
  readonly opened: Promise<void>;
  /** Resolves when so many events were heard. */
  until(count: number): Promise<void>;
  close(): void;
}

type Hear = (name: string, id: string, data: string) => void;

export function foreignReaders(url: string, token: string): readonly ForeignReader[] {
  return [ofEventSource(url, token), ofEventSourceClient(url, token), ofLaunchDarkly(url, token)];
}

const names = ["attribute", "heartbeat", "resync"];

/**
 * As the standard tells it, it gives up for good when it is answered with an error, as a proxy does while there is no
 * service behind it. A program then makes a new one that goes on behind the last id.
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

function reading(client: string, close: () => void): { readonly reader: ForeignReader; readonly hear: Hear } {
  const opened = Promise.withResolvers<void>();
  const waiting: { readonly count: number; readonly resolve: () => void }[] = [];
  const reader: ForeignReader = {
    client,
    events: [],
    resyncs: [],
    heartbeats: 0,
    opened: opened.promise,
    until: (count) =>
      reader.events.length >= count
        ? Promise.resolve()
        : new Promise((resolve) => void waiting.push({ count, resolve })),
    close,
  };
  const hear: Hear = (name, id, data) => {
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
