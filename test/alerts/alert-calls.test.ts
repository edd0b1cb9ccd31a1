import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type AlertCallParts, type AlertSubject, alertCalls } from "../../src/alerts/alert-calls.ts";
import type { AlertTables } from "../../src/alerts/alert-tables.ts";
import { alertsOn } from "../../src/alerts/alerts.ts";
import { attributeSubject } from "../../src/alerts/attribute-subject.ts";
import type { RuleInput } from "../../src/alerts/definition.ts";
import type { Asker, MatchCaller } from "../../src/alerts/match-turns.ts";
import type { PresentJudgement } from "../../src/alerts/matching.ts";
import { thingWithin } from "../../src/alerts/thing-subject.ts";
import type { AccessScope } from "../../src/model/access-scope.ts";
import type { DeviceId, TenantId, TriggerId, UserId } from "../../src/model/ids.ts";
import type { OwnThings } from "../../src/own-things/own-things.ts";
import type { Store } from "../../src/store/seam.ts";
import type { TriggerRow } from "../../src/store/tables/triggers.ts";

const ofUser: AccessScope = { kind: "user", userId: 7 as UserId };
const ofTenant: AccessScope = { kind: "enterprise", tenantId: 4 as TenantId };
const id = 1 as TriggerId;

interface Made {
  readonly cheap?: PresentJudgement;
  readonly values?: readonly string[];
  readonly isEnabled?: boolean;
}

/**
 * An alert whose value is another one at each read. `cheap`: what can be judged without the thread. The thread says what
 * it was asked about.
 */
function made({ cheap, values = ["a"], isEnabled = true }: Made) {
  const trigger = {
    ...{ id, userId: 7 as UserId, condition: { operation: "regex", pattern: "x" }, isEnabled, isArmed: true },
    ...{ autoDisarm: false, autoDelete: false, autoDisable: false, commands: [{ thingId: "t_lamp" }] },
  } as unknown as TriggerRow;
  let isThere = true;
  let reads = 0;
  const table = { within: async () => (isThere ? trigger : undefined), record: async () => [] };
  const subject = {
    table: () => table,
    value: async () => values[Math.min(reads++, values.length - 1)],
  } as unknown as AlertSubject<RuleInput, TriggerRow, { readonly userId: UserId }>;
  const callers: MatchCaller[] = [];
  const judged: (string | null)[] = [];
  let isMatch = true;
  const parts = {
    store: { read: (body: (tx: object) => unknown) => body({ things: { some: async () => [] } }) },
    matching: {
      judgeCheap: () => cheap,
      async judgeBy(_: unknown, __: unknown, value: string | null) {
        judged.push(value);
        return isMatch;
      },
    },
    matchTurns: {
      admit(caller: MatchCaller, task: () => unknown) {
        callers.push(caller);
        return task();
      },
      run: (_: MatchCaller, task: (work: undefined) => unknown) => task(undefined),
    },
    tenantOf: async (userId: UserId) => (userId === 7 ? (3 as TenantId) : undefined),
    records: { of: () => [] },
    commanding: { reached: async () => ["t_lamp"] },
  } as unknown as AlertCallParts;
  const change = (now: { readonly isMatch?: boolean; readonly isThere?: boolean }) => {
    isMatch = now.isMatch ?? isMatch;
    isThere = now.isThere ?? isThere;
  };
  return { ...alertCalls(parts, subject), callers, judged, change };
}

describe("a question about an alert with a costly pattern", () => {
  it("waits in the name of the user, of the tenant's clients, or of operators", async () => {
    const { explain, callers } = made({});
    const { signal: disconnected } = new AbortController();
    const ask = async (accessScope: AccessScope, asker?: Asker) => void (await explain(accessScope, id, asker));
    await ask(ofUser);
    await ask(ofTenant, { disconnected });
    await ask(ofUser, { isOperator: true });
    await ask(ofTenant, { isOperator: true });
    const limit = {
      name: "explanationsWaiting",
      sentence: "Too many of your explanation requests are waiting. Wait for their answers, then try again.",
    };
    const waiting = (tenantId: number | string, name: string) => ({ tenantId, name, disconnected: undefined, limit });
    assert.deepEqual(callers, [
      waiting(3, "user 7"),
      { ...waiting(4, "tenant 4"), disconnected },
      waiting("operators", "operators of user 7"),
      waiting("operators", "operators of tenant 4"),
    ]);
    await assert.rejects(explain({ kind: "user", userId: 8 as UserId }, id), { code: "unknown_trigger" });
    assert.equal(callers.length, 4, "a user who was removed does not wait");
  });

  it("is answered without waiting when the pattern is cheap on this value", async () => {
    const { explain, tryValue, callers } = made({ cheap: false });
    assert.equal((await explain(ofUser, id)).isTrue, false);
    assert.equal((await tryValue(ofUser, id, "y")).outcome, "unmet");
    assert.deepEqual(callers, []);
  });

  it("is judged anew when the value has changed meanwhile, three times at most", async () => {
    const settling = made({ values: ["a", "b", "b"] });
    assert.equal((await settling.explain(ofUser, id)).value, "b");
    assert.deepEqual(settling.judged, ["a", "b"]);
    const changing = made({ values: ["a", "b", "c", "d", "e"] });
    assert.equal((await changing.explain(ofUser, id)).value, "c", "the value that was judged");
    assert.deepEqual(changing.judged, ["a", "b", "c"]);
  });

  it("is refused when there is no such alert", async () => {
    const { explain, tryValue, change } = made({ cheap: true });
    change({ isThere: false });
    await assert.rejects(explain(ofUser, id), { code: "unknown_trigger" });
    await assert.rejects(tryValue(ofUser, id, "x"), { code: "unknown_trigger" });
  });

  it("says which things a firing would command, and names none when it would not fire", async () => {
    const { tryValue, change } = made({});
    const { outcome, commands } = await tryValue(ofUser, id, "x");
    assert.deepEqual([outcome, commands.map(({ thingId }) => thingId)], ["fired", ["t_lamp"]]);
    change({ isMatch: false });
    const unmet = await tryValue(ofUser, id, "x");
    assert.deepEqual([unmet.outcome, unmet.commands], ["unmet", []]);
  });

  it("tries values of up to 8,192 characters", async () => {
    const { tryValue } = made({ cheap: true });
    assert.equal((await tryValue(ofUser, id, "x".repeat(8_192))).outcome, "fired");
    await assert.rejects(tryValue(ofUser, id, "x".repeat(8_193)), { code: "bad_parameter", parameter: "value" });
  });
});

