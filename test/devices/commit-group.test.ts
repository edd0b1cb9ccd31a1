import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { attemptsIn, type WorkOptions } from "../../src/devices/attempts.ts";
import type { DeviceCommit, Reaction } from "../../src/devices/commit.ts";
import { commitGroupOn } from "../../src/devices/commit-group.ts";
import type { DeviceId } from "../../src/model/ids.ts";
import { onStore } from "../contracts/store/harness.ts";
import { makeHome, silent } from "../contracts/store/home.ts";
import { sqliteHarness } from "../contracts/store/sqlite-harness.ts";

/** A home with two devices, and groups of commits whose first attempt needs work. */
const on = (test: (home: Awaited<ReturnType<typeof groupedHome>>) => Promise<void>) =>
  onStore(sqliteHarness, async (store) => test(await groupedHome(store)));

async function groupedHome(store: Parameters<Parameters<typeof onStore>[1]>[0]) {
  const home = await makeHome(store, { devices: 2 });
  const [one, two] = home.devices as [DeviceId, DeviceId];
  const announced: (readonly [readonly DeviceId[], boolean])[] = [];
  const options: WorkOptions[] = [];
  let hasWorked = false;
  const react: Reaction = async (tx) => {
    const attempts = attemptsIn(tx)!;
    options.push(attempts.options);
    if (hasWorked) return [];
    attempts.runAgainAfter(async () => {
      hasWorked = true;
    });
    return [];
  };
  const committed = (commits: readonly DeviceCommit[], isUrgent: boolean) =>
    void announced.push([commits.map(({ deviceId }) => deviceId), isUrgent]);
  const commitGroup = commitGroupOn({ store, reactions: [react], committed, report: silent });
  const update = (deviceId: DeviceId) => ({
    ...{ userId: home.userId, cause: { by: "administrator" } as const },
    updates: [{ deviceId, changes: [{ key: "power", value: "on" }] }],
  });
  return { ...home, one, two, announced, options, commitGroup, update };
}

describe("a group of commits", () => {
  it("that runs again is announced once, with the commits of the last attempt", () =>
    on(async ({ tenantId, userId, one, two, announced, options, commitGroup, update }) => {
      const requests: number[] = [];
      await commitGroup(async (tx, { apply, workRequests }) => {
        await tx.users.lockOfTenant(tenantId, [userId]);
        requests.push(workRequests());
        for (const deviceId of [one, two]) await apply(update(deviceId));
        requests.push(workRequests());
      });
      assert.deepEqual(announced, [[[one, two], false]]);
      assert.deepEqual(requests, [0, 2, 0, 0]);
      assert.deepEqual(options[0], { urgent: false });
    }));

  it("waits for work as its caller says, first if its transaction is urgent", () =>
    on(async ({ tenantId, userId, one, options, commitGroup, update }) => {
      const body: Parameters<typeof commitGroup>[0] = async (tx, { apply }) => {
        await tx.users.lockOfTenant(tenantId, [userId]);
        await apply(update(one));
      };
      await commitGroup(body, { urgent: true }, { mayRefuse: true });
      assert.deepEqual(options[0], { urgent: true, mayRefuse: true });
    }));
});
