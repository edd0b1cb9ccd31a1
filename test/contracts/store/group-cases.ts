import assert from "node:assert/strict";
import { it } from "node:test";
import type { Reaction } from "../../../src/devices/commit.ts";
import { NotFound, OwnershipLost } from "../../../src/model/errors.ts";
import type { DeviceId, UserId } from "../../../src/model/ids.ts";
import { UnstorableText } from "../../../src/store/sql.ts";
import { logStart } from "../../../src/store/tables/log-position.ts";
import { onStore, type StoreHarness } from "./harness.ts";
import { type LinkedHome, linkedHomes, mirrorOn, storedValue, whileAGroupRuns } from "./linked-homes.ts";

type Six = readonly [LinkedHome, LinkedHome, LinkedHome, LinkedHome, LinkedHome, LinkedHome];

/** Commits of different users at the same time. PostgreSQL and SQLite group them in different ways. */
export function groupCases(harness: StoreHarness): void {
  it("stores each of them, and becomes durable in one transaction", () =>
    onStore(harness, async (store) => {
      const homes = await linkedHomes(store, 6);
      const mirror = mirrorOn(store);
      const commits = await Promise.all(
        await whileAGroupRuns(store, homes[0]!, () => homes.map((home, i) => mirror(home, `value ${i}`))),
      );
      for (const [i, home] of homes.entries()) {
        const [commit] = commits[i]!;
        assert.deepEqual(commit?.changes, [{ key: 1, value: `value ${i}`, before: null }]);
        assert.equal(await storedValue(store, home), `value ${i}`);
        const device = await store.read((tx) => tx.devices.find(home.userId, home.deviceId));
        assert.equal(device?.lastTimeMs, commit?.timeMs);
      }
      const entries = await store.read((tx) => tx.log.tail(logStart, 10));
      assert.equal(entries.length, 6);
      assert.equal(new Set(entries.map(({ position }) => position.transaction)).size, 1);
      assert.deepEqual(await mirror(homes[0]!, "value 0"), []);
      assert.deepEqual((await mirror(homes[0]!, null)).flatMap(({ changes }) => changes)[0]?.before, "value 0");
    }));

  it("fails alone when one of them fails, whatever the reason", () =>
    onStore(harness, async (store) => {
      const homes = await linkedHomes(store, 6);
      const [good, old, ill, absent, hostile, best] = homes as readonly LinkedHome[] as Six;
      const throwing: Reaction = async (_, { userId }) => {
        if (userId === ill.userId) throw new RangeError("a reaction throws");
        return [];
      };
      const mirror = mirrorOn(store, { reactions: [throwing] });
      const outcomes = await Promise.allSettled(
        await whileAGroupRuns(store, good, () => [
          mirror(good, "good"),
          mirror(old, "of an old epoch", { epoch: 2 }),
          mirror(ill, "ill"),
          mirror(absent, "of no device", { deviceId: 9_999 as DeviceId }),
          mirror({ ...absent, userId: 9_999 as UserId }, "of no user"),
          mirror(hostile, "half a pair \ud800"),
          mirror(best, "best"),
        ]),
      );
      const reasons = outcomes.map((outcome) =>
        outcome.status === "rejected" ? outcome.reason.constructor : undefined,
      );
      assert.deepEqual(reasons, [undefined, OwnershipLost, RangeError, NotFound, NotFound, UnstorableText, undefined]);
      const values = await Promise.all(homes.map((home) => storedValue(store, home)));
      assert.deepEqual(values, ["good", undefined, undefined, undefined, undefined, "best"]);
      assert.equal((await store.read((tx) => tx.log.tail(logStart, 10))).length, 2);
    }));

  it("keeps the order of the commits of one user, and their times rise", () =>
    onStore(harness, async (store) => {
      const homes = await linkedHomes(store, 3);
      const mirror = mirrorOn(store);
      const values = ["a", "b", "c", "d"];
      const commits = await Promise.all(
        await whileAGroupRuns(store, homes[0]!, () =>
          values.flatMap((value) => homes.map((home) => mirror(home, value))),
        ),
      );
      assert.equal(commits.flat().length, 12);
      for (const { userId, deviceId } of homes) {
        const logged = await store.read((tx) => tx.log.ofDevice(userId, deviceId));
        assert.deepEqual(
          logged.map(({ body }) => JSON.parse(body).changes[0][1]),
          values,
        );
        assert.ok(logged.every(({ timeMs }, i) => i === 0 || timeMs > logged[i - 1]!.timeMs));
      }
    }));

  it("takes what follows from a change into the same transaction", () =>
    onStore(harness, async (store) => {
      const homes = await linkedHomes(store, 3);
      // It reads what the commit has written, and writes the same device again.
      const echo: Reaction = async (tx, { userId, deviceId, cause, hop }) => {
        if (hop > 0 || userId !== homes[1]!.userId) return [];
        const [row] = await tx.attributes.some(userId, deviceId, [1]);
        return [{ deviceId, cause, changes: [{ key: 2, value: `after ${row?.value}` }] }];
      };
      const mirror = mirrorOn(store, { reactions: [echo] });
      const commits = await Promise.all(
        await whileAGroupRuns(store, homes[0]!, () => homes.map((home) => mirror(home, "x"))),
      );
      assert.deepEqual(
        commits.map((some) => some.length),
        [1, 2, 1],
      );
      const entries = await store.read((tx) => tx.log.tail(logStart, 10));
      const ofChain = entries.filter(({ userId }) => userId === homes[1]!.userId);
      assert.deepEqual(
        ofChain.map(({ body }) => JSON.parse(body).changes),
        [[[1, "x"]], [[2, "after x"]]],
      );
      assert.equal(ofChain[0]!.position.transaction, ofChain[1]!.position.transaction);
    }));
}
