import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { RE2JS } from "re2js";
import { type Alerts, type AlertTables, alertsOn, type Period, type TriggerInput } from "../../src/alerts/alerts.ts";
import { DryRuns } from "../../src/alerts/dry-run.ts";
import { askerName } from "../../src/alerts/match-turns.ts";
import { attributeEntry } from "../../src/devices/log-entries.ts";
import type { TenantId, UserId } from "../../src/model/ids.ts";
import { limits } from "../../src/model/limits.ts";
import type { OpenStore, Store, Transaction } from "../../src/store/seam.ts";
import type { LogTable } from "../../src/store/tables/log.ts";
import { onStore } from "../contracts/store/harness.ts";
import { sqliteHarness } from "../contracts/store/sqlite-harness.ts";
import { madeAlerts } from "./made-alerts.ts";
import { watchedWork } from "./made-matching.ts";
import { madeThingAlerts } from "./made-thing-alerts.ts";

const allTime = { afterMs: 0, untilMs: Number.MAX_SAFE_INTEGER };

/**
 * The store with a simulated history: each device has `commits` commits, at the times 1, 2, 3 and so on. Storing them
 * would take too long. The one at `blankMs` sets no value.
 */
function withHistory(store: OpenStore, commits: number, value: string, blankMs?: number): Store<AlertTables> {
  const changes: LogTable["changes"] = async (userId, deviceId, { fromMs, toMs }, limit) => {
    const bodyAt = (timeMs: number) => {
      const changed = [{ key: "power", value: timeMs === blankMs ? null : value }];
      return attributeEntry(userId, deviceId, 0, { by: "administrator" }, changed).body;
    };
    const lastMs = Math.min(commits, toMs - 1);
    const count = Math.max(0, Math.min(limit, lastMs - fromMs + 1));
    return Array.from({ length: count }, (_, i) => {
      const timeMs = fromMs + i;
      return { userId, deviceId, kind: "attribute", timeMs, body: bodyAt(timeMs) };
    });
  };
  const withPastCommits = (tx: Transaction): Transaction => Object.create(tx, { log: { value: { changes } } });
  return {
    isShared: store.isShared,
    read: (body) => store.read((tx) => body(withPastCommits(tx))),
    transaction: () => assert.fail("a dry run only reads"),
  };
}

/** Gives the test a function that dry-runs a definition over such a history. */
const overHistory = (
  test: (
    run: (
      commits: number,
      value: string,
      change?: Partial<TriggerInput>,
      period?: Period,
    ) => ReturnType<Alerts["dryRun"]>,
  ) => Promise<void>,
) =>
  onStore(sqliteHarness, async (store) => {
    const { accessScope, given, lamp } = await madeAlerts(store);
    const power = { deviceId: lamp, attributeName: "power", stringThreshold: "on", autoDisarm: false };
    await test((commits, value, change, period = allTime) =>
      alertsOn({ store: withHistory(store, commits, value) }).dryRun(
        accessScope,
        given({ ...power, ...change }),
        period,
      ),
    );
  });

