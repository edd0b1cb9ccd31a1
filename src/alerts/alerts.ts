import type { DeviceCommit, Reaction } from "../devices/commit.ts";
import type { AccessScope } from "../model/access-scope.ts";
import { BadParameter } from "../model/errors.ts";
import type { DeviceId, UserId } from "../model/ids.ts";
import type { OnLimitReached } from "../model/limits.ts";
import type { OwnThings } from "../own-things/own-things.ts";
import type { Store } from "../store/seam.ts";
import type { AlertListFilter } from "../store/tables/alert-rows.ts";
import type { ThingTriggerRow } from "../store/tables/thing-triggers.ts";
import type { TriggerRow } from "../store/tables/triggers.ts";
import { type AlertCalls, type AnyTriggerRow, alertCalls } from "./alert-calls.ts";
import type { AlertTables } from "./alert-tables.ts";
import { attributeSubject, deviceWithin } from "./attribute-subject.ts";
import { type Commanding, commandsNothing } from "./commanding.ts";
import type { ThingTriggerInput, TriggerInput } from "./definition.ts";
import { DryRuns } from "./dry-run.ts";
import { MatchTurns } from "./match-turns.ts";
import { Matching } from "./matching.ts";
import { PatternCache, type PatternWork } from "./pattern-cache.ts";
import { Patterns } from "./patterns.ts";
import { alertReaction } from "./reaction.ts";
import { Records } from "./records.ts";
import { thingSubject, thingWithin } from "./thing-subject.ts";

export type { AlertListFilter } from "../store/tables/alert-rows.ts";
export type { ThingTriggerRow } from "../store/tables/thing-triggers.ts";
export type { TriggerRow } from "../store/tables/triggers.ts";
export type { AnyTriggerRow } from "./alert-calls.ts";
export type { AlertTables } from "./alert-tables.ts";
export type { AdmittedCommand, Commanding, ThingOrder } from "./commanding.ts";
export type { ThingTriggerInput, TriggerInput } from "./definition.ts";
export type { DryRun, Period } from "./dry-run.ts";
export type { Explanation } from "./explain.ts";
export type { TriedValue } from "./try-value.ts";

/**
 * The alerts on attributes within a caller's access scope. For an alert outside it the error is the same as for one that
 * does not exist.
 */
export interface Alerts extends AlertCalls<TriggerInput, TriggerRow> {
  /** One page of the alerts of a user or of a device, ascending by id. */
  page(accessScope: AccessScope, request: AlertPageRequest): Promise<AlertPage>;
  setEnabledOfDevice(accessScope: AccessScope, deviceId: DeviceId, isEnabled: boolean): Promise<void>;
}

/** The alerts on things. Their ids differ from those of the alerts on attributes. */
export interface ThingAlerts extends AlertCalls<ThingTriggerInput, ThingTriggerRow> {
  /** One page of the alerts of both kinds, or of those on one thing, ascending by id. */
  pageOfBoth(
    accessScope: AccessScope,
    request: AlertPageRequest & { readonly thingId: string | undefined },
  ): Promise<AlertPage<AnyTriggerRow>>;
  /** Alerts of both kinds of many users, for operators: newest first. */
  listed(filter: AlertListFilter): Promise<readonly AnyTriggerRow[]>;
}

/** Which page of alerts to read. Without a device: all alerts of the user. */
export interface AlertPageRequest {
  /** The last id of the page before; 0 for the first page. */
  readonly afterId: number;
  readonly deviceId: DeviceId | undefined;
}

export interface AlertPage<Row = TriggerRow> {
  readonly alerts: readonly Row[];
  /** `afterId` of the next page; undefined on the last page. */
  readonly nextAfterId: number | undefined;
}

export const alertsPerPage = 100;

/** Alerts, and the reaction that evaluates them at each commit. */
export interface RunningAlerts extends Alerts {
  readonly onThings: ThingAlerts;
  readonly react: Reaction;
  afterCommit(commits: readonly DeviceCommit[]): void;
}

