import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type AlertTables, alertsOn } from "../../src/alerts/alerts.ts";
import { commitGroupOn } from "../../src/devices/commit-group.ts";
import { DeviceStates } from "../../src/devices/states.ts";
import type { Incoming } from "../../src/http/request/incoming.ts";
import { ResumableBatches } from "../../src/idempotency/resumable-batches.ts";
import type { DeviceId } from "../../src/model/ids.ts";
import { limits } from "../../src/model/limits.ts";
import { BatchTurns } from "../../src/outlets/v3/batch-turns.ts";
import { stateRoute } from "../../src/outlets/v3/state-routes.ts";
import { OwnAlarms } from "../../src/own-things/own-alarms.ts";
import { OwnThings } from "../../src/own-things/own-things.ts";
import { provisioningOn } from "../../src/provisioning/provisioning.ts";
import { TenantDeviceCounts } from "../../src/provisioning/tenant-device-counts.ts";
import type { OpenStore, Store } from "../../src/store/seam.ts";
import { madeAlerts } from "../alerts/made-alerts.ts";
import { watchedWork } from "../alerts/made-matching.ts";
import { onStore } from "../contracts/store/harness.ts";
import { makeHome, silent } from "../contracts/store/home.ts";
import { sqliteHarness } from "../contracts/store/sqlite-harness.ts";
import { lampMap, plainIds } from "../own-things/made-own-things.ts";

const costly = { operation: "regex", stringThreshold: "(?:a|b|c{20})*", autoDisarm: false } as const;
const long = "a".repeat(8_000);
const alarmMap = {
  ...lampMap,
  kind: "alarm",
  traits: { smoke: { state: { attribute: "smoke", words: { clear: "ok", alarm: "fire" } } } },
};

/** Ada, whose alerts have costly patterns, Bob, and their company, which writes states. The thread is held. */
async function company(store: OpenStore, lamps = 2) {
  const ada = await madeAlerts(store, { lamps });
  const bob = await makeHome(store, { name: "Bob" });
  const { tenantId } = ada;
  const held = Promise.withResolvers<void>();
  const { patternWork, jobs } = watchedWork();
  const patterns = {
    async run(job: Parameters<typeof patternWork.run>[0]) {
      const answers = patternWork.run(job);
      await held.promise;
      return answers;
    },
  };
  await store.transaction((tx) => tx.deviceTypeMaps.put(tenantId, "lamp", JSON.stringify(alarmMap)));
  const ownThings = new OwnThings(plainIds);
  const alerts = alertsOn({ store: store as Store<AlertTables>, patternWork: patterns });
  const elapsedMs = () => 0;
  const urgent: DeviceId[] = [];
  let transactions = 0;
  const provisioning = provisioningOn({
    store,
    commitGroup: commitGroupOn({
      ...{ store, reactions: [alerts.react], ownThings, report: silent },
      committed(commits, isUrgent) {
        transactions += 1;
        alerts.afterCommit(commits);
        if (isUrgent) urgent.push(...commits.map(({ deviceId }) => deviceId));
      },
    }),
    states: new DeviceStates(store),
    counts: new TenantDeviceCounts(store, elapsedMs),
    ...{ ownThings, ownAlarms: new OwnAlarms({ store, ownThings, elapsedMs }), elapsedMs },
  });
  /** The route on one node. */
  const node = () => {
    const batches = new ResumableBatches(store);
    const route = stateRoute({ provisioning, batches, tokens: { clientOf: async () => "client 1" } }, new BatchTurns());
    assert.ok(route.access === "bearer");
    const caller = { kind: "enterprise", tenantId } as unknown as Parameters<typeof route.answer>[1];
    const { signal } = new AbortController();
    return async (value: Readonly<Record<number, object>>, key?: string, disconnected = signal) => {
      const idempotencyKeys = key === undefined ? undefined : [key];
      const body = { kind: "json", value };
      const incoming = { body, bearer: "token", idempotencyKeys, disconnected } as unknown as Incoming;
      const answer = await route.answer(incoming, caller);
      assert.ok("body" in answer);
      return JSON.parse(String(answer.body));
    };
  };
  const storedValue = async (home: Pick<typeof bob, "userId">, deviceId: DeviceId, name: string) =>
    (await store.read((tx) => tx.attributes.some(home.userId, deviceId, [name])))[0]?.value;
  return {
    ada,
    bob,
    node,
    send: node(),
    jobs,
    release: held.resolve,
    storedValue,
    urgent,
    transactions: () => transactions,
  };
}

