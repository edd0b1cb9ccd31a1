import type { Ecosystem } from "../ecosystem.ts";
import { type Call, pathForLog } from "../http/call.ts";
import { blocked, EcosystemError } from "../rest/ecosystem-error.ts";
import type { RequestInfo } from "./decide-request.ts";
import type { RetryAfter } from "./fault.ts";

/** Applies the active faults to a request. Returns false if it was answered here; throws if it is refused. */
export async function applyFaults(ecosystem: Ecosystem, call: Call, request: RequestInfo): Promise<boolean> {
  const { plan, delayMs, applied } = ecosystem.faults.forRequest(request);
  const { method } = call;
  for (const { id, effect } of applied) {
    const path = pathForLog(call);
    ecosystem.log.record("fault", request.accountId, { id, fault: effect.fault, method, path });
  }
  if (delayMs > 0) await new Promise<void>((resolve) => void ecosystem.clock.after(delayMs, resolve));
  switch (plan.act) {
    case "go-on":
      return true;
    case "say-nothing":
      ecosystem.held.hold(call.response);
      return false;
    case "refuse":
      throw new EcosystemError(plan.status, plan.message, plan.anchor);
    case "block":
      throw blocked(writeRetryAfter(plan.retryAfter, plan.seconds, ecosystem.nowMs));
    case "redirect":
      redirect(call, plan.base ?? `http://${call.request.headers.host ?? "127.0.0.1"}`);
      return false;
  }
}

function redirect({ request, response, target }: Call, base: string): void {
  request.resume();
  if (response.destroyed) return;
  response.writeHead(307, { Location: base + target, "Content-Length": 0 }).end();
}

function writeRetryAfter(as: RetryAfter, seconds: number, nowMs: number): string | undefined {
  switch (as) {
    case "none":
      return undefined;
    case "seconds":
      return String(seconds);
    case "http-date":
      return new Date(nowMs + seconds * 1000).toUTCString();
    case "nonsense":
      return "soon";
    case "negative":
      return String(-Math.max(seconds, 1));
    case "huge":
      return "999999999999999999999";
  }
}
