import { rmSync } from "node:fs";
import type { TestContext } from "node:test";
import { attributeEntry } from "../../src/devices/log-entries.ts";
import type { EventWriter } from "../../src/events/event-reader.ts";
import { eventsOn } from "../../src/events/events.ts";
import { StoreUnavailable } from "../../src/model/errors.ts";
import { OutgoingCalls } from "../../src/runtime/network/outgoing-calls.ts";
import type { Store } from "../../src/store/seam.ts";
import { openSqlite } from "../../src/store/sqlite/store.ts";
import { makeHome } from "../contracts/store/home.ts";
import { flushPromises, manualRuntime } from "../federation/manual-runtime.ts";
import { newDataFolder } from "../set-up/sqlite-template.ts";

/** Ada's lamp on SQLite, and streams of its changes, on a clock that the test moves. */
export async function madeEvents(t: TestContext) {
  const folder = await newDataFolder("breezeway-joining-");
  const runtime = manualRuntime();
  const opened = await openSqlite({ folder, nowMs: runtime.nowMs });
  const { tenantId, userId, devices, byClient } = await makeHome(opened);
  const deviceId = devices[0]!;
  const fail = { reads: false, revocations: false };
  const onRevocationsRead: { act?: (() => void) | undefined } = {};
  const ifOn = (isOn: boolean) => (isOn ? Promise.reject(new StoreUnavailable("The test says so.")) : undefined);
  /** While it is set, each read of the log waits for it after its result is there. */
  const hold: { afterRead?: (() => Promise<void>) | undefined } = {};
  const store: Store = {
    isShared: false,
    transaction: (body, priority) => opened.transaction(body, priority),
    async read(body, priority) {
      const result = await (ifOn(fail.reads) ?? opened.read(body, priority));
      await hold.afterRead?.();
      return result;
    },
  };
  const events = eventsOn({
    store,
    runtime,
    outgoing: new OutgoingCalls({ timers: runtime }),
    logDays: 7,
    streamsAtOnce: 16,
    sealing: { seal: (text) => text, open: (text) => text },
    allowsPrivateWebhooks: false,
    userAgent: "test",
    turn: flushPromises,
    revocationsRead: async () => {
      await ifOn(fail.revocations);
      onRevocationsRead.act?.();
    },
  });
  t.after(async () => {
    // A running round waits for its turn.
    const stopped = events.stop();
    await runtime.advance(0);
    await stopped;
    await opened.close();
    rmSync(folder, { recursive: true });
  });
  return {
    fail,
    failures: () => runtime.logLines.filter(({ level }) => level === "warn").length,
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
      const hasExpired = () => false;
      events.follow({ clientId: "client", accessScope, filter, beginning, hasExpired, heartbeatSeconds }, writer);
      while (events.hub.readers === before) {
        t.signal.throwIfAborted();
        await flushPromises();
      }
      return writer;
    },
    /** Appends changes of the lamp, a second apart, that happened an hour ago. */
    async fill(count: number) {
      const firstMs = runtime.nowMs() - 3_600_000;
      const entries = Array.from({ length: count }, (_, i) =>
        attributeEntry(userId, deviceId, firstMs + i * 1_000, byClient, [{ key: "power", value: `old ${i}` }]),
      );
      await opened.transaction((tx) => tx.log.appendAll(entries));
      return firstMs;
    },
    /** Opens a stream that resumes; it catches up while the test lets time pass. */
    async resume(lastEventId: string, { heartbeatSeconds, hasExpired = () => false }: ResumePlan = {}) {
      const writer = new RecordingWriter();
      const beginning = await events.beginning(lastEventId, heartbeatSeconds);
      const accessScope = { kind: "user", userId, tenantId } as const;
      const filter = { deviceIds: [], attributes: [] };
      events.follow({ clientId: "client", accessScope, filter, beginning, hasExpired, heartbeatSeconds }, writer);
      return writer;
    },
    hold,
    onRevocationsRead,
    elapsedMs: runtime.elapsedMs,
    nowMs: runtime.nowMs,
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

interface ResumePlan {
  readonly heartbeatSeconds?: number;
  readonly hasExpired?: () => boolean;
}

interface Heartbeat {
  readonly time: number;
  readonly everySeconds?: number;
  readonly catchingUp?: boolean;
}

class RecordingWriter implements EventWriter {
  readonly unsentBytes = 0;
  isEnded = false;
  readonly #closed = new AbortController();
  readonly closed = this.#closed.signal;
  #text = "";

  write(bytes: Buffer): void {
    if (!this.isEnded) this.#text += bytes.toString();
  }

  drained = async () => true;
  end(): void {
    this.isEnded = true;
    this.#closed.abort();
  }

  get lastEventId(): string {
    return (
      this.#text
        .match(/^id: .*$/gm)
        ?.at(-1)
        ?.slice(4) ?? ""
    );
  }

  /** The values of the lamp's attribute, event by event. */
  values(): readonly unknown[] {
    return [...this.#text.matchAll(/^event: attribute\ndata: (.*)$/gm)].map(([, data]) => JSON.parse(data!).value);
  }

  heartbeats(): readonly Heartbeat[] {
    return [...this.#text.matchAll(/^event: heartbeat\ndata: (.*)$/gm)].map(([, data]) => JSON.parse(data!));
  }
}
