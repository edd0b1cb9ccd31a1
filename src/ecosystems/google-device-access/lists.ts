import { type Runtime, within } from "../../runtime/runtime.ts";
import type { StreamEnd } from "../connector.ts";
import { callJson, type JsonAnswer } from "../kit/json-call.ts";
import { isJsonObject, type JsonObject } from "../kit/parse-json.ts";
import { admit, type CallBudget } from "./call-budget.ts";
import { isAccount } from "./events.ts";
import { describeRefusal } from "./refusal.ts";

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
  /** How long to wait for the budget. */
  readonly patienceMs: number;
}

/** Lists the account within the budget, or says why it can't be listed. Never throws. */
export async function listAccount(
  parts: ListParts,
  token: string,
  { structures, patienceMs }: ListOptions,
  signal: AbortSignal,
): Promise<AccountList | { readonly end: StreamEnd }> {
  const { budget, runtime, answerLimitMs, projectUrl } = parts;
  const calls = structures ? 1 : 2;
  if (!(await admit(budget, token, calls, { runtime, patienceMs, signal }))) {
    return noList("refused", "lists are limited to a few each minute; it is tried again");
  }
  const get = (path: string) =>
    within(runtime, answerLimitMs, signal, (inTime) =>
      callJson({ method: "GET", url: `${projectUrl}/${path}`, token }, inTime),
    );
  // One after the other: a structure that is added in between is named by a device and has no name yet.
  const listed = structures ? undefined : await get("structures");
  const failed = listed && failureOf(listed, "structures");
  if (failed) return failed;
  const sentMs = runtime.elapsedMs();
  const devices = await get("devices");
  const end = failureOf(devices, "devices");
  if (end) return end;
  return readList(parts, devices, runtime.elapsedMs() - sentMs, structures ?? objectsIn(listed, "structures"));
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
    devices: objectsIn(answer, "devices"),
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

function objectsIn(answer: JsonAnswer | undefined, member: string): readonly JsonObject[] {
  const list = answer?.isAnswered ? answer.document[member] : undefined;
  return Array.isArray(list) ? list.filter(isJsonObject) : [];
}

function noList(reason: StreamEnd["reason"], detail: string): { readonly end: StreamEnd } {
  return { end: { reason, detail } };
}
