import { jsonAnswer } from "../../http/answer/answer.ts";
import type { Body, Incoming } from "../../http/request/incoming.ts";
import type { Route } from "../../http/routes.ts";
import {
  AnsweredElsewhere,
  type BatchKey,
  type BatchLine,
  type KeepAnswers,
  type LineSource,
  type ResumableBatches,
} from "../../idempotency/resumable-batches.ts";
import type { EnterprisePrincipal } from "../../identity/principal.ts";
import { ownerWithin } from "../../model/access-scope.ts";
import {
  afterPart,
  BadParameter,
  BreezewayError,
  LimitReached,
  OutcomeUnknown,
  UnknownDevice,
} from "../../model/errors.ts";
import { type DeviceId, parseId, type TenantId } from "../../model/ids.ts";
import { limits } from "../../model/limits.ts";
import type { Line } from "../../provisioning/batch-lines.ts";
import { turnsOfRequest } from "../../provisioning/costly-turns.ts";
import type { Provisioning } from "../../provisioning/provisioning.ts";
import type { CostlyWrite, KeepStates, StateOutcome, StateWrite } from "../../provisioning/state-writes.ts";
import { writesOf } from "./attribute-body.ts";
import { type StoredLine, storedLine } from "./batch-answers.ts";
import { writeStates } from "./batch-descriptions.ts";
import type { BatchTurns } from "./batch-turns.ts";
import { requireEnterprise } from "./enterprise-caller.ts";
import { type KeyedRouteParts, keyOf } from "./idempotent-routes.ts";
import { asObject, objectOf } from "./provisioning-body.ts";

export interface StateRouteParts extends Pick<KeyedRouteParts, "tokens"> {
  readonly provisioning: Pick<Provisioning, "alarmLines" | "writeSome" | "writeCostly">;
  readonly batches: Pick<ResumableBatches, "run">;
}

const path = "/v3/devices:states";

/** One device of the request. Its text is compared when the request is repeated with its key. */
interface StateLine extends BatchLine {
  readonly sentId: string;
  readonly values: unknown;
}

/** States of many devices (docs/interface.md, Provisioning). */
export function stateRoute({ provisioning, batches, tokens }: StateRouteParts, turns: BatchTurns): Route {
  return {
    methods: ["PUT"],
    path,
    access: "bearer",
    errors: "standard",
    scopes: ["devices:control"],
    isForEnterprises: true,
    takesIdempotencyKey: true,
    mayCarryAlarms: true,
    bodyBytes: limits.bytesAtOnce,
    description: writeStates,
    async answer(incoming, caller) {
      const enterprise = requireEnterprise(caller);
      const lines = linesOf(incoming.body);
      const key = await batchKeyOf(incoming, enterprise, lines, tokens);
      // The client may ask again for the stored answers of a request with a key.
      const abandoned = key ? undefined : incoming.disconnected;
      const request = { tenantId: enterprise.tenantId, lines, key, abandoned };
      const { answers, isReplayed } = await writeLines({ provisioning, batches, turns }, request);
      const written = answers.filter((answer) => typeof answer === "number");
      const failed = answers.flatMap((answer, index) =>
        typeof answer === "number" ? [] : [{ deviceId: shownId(lines[index]!.sentId), ...answer }],
      );
      return jsonAnswer(200, { written, failed }, isReplayed ? { "idempotency-replayed": "true" } : {});
    },
  };
}

/**
 * The stored answer of a device whose alerts have costly patterns, until it is written. A node of the version before
 * shows it to clients. Nodes of several versions compare it, so it must not change.
 */
const notYet: StoredLine = {
  status: 503,
  error: "outcome_unknown",
  error_description: "The device is not written yet. Repeat the request with the same Idempotency-Key.",
};

interface StateRequest {
  readonly tenantId: TenantId;
  readonly lines: readonly StateLine[];
  readonly key: BatchKey | undefined;
  /** Aborts when nobody needs the answers any more. */
  readonly abandoned: AbortSignal | undefined;
}

/**
 * Writes the lines in the tenant's turn. Those with costly patterns are written beside it, because the tenant's next
 * request may bring an alarm: alarms at once, the others at the end.
 */