describe("a dry run", () => {
  it("of an alert on an attribute ignores commits that changed only things", () =>
    onStore(sqliteHarness, async (store) => {
      const { showAway, showAlarm, alerts, accessScope, given } = await madeThingAlerts(store);
      await showAlarm({ smokeAlarmState: "emergency" });
      await showAway("home");
      const { events, firings } = await alerts.dryRun(accessScope, given(), allTime);
      assert.deepEqual([events, firings.length], [1, 1]);
    }));

  it("reads at most 100,000 commits", () =>
    overHistory(async (run) => {
      const most = limits.commitsPerDryRun;
      const unwatched = { attributeName: "colour" };
      assert.equal((await run(most, "on", unwatched)).events, 0);
      await assert.rejects(run(most + 1, "on", unwatched), { code: "limit_reached", limit: "commitsPerDryRun" });
    }));

  it("is refused when its pattern could take too many steps", () =>
    overHistory(async (run) => {
      // The budget counts the worst case, a step for each instruction and character. This match fails at once.
      const around = RE2JS.compile("b.{1}").programSize() - 1;
      const stringThreshold = `b.{${200 - around}}`;
      assert.equal(RE2JS.compile(stringThreshold).programSize(), 200);
      const value = "a".repeat(limits.patternStepsPerDryRun / 200);
      assert.equal((await run(1, value, { operation: "regex", stringThreshold })).events, 1);
      const refused = { code: "bad_parameter", parameter: "from" };
      await assert.rejects(run(2, value, { operation: "regex", stringThreshold }), refused);
    }));

  it("has costly matches made outside of the event loop, in jobs that leave room for those of others", () =>
    onStore(sqliteHarness, async (store) => {
      const { accessScope, given, lamp } = await madeAlerts(store);
      const stringThreshold = "b.{97}";
      assert.equal(RE2JS.compile(stringThreshold).programSize(), 100);
      const jobsWith = async (commits: number, characters: number, blankMs?: number) => {
        const { patternWork, jobs } = watchedWork();
        const history = withHistory(store, commits, "a".repeat(characters), blankMs);
        const alerts = alertsOn({ store: history, patternWork });
        const power = { deviceId: lamp, attributeName: "power", operation: "regex", stringThreshold };
        const { events, firings } = await alerts.dryRun(accessScope, given(power), allTime);
        assert.deepEqual([events, firings], [commits, []]);
        return jobs.map(({ values }) => values.length);
      };
      assert.deepEqual(await jobsWith(50, 10), [], "a cheap run is made at once");
      assert.deepEqual(await jobsWith(51, 10), [1], "equal values are matched once");
      assert.deepEqual(await jobsWith(9, 2_000), [1, 1, 1, 1, 1], "two matches of 200,000 steps are one job");
      assert.deepEqual(await jobsWith(1_000, 1), [1], "500 events are one job, and the first ones were cheap");
      assert.deepEqual(await jobsWith(1_001, 1), [1, 1]);
      assert.deepEqual(await jobsWith(2, 2_500), [1, 1], "a match of 250,000 steps is a job of its own");
      assert.deepEqual([await jobsWith(1, 1, 1), await jobsWith(3, 501, 2)], [[], [1]], "blank values take no steps");
    }));

  it("matches nothing after it would have disabled itself, and is refused when the thread fails", () =>
    onStore(sqliteHarness, async (store) => {
      const { accessScope, given, lamp } = await madeAlerts(store);
      const power = { deviceId: lamp, attributeName: "power", operation: "regex", stringThreshold: "a{200}.*" };
      const { patternWork, jobs } = watchedWork();
      const history = withHistory(store, 9, "a".repeat(8_000));
      const { events, firings } = await alertsOn({ store: history, patternWork }).dryRun(
        accessScope,
        given({ ...power, autoDisable: true }),
        allTime,
      );
      assert.deepEqual([events, firings.length, jobs.length], [9, 1, 1]);
      const broken = { run: async () => undefined };
      await assert.rejects(
        alertsOn({ store: history, patternWork: broken }).dryRun(accessScope, given(power), allTime),
        { code: "bad_parameter", parameter: "stringThreshold" },
      );
    }));

  it("excludes the first millisecond of its period and includes the last", () =>
    overHistory(async (run) => {
      const { events, firings } = await run(9, "on", {}, { afterMs: 2, untilMs: 4 });
      assert.deepEqual([events, firings.map(({ timeMs }) => timeMs)], [2, [3, 4]]);
    }));

  it("fires as the definition says: at each event, once for each transition, only once, or never", () =>
    overHistory(async (run) => {
      const firingsWith = async (change: Partial<TriggerInput>) => (await run(3, "on", change)).firings.length;
      assert.equal(await firingsWith({}), 3);
      assert.equal(await firingsWith({ autoDisarm: true }), 1);
      assert.equal(await firingsWith({ autoDisable: true }), 1);
      assert.equal(await firingsWith({ isEnabled: false }), 0);
    }));

  it("ignores commits that did not change the attribute", () =>
    onStore(sqliteHarness, async (store) => {
      const { alerts, accessScope, given, write, lamp } = await madeAlerts(store);
      for (const [name, value] of [
        ["power", "on"],
        ["colour", "on"],
        ["power", "off"],
      ] as const) {
        await write(lamp, name, value);
      }
      const input = given({ deviceId: lamp, attributeName: "power", stringThreshold: "on" });
      const { events, firings } = await alerts.dryRun(accessScope, input, allTime);
      assert.deepEqual([events, firings.map(({ value }) => value)], [2, ["on"]]);
    }));
});

describe("dry runs at the same time", () => {
  const userId = 1 as UserId;
  const [ada, operator, home, office] = [
    askerName({ kind: "user", userId }, {}),
    askerName({ kind: "user", userId }, { isOperator: true }),
    askerName({ kind: "enterprise", tenantId: 1 as TenantId }, {}),
    askerName({ kind: "enterprise", tenantId: 2 as TenantId }, {}),
  ] as const;

  it("are limited for each user, for each tenant, and for operators who look at the user's home", async () => {
    const runs = new DryRuns();
    const waiting = Promise.withResolvers<string>();
    const started = [ada, operator, home, office].map((scope) => runs.run(scope, () => waiting.promise));
    const refused = { code: "limit_reached", limit: "dryRunsAtOnce" };
    for (const scope of [ada, operator, home, office]) {
      await assert.rejects(
        runs.run(scope, async () => "second"),
        refused,
      );
    }
    waiting.resolve("first");
    assert.deepEqual(await Promise.all(started), ["first", "first", "first", "first"]);
    for (const scope of [ada, operator, home, office]) assert.equal(await runs.run(scope, async () => "next"), "next");
  });

  it("may be as many as the limit says; each one that ends, even with an error, makes room for another", async () => {
    const runs = new DryRuns(2);
    const [one, two, three] = [0, 0, 0].map(() => Promise.withResolvers<void>()) as [Held, Held, Held];
    const run = ({ promise }: Held) => runs.run(ada, () => promise);
    const refused = { code: "limit_reached", limit: "dryRunsAtOnce" };
    const [first, second] = [run(one), run(two)];
    await assert.rejects(run(three), refused);
    one.reject(new Error("broken"));
    await assert.rejects(first, /broken/);
    const third = run(three);
    await assert.rejects(run(three), refused);
    two.resolve();
    three.resolve();
    await Promise.all([second, third]);
    await Promise.all([run(two), run(three)]);
  });
});

type Held = PromiseWithResolvers<void>;
