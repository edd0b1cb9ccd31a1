import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import type { DeviceCommit } from "../../src/devices/commit.ts";
import { DeviceStates, type StateTables } from "../../src/devices/states.ts";
import type { DeviceId, UserId } from "../../src/model/ids.ts";
import type { Store } from "../../src/store/seam.ts";

const ada = 1 as UserId;
const lamp = 7 as DeviceId;

/** A store whose reads see the state at their start, and end when the test says so. */
class HeldStore implements Store<StateTables> {
  readonly isShared: boolean;
  stored: { readonly value: string; readonly timeMs: number } | undefined = { value: "old", timeMs: 10 };
  loads = 0;
  versionChecks: (readonly DeviceId[])[] = [];
  held: PromiseWithResolvers<void> | undefined;

  constructor(isShared: boolean) {
    this.isShared = isShared;
  }

  transaction(): never {
    throw new Error("states only read");
  }

  async read<Result>(body: (tx: StateTables) => Promise<Result>): Promise<Result> {
    const seen = this.stored;
    const device = { id: lamp, userId: ada, typeId: 1, typeName: "lamp", name: "lamp", isVirtual: false };
    const answer = await body({
      devices: {
        find: async (userId: UserId) => (userId === ada && seen ? { ...device, lastTimeMs: seen.timeMs } : undefined),
        versions: async (devices: readonly { readonly id: DeviceId }[]) => {
          this.versionChecks.push(devices.map(({ id }) => id));
          return seen ? [{ id: lamp, lastTimeMs: seen.timeMs }] : [];
        },
      },
      attributes: {
        all: async () => {
          this.loads += 1;
          return seen ? [{ key: "colour", ...seen }] : [];
        },
      },
    } as unknown as StateTables);
    await this.held?.promise;
    return answer;
  }
}

/** A durable commit from one time to the next. */
function commitOf(value: string, previousTimeMs: number, timeMs: number): DeviceCommit {
  const changes = [{ key: "colour", value, before: null }];
  return {
    userId: ada,
    deviceId: lamp,
    cause: { by: "ecosystem" },
    hop: 0,
    things: [],
    timeMs,
    previousTimeMs,
    changes,
  };
}

describe("the state of a device in memory", () => {
  let store: HeldStore;
  let states: DeviceStates;
  const colour = async (userId = ada) => (await states.get(userId, lamp))?.attributes.get("colour")?.value;

  beforeEach(() => {
    store = new HeldStore(false);
    states = new DeviceStates(store);
  });

  const hold = () => {
    store.held = Promise.withResolvers<void>();
    return () => {
      store.held?.resolve();
      store.held = undefined;
    };
  };

  it("is loaded once and updated by each commit", async () => {
    assert.equal(await colour(), "old");
    states.apply([commitOf("new", 10, 20)]);
    states.apply([commitOf("newer", 20, 30)]);
    assert.equal(await colour(), "newer");
    assert.equal((await states.get(ada, lamp))?.device.lastTimeMs, 30);
    assert.equal(store.loads, 1);
  });

  it("is immutable for callers that got it before", async () => {
    const before = await states.get(ada, lamp);
    states.apply([commitOf("new", 10, 20)]);
    assert.equal(before?.attributes.get("colour")?.value, "old");
  });

  it("isn't cached when a commit happened during its loading", async () => {
    const release = hold();
    const loading = colour();
    store.stored = { value: "new", timeMs: 20 };
    states.apply([commitOf("new", 10, 20)]);
    release();
    assert.equal(await loading, "old", "it began before the commit was durable");
    assert.equal(await colour(), "new");
  });

  it("isn't cached when a second load began after a commit during the first", async () => {
    const release = hold();
    const first = colour();
    store.stored = { value: "new", timeMs: 20 };
    states.apply([commitOf("new", 10, 20)]);
    const second = colour();
    release();
    assert.deepEqual(await Promise.all([first, second]), ["old", "new"]);
    assert.equal(await colour(), "new");
  });

  it("is cached when two loads ran at the same time", async () => {
    const release = hold();
    const loads = [colour(), colour()];
    release();
    assert.deepEqual(await Promise.all(loads), ["old", "old"]);
    await colour();
    assert.equal(store.loads, 2);
  });

  it("isn't cached when the device was removed during its loading", async () => {
    const release = hold();
    const loading = colour();
    store.stored = undefined;
    states.forget(lamp);
    release();
    await loading;
    assert.equal(await states.get(ada, lamp), undefined);
  });

  it("is loaded again when a commit in between was missed", async () => {
    await colour();
    store.stored = { value: "third", timeMs: 30 };
    states.apply([commitOf("third", 20, 30)]);
    assert.equal(await colour(), "third");
    assert.equal(store.loads, 2);
  });

  it("never goes back when an older commit arrives late", async () => {
    store.stored = { value: "new", timeMs: 20 };
    await colour();
    states.apply([commitOf("older", 5, 10)]);
    assert.equal(await colour(), "new");
    assert.equal(store.loads, 1);
  });

  it("stays when a commit arrives that it was loaded with", async () => {
    store.stored = { value: "new", timeMs: 20 };
    await colour();
    states.apply([commitOf("new", 10, 20)]);
    assert.equal(await colour(), "new");
    assert.equal(store.loads, 1);
  });

  it("is loaded again after all states were forgotten", async () => {
    await colour();
    store.stored = { value: "restored", timeMs: 5 };
    states.forgetAll();
    assert.equal(await colour(), "restored");
  });

  it("isn't cached when all states were forgotten during its loading", async () => {
    const release = hold();
    const loading = colour();
    store.stored = { value: "restored", timeMs: 5 };
    states.forgetAll();
    release();
    await loading;
    assert.equal(await colour(), "restored");
  });

  it("is not shown to another user", async () => {
    assert.equal(await states.get(2 as UserId, lamp), undefined);
    assert.equal(await colour(), "old");
    assert.equal(await states.get(2 as UserId, lamp), undefined);
    assert.equal(states.cached(2 as UserId, lamp), undefined);
  });

  it("is validated before each use on a shared store, with one read for concurrent callers", async () => {
    store = new HeldStore(true);
    states = new DeviceStates(store);
    await colour();
    assert.equal(states.cached(ada, lamp), undefined, "its version was not checked");
    assert.deepEqual(await Promise.all([colour(), colour(), colour()]), ["old", "old", "old"]);
    assert.deepEqual(store.versionChecks, [[lamp]]);
    assert.equal(store.loads, 1);
    store.stored = { value: "by another node", timeMs: 20 };
    assert.equal(await colour(), "by another node");
    assert.equal(store.versionChecks.length, 2);
    store.stored = undefined;
    assert.equal(await states.get(ada, lamp), undefined);
  });
});
