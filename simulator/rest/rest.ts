import type { Account } from "../accounts/account.ts";
import { viewFor } from "../accounts/reader-view.ts";
import type { Ecosystem } from "../ecosystem.ts";
import { type Call, readJson, readSegments, sendJson } from "../http/call.ts";
import { Refusal } from "../refusal.ts";
import { EcosystemError, nothingThere, unauthorized } from "./ecosystem-error.ts";
import { decideWrite } from "./writes.ts";

/** Answers for the account document: every element of it is a path, to be read, streamed or written. */
export async function answerRest(ecosystem: Ecosystem, call: Call): Promise<void> {
  const token = tokenOf(call);
  const account = ecosystem.accounts.openedBy(token);
  try {
    if (account === undefined) throw unauthorized();
    const segments = readSegments(call);
    if (call.method === "PUT") await write(ecosystem, account, segments, call);
    else if (call.method !== "GET") throw new EcosystemError(405, "method not allowed");
    else if (wantsStream(call)) openStream(ecosystem, account, token, segments, call);
    else read(ecosystem, account, token, segments, call);
  } catch (error) {
    refuse(ecosystem, account, call, inEcosystemWords(error));
  }
}

function read(ecosystem: Ecosystem, account: Account, token: string, segments: readonly string[], call: Call): void {
  const element = viewFor(token, account.document, segments);
  if (element === undefined) throw nothingThere();
  sendJson(call, 200, element);
  ecosystem.log.record("request", account.accountId, { method: "GET", path: pathOf(call), status: 200 });
}

function openStream(
  ecosystem: Ecosystem,
  account: Account,
  token: string,
  segments: readonly string[],
  call: Call,
): void {
  if (viewFor(token, account.document, segments) === undefined) throw nothingThere();
  ecosystem.streams.open(account, token, segments, call.response);
}

async function write(ecosystem: Ecosystem, account: Account, segments: readonly string[], call: Call): Promise<void> {
  const body = await readJson(call);
  const accepted = decideWrite(account.readable, segments, body, ecosystem.nowMs);
  sendJson(call, 200, body);
  ecosystem.log.record("command", account.accountId, {
    method: "PUT",
    path: pathOf(call),
    body: JSON.stringify(body),
    status: 200,
  });
  ecosystem.acceptWrite(account, accepted);
}

function refuse(ecosystem: Ecosystem, account: Account | undefined, call: Call, error: EcosystemError): void {
  const { status, message } = error;
  const kind = call.method === "PUT" ? "command" : "request";
  const accountId = account?.accountId ?? null;
  ecosystem.log.record(kind, accountId, { method: call.method, path: pathOf(call), status, message });
  sendJson(call, status, error.body(), status === 405 ? { Allow: "GET, PUT" } : {});
}

function inEcosystemWords(error: unknown): EcosystemError {
  if (error instanceof EcosystemError) return error;
  if (error instanceof Refusal) return new EcosystemError(error.status, error.message);
  return new EcosystemError(500, "internal error");
}

/** The path for the log: decoded, so that a token is recognised in it however it is written. */
function pathOf(call: Call): string {
  try {
    return `/${readSegments(call).join("/")}`;
  } catch {
    return "(broken path)";
  }
}

function tokenOf({ request, query }: Call): string {
  const bearer = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? "");
  return bearer?.[1] ?? query.get("auth") ?? "";
}

function wantsStream({ request }: Call): boolean {
  return (request.headers.accept ?? "").includes("text/event-stream");
}
