import type { DeviceState } from "../../devices/states.ts";
import { type Answer, ndjsonAnswer, type SlicedAnswer } from "../../http/answer/answer.ts";
import { refusals } from "../../http/answer/refusal.ts";
import { ndjsonBody } from "../../http/request/body-types.ts";
import { type Incoming, parseStrictly } from "../../http/request/incoming.ts";
import { type BodyLine, LineReader } from "../../http/request/line-reader.ts";
import type { Route } from "../../http/routes.ts";
import type { AnsweredGroup, BatchKey, ResumableBatches } from "../../idempotency/resumable-batches.ts";
import type { EnterprisePrincipal } from "../../identity/principal.ts";
import { ownerWithin } from "../../model/access-scope.ts";
import { BadParameter, BreezewayError, LimitReached } from "../../model/errors.ts";
import { limits } from "../../model/limits.ts";
import type { Line } from "../../provisioning/batch-lines.ts";
import type { NewDevice } from "../../provisioning/new-device.ts";
import { type Provisioning, RefusedLine } from "../../provisioning/provisioning.ts";
import { answerLine, brokenOffLine, type StoredLine, storedLine } from "./batch-answers.ts";
import { addDevices } from "./batch-descriptions.ts";
import type { BatchTurns } from "./batch-turns.ts";
import { requireEnterprise } from "./enterprise-caller.ts";
import { type KeyedRouteParts, keyed, keyOf } from "./idempotent-routes.ts";
import { readNewDevice } from "./provisioning-body.ts";
import { singleValue } from "./v3-parameters.ts";

export interface BatchRouteParts extends KeyedRouteParts {
  readonly provisioning: Pick<Provisioning, "addAll" | "addSome">;
  readonly batches: Pick<ResumableBatches, "run">;
}

const batchPath = "/v3/devices:batch";

/** Many devices in one request (docs/interface.md, Provisioning). */
export function batchRoute(parts: BatchRouteParts, turns: BatchTurns): Route {
  const all = allAtOnce(parts, turns);
  return {
    methods: ["POST"],
    path: batchPath,
    access: "bearer",
    errors: "standard",
    scopes: ["devices:control"],
    takesIdempotencyKey: true,
    mayCarryAlarms: true,
    description: addDevices,
    async answer(incoming, caller) {
      const enterprise = requireEnterprise(caller);
      const mode = singleValue(incoming, "mode") ?? "all";
      if (mode === "each") return each(parts, turns, incoming, enterprise);
      if (mode !== "all") throw new BadParameter("mode", "The parameter mode must be all or each.");
      const lines = await allLines(incoming);
      return all({ ...incoming, body: { kind: "json", value: lines } }, enterprise);
    },
  };
}

/** The answer of mode `all`, kept with its key like that of every other write. */
function allAtOnce({ provisioning, ...keys }: BatchRouteParts, turns: BatchTurns) {
  return keyed(keys, {
    methods: ["POST"],
    path: batchPath,
    scopes: ["devices:control"],
    description: addDevices,
    async answer({ body }, caller, keep) {
      const { tenantId } = requireEnterprise(caller);
      const texts = body.kind === "json" ? (body.value as readonly BodyLine[]) : [];
      const devices = await devicesIn(texts);
      const created = (states: readonly DeviceState[]) =>
        ndjsonAnswer(states.map(({ device }, index) => answerLine(index + 1, device.id)).join(""));
      const add = () => provisioning.addAll(tenantId, devices, keep(created));
      try {
        return created(await turns.inTurn(tenantId, add));
      } catch (error) {
        throw error instanceof RefusedLine ? atLine(error.index, error.refusal) : error;
      }
    },
  }).answer as (incoming: Incoming, caller: EnterprisePrincipal) => Promise<Answer>;
}

/** Characters of lines that are read in one turn of the event loop; the last line may be longer. */
const charactersPerTurn = 32_768;

/**
 * Reads all lines, in slices: those of one request can have half a million attributes. It stops at the first line that
 * is too much.
 */
async function devicesIn(lines: readonly BodyLine[]): Promise<readonly NewDevice[]> {
  const devices: NewDevice[] = [];
  let attributes = 0;
  let characters = 0;
  for (const [index, line] of lines.entries()) {
    const device = readLine(line);
    if (device instanceof BreezewayError) throw atLine(index, device);
    devices.push(device);
    attributes += device.changes?.length ?? 0;
    if (attributes > limits.attributesAtOnce) {
      throw new LimitReached(
        "attributesAtOnce",
        `The devices have more than ${limits.attributesAtOnce} attributes in all. No device was added. Send fewer, or use mode=each.`,
      );
    }
    characters += line.text.length;
    if (characters < charactersPerTurn) continue;
    characters = 0;
    await new Promise((resolve) => setImmediate(resolve));
  }
  return devices;
}

