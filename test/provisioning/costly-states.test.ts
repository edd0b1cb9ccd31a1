import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type AlertTables, alertsOn } from "../../src/alerts/alerts.ts";
import { commitGroupOn } from "../../src/devices/commit-group.ts";
import { DeviceStates } from "../../src/devices/states.ts";
import type { Incoming } from "../../src/http/request/incoming.ts";
import { AnsweredElsewhere, ResumableBatches } from "../../src/idempotency/resumable-batches.ts";
import { IdempotencyKeyInUse, OutcomeUnknown, StoreUnavailable } from "../../src/model/errors.ts";
import type { DeviceId } from "../../src/model/ids.ts";
import { limits } from "../../src/model/limits.ts";
import { BatchTurns } from "../../src/outlets/v3/batch-turns.ts";
import { stateRoute } from "../../src/outlets/v3/state-routes.ts";
import { OwnAlarms } from "../../src/own-things/own-alarms.ts";
import { OwnThings } from "../../src/own-things/own-things.ts";
import type { LineOutcome } from "../../src/provisioning/batch-lines.ts";
import { costlyWritesAtOnce } from "../../src/provisioning/costly-turns.ts";
import { type Provisioning, provisioningOn } from "../../src/provisioning/provisioning.ts";
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
  /** The devices of each transaction that was committed. */
  const committed: (readonly DeviceId[])[] = [];
  const { watched, uses } = watchedStore(store);
  const provisioning = provisioningOn({
    store: watched,
    commitGroup: commitGroupOn({
      ...{ store: watched, reactions: [alerts.react], ownThings, report: silent },
      committed(commits, isUrgent) {
        const devices = commits.map(({ deviceId }) => deviceId);
        committed.push(devices);
        alerts.afterCommit(commits);
        if (isUrgent) urgent.push(...devices);
      },
    }),
    states: new DeviceStates(store),
    counts: new TenantDeviceCounts(store, elapsedMs),
    ...{ ownThings, ownAlarms: new OwnAlarms({ store: watched, ownThings, elapsedMs }), elapsedMs },
  });
  /** The route on one node, which may have other parts. */
  const node = (other: (own: Provisioning) => Partial<Provisioning> = () => ({})) => {
    const parts = {
      provisioning: { ...provisioning, ...other(provisioning) },
      batches: new ResumableBatches(store),
      tokens: { clientOf: async () => "client 1" },
    };
    const route = stateRoute(parts, new BatchTurns());
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
    committed,
    uses,
  };
}