export interface AlertParts {
  readonly store: Store<AlertTables>;
  /** Derives the things of own devices; without it there are no alerts on them. */
  readonly ownThings?: OwnThings;
  /** Yields to the event loop. */
  readonly yieldToOthers?: () => Promise<void>;
  /** Matches costly patterns outside of the event loop; without it they are matched in place. */
  readonly patternWork?: PatternWork;
  /** How alerts send commands to things; without it they send none. */
  readonly commanding?: Commanding;
  readonly onLimitReached?: OnLimitReached;
}

export function alertsOn({
  store,
  ownThings,
  yieldToOthers = async () => undefined,
  patternWork,
  commanding = commandsNothing,
  onLimitReached = () => undefined,
}: AlertParts): RunningAlerts {
  const patterns = new Patterns();
  const records = new Records();
  const matchTurns = new MatchTurns(patternWork ?? workIn(yieldToOthers));
  const tenantOf = async (userId: UserId) => (await store.read((tx) => tx.users.some([userId])))[0]?.tenantId;
  const matching = new Matching({ patterns, turns: matchTurns, isDeferring: patternWork !== undefined, tenantOf });
  const parts = {
    store,
    yieldToOthers,
    patterns,
    matching,
    matchTurns,
    tenantOf,
    records,
    commanding,
    dryRuns: new DryRuns(),
  };

  return {
    ...alertReaction({ matching, records, commanding, onLimitReached }),
    ...alertCalls(parts, attributeSubject),

    page: (accessScope, { afterId, deviceId }) =>
      store.read(async (tx) => {
        const userId =
          deviceId === undefined ? userOf(accessScope) : (await deviceWithin(tx, accessScope, deviceId)).userId;
        return pageOf(await tx.triggers.page(userId, deviceId, afterId, alertsPerPage + 1));
      }),

    async setEnabledOfDevice(accessScope, deviceId, isEnabled) {
      const { userId } = await store.read((tx) => deviceWithin(tx, accessScope, deviceId));
      await store.transaction(async (tx) => {
        await tx.users.lock(userId);
        await deviceWithin(tx, accessScope, deviceId);
        await tx.triggers.setEnabledOfDevice(userId, deviceId, isEnabled);
      });
    },

    onThings: {
      ...alertCalls(parts, thingSubject(ownThings)),

      pageOfBoth: (accessScope, { afterId, deviceId, thingId }) =>
        store.read(async (tx) => {
          const device = deviceId === undefined ? undefined : await deviceWithin(tx, accessScope, deviceId);
          const thing = thingId === undefined ? undefined : await thingWithin(tx, ownThings, accessScope, thingId);
          const userId = (thing ?? device)?.userId ?? userOf(accessScope, "The parameter deviceId or thingId is");
          const filter = { deviceId, thingId };
          const [onAttributes, onThings] = await Promise.all([
            thing ? [] : tx.triggers.page(userId, deviceId, afterId, alertsPerPage + 1),
            tx.thingTriggers.page(userId, filter, afterId, alertsPerPage + 1),
          ]);
          return pageOf([...onAttributes, ...onThings].sort((a, b) => a.id - b.id));
        }),

      listed: (filter) =>
        store.read(async (tx) => {
          const found = await Promise.all([tx.triggers.listed(filter), tx.thingTriggers.listed(filter)]);
          return found
            .flat()
            .sort((a, b) => b.id - a.id)
            .slice(0, filter.limit);
        }),
    },
  };
}

/** Matches in the event loop, each job in a turn of its own. */
function workIn(yieldToOthers: () => Promise<void>): PatternWork {
  const programs = new PatternCache();
  return {
    async run(job) {
      await yieldToOthers();
      return programs.answer(job);
    },
  };
}

/** At least one extra row shows that another page follows. */
function pageOf<Row extends AnyTriggerRow>(found: readonly Row[]): AlertPage<Row> {
  const alerts = found.slice(0, alertsPerPage);
  return { alerts, nextAfterId: found.length > alerts.length ? alerts.at(-1)!.id : undefined };
}

/**
 * The user whose alerts are listed. A tenant has too many alerts for one list, so an enterprise client must name a
 * device or a thing.
 */
function userOf(accessScope: AccessScope, missing = "The parameter deviceId is"): UserId {
  if (accessScope.kind === "user") return accessScope.userId;
  throw new BadParameter("deviceId", `${missing} required with an enterprise token.`);
}
