import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type AlertTables, alertsOn } from "../../src/alerts/alerts.ts";
import { commitOn } from "../../src/devices/commit.ts";
import type { DeviceId } from "../../src/model/ids.ts";
import { limits } from "../../src/model/limits.ts";
import type { Store, Transaction } from "../../src/store/seam.ts";
import { definitionBytes } from "../../src/store/tables/triggers.ts";
import { onStore } from "../contracts/store/harness.ts";
import { silent } from "../contracts/store/home.ts";
import { harnesses } from "../devices/limited-home.ts";
import { numbersFrom } from "../set-up/seeded-random.ts";
import { away, madeAlerts, target } from "./made-alerts.ts";

const named = (first: number, count: number) =>
  Array.from({ length: count }, (_, i) => ({ key: `name ${first + i}`, value: "x" }));

for (const { harness, skip } of harnesses) {
  describe(`the size of alerts on ${harness.kind}`, { skip, timeout: 120_000 }, () => {
    it("is limited for each alert; a larger one from before the limit may be changed if it doesn't grow", () =>
      onStore(harness, async (store) => {
        const { alerts, accessScope, given, userId, lamp } = await madeAlerts(store);
        const targets = (count: number) =>
          Array.from({ length: count }, (_, i) => target(lamp, `a${i}`, "x".repeat(8_000)));
        const tooLarge = { code: "limit_reached", limit: "bytesPerAlert" };
        await assert.rejects(alerts.add(accessScope, given({ targets: targets(3) })), tooLarge);
        const { id } = await alerts.add(accessScope, given({ targets: targets(1) }));
        await assert.rejects(alerts.redefine(accessScope, id, given({ targets: targets(3) })), tooLarge);
        assert.equal((await alerts.find(accessScope, id)).targets.length, 1);
        // As an older version stored it.
        const { isArmed, ...small } = await alerts.find(accessScope, id);
        await store.transaction((tx) => tx.triggers.redefine({ ...small, isArmed, userId, targets: targets(4) }));
        await assert.rejects(alerts.redefine(accessScope, id, given({ targets: targets(5) })), tooLarge);
        assert.equal((await alerts.redefine(accessScope, id, given({ targets: targets(3) }))).targets.length, 3);
        await alerts.remove(accessScope, id);
      }));

    it("is limited for all alerts of a user together, and removing one makes room", () =>
      onStore(harness, async (store) => {
        const { alerts, accessScope, given, userId, lamp } = await madeAlerts(store);
        const sized = (bytes: number) =>
          given({ message: "x".repeat(2_000), targets: [target(lamp, "a", "x".repeat(bytes))] });
        const { id, ...row } = await alerts.add(accessScope, sized(8_000));
        const [each] = await store.read(async (tx) => [(await tx.triggers.totals(userId, lamp)).bytesOfUser]);
        const fitting = Math.floor(limits.alertBytesPerUser / each!);
        await store.transaction(async (tx) => {
          for (let i = 1; i < fitting; i++) await tx.triggers.add(row);
        });
        const full = { code: "limit_reached", limit: "alertBytesPerUser" };
        await assert.rejects(alerts.add(accessScope, sized(8_000)), full);
        assert.equal((await store.read((tx) => tx.triggers.ofUser(userId))).length, fitting);
        await alerts.redefine(accessScope, id, sized(7_900));
        await alerts.remove(accessScope, id);
        await alerts.add(accessScope, sized(8_000));
      }));

    it("is summed as it is stored, whatever is added, changed and removed", (t) =>
      onStore(harness, async (store, place) => {
        const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 1e6));
        t.diagnostic(`SEED=${seed}`);
        const random = numbersFrom(seed);
        const { alerts, accessScope, given, userId, lamp, devices } = await madeAlerts(store);
        const text = () => ["", "on", "größer 🏠", 'a "quoted" text', "x".repeat(300)][Math.floor(random() * 5)]!;
        const any = () =>
          given({
            message: text(),
            address: text(),
            targets: [target(devices[1]!, "ä", text())],
            stringThreshold: `${text()}1`,
          });
        const ids = [];
        for (let step = 0; step < 40; step++) {
          const at = Math.floor(random() * (ids.length + 1));
          if (at === ids.length) ids.push((await alerts.add(accessScope, any())).id);
          else if (random() < 0.7) await alerts.redefine(accessScope, ids[at]!, any());
          else await alerts.remove(accessScope, ids.splice(at, 1)[0]!);
        }
        const stored = await store.read((tx) => tx.triggers.ofUser(userId));
        const bytes = stored.reduce((sum, one) => {
          const texts = [one.attributeName, JSON.stringify(one.condition), one.action, JSON.stringify(one.targets)];
          return sum + [...texts, one.address, one.message].reduce((size, part) => size + Buffer.byteLength(part), 0);
        }, 0);
        const totals = await store.read((tx) => tx.triggers.totals(userId, lamp));
        assert.deepEqual({ ...totals }, { ofUser: ids.length, ofDevice: 0, bytesOfUser: bytes });
        if (harness.kind !== "sqlite") return;
        const sums = `SELECT COUNT(*), SUM(${definitionBytes}) FROM triggers WHERE user_id = 1`;
        const plan = await place.sql(`EXPLAIN QUERY PLAN ${sums}`);
        assert.match(JSON.stringify(plan), /COVERING INDEX triggers_sizes/);
      }));
  });

  describe(`an alert that would grow a device beyond its limit on ${harness.kind}`, { skip, timeout: 120_000 }, () => {
    it("says so in its record and in the log, writes nothing, and keeps the change that caused it", () =>
      onStore(harness, async (store) => {
        const reached: string[] = [];
        const home = await madeAlerts(store, { onLimitReached: (limit) => reached.push(limit) });
        const { add, commit, userId, byClient, lamp, showAway, evaluationsOf, firings, account, writesTo } = home;
        const changes = named(0, limits.attributesPerDevice);
        await commit({ userId, cause: byClient, updates: [{ deviceId: lamp, changes }] });
        const growing = await add({ targets: [target(lamp, "new", "on")] });
        const steady = await add({ targets: [target(lamp, "name 5", "by alert")] });
        await showAway("home");
        assert.deepEqual(await evaluationsOf(growing), ["home fired stopped at the limit attributesPerDevice"]);
        assert.deepEqual(await evaluationsOf(steady), ["home fired"]);
        assert.deepEqual(
          (await firings()).map(({ alert, writes, note }) => [alert, writes.length, note]),
          [
            [growing, 0, "stopped at the limit attributesPerDevice"],
            [steady, 1, undefined],
          ],
        );
        assert.deepEqual(await writesTo(lamp, "new"), []);
        assert.deepEqual(await writesTo(lamp, "name 5"), ["x", "by alert"]);
        assert.equal((await store.read((tx) => tx.attributes.some(userId, account, [away])))[0]?.value, "home");
        assert.deepEqual(reached, ["attributesPerDevice"]);
      }));

    it("counts what alerts before it write because of the same change", () =>
      onStore(harness, async (store) => {
        const { add, commit, userId, byClient, lamp, showAway, evaluationsOf } = await madeAlerts(store);
        const changes = named(0, limits.attributesPerDevice - 1);
        await commit({ userId, cause: byClient, updates: [{ deviceId: lamp, changes }] });
        const [first, same, other] = [
          await add({ targets: [target(lamp, "new", "1")] }),
          await add({ targets: [target(lamp, "new", "2")] }),
          await add({ targets: [target(lamp, "newer", "3")] }),
        ];
        await showAway("home");
        assert.deepEqual(await evaluationsOf(first), ["home fired"]);
        assert.deepEqual(await evaluationsOf(same), ["home fired"]);
        assert.deepEqual(await evaluationsOf(other), ["home fired stopped at the limit attributesPerDevice"]);
        const rows = await store.read((tx) => tx.attributes.all(userId, lamp));
        assert.equal(rows.length, limits.attributesPerDevice);
        assert.equal(rows.find(({ key }) => key === "new")?.value, "2");
      }));
  });

  describe(`a change that alerts watch on ${harness.kind}`, { skip, timeout: 120_000 }, () => {
    /** Counts the reads of alerts in a chain. */
    async function watched(store: Store<Transaction>) {
      const looks = { watching: 0, whole: 0 };
      const counting = (tx: Transaction): Transaction => {
        const triggers: Transaction["triggers"] = {
          ...tx.triggers,
          watching: (...asked) => {
            looks.watching += 1;
            return tx.triggers.watching(...asked);
          },
          withRecord: (...asked) => {
            looks.whole += 1;
            return tx.triggers.withRecord(...asked);
          },
        };
        return new Proxy(tx, {
          get: (target, name: keyof Transaction) => (name === "triggers" ? triggers : target[name]),
        });
      };
      const counted: Store<Transaction> = {
        isShared: store.isShared,
        read: (body) => store.read(body),
        transaction: (body, priority) => store.transaction((tx) => body(counting(tx)), priority),
      };
      const alerts = alertsOn({ store: counted as Store<AlertTables> });
      const commit = commitOn({
        store: counted,
        reactions: [alerts.react],
        committed: alerts.afterCommit,
        report: silent,
      });
      return { looks, commit };
    }

    it("reads only alerts that fire in full, and each alert once, however often its chain reaches it", () =>
      onStore(harness, async (store) => {
        const { add, userId, byClient, lamp } = await madeAlerts(store);
        for (let i = 0; i < 20; i++) {
          await add({ deviceId: lamp, attributeName: "power", stringThreshold: "never", message: "x".repeat(2_000) });
        }
        const { looks, commit } = await watched(store);
        const write = (deviceId: DeviceId, key: string, value: string) =>
          commit({ userId, cause: byClient, updates: [{ deviceId, changes: [{ key, value }] }] });
        await write(lamp, "power", "on");
        assert.deepEqual(looks, { watching: 1, whole: 0 });
        const echo = { deviceId: lamp, attributeName: "power", operation: "regex", stringThreshold: ".*" };
        await add({ ...echo, autoDisarm: false, targets: [target(lamp, "power", "again")] });
        const commits = await write(lamp, "power", "on");
        assert.equal(commits.length, limits.alertHopsPerCause + 1);
        assert.deepEqual(looks, { watching: 2, whole: limits.alertHopsPerCause + 1 });
      }));

    it("lets alerts fire until their texts fill the log's share of one cause", () =>
      onStore(harness, async (store) => {
        const { alerts, accessScope, given, lamp, write, firings } = await madeAlerts(store);
        const large = { message: "x".repeat(2_000), address: "x".repeat(2_000), stringThreshold: "x".repeat(8_000) };
        const echo = given({ ...large, deviceId: lamp, attributeName: "n", action: "note", targets: [] });
        const { id: _, ...row } = await alerts.add(accessScope, echo);
        await store.transaction(async (tx) => {
          for (let i = 1; i < 100; i++) await tx.triggers.add(row);
        });
        await write(lamp, "n", "x".repeat(8_000));
        const told = await firings(lamp);
        const fired = told.filter(({ note }) => note === undefined).length;
        assert.equal(told.length, 100);
        assert.ok(fired > 80 && fired < 90, `${fired} fired`);
        assert.equal(told.at(-1)?.note, "stopped at the limit");
      }));
  });

  describe(`a dry run on ${harness.kind}`, { skip, timeout: 120_000 }, () => {
    it("runs alone for its user: another one at the same time is refused, others' are not", () =>
      onStore(harness, async (store) => {
        const turns: (() => void)[] = [];
        const turn = () => new Promise<void>((resolve) => turns.push(resolve));
        const { given, accessScope, write, lamp } = await madeAlerts(store);
        const bob = await madeAlerts(store, { name: "Bob" });
        const alerts = alertsOn({ store: store as Store<AlertTables>, yieldToOthers: turn });
        for (let i = 0; i < 40; i++) await write(lamp, "power", `${i}`);
        const all = { afterMs: 0, untilMs: Number.MAX_SAFE_INTEGER };
        const mine = given({ deviceId: lamp, attributeName: "power", stringThreshold: "7" });
        const running = alerts.dryRun(accessScope, mine, all);
        while (turns.length === 0) await new Promise(setImmediate);
        await assert.rejects(alerts.dryRun(accessScope, mine, all), { code: "limit_reached", limit: "dryRunsAtOnce" });
        assert.equal((await alerts.dryRun(bob.accessScope, bob.given(), all)).events, 0);
        turns[0]!();
        assert.equal((await running).events, 40);
        const again = alerts.dryRun(accessScope, mine, all);
        while (turns.length === 1) await new Promise(setImmediate);
        turns[1]!();
        assert.equal((await again).firings.length, 1);
      }));
  });
}
