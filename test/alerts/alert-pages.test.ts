import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type AlertPage, type AnyTriggerRow, alertsPerPage } from "../../src/alerts/alerts.ts";
import { onStore } from "../contracts/store/harness.ts";
import { sqliteHarness } from "../contracts/store/sqlite-harness.ts";
import { alarmId, madeThingAlerts } from "./made-thing-alerts.ts";

/** A user with one alert of each kind, and so many more of one kind that the list is longer than a page. */
const onLongList = (
  table: "triggers" | "thingTriggers",
  test: (home: Awaited<ReturnType<typeof madeThingAlerts>>) => Promise<void>,
) =>
  onStore(sqliteHarness, async (store) => {
    const home = await madeThingAlerts(store);
    const { alerts, accessScope, given, givenOnThing } = home;
    const onThing = await alerts.onThings.add(accessScope, givenOnThing());
    const onAttribute = await alerts.add(accessScope, given());
    await store.transaction(async (tx) => {
      for (let i = 0; i < alertsPerPage; i++) {
        if (table === "triggers") await tx.triggers.add(onAttribute);
        else await tx.thingTriggers.add(onThing);
      }
    });
    await test(home);
  });

/** Reads a list to its end: how many alerts each page holds, with a check that no alert comes twice. */
async function pageSizes(read: (afterId: number) => Promise<AlertPage<AnyTriggerRow>>): Promise<readonly number[]> {
  const sizes: number[] = [];
  const ids = new Set<number>();
  for (let afterId: number | undefined = 0; afterId !== undefined; ) {
    const { alerts, nextAfterId }: AlertPage<AnyTriggerRow> = await read(afterId);
    for (const { id } of alerts) ids.add(id);
    sizes.push(alerts.length);
    afterId = nextAfterId;
  }
  assert.equal(
    ids.size,
    sizes.reduce((sum, size) => sum + size, 0),
  );
  return sizes;
}

describe("a list of alerts that is longer than a page", () => {
  const start = { deviceId: undefined, thingId: undefined };

  it("goes on with a second page, when it has the alerts on attributes", () =>
    onLongList("triggers", async ({ alerts, accessScope }) => {
      const sizes = await pageSizes((afterId) => alerts.page(accessScope, { ...start, afterId }));
      assert.deepEqual(sizes, [alertsPerPage, 1]);
    }));

  it("goes on with a second page, when it has the alerts of both kinds", () =>
    onLongList("triggers", async ({ alerts, accessScope }) => {
      const sizes = await pageSizes((afterId) => alerts.onThings.pageOfBoth(accessScope, { ...start, afterId }));
      assert.deepEqual(sizes, [alertsPerPage, 2]);
    }));

  it("goes on with a second page, when it has the alerts on one thing", () =>
    onLongList("thingTriggers", async ({ alerts, accessScope }) => {
      const sizes = await pageSizes((afterId) =>
        alerts.onThings.pageOfBoth(accessScope, { ...start, thingId: alarmId, afterId }),
      );
      assert.deepEqual(sizes, [alertsPerPage, 1]);
    }));
});