/** Names the line in a refusal of mode `all`. */
function atLine(index: number, refusal: BreezewayError): BreezewayError {
  refusal.message = `Line ${index + 1}: ${refusal.message} No device was added.`;
  return refusal;
}

async function allLines(incoming: Incoming): Promise<readonly BodyLine[]> {
  const lines = await linesOf(incoming, limits.bytesAtOnce).peek(limits.linesAtOnce + 1, limits.linesAtOnce + 1);
  if (lines.length === 0) throw noLine();
  if (lines.length > limits.linesAtOnce) {
    throw new LimitReached(
      "linesAtOnce",
      `The batch has more than ${limits.linesAtOnce} lines. No device was added. Send fewer, or use mode=each.`,
    );
  }
  return lines;
}

async function each(
  { provisioning, batches, tokens }: BatchRouteParts,
  turns: BatchTurns,
  incoming: Incoming,
  caller: EnterprisePrincipal,
): Promise<SlicedAnswer> {
  const { tenantId } = caller;
  const { disconnected } = incoming;
  const source = linesOf(incoming, limits.batchBytes);
  const key = keyOf(incoming);
  const request: BatchKey | undefined =
    key === undefined
      ? undefined
      : {
          ownerId: ownerWithin(caller),
          clientId: await tokens.clientOf(incoming.bearer ?? ""),
          key,
          content: JSON.stringify(["POST", batchPath, "each"]),
        };
  const endTurn = turns.begin(tenantId);
  const leave = () => void slices.return(undefined);
  const end = () => {
    // The signal lasts as long as the connection, which may send many batches.
    disconnected.removeEventListener("abort", leave);
    endTurn();
  };
  const groups = batches.run<BodyLine, StoredLine>(request, source, async (lines, keep) => {
    const stored = (outcome: Parameters<typeof storedLine<DeviceState>>[0]) =>
      storedLine(outcome, ({ device }) => device.id);
    const outcomes = await provisioning.addSome(
      tenantId,
      lines.map(readLine),
      keep && ((tx, made) => keep(tx, made.map(stored))),
    );
    return outcomes.map(stored);
  });
  const brokenOff: { by?: unknown } = {};
  const slices = answerLines(groups, brokenOff, end);
  // The server drops an answer whose client is gone, perhaps before it has begun to read it.
  disconnected.addEventListener("abort", leave, { once: true });
  // A refusal before the first answer has its own status.
  const first = await slices.next();
  // A signal that has aborted already calls no listener.
  if (disconnected.aborted) await slices.return(undefined);
  incoming.extendBodyTime(limits.batchSeconds * 1_000);
  return {
    ...ndjsonAnswer(""),
    slices: following(String(first.value ?? ""), slices),
    unreadBytes: limits.batchAnswerBytes,
    brokenOff,
  };
}

type Groups = AsyncGenerator<AnsweredGroup<StoredLine>, void, void>;

async function* answerLines(
  groups: Groups,
  brokenOff: { by?: unknown },
  end: () => void,
): AsyncGenerator<string, undefined, void> {
  let number = 1;
  try {
    for await (const { answers } of groups) {
      const from = number;
      number += answers.length;
      yield answers.map((answer, index) => answerLine(from + index, answer)).join("");
    }
    if (number === 1) throw noLine();
  } catch (error) {
    if (number === 1) throw error;
    brokenOff.by = error;
    yield brokenOffLine(number, error);
  } finally {
    end();
  }
}

async function* following(first: string, rest: AsyncGenerator<string, undefined, void>): AsyncGenerator<string> {
  yield first;
  yield* rest;
}

function linesOf({ body }: Incoming, mostBytes: number): LineReader {
  if (body.kind === "none") throw noLine();
  if (body.kind !== "lines") throw refusals.wrongContentType(ndjsonBody);
  return new LineReader(body.stream, mostBytes);
}

function noLine(): BadParameter {
  return new BadParameter("body", "The body must have at least one line: a JSON object for each device.");
}

/** A line that can't be read is refused alone. */
function readLine({ text, problem }: BodyLine): Line<NewDevice> {
  if (problem !== undefined) return new BadParameter("body", problem);
  try {
    return readNewDevice(parseStrictly(text, "The line"));
  } catch (error) {
    if (error instanceof BreezewayError) return error;
    return new BadParameter("body", error instanceof Error ? error.message : "The line can't be read.");
  }
}
