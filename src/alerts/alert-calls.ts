import type { KeepAnswer } from "../idempotency/idempotent-writes.ts";
import type { AccessScope } from "../model/access-scope.ts";
import { LimitReached, TooManyTriggers, UnknownTrigger } from "../model/errors.ts";
import type { DeviceId, TenantId, TriggerId, UserId } from "../model/ids.ts";
import { limits } from "../model/limits.ts";
import { bytesOf } from "../model/trigger.ts";
import type { Store } from "../store/seam.ts";
import type { AlertTable, NewAlert, TriggerTotals } from "../store/tables/alert-rows.ts";
import type { LogEntry } from "../store/tables/log.ts";
import type { ThingTriggerRow } from "../store/tables/thing-triggers.ts";
import type { TriggerRow } from "../store/tables/triggers.ts";
import type { AlertTables } from "./alert-tables.ts";
import { type Commanding, reachedNow } from "./commanding.ts";
import {
  type CheckedThingTrigger,
  type CheckedTrigger,
  type CheckParts,
  checkSize,
  type RuleInput,
} from "./definition.ts";
import { type DryRun, type DryRuns, dryRun, type Period } from "./dry-run.ts";
import { type Explanation, explain } from "./explain.ts";
import { judgedPatterns } from "./judged-patterns.ts";
import { type Asker, askerName, type MatchCaller, type MatchTurns } from "./match-turns.ts";
import type { Matching, PresentJudgement } from "./matching.ts";
import type { PatternJob } from "./pattern-cache.ts";
import type { Patterns } from "./patterns.ts";
import type { Records } from "./records.ts";
import { checkTried, type TriedValue, tryValue } from "./try-value.ts";

/** An alert of any kind. */
export type AnyTriggerRow = TriggerRow | ThingTriggerRow;

/** The calls that alerts on attributes and alerts on things have in common. */
export interface AlertCalls<Input, Row> {
  /** Creation never fires, whatever the present value is. */
  add(accessScope: AccessScope, input: Input, keep?: KeepAnswer<Row>): Promise<Row>;
  find(accessScope: AccessScope, id: TriggerId): Promise<Row>;
  /**
   * Replaces the definition. `input` may be a function of the current row. The alert stays armed or disarmed, unless the
   * new definition fires on something else. It fires at the next event, as a new alert does.
   */
  redefine(
    accessScope: AccessScope,
    id: TriggerId,
    input: Input | ((before: Row) => Input),
    keep?: KeepAnswer<Row>,
  ): Promise<Row>;
  /** Enabling arms. */
  setEnabled(accessScope: AccessScope, id: TriggerId, isEnabled: boolean): Promise<void>;
  remove(accessScope: AccessScope, id: TriggerId, keep?: KeepAnswer): Promise<void>;
  /** Explains why the alert fired, or why it didn't. */
  explain(accessScope: AccessScope, id: TriggerId, asker?: Asker): Promise<Explanation<Row>>;
  /** What the alert would do if what it watches had this value now. Nothing happens. */
  tryValue(accessScope: AccessScope, id: TriggerId, value: string, asker?: Asker): Promise<TriedValue<Row>>;
  /** When a definition would have fired in a period of the past. */
  dryRun(accessScope: AccessScope, input: Input, period: Period, asker?: Asker): Promise<DryRun>;
}

const explanationsWaiting = {
  name: "explanationsWaiting",
  sentence: "Too many of your explanation requests are waiting. Wait for their answers, then try again.",
} as const;
/** How often a costly condition is evaluated for one question, if the alert or its value changes meanwhile. */
const mostRounds = 3;

/** A checked definition: an alert without its owner and its state. */
export type Checked<Row> = Omit<Row, "id" | "userId" | "isArmed" | "reason" | "createdMs" | "firedMs" | "firings"> &
  (CheckedTrigger | CheckedThingTrigger);

/** What one kind of alerts watches. */
export interface AlertSubject<Input, Row extends AnyTriggerRow, Watched> {
  readonly table: (tx: AlertTables) => AlertTable<Row>;
  /** The device or thing that the input names. The error for one outside the access scope is that for an unknown one. */
  readonly find: (tx: AlertTables, accessScope: AccessScope, input: Input) => Promise<Watched>;
  readonly check: (tx: AlertTables, watched: Watched, input: Input, parts: CheckParts) => Promise<Checked<Row>>;
  /** Refuses a definition of an alert that names another device or thing. */
  readonly refuseMove: (before: Row, input: Input) => void;
  readonly isSameSubject: (before: Row, after: Row) => boolean;
  /** The present value. */
  readonly value: (tx: AlertTables, trigger: Row) => Promise<string | null>;
  /** Which log entries can change the value. */
  readonly pastKinds: "attributes" | "attributes and things";
  /** The value that a commit set; undefined when it set none. */
  readonly pastValue: (commit: LogEntry, definition: Checked<Row>) => { readonly value: string | null } | undefined;
}

