import { rmSync } from "node:fs";
import type { TestContext } from "node:test";
import { attributeEntry } from "../../src/devices/log-entries.ts";
import type { EventWriter } from "../../src/events/event-reader.ts";
import { eventsOn } from "../../src/events/events.ts";
import { StoreUnavailable } from "../../src/model/errors.ts";
import type { Store } from "../../src/store/seam.ts";
import { openSqlite } from "../../src/store/sqlite/store.ts";
import { makeHome } from "../contracts/store/home.ts";
import { movedRuntime, settled } from "../federation/moved-runtime.ts";
import { newDataFolder } from "../set-up/sqlite-template.ts";

/** Ada's lamp on SQLite, and streams of its changes, on a clock that the test moves. */
export async function madeEvents(t: TestContext) {
  const folder = await newDataFolder("breezeway-joining-");
  const runtime = movedRuntime();
  const opened = await openSqlite({ folder, nowMs: runtime.nowMs });
  const { tenantId, userId, devices, byClient } = await makeHome(opened);
  const deviceId = devices[0]!;
  const fail = { reads: false, revocations: false };
  const ifOn = (isOn: boolean) => (isOn ? Promise.reject(new StoreUnavailable("The test says so.")) : undefined);
  const store: Store = {
    isShared: false,
    transaction: (body, priority) => opened.transaction(body, priority),
    read: (body, priority) => ifOn(fail.reads) ?? opened.read(body, priority),
  };
  const events = eventsOn({
    store,
    runtime,
    logDays: 7,
    streamsAtOnce: 16,
    sealing: { seal: (text) => text, open: (text) => text },
    allowsPrivateWebhooks: false,
    userAgent: "test",
    revocationsRead: async () => ifOn(fail.revocations),
  });
  t.after(async () => {
    await events.stop();
    await opened.close();
    rmSync(folder, { recursive: true });
  });
  return {
    fail,
    failures: () => runtime.said.filter(({ level }) => level === "warn").length,
    async change(value: string) {
      const changes = [{ key: "power", value }];
      const entry = attributeEntry(userId, deviceId, runtime.nowMs(), byClient, changes);
      await opened.transaction((tx) => tx.log.append(entry));
      events.hub.wake();
    },
    /** Opens a stream; resolves when it has caught up and waits for the hub's next read. */
    async join(heartbeatSeconds?: number) {
      const before = events.hub.readers;
      const writer = new RecordingWriter();
      const beginning = await events.beginning(undefined, heartbeatSeconds);
      const accessScope = { kind: "user", userId, tenantId } as const;
      const filter = { deviceIds: [], attributes: [] };
      const untilMs = Number.POSITIVE_INFINITY;
      events.follow({ clientId: "client", accessScope, filter, beginning, untilMs, heartbeatSeconds }, writer);
      while (events.hub.readers === before) {
        t.signal.throwIfAborted();
        await settled();
      }
      return writer;
    },
    advance: runtime.advance,
    /** Moves the clock until the condition is true. */
    async until(isSo: () => boolean) {
      while (!isSo()) {
        t.signal.throwIfAborted();
        await runtime.advance(50);
      }
    },
  };
}

class RecordingWriter implements EventWriter {
  readonly unsentBytes = 0;
  readonly closed = new AbortController().signal;
  #text = "";

  write(bytes: Buffer): void {
    this.#text += bytes.toString();
  }

  drained = async () => true;
  end(): void {}

  /** The values of the lamp's attribute, event by event. */
  values(): readonly unknown[] {
    return [...this.#text.matchAll(/^event: attribute\ndata: (.*)$/gm)].map(([, data]) => JSON.parse(data!).value);
  }

  heartbeats(): readonly { readonly everySeconds?: number }[] {
    return [...this.#text.matchAll(/^event: heartbeat\ndata: (.*)$/gm)].map(([, data]) => JSON.parse(data!));
  }
}
