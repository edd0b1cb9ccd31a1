import type { IncomingMessage } from "node:http";

/** A call that was received, whatever the answer was. */
export interface ReceivedCall {
  readonly method: HomeGraphMethod;
  // biome-ignore lint/suspicious/noExplicitAny: the shape is what the tests look at
  readonly body: any;
  readonly status: number;
}

export type HomeGraphMethod = "token" | "reportStateAndNotification" | "requestSync" | "query" | "sync" | "delete";

/** What goes wrong with the next calls of a method. */
export interface Fault {
  /** All methods when left out. */
  readonly method?: HomeGraphMethod;
  /** Calls about this user are answered normally. */
  readonly exceptUser?: string;
  /** How many calls; for ever when left out. */
  readonly times?: number;
  readonly status?: number;
  readonly retryAfterSeconds?: number;
  /** The connection is closed without an answer. */
  readonly isDown?: true;
  /** The answer waits until the fault is removed. */
  readonly isSilent?: true;
}

/** An account at Google that has linked a cloud: the devices that Google knows, and their states. */
export interface LinkedUser {
  readonly agentUserId: string;
  /** The devices of the last SYNC, by their ids. */
  devices: ReadonlyMap<string, object>;
  readonly states: Map<string, Readonly<Record<string, unknown>>>;
  readonly notifications: { readonly id: string; readonly notification: object }[];
  /** Called when the cloud asks for a SYNC. */
  onSyncRequested: () => void;
}

const largestBodyBytes = 1_048_576;

export interface HttpAnswer {
  readonly status: number;
  readonly body: object;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The states of the devices as they were reported last. */
// biome-ignore lint/suspicious/noExplicitAny: bodies are read as Google reads them, member by member
export function query(user: LinkedUser, { requestId, inputs }: any): HttpAnswer {
  const ids: readonly string[] = inputs?.[0]?.payload?.devices?.map(({ id }: { readonly id: string }) => id) ?? [];
  if (ids.some((id) => !user.devices.has(id))) return refusal(404, "NOT_FOUND");
  const devices = Object.fromEntries(ids.map((id) => [id, user.states.get(id) ?? {}]));
  return { status: 200, body: { requestId, payload: { devices } } };
}

// biome-ignore lint/suspicious/noExplicitAny: bodies are read as Google reads them, member by member
export function report(user: LinkedUser, { requestId, eventId, payload }: any): HttpAnswer {
  const { states = {}, notifications = {} } = payload?.devices ?? {};
  const ids = [...Object.keys(states), ...Object.keys(notifications)];
  if (typeof requestId !== "string" || ids.length === 0) return refusal(400, "INVALID_ARGUMENT");
  if (ids.some((id) => !user.devices.has(id))) return refusal(404, "NOT_FOUND");
  if (Object.keys(notifications).length > 0 && typeof eventId !== "string") return refusal(400, "INVALID_ARGUMENT");
  for (const [id, state] of Object.entries(states)) user.states.set(id, state as Record<string, unknown>);
  for (const [id, notification] of Object.entries(notifications)) {
    user.notifications.push({ id, notification: notification as object });
  }
  return { status: 200, body: { requestId } };
}

export function pathOf({ url = "" }: IncomingMessage): string {
  return url.split("?")[0]!;
}

export function methodOf(request: IncomingMessage): HomeGraphMethod | undefined {
  const path = pathOf(request);
  if (request.method === "DELETE" && path.startsWith("/v1/agentUsers/")) return "delete";
  if (request.method !== "POST") return undefined;
  if (path === "/token") return "token";
  const name = /^\/v1\/devices:(\w+)$/.exec(path)?.[1];
  return (["reportStateAndNotification", "requestSync", "query", "sync"] as const).find((known) => known === name);
}

export function refusal(status: number, name: string): HttpAnswer {
  return { status, body: { error: { code: status, message: "Request refused.", status: name } } };
}

export function faulty({ status = 500, retryAfterSeconds }: Fault): HttpAnswer {
  const headers = retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) };
  return { ...refusal(status, "FAULT"), headers };
}

export async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request) {
    text += chunk;
    if (text.length > largestBodyBytes) throw new Error("too large");
  }
  return text;
}