describe("an alert on an attribute", () => {
  it("stays with its device", () => {
    const before = { deviceId: 1 as DeviceId } as TriggerRow;
    const moveTo = (deviceId: number) => () =>
      attributeSubject.refuseMove(before, { deviceId } as Parameters<typeof attributeSubject.refuseMove>[1]);
    moveTo(1)();
    assert.throws(moveTo(2), { code: "bad_parameter", parameter: "deviceId" });
  });
});

describe("a list of alerts", () => {
  const rows =
    (...ids: readonly number[]) =>
    async () =>
      ids.map((id) => ({ id }));
  const tables = { triggers: { listed: rows(5, 2) }, thingTriggers: { listed: rows(4, 1) } };
  const alerts = alertsOn({
    store: { read: (body: (tx: object) => unknown) => body(tables) } as unknown as Store<AlertTables>,
  });

  it("of both kinds has the newest first, up to its limit", async () => {
    const ids = async (limit: number) =>
      (await alerts.onThings.listed({ limit } as Parameters<typeof alerts.onThings.listed>[0])).map(({ id }) => id);
    assert.deepEqual(
      [await ids(9), await ids(3)],
      [
        [5, 4, 2, 1],
        [5, 4, 2],
      ],
    );
  });

  it("of a tenant must name a device, or a thing where things are listed too", async () => {
    await assert.rejects(async () => alerts.page(ofTenant, { afterId: 0, deviceId: undefined }), {
      message: "The parameter deviceId is required with an enterprise token.",
    });
    await assert.rejects(
      async () => alerts.onThings.pageOfBoth(ofTenant, { afterId: 0, deviceId: undefined, thingId: undefined }),
      {
        message: "The parameter deviceId or thingId is required with an enterprise token.",
      },
    );
  });
});

describe("a tried value", () => {
  it("of a disabled alert has the outcome disabled", async () => {
    const { tryValue } = made({ cheap: true, isEnabled: false });
    const { outcome, isTrue, commands } = await tryValue(ofUser, id, "x");
    assert.deepEqual([outcome, isTrue, commands], ["disabled", true, []]);
  });
});

describe("a costly explanation without a thread", () => {
  const value = "a".repeat(8_000);
  const condition = { operation: "regex", pattern: "(?:a|b|c{20})*" };
  const explainFor = (users: readonly object[], yieldToOthers: () => Promise<void>) => {
    const tables = {
      users: { some: async () => users },
      triggers: { within: async () => ({ id, userId: 7, condition, key: "n" }), record: async () => [] },
      attributes: { some: async () => [{ value }] },
    };
    const store = { read: (body: (tx: object) => unknown) => body(tables) } as unknown as Store<AlertTables>;
    return alertsOn({ store, yieldToOthers }).explain(ofUser, id);
  };

  it("lets other work run before it is made, and is refused to a user who was removed meanwhile", async () => {
    let turns = 0;
    const turn = async () => {
      turns += 1;
    };
    const { isTrue } = await explainFor([{ tenantId: 3 }], turn);
    assert.deepEqual([isTrue, turns], [true, 1]);
    await assert.rejects(explainFor([], turn), { code: "unknown_trigger" });
  });
});

describe("an alert on a thing", () => {
  const row = { thingId: "t_hall", userId: 7, deviceId: 5, state: "{}" };
  const tx = { things: { within: async () => row } } as unknown as AlertTables;

  it("finds a company's own thing, and else that of a linked account", async () => {
    const own = { thingId: "t_own" };
    const ownThings = (found: object | undefined) => ({ find: async () => found }) as unknown as OwnThings;
    assert.equal(await thingWithin(tx, ownThings(own), ofUser, "t_own"), own);
    assert.equal((await thingWithin(tx, ownThings(undefined), ofUser, "t_hall")).deviceId, 5);
    assert.equal((await thingWithin(tx, undefined, ofUser, "t_hall")).deviceId, 5);
  });
});
