import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type AlertTables, alertsOn } from "../../src/alerts/alerts.ts";
import { TooManyTriggers } from "../../src/model/errors.ts";
import { limits } from "../../src/model/limits.ts";
import type { OpenStore, Store } from "../../src/store/seam.ts";
import type { TriggerTotals } from "../../src/store/tables/alert-rows.ts";
import { onStore } from "../contracts/store/harness.ts";
import { postgresHarness } from "../contracts/store/postgres-harness.ts";
import { sqliteHarness } from "../contracts/store/sqlite-harness.ts";
import { missingPostgres } from "../set-up/postgres.ts";
import { madeThingAlerts } from "./made-thing-alerts.ts";

for (const harness of [sqliteHarness, postgresHarness]) {
  const skip = harness.kind === "postgres" ? (missingPostgres() ?? false) : false;
  describe(`an alert on a thing on ${harness.kind}`, { skip, timeout: 120_000 }, () => {
    it("counts towards the alerts of the device that reports the thing", () =>
      onStore(harness, async (store) => {
        const { given, givenOnThing, alerts, accessScope, userId, account } = await madeThingAlerts(store);
        const { field, thingId, ...rule } = givenOnThing();
        const condition = { operation: "equals", text: "alarm" } as const;
        await store.transaction(async (tx) => {
          const state = { userId, deviceId: account, isArmed: true, reason: null, createdMs: 1, condition };
          for (let i = 1; i < limits.alertsPerDevice; i++) {
            await tx.thingTriggers.add({ ...rule, ...state, thingId, field, targets: [] });
          }
        });
        await alerts.add(accessScope, given());
        await assert.rejects(alerts.add(accessScope, given()), TooManyTriggers);
        await assert.rejects(alerts.onThings.add(accessScope, givenOnThing()), TooManyTriggers);
      }));

    it("counts towards the alerts of its user, and towards their bytes", () =>
      onStore(harness, async (store) => {
        const { add, addOnThing, given, userId, account, accessScope } = await madeThingAlerts(store);
        await add();
        await addOnThing();
        const addBesideMore = (more: Partial<TriggerTotals>) =>
          alertsOn({ store: withMoreAlertsOnThings(store, more) }).add(accessScope, given());
        const totals = async (table: "triggers" | "thingTriggers") =>
          store.read((tx) => tx[table].totals(userId, account));
        const [onAttributes, onThings] = [await totals("triggers"), await totals("thingTriggers")];
        const ofUser = limits.alertsPerUser - onAttributes.ofUser - onThings.ofUser;
        await assert.rejects(addBesideMore({ ofUser }), { code: "too_many_triggers", limit: "alertsPerUser" });
        const bytesOfUser = limits.alertBytesPerUser - onAttributes.bytesOfUser - onThings.bytesOfUser;
        await assert.rejects(addBesideMore({ bytesOfUser }), { code: "limit_reached", limit: "alertBytesPerUser" });
        await addBesideMore({ ofUser: ofUser - 1 });
      }));
  });
}

/** The store with more alerts on things than it holds. Storing them would take long. */
function withMoreAlertsOnThings(store: OpenStore, more: Partial<TriggerTotals>): Store<AlertTables> {
  return {
    isShared: store.isShared,
    read: (body, priority) => store.read(body, priority),
    transaction: (body, priority) =>
      store.transaction((tx) => {
        const totals: typeof tx.thingTriggers.totals = async (userId, deviceId) => {
          const counted = await tx.thingTriggers.totals(userId, deviceId);
          return {
            ...counted,
            ofUser: counted.ofUser + (more.ofUser ?? 0),
            bytesOfUser: counted.bytesOfUser + (more.bytesOfUser ?? 0),
          };
        };
        return body(
          Object.create(tx, { thingTriggers: { value: Object.assign(Object.create(tx.thingTriggers), { totals }) } }),
        );
      }, priority),
  };
}
