import type { Grant } from "../accounts/grants.ts";
import type { Ecosystem } from "../ecosystem.ts";
import { type Call, pathForLog, readJson, sendJson } from "../http/call.ts";
import { blocked, EcosystemError } from "./ecosystem-error.ts";
import { type Command, decideWrite, fanOf, readCommand, targetOf } from "./writes.ts";

/** Reads, answers and executes a command, unless a fault changes that. */
export async function executeCommand(
  ecosystem: Ecosystem,
  grant: Grant,
  segments: readonly string[],
  call: Call,
): Promise<void> {
  const { account, permissions } = grant;
  const { accountId } = account;
  const body = await readJson(call);
  const nowMs = ecosystem.nowMs;
  const command = readCommand(account.readable, permissions, segments, body);
  enforceWriteLimit(ecosystem, accountId, command, nowMs);
  const { effect, applied } = ecosystem.faults.forCommand({ accountId, startsFan: fanOf(command) });
  for (const { id, effect } of applied) ecosystem.log.record("fault", accountId, { id, fault: effect.fault });
  if (effect?.fault === "reject-fan") throw new EcosystemError(effect.status, effect.message, effect.anchor);

  const details = { method: "PUT", path: pathForLog(call), body: JSON.stringify(body) };
  if (effect?.fault === "reset-after-body" && !effect.carriedOut) {
    ecosystem.log.record("command", accountId, { ...details, status: null });
    call.request.socket.resetAndDestroy();
    return;
  }
  const accepted = decideWrite(account.readable!, command, nowMs);
  ecosystem.limits.count(accountId, targetOf(command), nowMs);
  const isAnswered = effect?.fault !== "withhold-answer" && effect?.fault !== "reset-after-body";
  if (effect?.fault === "answer-late") ecosystem.clock.after(effect.afterMs, () => sendJson(call, 200, body));
  else if (isAnswered) sendJson(call, 200, body);
  else if (effect.fault === "withhold-answer") ecosystem.held.hold(call.response);
  else call.request.socket.resetAndDestroy();
  ecosystem.log.record("command", accountId, { ...details, status: isAnswered ? 200 : null });
  ecosystem.acceptWrite(account, accepted);
  if (effect?.fault === "accept-then-revert" && command.kind === "thermostat") {
    ecosystem.revertFan(account, command.thermostat.device_id, effect.afterMs);
  }
}

function enforceWriteLimit(ecosystem: Ecosystem, accountId: string, command: Command, nowMs: number): void {
  const block = ecosystem.limits.check(accountId, targetOf(command), nowMs);
  if (block === undefined) return;
  throw blocked(block.retryAfterSeconds === undefined ? undefined : String(block.retryAfterSeconds));
}
