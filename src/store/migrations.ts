import { BreezewayError } from "../model/errors.ts";
import { accountPage } from "./schema-steps/account.ts";
import { alertCommands, alerts, alertsWithCommands, commandingFirings, thingAlerts } from "./schema-steps/alerts.ts";
import {
  assistants,
  assistantsOmitted,
  assistantsUrgentFeed,
  assistantsUrgentMarks,
} from "./schema-steps/assistants.ts";
import {
  acceptedTerms,
  accessTokensOfGrant,
  auditOfClient,
  auditOfOperator,
  auditOfOwner,
  authorizationServer,
  failureCounts,
  issuerOfClients,
  refreshTokensOfGrant,
  scopedTokens,
  strictScopes,
  tenantTokens,
  tokensByOwner,
} from "./schema-steps/authorization.ts";
import { fanRequests, ownCommands, thingCommands } from "./schema-steps/commands.ts";
import { attributeSizes, erasedNames, heardAndRemovedDevices, rooms } from "./schema-steps/devices.ts";
import {
  deliveryHeads,
  deliveryHistory,
  logEpoch,
  sealedAddresses,
  sealingKeys,
  thingMessages,
  webhooks,
} from "./schema-steps/events.ts";
import { firstTables } from "./schema-steps/first-tables.ts";
import {
  blindIntervals,
  credentials,
  feeds,
  limitedCalls,
  linkHours,
  linkSessions,
  undiscardedLinkSessions,
  unendedLinkSessions,
} from "./schema-steps/links.ts";
import { nodeQuestions } from "./schema-steps/nodes.ts";
import { operators, tokensOfTokens } from "./schema-steps/operators.ts";
import { ownerKeys } from "./schema-steps/owner-keys.ts";
import { quotas } from "./schema-steps/quotas.ts";
import { removals, usersBeingRemoved, usersOfTenant } from "./schema-steps/removals.ts";
import { batchGroups, idempotencyKeys } from "./schema-steps/repeated-writes.ts";
import { dialectSql, type IndexStep, type Step } from "./schema-steps/step.ts";
import { suspension } from "./schema-steps/suspension.ts";
import {
  compactThings,
  deviceTypeMaps,
  deviceTypeWork,
  soundingDevices,
  soundingThings,
  thingNames,
  things,
  thingsWithOneKey,
  thingsWithRowids,
} from "./schema-steps/things.ts";
import type { Sql } from "./sql.ts";

/**
 * The migrations of the schema, in order. A released step never changes; a new one is appended. On PostgreSQL:
 * - The primary key of every growing table begins with the owner of the rows, so that a large deployment can be sharded
 *   by it (docs/scaling.md).
 * - A step runs while nodes of the previous version work (docs/operations.md, Upgrade). So a step only adds; a later
 *   version removes what no running version uses any more.
 * - Rewriting the rows of a large table is a step of its own, to keep the table's lock short.
 */
const steps: readonly Step[] = [
  firstTables,
  blindIntervals,
  authorizationServer,
  fanRequests,
  alerts,
  webhooks,
  failureCounts,
  ownerKeys,
  tenantTokens,
  tokensByOwner,
  logEpoch,
  attributeSizes,
  erasedNames,
  deliveryHeads,
  sealedAddresses,
  idempotencyKeys,
  sealingKeys,
  scopedTokens,
  things,
  credentials,
  thingMessages,
  thingCommands,
  thingAlerts,
  rooms,
  batchGroups,
  deviceTypeMaps,
  alertCommands,
  alertsWithCommands,
  ownCommands,
  thingsWithRowids,
  deviceTypeWork,
  linkSessions,
  commandingFirings,
  feeds,
  limitedCalls,
  compactThings,
  assistants,
  nodeQuestions,
  assistantsUrgentFeed,
  quotas,
  acceptedTerms,
  operators,
  accountPage,
  suspension,
  thingsWithOneKey,
  heardAndRemovedDevices,
  deliveryHistory,
  accessTokensOfGrant,
  refreshTokensOfGrant,
  assistantsOmitted,
  removals,
  usersBeingRemoved,
  unendedLinkSessions,
  thingNames,
  linkHours,
  undiscardedLinkSessions,
  assistantsUrgentMarks,
  auditOfOwner,
  auditOfClient,
  auditOfOperator,
  usersOfTenant,
  tokensOfTokens,
  strictScopes,
  soundingThings,
  soundingDevices,
  issuerOfClients,
];

