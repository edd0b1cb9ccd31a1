import { jsonAnswer } from "../../http/answer/answer.ts";
import type { Body, Incoming } from "../../http/request/incoming.ts";
import type { Route } from "../../http/routes.ts";
import type { BatchKey, BatchLine, LineSource, ResumableBatches } from "../../idempotency/resumable-batches.ts";
import type { EnterprisePrincipal } from "../../identity/principal.ts";
import { ownerWithin } from "../../model/access-scope.ts";
import {
  afterPart,
  BadParameter,
  BreezewayError,
  LimitReached,
  restOfChange,
  UnknownDevice,
} from "../../model/errors.ts";
import { type DeviceId, parseId } from "../../model/ids.ts";
import { limits } from "../../model/limits.ts";
import type { KeepGroup, Line, LineOutcome } from "../../provisioning/batch-lines.ts";
import type { Provisioning } from "../../provisioning/provisioning.ts";
import type { CostlyWrite, StateWrite } from "../../provisioning/state-writes.ts";
import { writesOf } from "./attribute-body.ts";
import { type StoredLine, storedLine } from "./batch-answers.ts";
import { writeStates } from "./batch-descriptions.ts";
import type { BatchTurns } from "./batch-turns.ts";
import { requireEnterprise } from "./enterprise-caller.ts";
import { type KeyedRouteParts, keyOf } from "./idempotent-routes.ts";
import { asObject, objectOf } from "./provisioning-body.ts";

export interface StateRouteParts extends Pick<KeyedRouteParts, "tokens"> {
  readonly provisioning: Pick<Provisioning, "linesToAlarm" | "writeSome" | "writeCostly">;
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
      const { tenantId } = enterprise;
      const lines = linesOf(incoming.body);
      const key = await batchKeyOf(incoming, enterprise, lines, tokens);
      const stored = (outcome: LineOutcome<DeviceId>) => storedLine(outcome, (id) => id);
      const answers: StoredLine[] = [];
      /** States that wait for costly patterns of alerts, with their places among the answers. */
      const costly: (CostlyWrite & { readonly index: number })[] = [];
      let isReplayed = true;
      await turns.inTurn(tenantId, async () => {
        const toAlarm = await provisioning.linesToAlarm(tenantId, lines.map(readState));
        const groups = batches.run<StateLine, StoredLine>(key, sourceOf(lines), async (some, keep) => {
          const keepGroup: KeepGroup<DeviceId> | undefined = keep && ((tx, made) => keep(tx, made.map(stored)));
          const isUrgent = answers.length < toAlarm;
          const states = some.map(readState);
          const outcomes = await provisioning.writeSome(tenantId, states, keepGroup, isUrgent);
          if (outcomes !== "costly") return outcomes.map(stored);
          costly.push({ index: answers.length, line: states[0] as StateWrite, keep: keepGroup });
          return [notYet];
        });
        try {
          for await (const group of groups) {
            answers.push(...group.answers);
            isReplayed &&= group.isReplayed;
          }
        } catch (error) {
          throw answers.length > 0 ? afterPart(error, { isKeyed: key !== undefined }) : error;
        }
      });
      // Not in the tenant's turn: its next request may bring an alarm.
      if (costly.length > 0) {
        // The client may ask again for the stored answers of a request with a key.
        const abandoned = key ? undefined : incoming.disconnected;
        const isBegun = answers.length > 1 || key !== undefined;
        const outcomes = await restOfChange(isBegun, () => provisioning.writeCostly(tenantId, costly, abandoned));
        for (const [nth, outcome] of outcomes.entries()) answers[costly[nth]!.index] = stored(outcome);
      }
      const written = answers.filter((answer) => typeof answer === "number");
      const failed = answers.flatMap((answer, index) =>
        typeof answer === "number" ? [] : [{ deviceId: shownId(lines[index]!.sentId), ...answer }],
      );
      return jsonAnswer(200, { written, failed }, isReplayed ? { "idempotency-replayed": "true" } : {});
    },
  };
}

/** The place of an answer that is known later. */
const notYet = 0 as DeviceId;

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