const onSqlite = (test: (store: OpenStore) => Promise<void>) => onStore(sqliteHarness, test);
const until = async (isSo: () => Promise<boolean> | boolean) => {
  while (!(await isSo())) await new Promise((resolve) => setImmediate(resolve));
};

describe("states of devices whose alerts have costly patterns", { timeout: 60_000 }, () => {
  it("wait for the thread, while alarms and states of other users are written", () =>
    onSqlite(async (store) => {
      const { ada, bob, send, release, storedValue, urgent, jobs } = await company(store);
      await ada.add({ ...costly, deviceId: ada.lamp, attributeName: "text", action: "note", targets: [] });
      const [ofBob] = bob.devices as [DeviceId];
      const [, secondLamp] = ada.devices as [DeviceId, DeviceId];
      const states = { [ada.lamp]: { text: long }, [secondLamp]: { text: "on" }, [ofBob]: { smoke: "fire" } };
      const sent = send(states);
      await until(() => urgent.includes(ofBob));
      assert.equal(await storedValue(bob, ofBob, "smoke"), "fire");
      assert.deepEqual(await send({ [ofBob]: { smoke: "ok" } }), { written: [ofBob], failed: [] });
      await until(() => jobs.length === 1);
      assert.equal(await storedValue(ada, ada.lamp, "text"), undefined);
      release();
      assert.deepEqual(await sent, { written: [ada.lamp, secondLamp, ofBob], failed: [] });
      assert.deepEqual([(await ada.firings(ada.lamp)).length, await storedValue(ada, ada.lamp, "text")], [1, long]);
    }));

  it("with a key are answered once: before they are written, a repeated request hears that this is unknown", () =>
    onSqlite(async (store) => {
      const { ada, bob, node, send, release, storedValue, jobs } = await company(store);
      await ada.add({ ...costly, deviceId: ada.lamp, attributeName: "text", action: "note", targets: [] });
      const [ofBob] = bob.devices as [DeviceId];
      const states = { [ada.lamp]: { text: long }, [ofBob]: { power: "on" } };
      const first = send(states, "key", AbortSignal.abort());
      await until(() => jobs.length === 1);
      const { written, failed } = await node()(states, "key");
      assert.deepEqual([written, failed[0].error, failed.length], [[ofBob], "outcome_unknown", 1]);
      release();
      assert.deepEqual(await first, { written: [ada.lamp, ofBob], failed: [] });
      assert.deepEqual(await node()(states, "key"), await first);
      assert.deepEqual([await ada.writesTo(ada.lamp, "text"), await storedValue(bob, ofBob, "power")], [[long], "on"]);
    }));

  it("are refused when too many changes of the user wait, and dropped when their client has gone", () =>
    onSqlite(async (store) => {
      const { ada, send, release, jobs } = await company(store);
      await ada.add({ ...costly, deviceId: ada.lamp, attributeName: "text", action: "note", targets: [] });
      const leaving = new AbortController();
      const states = { [ada.lamp]: { text: long } };
      const waiting = [];
      for (let i = 0; i < limits.changesWaiting; i++) {
        waiting.push(assert.rejects(send(states, undefined, leaving.signal), { code: "client_gone" }));
      }
      await until(() => jobs.length === 1);
      const { written, failed } = await send(states, "key");
      assert.deepEqual([written, failed[0].status, failed[0].error], [[], 409, "limit_reached"]);
      leaving.abort();
      await Promise.all(waiting);
      release();
      assert.deepEqual(await send(states, "key"), { written, failed });
      assert.deepEqual(await ada.writesTo(ada.lamp, "text"), []);
    }));

  it("that are costly only together are written in several transactions, without the thread", () =>
    onSqlite(async (store) => {
      const { ada, send, jobs, transactions } = await company(store, 12);
      for (const deviceId of ada.devices) {
        await ada.add({ ...costly, deviceId, attributeName: "text", action: "note", targets: [] });
      }
      const states = Object.fromEntries(ada.devices.map((id) => [id, { text: "a".repeat(500) }]));
      assert.deepEqual(await send(states), { written: ada.devices, failed: [] });
      assert.equal(jobs.length, 0);
      assert.ok(transactions() > 1 && transactions() < ada.devices.length / 2, `${transactions()} transactions`);
      for (const id of ada.devices) assert.equal((await ada.firings(id)).length, 1);
    }));
});