export const schemaVersion = steps.length;
/** Versions that know fewer steps can't read sealed addresses. */
export const sealedAddressStep = steps.indexOf(sealedAddresses) + 1;
/** Versions that know fewer steps ignore scopes. */
export const scopeStep = steps.indexOf(scopedTokens) + 1;
/** Versions that know fewer steps have no login page at an address of its own. */
export const loginPageStep = steps.indexOf(issuerOfClients) + 1;
/** Versions that know fewer steps can't read things in the compact form. */
export const compactThingStep = steps.indexOf(compactThings) + 1;
/** Versions that know fewer steps follow links without writing their things. */
export const thingStep = steps.indexOf(things) + 1;

/**
 * Rows in forms that older versions can't read: things in the compact form, and on SQLite large entries of the log. On
 * PostgreSQL things take it when all nodes of older versions have left (nodes/thing-form.ts).
 */
const breakingOnSqlite: readonly number[] = [compactThingStep];

/**
 * Numbers of steps that are not backward compatible: code that doesn't know the step can't run on the schema after it,
 * because the step removed something or changed its meaning. Steps before the first of these are older than rolling
 * upgrades.
 */
const breakingSteps: readonly number[] = [8];

/** A list of steps. Tests use lists of their own. */
export interface SchemaPlan {
  readonly steps: readonly Step[];
  readonly breakingSteps: readonly number[];
  /** Steps that are not backward compatible on SQLite, where no other version runs at the same time. */
  readonly breakingOnSqlite?: readonly number[];
}

const currentPlan: SchemaPlan = { steps, breakingSteps, breakingOnSqlite };

/**
 * Migrates the schema to this version, or by `most` steps; returns how many steps are left. Throws NewerSchema for a
 * schema of a later version, unless that version has recorded that this one is compatible with it.
 */
export async function migrate(sql: Sql, { most = Number.POSITIVE_INFINITY, plan = currentPlan } = {}): Promise<number> {
  await sql.run("CREATE TABLE IF NOT EXISTS schema_steps (step INTEGER PRIMARY KEY)");
  await sql.run("CREATE TABLE IF NOT EXISTS schema_reach (step INTEGER PRIMARY KEY, oldest INTEGER NOT NULL)");
  const known = plan.steps.length;
  const current = await appliedSteps(sql);
  if (current > known) {
    if ((await oldestAt(sql, current)) > known) throw new NewerSchema(current);
    return 0;
  }
  const last = Math.min(current + most, known);
  for (let number = current + 1; number <= last; number++) {
    const step = plan.steps[number - 1]!;
    const statements = "index" in step ? [`CREATE INDEX ${step.index} ON ${step.on}`] : step(dialectSql[sql.dialect]);
    for (const statement of statements) await sql.run(statement);
    await recordStep(sql, number, plan);
  }
  return known - last;
}

/** The next step, if it is an index. */
export async function nextIndex(
  sql: Sql,
  { steps } = currentPlan,
): Promise<(IndexStep & { number: number }) | undefined> {
  const number = (await appliedSteps(sql)) + 1;
  const next = steps[number - 1];
  return next && "index" in next ? { ...next, number } : undefined;
}

/** Records a step, and the oldest schema version whose code can run on the schema after it. */
export async function recordStep(sql: Sql, step: number, plan = currentPlan): Promise<void> {
  const breaking = [...plan.breakingSteps, ...(sql.dialect === "sqlite" ? (plan.breakingOnSqlite ?? []) : [])];
  // Older versions that are refused already (nodes.refuseOlder) stay refused.
  const [before] = await sql.all<{ oldest: number | null }>("SELECT MAX(oldest) AS oldest FROM schema_reach");
  const oldest = Math.max(before?.oldest ?? 0, ...breaking.filter((number) => number <= step));
  await sql.run("INSERT INTO schema_steps (step) VALUES ($1)", [step]);
  await sql.run("INSERT INTO schema_reach (step, oldest) VALUES ($1, $2)", [step, oldest]);
}

async function oldestAt(sql: Sql, step: number): Promise<number> {
  const [found] = await sql.all<{ oldest: number }>("SELECT oldest FROM schema_reach WHERE step = $1", [step]);
  return found?.oldest ?? step;
}

/** The number of the last step that was taken; 0 in an empty store. */
export async function appliedSteps(sql: Sql): Promise<number> {
  const applied = await sql.all<{ step: number | null }>("SELECT MAX(step) AS step FROM schema_steps");
  return applied[0]?.step ?? 0;
}

export class NewerSchema extends BreezewayError {
  readonly code = "newer_schema";

  constructor(found: number) {
    super(
      `The store has schema version ${found}, this Breezeway knows ${schemaVersion}. Start the version that made it, or a later one.`,
    );
  }
}
