import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type AlertTables, alertsOn } from "../../src/alerts/alerts.ts";
import { UnknownDevice, UnknownTrigger } from "../../src/model/errors.ts";
import { limits } from "../../src/model/limits.ts";
import type { OpenStore, Store } from "../../src/store/seam.ts";
import { onStore } from "../contracts/store/harness.ts";
import { sqliteHarness } from "../contracts/store/sqlite-harness.ts";
import { watchedStore } from "../devices/watched-store.ts";
import { madeAlerts } from "./made-alerts.ts";

/** A user with one alert, and the alert engine on a store that records the statements of its transactions. */
async function watchedAlerts(store: OpenStore) {
  const made = await madeAlerts(store);
  const id = await made.add();
  const watched = watchedStore(store);
  return { ...made, id, store, watched, alerts: alertsOn({ store: watched as Store<AlertTables> }) };
}

const on = (test: (home: Awaited<ReturnType<typeof watchedAlerts>>) => Promise<void>) =>
  onStore(sqliteHarness, async (store) => test(await watchedAlerts(store)));

describe("a change of an alert", () => {
  it("locks the user with the first statement of its transaction", () =>
    on(async ({ alerts, accessScope, given, account, id, watched }) => {
      const changes = [
        () => alerts.add(accessScope, given()),
        () => alerts.redefine(accessScope, id, given()),
        () => alerts.setEnabled(accessScope, id, false),
        () => alerts.setEnabledOfDevice(accessScope, account, true),
        () => alerts.remove(accessScope, id),
      ];
      for (const change of changes) {
        watched.statements.length = 0;
        await change();
        assert.equal(watched.statements[0]?.name, "users.lock", `${change}`);
      }
    }));

  it("is refused when the alert was removed just before the user was locked", () =>
    on(async ({ alerts, accessScope, given, userId, id, store, watched }) => {
      watched.read = async (body, priority) => {
        const found = await store.read(body, priority);
        await store.transaction((tx) => tx.triggers.remove(userId, id));
        return found;
      };
      await assert.rejects(alerts.redefine(accessScope, id, given()), UnknownTrigger);
    }));

  it("of a whole device is refused when the device was removed just before the user was locked", () =>
    on(async ({ alerts, accessScope, userId, account, store, watched }) => {
      watched.read = async (body, priority) => {
        const found = await store.read(body, priority);
        await store.transaction((tx) => tx.devices.remove(userId, account));
        return found;
      };
      await assert.rejects(alerts.setEnabledOfDevice(accessScope, account, false), UnknownDevice);
    }));

  it("stores the answer of an idempotent request in the same transaction, or nothing", () =>
    on(async ({ alerts, accessScope, given, id, store, userId }) => {
      const kept: unknown[] = [];
      const added = await alerts.add(accessScope, given(), async (_tx, row) => void kept.push(row));
      const redefined = await alerts.redefine(
        accessScope,
        id,
        given({ message: "new" }),
        async (_tx, row) => void kept.push(row),
      );
      await alerts.remove(accessScope, id, async () => void kept.push("removed"));
      assert.deepEqual(kept, [added, redefined, "removed"]);
      // When the answer can't be stored, nothing else is.
      const fails = async () => {
        throw new Error("no room for the answer");
      };
      const all = () => store.read((tx) => tx.triggers.ofUser(userId));
      const before = await all();
      await assert.rejects(alerts.add(accessScope, given(), fails), /no room/);
      await assert.rejects(alerts.redefine(accessScope, added.id, given({ message: "newer" }), fails), /no room/);
      await assert.rejects(alerts.remove(accessScope, added.id, fails), /no room/);
      assert.deepEqual(await all(), before);
    }));

  it("that enables the alert clears the reason why it was disabled; any other change keeps the reason", () =>
    on(async ({ alerts, accessScope, given, userId, id, store }) => {
      const reason = "its slot has passed on";
      await store.transaction((tx) => tx.triggers.change(userId, id, { isEnabled: false, reason }));
      const redefined = await alerts.redefine(accessScope, id, given({ isEnabled: false, message: "new" }));
      assert.equal(redefined.reason, reason);
      assert.equal((await alerts.redefine(accessScope, id, given({ isEnabled: true }))).reason, null);
    }));
});

describe("the bytes of a user's alerts", () => {
  const full = { code: "limit_reached", limit: "alertBytesPerUser" };

  /** A user whose alerts take `left` bytes less than the limit, or more than the limit if `left` is negative. */
  const withBytesLeft = (left: number, test: (home: Awaited<ReturnType<typeof watchedAlerts>>) => Promise<void>) =>
    on(async (home) => {
      const { id: _, ...row } = await home.alerts.find(home.accessScope, home.id);
      await home.store.transaction(async (tx) => {
        const large = await tx.triggers.add({ ...row, message: "" });
        const { bytesOfUser } = await tx.triggers.totals(home.userId, home.account);
        const message = "x".repeat(limits.alertBytesPerUser - left - bytesOfUser);
        await tx.triggers.redefine({ ...row, id: large, message });
      });
      await test(home);
    });

  it("may fill the limit exactly", () =>
    withBytesLeft(3, async ({ alerts, accessScope, given, id }) => {
      await assert.rejects(alerts.redefine(accessScope, id, given({ message: "xxxx" })), full);
      await alerts.redefine(accessScope, id, given({ message: "xxx" }));
      await assert.rejects(alerts.redefine(accessScope, id, given({ message: "xxxx" })), full);
    }));

  it("may be beyond the limit already: a change that doesn't make its alert longer is still accepted", () =>
    withBytesLeft(-100, async ({ alerts, accessScope, given, id }) => {
      await alerts.redefine(accessScope, id, given({ isEnabled: false }));
      await alerts.redefine(accessScope, id, given({ stringThreshold: "hom" }));
      await assert.rejects(alerts.redefine(accessScope, id, given({ message: "x" })), full);
    }));
});