export interface AlertCallParts {
  readonly store: Store<AlertTables>;
  /** Lets other work of the event loop run. */
  readonly yieldToOthers: () => Promise<void>;
  readonly patterns: Patterns;
  readonly matching: Matching;
  readonly matchTurns: MatchTurns;
  readonly tenantOf: (userId: UserId) => Promise<TenantId | undefined>;
  readonly records: Records;
  readonly commanding: Commanding;
  readonly dryRuns: DryRuns;
}

export function alertCalls<
  Input extends RuleInput,
  Row extends AnyTriggerRow,
  Watched extends { readonly userId: UserId },
>(
  { store, yieldToOthers, patterns, matching, matchTurns, tenantOf, records, commanding, dryRuns }: AlertCallParts,
  subject: AlertSubject<Input, Row, Watched>,
): AlertCalls<Input, Row> {
  const findAlert = async (accessScope: AccessScope, id: TriggerId): Promise<Row> => {
    const trigger = await store.read((tx) => subject.table(tx).within(accessScope, id));
    if (!trigger) throw new UnknownTrigger();
    return trigger;
  };

  /**
   * Changes an alert under the user's lock, as all changes of a home. The second look-up sees what happened before the
   * lock was held.
   */
  const change = <Result>(
    accessScope: AccessScope,
    { id, userId }: Pick<Row, "id" | "userId">,
    act: (tx: AlertTables, trigger: Row) => Promise<Result>,
  ): Promise<Result> =>
    store.transaction(async (tx) => {
      await tx.users.lock(userId);
      const trigger = await subject.table(tx).within(accessScope, id);
      if (!trigger) throw new UnknownTrigger();
      return act(tx, trigger);
    });

  const callerOf = async (accessScope: AccessScope, asker: Asker): Promise<MatchCaller> => {
    const tenantId = accessScope.kind === "user" ? await tenantOf(accessScope.userId) : accessScope.tenantId;
    if (tenantId === undefined) throw new UnknownTrigger();
    return {
      tenantId: asker.isOperator ? "operators" : tenantId,
      name: askerName(accessScope, asker),
      disconnected: asker.disconnected,
    };
  };

  /**
   * Reads an alert and a value, and evaluates the condition. Never inside a transaction: others would wait. An alert that
   * was changed while it waited for its turn is evaluated again.
   */
  const evaluated = async <Read extends { readonly trigger: Row; readonly value: string | null }>(
    accessScope: AccessScope,
    asker: Asker,
    read: () => Promise<Read>,
  ): Promise<Read & { readonly judgement: PresentJudgement }> => {
    let found = await read();
    const cheap = matching.judgeCheap(found.trigger.condition, found.value);
    if (cheap !== undefined) return { ...found, judgement: cheap };
    const caller = { ...(await callerOf(accessScope, asker)), limit: explanationsWaiting };
    return matchTurns.admit(caller, async () => {
      for (let round = 1; ; round++) {
        const { trigger, value } = found;
        const judgement = await matchTurns.run(caller, (work) => matching.judgeBy(work, trigger.condition, value));
        const present = await read();
        if (isEvaluated(found, present)) return { ...present, judgement };
        if (round === mostRounds) return { ...found, judgement };
        found = present;
      }
    });
  };

  return {
    async add(accessScope, input, keep) {
      const { userId } = await store.read((tx) => subject.find(tx, accessScope, input));
      const knownPatterns = judgedPatterns(patterns, input);
      return store.transaction(async (tx) => {
        // Undefined for a user who was removed meanwhile. Then `subject.find` throws.
        const nowMs = (await tx.users.lock(userId)) ?? 0;
        const watched = await subject.find(tx, accessScope, input);
        const checked = await subject.check(tx, watched, input, { patterns: knownPatterns, commanding });
        const bytes = checkSize(checked);
        const totals = await totalsOf(tx, userId, checked.deviceId);
        checkCounts(checked.deviceId, totals);
        checkBytes(totals, bytes);
        const state = { userId, isArmed: true, reason: null, createdMs: nowMs };
        const trigger = { ...checked, ...state } as unknown as NewAlert<Row>;
        const id = await subject.table(tx).add(trigger);
        const added = { ...trigger, id, firedMs: null, firings: 0 } as unknown as Row;
        await keep?.(tx, added);
        return added;
      });
    },

    find: findAlert,

    async redefine(accessScope, id, inputOrUpdate, keep) {
      const inputFor = (before: Row) => (typeof inputOrUpdate === "function" ? inputOrUpdate(before) : inputOrUpdate);
      const present = await findAlert(accessScope, id);
      const knownPatterns = judgedPatterns(patterns, inputFor(present), present.condition);
      return change(accessScope, present, async (tx, before) => {
        const input = inputFor(before);
        subject.refuseMove(before, input);
        const watched = await subject.find(tx, accessScope, input);
        const checked = await subject.check(tx, watched, input, { patterns: knownPatterns, commanding });
        const reason = input.isEnabled ? null : before.reason;
        const after: Row = { ...before, ...checked, reason };
        const bytesBefore = bytesOf(before);
        const growth = checkSize(after, bytesBefore) - bytesBefore;
        if (growth > 0) checkBytes(await totalsOf(tx, before.userId, before.deviceId), growth);
        const trigger = { ...after, isArmed: before.isArmed || isNewRule(subject, before, after) };
        await subject.table(tx).redefine(trigger);
        await keep?.(tx, trigger);
        return trigger;
      });
    },

    setEnabled: async (accessScope, id, isEnabled) =>
      change(accessScope, await findAlert(accessScope, id), (tx, { userId }) =>
        subject.table(tx).change(userId, id, { isEnabled, reason: null, ...(isEnabled && { isArmed: true }) }),
      ),

    remove: async (accessScope, id, keep) =>
      change(accessScope, await findAlert(accessScope, id), async (tx, { userId }) => {
        await subject.table(tx).remove(userId, id);
        await keep?.(tx);
      }),

    async explain(accessScope, id, asker = {}) {
      const { trigger, value, record, judgement } = await evaluated(accessScope, asker, () =>
        store.read(async (tx) => {
          const table = subject.table(tx);
          const trigger = await table.within(accessScope, id);
          if (!trigger) throw new UnknownTrigger();
          const value = await subject.value(tx, trigger);
          return { trigger, value, record: await table.record(trigger.userId, id) };
        }),
      );
      return explain(trigger, value, judgement, record, records.of(id));
    },

    async tryValue(accessScope, id, value, asker = {}) {
      const { trigger, judgement } = await evaluated(accessScope, asker, async () => {
        const trigger = await findAlert(accessScope, id);
        checkTried(value);
        return { trigger, value };
      });
      const tried = tryValue(trigger, judgement);
      if (tried.outcome !== "fired") return { ...tried, commands: [] };
      return { ...tried, commands: await store.read((tx) => reachedNow(commanding, tx, trigger)) };
    },

    async dryRun(accessScope, input, period, asker = {}) {
      const knownPatterns = judgedPatterns(patterns, input);
      const { userId, checked, commands } = await store.read(async (tx) => {
        const watched = await subject.find(tx, accessScope, input);
        const checked = await subject.check(tx, watched, input, { patterns: knownPatterns, commanding });
        const commands = await reachedNow(commanding, tx, { ...checked, userId: watched.userId });
        return { userId: watched.userId, checked, commands };
      });
      const past = { kinds: subject.pastKinds, valueIn: (commit: LogEntry) => subject.pastValue(commit, checked) };
      const tried = { ...checked, userId };
      const caller = await callerOf(accessScope, asker);
      const answer = (job: PatternJob) => matchTurns.run(caller, (work) => work.run(job));
      const run = await dryRuns.run(caller.name, () =>
        dryRun({ store, turn: yieldToOthers }, tried, past, period, { patterns, answer }),
      );
      return { ...run, commands };
    },
  };
}

