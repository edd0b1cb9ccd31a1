import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { attributeEntry } from "../../src/devices/log-entries.ts";
import type { EventOutlet } from "../../src/events/event-reader.ts";
import { eventsOn } from "../../src/events/events.ts";
import { StoreUnavailable } from "../../src/model/errors.ts";
import type { Store } from "../../src/store/seam.ts";
import { openSqlite } from "../../src/store/sqlite/store.ts";
import { makeHome } from "../contracts/store/home.ts";
import { movedSurroundings, settled } from "../federation/moved-surroundings.ts";

describe("readers that join while the log can't be read", () => {
  it("are fed when the store is back", { timeout: 30_000 }, async (t) => {
    const { change, join, fail, failures, until } = await madeEvents(t);
    const readers = [await join(), await join()];
    fail.reads = true;
    await until(() => failures() > 0);
    fail.reads = false;
    await change("on");
    for (const reader of readers) await until(() => reader.values().includes("on"));
    await change("off");
    for (const reader of readers) {
      await until(() => reader.values().includes("off"));
      assert.deepEqual(reader.values(), ["on", "off"]);
    }
  });

  it("are fed beside a reader that was fed before them, and each once", { timeout: 30_000 }, async (t) => {
    const { change, join, fail, failures, until } = await madeEvents(t);
    const first = await join();
    await change("1");
    await until(() => first.values().length === 1);
    const late = await join();
    fail.reads = true;
    await until(() => failures() > 0);
    await change("2");
    fail.reads = false;
    await until(() => first.values().length === 2 && late.values().length === 1);
    await change("3");
    await until(() => first.values().length === 3 && late.values().length === 2);
    assert.deepEqual(first.values(), ["1", "2", "3"]);
    assert.deepEqual(late.values(), ["2", "3"]);
  });

  it("are fed when this node knows again whose access has ended", { timeout: 30_000 }, async (t) => {
    const { change, join, fail, failures, until } = await madeEvents(t);
    const reader = await join();
    fail.revocations = true;
    await until(() => failures() > 0);
    await change("on");
    assert.deepEqual(reader.values(), []);
    fail.revocations = false;
    await until(() => reader.values().length > 0);
    assert.deepEqual(reader.values(), ["on"]);
  });
});

/** Ada's lamp on SQLite, and streams of its changes in a time that the test moves. */
async function madeEvents(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "breezeway-joining-"));
  const surroundings = movedSurroundings();
  const opened = await openSqlite({ folder, nowMs: surroundings.nowMs });
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
    surroundings,
    logDays: 7,
    streamsAtOnce: 16,
    sealing: { seal: (text) => text, open: (text) => text },
    allowsPrivateWebhooks: false,
    userAgent: "test",
    readersKnown: async () => ifOn(fail.revocations),
  });
  t.after(async () => {
    await events.stop();
    await opened.close();
    rmSync(folder, { recursive: true });
  });
  return {
    fail,
    failures: () => surroundings.said.filter(({ level }) => level === "warn").length,
    async change(value: string) {
      const changes = [{ key: "power", value }];
      const entry = attributeEntry(userId, deviceId, surroundings.nowMs(), byClient, changes);
      await opened.transaction((tx) => tx.log.append(entry));
      events.hub.wake();
    },
    /** Opens a stream; resolves when it has caught up and waits for the hub's next look. */
    async join() {
      const before = events.hub.readers;
      const outlet = new HeardOutlet();
      const beginning = await events.beginning(undefined);
      const reach = { kind: "user", userId, tenantId } as const;
      const filter = { deviceIds: [], attributes: [] };
      const untilMs = Number.POSITIVE_INFINITY;
      events.follow({ clientId: "client", reach, filter, beginning, untilMs }, outlet);
      while (events.hub.readers === before) {
        t.signal.throwIfAborted();
        await settled();
      }
      return outlet;
    },
    /** Moves the time on until that is so. */
    async until(isSo: () => boolean) {
      while (!isSo()) {
        t.signal.throwIfAborted();
        await surroundings.advance(50);
      }
    },
  };
}

class HeardOutlet implements EventOutlet {
  readonly unsent = 0;
  readonly closed = new AbortController().signal;
  #text = "";

  write(bytes: Buffer): void {
    this.#text += bytes.toString();
  }

  taken = async () => true;
  end(): void {}

  /** What the lamp's attribute became, event by event. */
  values(): readonly unknown[] {
    return [...this.#text.matchAll(/^event: attribute\ndata: (.*)$/gm)].map(([, data]) => JSON.parse(data!).value);
  }
}
