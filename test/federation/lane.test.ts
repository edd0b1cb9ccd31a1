import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import type { DeviceUpdate } from "../../src/devices/commit.ts";
import { Lane, type LaneParts } from "../../src/federation/lane.ts";
import { SampleTurns } from "../../src/federation/sample-turns.ts";
import type { Home } from "../../src/home/home.ts";
import { NotFound, OwnershipLost, StoreUnavailable } from "../../src/model/errors.ts";
import { alarmAttribute, structureAttribute, thermostatAttribute } from "../../src/virtual-device/attribute-names.ts";
import { homeWith, structure, thermostat } from "../home/home-parts.ts";
import { plainThingIds } from "../home/thing-ids.ts";
import { HeldStore } from "./held-store.ts";
import { home } from "./made-homes.ts";
import { adasLink } from "./made-links.ts";
import { flushPromises, type ManualRuntime, manualRuntime, noonMs } from "./manual-runtime.ts";

const away = structureAttribute(1, "away");
const name = structureAttribute(1, "name");
const smoke = alarmAttribute(1, 1, "smokeAlarmState");
const co = alarmAttribute(1, 1, "coAlarmState");
const fan = thermostatAttribute(1, 1, "fanTimerActive");

describe("the lane of an account", () => {
  let runtime: ManualRuntime;
  let store: HeldStore;
  let stored: { readonly account: Home; readonly hasChanged: boolean }[];
  let droppedSince: number[];
  let losses: number;
  let stopping: AbortController;
  let parts: LaneParts;
  let lane: Lane;
  let faults: unknown[];
  const offer = (account: Home) => lane.offer(account, stopping.signal);

  beforeEach(() => {
    runtime = manualRuntime();
    store = new HeldStore();
    stored = [];
    droppedSince = [];
    losses = 0;
    faults = [];
    stopping = new AbortController();
    parts = {
      link: adasLink,
      commit: store.commit,
      load: store.load,
      thingIdOf: plainThingIds,
      stored: (account, hasChanged) => void stored.push({ account, hasChanged }),
      snapshotDropped: (sinceMs) => void droppedSince.push(sinceMs - noonMs),
      lost: () => void losses++,
      failed: (error) => void faults.push(error),
      sampleTurns: new SampleTurns(runtime),
      runtime,
    };
    lane = new Lane(parts, store.fill(home()));
  });

  it("commits one snapshot at a time, in the order in which they came", async () => {
    store.isHeld = true;
    for (const account of [home({ away: "away" }), home(), home({ away: "auto-away" })]) offer(account);
    await flushPromises();
    assert.equal(store.requests.length, 1);
    await store.complete();
    assert.equal(store.requests.length, 2);
    await store.completeAll();
    await lane.idle();
    assert.deepEqual(store.history(away), ["away", "home", "auto-away"]);
  });

  it("says whether everything that was offered is durable", async () => {
    store.isHeld = true;
    offer(home({ away: "away" }));
    const isDurable = lane.idle();
    await store.completeAll();
    assert.equal(await isDurable, true);
    offer(home());
    offer(home({ away: "auto-away" }));
    const hasEnded = lane.idle();
    stopping.abort();
    await store.completeAll();
    assert.equal(await hasEnded, false, "the lane was stopped before it stored the second");
  });

  it("writes with the link's epoch", async () => {
    offer(home({ away: "away" }));
    await lane.idle();
    assert.deepEqual(store.requests[0]?.ownership, { deviceId: adasLink.deviceId, owner: "node-a", epoch: 3 });
  });

  it("commits nothing for an account in which nothing has changed, and says that it is stored", async () => {
    const same = home();
    offer(same);
    await lane.idle();
    assert.deepEqual(store.requests, []);
    assert.deepEqual(stored, [{ account: same, hasChanged: false }]);
  });

  it("reports for each stored snapshot whether it differed from the stored state", async () => {
    const left = home({ away: "away" });
    offer(left);
    await lane.idle();
    assert.deepEqual(stored, [{ account: left, hasChanged: true }]);
  });

  it("replaces a waiting snapshot by a newer one that differs in names only", async () => {
    store.isHeld = true;
    for (const called of ["Nest", "Den", "Lair", "Burrow"]) offer(home({ name: called }));
    await store.completeAll();
    await lane.idle();
    assert.deepEqual(store.history(name), ["Nest", "Burrow"]);
    assert.deepEqual(droppedSince, []);
  });

  for (const [what, attribute, between] of [
    ["a smoke state", smoke, home({ smoke: "warning" })],
    ["a CO state", co, home({ co: "emergency" })],
    ["a coming home", away, home({ away: "away" })],
    ["a fan state", fan, home({ fan: true })],
  ] as const) {
    it(`keeps a waiting snapshot when a newer one would hide ${what}`, async () => {
      store.isHeld = true;
      offer(home({ name: "Busy" }));
      offer(between);
      offer(home({ name: "Busy" }));
      await store.completeAll();
      await lane.idle();
      assert.equal(store.history(attribute).length, 2, "it came and went in two commits");
    });
  }

  it("commits an emergency of one second twice, on and off, though the store was slow", async () => {
    store.isHeld = true;
    offer(home({ name: "Busy" }));
    offer(home({ name: "Busy", smoke: "emergency" }));
    await runtime.advance(1_000);
    offer(home({ name: "Busy" }));
    await runtime.advance(30_000);
    assert.deepEqual(store.history(smoke), []);
    await store.completeAll();
    await lane.idle();
    assert.deepEqual(store.history(smoke), ["emergency", "ok"]);
    assert.deepEqual(
      store.requests.map(({ urgent }) => urgent),
      [false, true, true],
    );
  });

  it("hurries all that an emergency would have to wait for, and nothing after it", async () => {
    store.isHeld = true;
    offer(home({ name: "Busy" }));
    await flushPromises();
    offer(home({ name: "Busy", away: "away" }));
    const underWay = store.requests[0]!.becomesUrgent!;
    assert.ok(!underWay.aborted);
    offer(home({ name: "Busy", away: "away", smoke: "emergency" }));
    assert.ok(underWay.aborted);
    // A newer snapshot with the same alarm states replaces it.
    offer(home({ name: "Busier", away: "away", smoke: "emergency" }));
    offer(home({ name: "Busier", smoke: "emergency" }));
    await store.completeAll();
    await lane.idle();
    assert.deepEqual(
      store.requests.map(({ urgent }) => urgent),
      [false, true, true, false],
    );
    assert.deepEqual(store.history(smoke), ["emergency"]);
    offer(home({ name: "Calm", smoke: "emergency" }));
    await lane.idle();
    assert.equal(store.requests.at(-1)!.urgent, false);
  });

  for (const [what, account, isUrgent] of [
    ["smoke", home({ smoke: "emergency" }), true],
    ["a CO warning", home({ co: "warning" }), true],
    ["an alarm state that nobody knows", home({ smoke: "singing" }), true],
    ["somebody leaving", home({ away: "away" }), false],
    ["a fan", home({ fan: true }), false],
    ["a new name", home({ name: "Den" }), false],
  ] as const) {
    it(`${isUrgent ? "hurries for" : "does not hurry for"} ${what}`, async () => {
      offer(account);
      await lane.idle();
      assert.deepEqual(
        store.requests.map(({ urgent }) => urgent),
        [isUrgent],
      );
    });
  }

  it("lets 16 snapshots wait; beyond them the newest wins, and the lane reports since when snapshots were dropped", async () => {
    store.isHeld = true;
    const states = Array.from({ length: 20 }, (_, i) => `state ${i + 1}`);
    for (const state of states) {
      offer(home({ smoke: state }));
      await runtime.advance(1_000);
    }
    // The 17th replaced the 16th, which was offered at second 15; and so on.
    assert.deepEqual(droppedSince, [15_000, 16_000, 17_000, 18_000]);
    await store.completeAll();
    await lane.idle();
    assert.deepEqual(store.history(smoke), [...states.slice(0, 15), "state 20"]);
    const drops = runtime.logLines
      .filter(({ level }) => level === "warn")
      .map(({ fields }) => (fields as { readonly drops: number }).drops);
    assert.deepEqual(drops, [1, 2, 4], "logged at each power of two");
  });

  it("coalesces changes of levels in a busy home, and commits a transition among them at once", async () => {
    const heldHomes: Home[] = [];
    const named = (n: number) => {
      heldHomes.push(home({ name: `Home ${n}` }));
      return heldHomes.at(-1)!;
    };
    for (let n = 0; n < 100; n++) {
      offer(named(n));
      await flushPromises();
    }
    const atOnce = store.history(name).length;
    assert.ok(atOnce <= 22, `${atOnce} commits at once`);
    offer(home({ smoke: "emergency", name: "Home 99" }));
    await flushPromises();
    assert.deepEqual(store.history(smoke), ["emergency"]);
    for (let n = 100; n < 200; n++) {
      offer(named(n));
      await runtime.advance(10);
    }
    await runtime.advance(200);
    const later = store.history(name).length - atOnce;
    assert.ok(later >= 10 && later <= 13, `${later} commits in a second`);
    assert.equal(store.history(name).at(-1), "Home 199", "the newest wins");
  });

  it("has room again when what waited is committed", async () => {
    store.isHeld = true;
    for (let i = 1; i <= 16; i++) offer(home({ smoke: `state ${i}` }));
    await flushPromises();
    await store.complete();
    offer(home({ smoke: "state 17" }));
    await store.completeAll();
    await lane.idle();
    assert.deepEqual(droppedSince, []);
    assert.equal(store.history(smoke).length, 17);
  });

  it("commits what came during a commit, though it has the same transitions", async () => {
    store.isHeld = true;
    offer(home({ name: "Nest" }));
    await flushPromises();
    const newer = home({ name: "Den" });
    offer(newer);
    await store.completeAll();
    await lane.idle();
    assert.equal(store.value(name), "Den");
    assert.equal(stored.at(-1)?.account, newer);
  });

  describe("after a commit that failed", () => {
    beforeEach(async () => {
      store.isHeld = true;
      offer(home({ smoke: "emergency" }));
      await flushPromises();
    });

    it("reads what is stored, and commits what is missing", async () => {
      await store.fail(new StoreUnavailable("gone for a moment"));
      assert.equal(store.loads, 0, "not before a pause");
      await runtime.advance(2_000);
      assert.equal(store.loads, 1);
      await store.completeAll();
      await lane.idle();
      assert.deepEqual(store.history(smoke), ["emergency"]);
      assert.equal(stored.length, 1);
    });

    it("does not commit again what took effect", async () => {
      await store.fail(new StoreUnavailable("no word came back"), { hasTakenEffect: true });
      await runtime.advance(2_000);
      await lane.idle();
      assert.equal(store.requests.length, 1);
      assert.equal(stored.length, 1);
    });

    it("keeps the order: what came meanwhile is committed after it", async () => {
      await store.fail(new StoreUnavailable("gone for a moment"));
      offer(home());
      await runtime.advance(2_000);
      await store.completeAll();
      await lane.idle();
      assert.deepEqual(store.history(smoke), ["emergency", "ok"]);
    });

    it("retries with growing pauses up to two seconds, and logs an unreachable store once", async () => {
      const triedAtMs: number[] = [];
      for (let i = 0; i < 8; i++) {
        await store.fail(new StoreUnavailable("still gone"));
        const asked = store.requests.length;
        while (store.requests.length === asked) await runtime.advance(10);
        triedAtMs.push(runtime.elapsedMs());
      }
      const pauses = triedAtMs.map((ms, i) => ms - (triedAtMs[i - 1] ?? 0));
      assert.deepEqual(
        pauses,
        pauses.toSorted((a, b) => a - b),
      );
      assert.ok(pauses[0]! >= 50 && pauses[0]! <= 250, `first after ${pauses[0]} ms`);
      assert.ok(pauses.at(-1)! >= 1_000 && pauses.at(-1)! <= 2_000, `last after ${pauses.at(-1)} ms`);
      assert.equal(runtime.logLines.filter(({ level }) => level === "warn").length, 1);
    });

    it("is dropped at once when the lane is stopped", async () => {
      await store.fail(new StoreUnavailable("gone"));
      stopping.abort();
      await lane.idle();
      assert.equal(store.requests.length, 1);
      assert.equal(runtime.timers, 0);
      assert.deepEqual(stored, []);
    });
  });

  for (const refusal of [new OwnershipLost("another node's"), new NotFound("no such device")]) {
    it(`ends when a commit is refused with ${refusal.name}: waiting snapshots are dropped, nothing is tried again`, async () => {
      store.isHeld = true;
      offer(home({ smoke: "emergency" }));
      offer(home());
      await flushPromises();
      await store.fail(refusal);
      await lane.idle();
      await runtime.advance(60_000);
      assert.equal(losses, 1);
      assert.equal(store.requests.length, 1);
      assert.deepEqual(stored, []);
    });
  }

  it("ends when it reads that another node owns the link", async () => {
    lane = new Lane(parts);
    store.loadFails = new OwnershipLost("another node's");
    offer(home({ away: "away" }));
    await lane.idle();
    assert.equal(losses, 1);
    assert.deepEqual(store.requests, []);
  });

  it("reads what is stored when it begins with nothing, and commits only what differs", async () => {
    lane = new Lane(parts);
    offer(home({ away: "away" }));
    offer(home({ away: "away", name: "Den" }));
    await lane.idle();
    assert.equal(store.loads, 1);
    assert.deepEqual(store.history(away), ["away"]);
    assert.deepEqual(store.history(smoke), []);
  });

  it("commits what is offered at the moment in which it becomes idle", async () => {
    for (let ticks = 0; ticks < 8; ticks++) {
      offer(home({ away: "away" }));
      while (store.value(away) !== "away") await undefined;
      for (let i = 0; i < ticks; i++) await undefined;
      offer(home());
      await flushPromises();
      assert.equal(store.value(away), "home", `${ticks} ticks after the commit`);
    }
  });

  it("drops a snapshot that always fails, reports it, and continues with the next", async () => {
    const commit: LaneParts["commit"] = (request) =>
      JSON.stringify(request.updates).includes("indigestible")
        ? Promise.reject(new TypeError("oh"))
        : store.commit(request);
    lane = new Lane({ ...parts, commit }, store.fill(home()));
    offer({ ...home({ away: "away", name: "indigestible" }) });
    offer(home({ away: "auto-away" }));
    for (let tries = 0; tries < 20; tries++) await runtime.advance(2_000);
    assert.deepEqual(store.history(away), ["auto-away"]);
    assert.equal(droppedSince.length, 1);
    assert.deepEqual(faults, [], "the one behind it was taken");
  });

  it("fails with the error when the last that waits can't be stored", async () => {
    const mistake = new TypeError("oh");
    let tries = 0;
    const commit = async () => {
      tries += 1;
      throw mistake;
    };
    lane = new Lane({ ...parts, commit }, store.fill(home()));
    offer(home({ away: "away" }));
    await runtime.advance(60_000);
    assert.deepEqual([faults, tries, droppedSince.length, lane.isIdle], [[mistake], 6, 1, true]);
  });

  it("fails with the error of a listener, and accepts later snapshots", async () => {
    const mistake = new TypeError("oh");
    let isThrown = false;
    const listener: LaneParts["stored"] = (account, hasChanged) => {
      if (!isThrown) {
        isThrown = true;
        throw mistake;
      }
      stored.push({ account, hasChanged });
    };
    lane = new Lane({ ...parts, stored: listener }, store.fill(home()));
    offer(home({ away: "away" }));
    await flushPromises();
    assert.deepEqual(faults, [mistake]);
    offer(home());
    await flushPromises();
    assert.deepEqual(store.history(away), ["away", "home"]);
  });

  it("accepts nothing after it was stopped", async () => {
    stopping.abort();
    offer(home({ away: "away" }));
    await lane.idle();
    assert.deepEqual(store.requests, []);
  });

  describe("with measured values", () => {
    const at = (celsius: number, name = "Home") =>
      homeWith({ structures: { s1: structure({ name }) }, thermostats: { t1: thermostat("s1", { celsius }) } });
    const measured = () =>
      store.requests.map(({ updates }) =>
        (updates as readonly DeviceUpdate[]).flatMap(({ things = [] }) =>
          things.flatMap((one) =>
            "reported" in one ? (one.reported.thing.traits.temperature?.state.celsius ?? []) : [],
          ),
        ),
      );
    const offerAll = async (...homes: readonly Home[]) => {
      for (const one of homes) {
        offer(one);
        await lane.idle();
      }
    };

    beforeEach(async () => {
      lane = new Lane(parts, store.fill(at(20)));
      await offerAll(at(21));
      assert.deepEqual(measured(), [[21]], "a jump is committed at once");
    });

    it("commits small changes together, a minute after the last", async () => {
      await offerAll(at(21.1), at(21.2), at(21.3));
      await runtime.advance(59_000);
      assert.deepEqual(measured(), [[21]]);
      await runtime.advance(1_000);
      assert.deepEqual(measured(), [[21], [21.3]]);
      assert.equal(stored.length, 4, "the repetition is no snapshot of the ecosystem");
      await offerAll(at(21.4));
      await runtime.advance(61_000);
      assert.deepEqual(measured(), [[21], [21.3], [21.4]]);
      assert.equal(runtime.timers, 0);
    });

    it("waits for the next small change after another commit has taken one along", async () => {
      await offerAll(at(21.1), at(21.2, "Cottage"), at(21.3, "Cottage"));
      assert.deepEqual(measured(), [[21], [21.2]]);
      await runtime.advance(60_000);
      assert.deepEqual(measured(), [[21], [21.2], [21.3]]);
    });

    it("takes them along with any other change, and commits what is due at once", async () => {
      await offerAll(at(21.1), at(21.2, "Cottage"));
      assert.deepEqual(measured(), [[21], [21.2]]);
      await runtime.advance(120_000);
      assert.deepEqual(measured(), [[21], [21.2]]);
      await offerAll(at(21.3, "Cottage"));
      assert.deepEqual(measured(), [[21], [21.2], [21.3]]);
    });

    it("commits none that have returned to what is stored, and drops them when it is stopped", async () => {
      await offerAll(at(21.1), at(21));
      await runtime.advance(60_000);
      assert.deepEqual(measured(), [[21]]);
      await offerAll(at(21.1), at(21.2));
      stopping.abort();
      await lane.stop();
      await runtime.advance(60_000);
      assert.deepEqual([measured(), runtime.timers], [[[21], [21.1]], 0]);
    });

    describe("among many lanes", () => {
      beforeEach(() => {
        while (parts.sampleTurns.take());
      });

      it("waits for its turn with a jump, and commits the newest value then", async () => {
        await offerAll(at(22), at(22.5));
        assert.deepEqual(measured(), [[21]]);
        await runtime.advance(2_000);
        assert.deepEqual(measured(), [[21], [22.5]]);
        assert.equal(stored.length, 3, "the repetition is no snapshot of the ecosystem");
        assert.equal(runtime.timers, 0);
      });

      it("takes a waiting jump along with any other change, and gives its place up", async () => {
        await offerAll(at(22), at(22, "Cottage"));
        assert.deepEqual(measured(), [[21], [22]]);
        await runtime.advance(60_000);
        assert.deepEqual([measured(), runtime.timers], [[[21], [22]], 0]);
      });

      it("waits for its turn also after the minute", async () => {
        await offerAll(at(21.1));
        await runtime.advance(59_999);
        while (parts.sampleTurns.take());
        await runtime.advance(1);
        assert.deepEqual(measured(), [[21]]);
        await runtime.advance(2_000);
        assert.deepEqual(measured(), [[21], [21.1]]);
      });

      it("does not wait for the minute when a jump follows a small change", async () => {
        await offerAll(at(21.1), at(22));
        await runtime.advance(2_000);
        assert.deepEqual([measured(), runtime.timers], [[[21], [22]], 0]);
      });

      it("reports a waiting jump as a change once", async () => {
        await offerAll(at(22), at(22), at(22, "Cottage"));
        assert.deepEqual(
          stored.map(({ hasChanged }) => hasChanged),
          [true, true, false, true],
        );
      });

      it("commits an alarm at once, and drops what waits when it is stopped", async () => {
        await offerAll(at(22));
        offer(home({ smoke: "emergency" }));
        await lane.idle();
        assert.equal(store.requests.at(-1)?.urgent, true);
        lane = new Lane(parts, store.fill(at(20)));
        const commits = store.requests.length;
        await offerAll(at(23));
        stopping.abort();
        await lane.stop();
        await runtime.advance(60_000);
        assert.deepEqual([store.requests.length, runtime.timers], [commits, 0]);
      });

      it("returns its turn when the commit fails, and waits for the next", async () => {
        await offerAll(at(22));
        store.isHeld = true;
        await runtime.advance(2_000);
        while (parts.sampleTurns.take());
        await store.fail(new StoreUnavailable("gone"));
        store.isHeld = false;
        await runtime.advance(500);
        assert.deepEqual(measured(), [[21], [22]], "the lane waits for its next turn");
        await runtime.advance(2_000);
        assert.deepEqual(measured(), [[21], [22], [22]]);
      });
    });
  });
});