/** Whether the alert still has the condition, and its subject the value, that were evaluated. */
function isEvaluated(found: Evaluated, present: Evaluated): boolean {
  const isSameCondition = JSON.stringify(found.trigger.condition) === JSON.stringify(present.trigger.condition);
  return isSameCondition && found.value === present.value;
}

interface Evaluated {
  readonly trigger: Pick<AnyTriggerRow, "condition">;
  readonly value: string | null;
}

/**
 * Whether a redefinition arms the alert: it was enabled, or it fires on something else now. The events before say
 * nothing about the new rule.
 */
function isNewRule<Row extends AnyTriggerRow>(
  { isSameSubject }: Pick<AlertSubject<never, Row, never>, "isSameSubject">,
  before: Row,
  after: Row,
): boolean {
  return (
    (after.isEnabled && !before.isEnabled) ||
    after.autoDisarm !== before.autoDisarm ||
    !isSameSubject(before, after) ||
    JSON.stringify(after.condition) !== JSON.stringify(before.condition)
  );
}

/** Alerts of both kinds share the limits of their device and of their user. */
async function totalsOf(tx: AlertTables, userId: UserId, deviceId: DeviceId): Promise<TriggerTotals> {
  const [attributes, things] = await Promise.all([
    tx.triggers.totals(userId, deviceId),
    tx.thingTriggers.totals(userId, deviceId),
  ]);
  return {
    ofDevice: attributes.ofDevice + things.ofDevice,
    ofUser: attributes.ofUser + things.ofUser,
    bytesOfUser: attributes.bytesOfUser + things.bytesOfUser,
  };
}

function checkCounts(deviceId: DeviceId, { ofDevice, ofUser }: TriggerTotals): void {
  if (ofDevice >= limits.alertsPerDevice) {
    throw new TooManyTriggers("alertsPerDevice", `Device ${deviceId} has ${limits.alertsPerDevice} alerts already.`);
  }
  if (ofUser >= limits.alertsPerUser) {
    throw new TooManyTriggers("alertsPerUser", `This user has ${limits.alertsPerUser} alerts already.`);
  }
}

function checkBytes({ bytesOfUser }: TriggerTotals, growth: number): void {
  if (bytesOfUser + growth <= limits.alertBytesPerUser) return;
  throw new LimitReached(
    "alertBytesPerUser",
    `The alerts of this user take ${bytesOfUser} bytes and may take ${limits.alertBytesPerUser}. This one would add ${growth}. Nothing was changed. Remove or shorten alerts.`,
  );
}
