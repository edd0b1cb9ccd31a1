import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { changeThingReceipt } from "../../src/devices/thing-receipts.ts";
import { removeLink } from "../../src/federation/unlinking.ts";
import { madeThingAlerts, reportOf } from "../alerts/made-thing-alerts.ts";
import { onStore } from "../contracts/store/harness.ts";
import { linkOf, makeHome, node } from "../contracts/store/home.ts";
import { sqliteHarness } from "../contracts/store/sqlite-harness.ts";
import { thermostatThing } from "../home/home-parts.ts";

describe("the log", () => {
  it("has one entry for each new state of a command, and none for a change that keeps the state", () =>
    onStore(sqliteHarness, async (store) => {
      const { userId, devices } = await makeHome(store);
      const deviceId = devices[0]!;
      const states = await store.transaction(async (tx) => {
        const command = {
          userId,
          deviceId,
          thingId: "t_hall",
          key: "thermostat/hall",
          command: "{}",
          plan: "{}",
          state: "sending",
          error: null,
          clientId: null,
          requestedMs: 1,
          settledMs: null,
        } as const;
        const row = {
          ...command,
          id: await tx.thingCommands.add(command),
          step: 0,
          sentMs: null,
          blockedUntilMs: null,
          alertId: null,
          dueMs: null,
        };
        const stepped = await changeThingReceipt(tx, row, ["sending"], { state: "sending", step: 1 }, 2);
        assert.equal(stepped?.step, 1);
        assert.equal((await changeThingReceipt(tx, row, ["sending"], { state: "accepted" }, 3))?.state, "accepted");
        assert.equal(await changeThingReceipt(tx, row, ["sending"], { state: "expired" }, 4), undefined);
        return (await tx.log.ofDevice(userId, deviceId)).map(({ kind, body }) => [kind, JSON.parse(body).state]);
      });
      assert.deepEqual(states, [["thingCommand", "accepted"]]);
    }));

  it("keeps two entries of an unlinked account: one for its present things, one for its device", () =>
    onStore(sqliteHarness, async (store) => {
      const { showThings, showGone, userId, account, ...home } = await madeThingAlerts(store);
      await showThings([reportOf("t_hall", thermostatThing({}))]);
      await showGone();
      const link = { ...linkOf({ ...home, userId }, node("A")), deviceId: account };
      await store.transaction((tx) => tx.links.add(link));
      await removeLink(store, userId, link.ecosystem);
      const left = await store.read((tx) => tx.log.ofDevice(userId, account));
      assert.deepEqual(
        left.map(({ kind, body }) => [
          kind,
          (JSON.parse(body).things ?? []).map((one: { thingId: string }) => one.thingId),
        ]),
        [
          ["thing", ["t_hall"]],
          ["device", []],
        ],
      );
    }));
});
