import { StoreUnavailable } from "../../model/errors.ts";
import { type Projection, project } from "../../runtime/json/projection.ts";
import { isJsonObject, type JsonObject } from "../../runtime/json/untrusted-json.ts";
import { type Runtime, within } from "../../runtime/runtime.ts";
import type { StreamEnd } from "../connector.ts";
import type { AccountCalls } from "../feed.ts";
import type { RateLimit } from "../kit/call-window.ts";
import type { CallJson, JsonAnswer } from "../kit/json-call.ts";
import { admit, type CallBudget } from "./call-budget.ts";
import { isAccount } from "./events.ts";
import { describeRefusal } from "./refusal.ts";
import { readTraits, structureInfo } from "./trait-names.ts";

/** The devices and structures of an account at one time. */
export interface AccountList {
  /** Google's id of the account. Events name it too. */
  readonly account: string;
  readonly devices: readonly JsonObject[];
  readonly structures: readonly JsonObject[];
  /** By Google's clock: the list holds all changes until `fromMs`, and none after `toMs`. */
  readonly fromMs: number;
  readonly toMs: number;
}

export interface ListParts {
  /** `{apiUrl}/enterprises/{projectId}` */
  readonly projectUrl: string;
  readonly call: CallJson;
  /** Limits of lists, for one account. */
  readonly limits: readonly RateLimit[];
  /** Counts the lists with a token whose account is not known yet. */
  readonly budget: CallBudget;
  readonly runtime: Runtime;
  /** The time limit of one call. */
  readonly answerLimitMs: number;
  /** How far the clocks of Google's servers may be apart. */
  readonly clockSkewMs: number;
}

export interface ListOptions {
  /** Known from a list before: then they are not listed again. */
  readonly structures?: readonly JsonObject[];
  /** The calls of the account; left out while there is no link. */
  readonly calls?: AccountCalls;
  /** How long to wait for the budget. */
  readonly patienceMs: number;
  /** Called while the list waits for the budget. */
  readonly postponed?: () => void;
}

/** Far more than an account has. A device has about 50 values. */
const mostValues = 50_000;
const listed: Projection = { whole: mostValues };
/** What is kept of a list: no more than the events tell. */
const readDevice: Projection = {
  pick: {
    name: true,
    type: true,
    parentRelations: { each: { pick: { parent: true, displayName: true } }, limit: 16 },
    traits: readTraits,
  },
};
const readStructure: Projection = {
  pick: { name: true, traits: { pick: { [structureInfo]: { pick: { customName: true } } } } },
};

/** How many calls a list takes. */
export function callsOfList(structures: readonly JsonObject[] | undefined): number {
  return structures ? 1 : 2;
}

/** Lists the account within the budget, or says why it can't be listed. */
export async function listAccount(
  parts: ListParts,
  token: string,
  options: ListOptions,
  signal: AbortSignal,
): Promise<AccountList | { readonly end: StreamEnd }> {
  const { runtime, answerLimitMs, projectUrl, call } = parts;
  const { structures } = options;
  const refused = await refusedBy(parts, token, options, signal);
  if (refused !== undefined) return noList("refused", refused);
  const get = (member: string) =>
    within(runtime, answerLimitMs, signal, (inTime) =>
      call({ method: "GET", url: `${projectUrl}/${member}`, token, list: { pick: { [member]: listed } } }, inTime),
    );
  // One after the other: a structure that is added in between is named by a device and has no name yet.
  const structureList = structures ? undefined : await get("structures");
  const failed = structureList && failureOf(structureList, "structures");
  if (failed) return failed;
  const sentMs = runtime.elapsedMs();
  const devices = await get("devices");
  const end = failureOf(devices, "devices");
  if (end) return end;
  return readList(parts, devices, runtime.elapsedMs() - sentMs, structures ?? structuresIn(structureList));
}

/** Waits for the budget. Returns why the account must not be listed now. */
async function refusedBy(
  { limits, budget, runtime }: ListParts,
  token: string,
  { structures, calls, patienceMs, postponed }: ListOptions,
  signal: AbortSignal,
): Promise<string | undefined> {
  const count = callsOfList(structures);
  const take = async () => {
    const waitMs = (await calls?.take(count, limits)) ?? budget.tryTake(token, count);
    if (waitMs > 0) postponed?.();
    return waitMs;
  };
  try {
    if (await admit(take, { runtime, patienceMs, signal })) return undefined;
    return "lists are limited to a few each minute; it is tried again";
  } catch (error) {
    if (error instanceof StoreUnavailable) return "the store that counts lists is not available; it is tried again";
    throw error;
  }
}

function readList(
  { runtime, clockSkewMs }: ListParts,
  answer: JsonAnswer,
  tookMs: number,
  structures: readonly JsonObject[],
): AccountList | { readonly end: StreamEnd } {
  if (!answer.isAnswered) return noList("unreachable", answer.detail);
  const account = answer.headers.userid;
  if (typeof account !== "string" || !isAccount(account))
    return noList("malformed", "the list does not say whose it is");
  const dateMs = Date.parse(answer.headers.date ?? "");
  const answeredMs = Number.isNaN(dateMs) ? runtime.nowMs() : dateMs;
  // The header Date has whole seconds.
  const toMs = answeredMs + 1_000 + clockSkewMs;
  return {
    account,
    devices: objectsIn(answer, "devices").map((device) => project(device, readDevice) as JsonObject),
    structures,
    fromMs: answeredMs - Math.ceil(tookMs) - clockSkewMs,
    toMs,
  };
}

function failureOf(answer: JsonAnswer, member: string): { readonly end: StreamEnd } | undefined {
  if (!answer.isAnswered) return noList("unreachable", answer.detail);
  const { status, document } = answer;
  if (status === 401) return noList("unauthorized", "Google refused the token");
  if (status !== 200) return noList("refused", describeRefusal(status, document));
  const list = document[member];
  // Without the member nothing is shared.
  if (list === undefined || (Array.isArray(list) && list.every(isJsonObject))) return undefined;
  return noList("malformed", `the list of ${member} can't be read`);
}

function structuresIn(answer: JsonAnswer | undefined): readonly JsonObject[] {
  return objectsIn(answer, "structures").map((structure) => project(structure, readStructure) as JsonObject);
}

function objectsIn(answer: JsonAnswer | undefined, member: string): readonly JsonObject[] {
  const list = answer?.isAnswered ? answer.document[member] : undefined;
  return Array.isArray(list) ? list.filter(isJsonObject) : [];
}

function noList(reason: StreamEnd["reason"], detail: string): { readonly end: StreamEnd } {
  return { end: { reason, detail } };
}
