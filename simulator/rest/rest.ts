import type { Grant } from "../accounts/grants.ts";
import { viewFor } from "../accounts/reader-view.ts";
import type { Ecosystem } from "../ecosystem.ts";
import { applyFaults } from "../faults/apply-faults.ts";
import type { RequestKind } from "../faults/fault.ts";
import { type Call, pathForLog, readSegments, sendJson } from "../http/call.ts";
import { executeCommand } from "./commands.ts";
import { EcosystemError, elementNotFound, toEcosystemError, unauthorized } from "./ecosystem-error.ts";

/** Handles the account document: every element has a path, which can be read, streamed or written. */
export async function answerRest(ecosystem: Ecosystem, call: Call): Promise<void> {
  const token = tokenOf(call);
  const kind = kindOf(call);
  const accountId = ecosystem.grants.find(token)?.account.accountId ?? null;
  try {
    if (!(await applyFaults(ecosystem, call, { kind, accountId }))) return;
    // Looked up again: the token may have ended while a fault delayed the answer.
    const grant = ecosystem.grants.find(token);
    if (grant === undefined) throw unauthorized();
    const segments = withoutSuffix(readSegments(call));
    if (kind === "write") await executeCommand(ecosystem, grant, segments, call);
    else if (call.method !== "GET") throw new EcosystemError(405, "method not allowed", undefined, undefined, allowed);
    else if (kind === "stream") openStream(ecosystem, grant, segments, call);
    else read(ecosystem, grant, segments, call);
  } catch (error) {
    refuse(ecosystem, accountId, call, toEcosystemError(error));
  }
}

/** Redirects the request to the second host, as the ecosystem's first host does. */
export function redirectRest(ecosystem: Ecosystem, call: Call, base: string): void {
  const account = ecosystem.grants.find(tokenOf(call))?.account;
  if (account === undefined) {
    refuse(ecosystem, null, call, unauthorized());
    return;
  }
  ecosystem.log.record("request", account.accountId, { method: call.method, path: pathForLog(call), status: 307 });
  call.request.resume();
  call.response.writeHead(307, { Location: base + call.target, "Content-Length": 0 }).end();
}

/** Old clients write `.json` behind a path, as the database behind the ecosystem once wanted it. */
function withoutSuffix(segments: readonly string[]): readonly string[] {
  const last = segments.at(-1)?.replace(/\.json$/, "");
  return last === undefined || last === segments.at(-1)
    ? segments
    : segments.slice(0, -1).concat(last === "" ? [] : last);
}

const allowed = { Allow: "GET, PUT" };

function read(ecosystem: Ecosystem, grant: Grant, segments: readonly string[], call: Call): void {
  const element = viewFor(grant, segments);
  if (element === undefined) throw elementNotFound();
  sendJson(call, 200, element);
  const { accountId } = grant.account;
  ecosystem.log.record("request", accountId, { method: "GET", path: pathForLog(call), status: 200 });
}

function openStream(ecosystem: Ecosystem, grant: Grant, segments: readonly string[], call: Call): void {
  if (viewFor(grant, segments) === undefined) throw elementNotFound();
  if (!call.response.destroyed) ecosystem.streams.open(grant, segments, call.response);
}

function refuse(ecosystem: Ecosystem, accountId: string | null, call: Call, error: EcosystemError): void {
  const { status, message } = error;
  const kind = call.method === "PUT" ? "command" : "request";
  ecosystem.log.record(kind, accountId, { method: call.method, path: pathForLog(call), status, message });
  sendJson(call, status, error.body(), error.headers, ecosystem.secrets);
}

function kindOf({ method, request }: Call): RequestKind {
  if (method === "PUT") return "write";
  return method === "GET" && (request.headers.accept ?? "").includes("text/event-stream") ? "stream" : "read";
}

function tokenOf({ request, query }: Call): string {
  const bearer = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? "");
  return bearer?.[1] ?? query.get("auth") ?? "";
}