async function writeLines(
  { provisioning, batches, turns }: Omit<StateRouteParts, "tokens"> & { readonly turns: BatchTurns },
  { tenantId, lines, key, abandoned }: StateRequest,
): Promise<{ readonly answers: readonly StoredLine[]; readonly isReplayed: boolean }> {
  const states = lines.map(readState);
  const answers: StoredLine[] = [];
  let isReplayed = true;
  let alarms: readonly number[] = [];
  const alarmTurns = turnsOfRequest();
  const alarmsUnderWay: Promise<void>[] = [];
  const postponed: (CostlyWrite & { readonly index: number })[] = [];
  const failures: unknown[] = [];

  const groups = batches.run<StateLine, StoredLine>(
    key,
    sourceOf(lines),
    async (some, keep) => {
      const from = answers.length;
      const urgent = from <= (alarms.at(-1) ?? -1);
      const written = await provisioning.writeSome(
        tenantId,
        states.slice(from, from + some.length),
        kept(keep),
        urgent,
      );
      return written.map(stored);
    },
    notYet,
  );
  const writePostponed = async (writes: typeof postponed) => {
    const outcomes = await provisioning.writeCostly(tenantId, writes, abandoned);
    for (const [nth, outcome] of outcomes.entries()) {
      const isElsewhere = outcome instanceof AnsweredElsewhere;
      answers[writes[nth]!.index] = isElsewhere ? (outcome.answer as StoredLine) : stored(outcome);
    }
  };
  const writeInTurn = async () => {
    alarms = await provisioning.alarmLines(tenantId, states);
    const alarmIndexes = new Set(alarms);
    while (answers.length < lines.length) {
      const { value: group } = await groups.next();
      if (!group) return;
      const index = answers.length;
      answers.push(...group.answers);
      isReplayed &&= group.isReplayed && !group.postponed;
      if (!group.postponed) continue;
      const startsAlarm = alarmIndexes.has(index);
      const write = { index, line: states[index] as StateWrite, startsAlarm, keep: kept(group.postponed.keep) };
      if (!startsAlarm) {
        postponed.push(write);
        continue;
      }
      const written = alarmTurns.run("alarms", () => writePostponed([write]));
      alarmsUnderWay.push(written.catch((error) => void failures.push(error)));
    }
  };

  try {
    await turns.inTurn(tenantId, writeInTurn);
    if (postponed.length > 0) await writePostponed(postponed);
  } catch (error) {
    failures.push(error);
  }
  await Promise.all(alarmsUnderWay);
  // Until now the key was in use.
  await groups.return();
  if (failures.length === 0) return { answers, isReplayed };
  // A costly line that was alone has failed without a change.
  const isBegun = answers.length > 0 && (lines.length > 1 || key !== undefined);
  const failure = isBegun ? afterPart(failures[0]) : failures[0];
  throw key && failure instanceof OutcomeUnknown ? failure.ofKeyedRequest() : failure;
}

function stored(outcome: StateOutcome): StoredLine {
  return outcome === "costly" ? notYet : storedLine(outcome, (id) => id);
}

function kept(keep: KeepAnswers<StoredLine> | undefined): KeepStates | undefined {
  return keep && ((tx, outcomes) => keep(tx, outcomes.map(stored)));
}

async function batchKeyOf(
  incoming: Incoming,
  caller: EnterprisePrincipal,
  lines: readonly StateLine[],
  tokens: StateRouteParts["tokens"],
): Promise<BatchKey | undefined> {
  const key = keyOf(incoming);
  if (key === undefined) return undefined;
  const clientId = await tokens.clientOf(incoming.bearer ?? "");
  const wholeBody = lines.map(({ text }) => text).join("\n");
  return { ownerId: ownerWithin(caller), clientId, key, content: JSON.stringify(["PUT", path]), wholeBody };
}

function linesOf(body: Body): readonly StateLine[] {
  const states = Object.entries(objectOf(body, "The body"));
  if (states.length === 0) throw new BadParameter("body", "The body must name at least one device.");
  if (states.length > limits.linesAtOnce) {
    throw new LimitReached(
      "linesAtOnce",
      `The request names ${states.length} devices and may name ${limits.linesAtOnce}. Nothing was written.`,
    );
  }
  return states.map(([sentId, values]) => ({ sentId, values, text: JSON.stringify([sentId, values]) }));
}

function sourceOf(lines: readonly StateLine[]): LineSource<StateLine> {
  let taken = 0;
  return {
    peek: async (_atLeast, most) => lines.slice(taken, taken + most),
    take: (count) => {
      taken += count;
    },
  };
}

function readState({ sentId, values }: StateLine): Line<StateWrite> {
  try {
    const deviceId = parseId<DeviceId>(sentId);
    if (deviceId === undefined) throw new UnknownDevice();
    const writes = writesOf(asObject(values, "The state of each device"));
    if (writes.length === 0) throw new BadParameter("body", "The state must have at least one attribute.");
    return { deviceId, writes };
  } catch (error) {
    if (error instanceof BreezewayError) return error;
    throw error;
  }
}

/** A malformed id is shown as it was sent, like one of an unknown device. */
function shownId(sentId: string): number | string {
  return parseId<DeviceId>(sentId) ?? sentId.slice(0, 20);
}