/** A store that counts its reads and transactions, and how many are open at once. */
function watchedStore(store: OpenStore) {
  const uses = { open: 0, most: 0, transactions: 0 };
  const counted = async <Result>(act: () => Promise<Result>) => {
    uses.open += 1;
    uses.most = Math.max(uses.most, uses.open);
    try {
      return await act();
    } finally {
      uses.open -= 1;
    }
  };
  const watched: OpenStore = Object.create(store, {
    read: { value: ((body, priority) => counted(() => store.read(body, priority))) as Store["read"] },
    transaction: {
      value: ((body, priority) => {
        uses.transactions += 1;
        return counted(() => store.transaction(body, priority));
      }) as Store["transaction"],
    },
  });
  return { watched, uses };
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

  it("with a key are in use until they are written, and are written once by two nodes", () =>
    onSqlite(async (store) => {
      const { ada, bob, node, send, release, storedValue, jobs } = await company(store);
      await ada.add({ ...costly, deviceId: ada.lamp, attributeName: "text", action: "note", targets: [] });
      const [ofBob] = bob.devices as [DeviceId];
      const states = { [ada.lamp]: { text: long }, [ofBob]: { power: "on" } };
      const first = send(states, "key", AbortSignal.abort());
      await until(() => jobs.length === 1);
      await assert.rejects(send(states, "key"), IdempotencyKeyInUse);
      const begun = Promise.withResolvers<void>();
      const elsewhere = node(({ writeCostly }) => ({
        writeCostly(...writes) {
          begun.resolve();
          return writeCostly(...writes);
        },
      }))(states, "key");
      await begun.promise;
      release();
      const result = { written: [ada.lamp, ofBob], failed: [] };
      assert.deepEqual([await first, await elsewhere], [result, result]);
      assert.deepEqual([await send(states, "key"), await node()(states, "key")], [result, result]);
      assert.deepEqual([await ada.writesTo(ada.lamp, "text"), await storedValue(bob, ofBob, "power")], [[long], "on"]);
      assert.equal((await ada.firings(ada.lamp)).length, 1);
    }));

  it("with a key are written by a repeated request when the first one has failed before", () =>
    onSqlite(async (store) => {
      const { ada, node, release } = await company(store, 4);
      release();
      const [alarm, second, third, last] = ada.devices as [DeviceId, DeviceId, DeviceId, DeviceId];
      for (const deviceId of [alarm, second, third]) {
        await ada.add({ ...costly, deviceId, attributeName: "text", action: "note", targets: [] });
      }
      const states = {
        ...{ [alarm]: { text: long, smoke: "fire" }, [second]: { text: long }, [third]: { text: long } },
        ...{ [last]: { power: "on" } },
      };
      const down = () => Promise.reject(new StoreUnavailable("The store is down."));
      const failing = node(({ writeSome }) => ({
        writeSome: (tenantId, lines, ...rest) => (lines.length === 1 ? down() : writeSome(tenantId, lines, ...rest)),
      }));
      const isKeyed = (error: unknown) => error instanceof OutcomeUnknown && error.isKeyed;
      await assert.rejects(failing(states, "key"), isKeyed);
      assert.deepEqual(await ada.writesTo(alarm, "smoke"), ["fire"], "alarms do not wait for the other lines");
      await assert.rejects(node(() => ({ writeCostly: down }))(states, "key"), isKeyed);
      const result = { written: ada.devices, failed: [] };
      assert.deepEqual([await node()(states, "key"), await node()(states, "key")], [result, result]);
      for (const id of [alarm, second, third]) assert.deepEqual(await ada.writesTo(id, "text"), [long]);
    }));

  it("with a key have a stored answer that says what nodes of the version before can read", () =>
    onSqlite(async (store) => {
      const { ada, node } = await company(store);
      await ada.add({ ...costly, deviceId: ada.lamp, attributeName: "text", action: "note", targets: [] });
      const replayed: unknown[] = [];
      const watching = node(() => ({
        async writeCostly(_, [write]) {
          const keep = async (answer: LineOutcome<DeviceId>) => store.transaction((tx) => write!.keep!(tx, [answer]));
          await assert.rejects(
            keep({ done: 1 as DeviceId }).then(() => keep({ done: 2 as DeviceId })),
            (error) => {
              assert.ok(error instanceof AnsweredElsewhere);
              replayed.push(error.answer);
              return true;
            },
          );
          return [];
        },
      }));
      const stored = await watching({ [ada.lamp]: { text: long } }, "key");
      assert.deepEqual(stored, {
        written: [],
        failed: [
          {
            deviceId: ada.lamp,
            status: 503,
            error: "outcome_unknown",
            error_description: "The device is not written yet. Repeat the request with the same Idempotency-Key.",
          },
        ],
      });
      assert.deepEqual(replayed, [1], "the first answer stays");
    }));

  it("are refused when too many of the tenant wait, and dropped when their client has gone; alarms are not", () =>
    onSqlite(async (store) => {
      const { ada, node, release, uses, storedValue } = await company(store);
      await ada.add({ ...costly, deviceId: ada.lamp, attributeName: "text", action: "note", targets: [] });
      const leaving = new AbortController();
      const states = { [ada.lamp]: { text: long } };
      let begun = 0;
      const send = node(({ writeCostly }) => ({
        writeCostly(...writes) {
          begun += 1;
          return writeCostly(...writes);
        },
      }));
      const waiting: Promise<void>[] = [];
      while (waiting.length < costlyWritesAtOnce + limits.costlyStatesWaiting) {
        waiting.push(assert.rejects(send(states, undefined, leaving.signal), { code: "client_gone" }));
        await until(() => begun === waiting.length);
      }
      const { written, failed } = await send(states, "key");
      assert.deepEqual([written, failed[0].status, failed[0].error], [[], 409, "limit_reached"]);
      assert.ok(uses.most <= costlyWritesAtOnce + 1, `${uses.most} reads and transactions at once`);
      const alarm = send({ [ada.lamp]: { text: long, smoke: "fire" } }, undefined, AbortSignal.abort());
      await until(() => begun === waiting.length + 2 && uses.open === 0);
      leaving.abort();
      await Promise.all(waiting);
      release();
      assert.deepEqual(await alarm, { written: [ada.lamp], failed: [] });
      assert.equal(await storedValue(ada, ada.lamp, "smoke"), "fire");
      assert.deepEqual(await send(states, "key"), { written, failed });
      assert.deepEqual(await ada.writesTo(ada.lamp, "text"), [long]);
    }));

  it("of many users in one request are written a few at once, and none is refused", () =>
    onSqlite(async (store) => {
      const { ada, send, release, uses } = await company(store, 1);
      release();
      const users = [ada];
      while (users.length <= costlyWritesAtOnce + limits.costlyStatesWaiting) {
        users.push(await madeAlerts(store, { lamps: 1, name: `user ${users.length}` }));
      }
      for (const { add, lamp } of users) {
        await add({ ...costly, deviceId: lamp, attributeName: "text", action: "note", targets: [] });
      }
      const states = Object.fromEntries(users.map(({ lamp }) => [lamp, { text: long }]));
      assert.deepEqual(await send(states), { written: users.map(({ lamp }) => lamp), failed: [] });
      assert.ok(uses.most > 1 && uses.most <= costlyWritesAtOnce, `${uses.most} reads and transactions at once`);
      // One finds all costly lines. Each line takes two: one asks for the match, one writes.
      assert.equal(uses.transactions, 1 + 2 * users.length);
    }));

  it("that start an alarm are among the first of their request", () =>
    onSqlite(async (store) => {
      const { ada, send, release, committed, urgent } = await company(store, 250);
      release();
      for (const deviceId of ada.devices.slice(0, 3)) {
        await ada.add({ ...costly, deviceId, attributeName: "text", action: "note", targets: [] });
      }
      const [alarm, ...others] = ada.devices as [DeviceId, ...DeviceId[]];
      const states = Object.fromEntries(others.map((id, index) => [id, { text: index < 2 ? long : "on" }]));
      const answer = await send({ [alarm]: { text: long, smoke: "fire" }, ...states });
      assert.deepEqual(answer, { written: ada.devices, failed: [] });
      const at = committed.findIndex((devices) => devices.includes(alarm));
      assert.ok(at < 2 && committed.length > 4, `transaction ${at + 1} of ${committed.length}`);
      assert.deepEqual(urgent, [alarm]);
    }));

  it("that start many alarms are all written, as alarms", () =>
    onSqlite(async (store) => {
      const { ada, send, release, urgent, uses } = await company(store, 2 * limits.costlyStatesWaiting);
      release();
      for (const deviceId of ada.devices) {
        await ada.add({ ...costly, deviceId, attributeName: "text", action: "note", targets: [] });
      }
      const states = Object.fromEntries(ada.devices.map((id) => [id, { text: long, smoke: "fire" }]));
      assert.deepEqual(await send(states), { written: ada.devices, failed: [] });
      assert.deepEqual(new Set(urgent), new Set(ada.devices));
      assert.ok(uses.most <= costlyWritesAtOnce + 1, `${uses.most} reads and transactions at once`);
    }));

  it("that are costly only together are written in several transactions, without the thread", () =>
    onSqlite(async (store) => {
      const { ada, send, jobs, committed } = await company(store, 12);
      for (const deviceId of ada.devices) {
        await ada.add({ ...costly, deviceId, attributeName: "text", action: "note", targets: [] });
      }
      const states = Object.fromEntries(ada.devices.map((id) => [id, { text: "a".repeat(500) }]));
      assert.deepEqual(await send(states), { written: ada.devices, failed: [] });
      assert.equal(jobs.length, 0);
      assert.ok(committed.length > 1 && committed.length < ada.devices.length / 2, `${committed.length} transactions`);
      for (const id of ada.devices) assert.equal((await ada.firings(id)).length, 1);
    }));
});
