import { concerns, type Fault, type RequestChoice, type RequestKind, type RetryAfter } from "./fault.ts";

/** What a fault can depend on in a request. The account is null if the token is invalid. */
export interface RequestInfo {
  readonly kind: RequestKind;
  readonly accountId: string | null;
}

/** What happens with a request before it is handled. */
export type RequestPlan =
  | { readonly act: "go-on" }
  | { readonly act: "say-nothing" }
  | { readonly act: "refuse"; readonly status: number; readonly message: string; readonly anchor?: string }
  | { readonly act: "block"; readonly retryAfter: RetryAfter; readonly seconds: number }
  | { readonly act: "redirect"; readonly base: string | undefined };

export interface RequestDecision {
  readonly plan: RequestPlan;
  readonly delayMs: number;
  readonly applied: readonly Fault[];
}

/** Decides which faults apply to a request: the oldest matching one, and the longest delay. */
export function decideRequest(faults: readonly Fault[], request: RequestInfo): RequestDecision {
  const matching = faults.filter((fault) => concerns(fault, request.accountId));
  const slow = slowest(matching);
  const delayMs = slow !== undefined && request.kind !== "token" ? slow.ms : 0;
  const slowed = delayMs > 0 ? [slow!.by] : [];
  for (const fault of matching) {
    const plan = planFor(fault, request.kind);
    if (plan !== undefined) return { plan, delayMs, applied: [...slowed, fault] };
  }
  return { plan: { act: "go-on" }, delayMs, applied: slowed };
}

/** The longest delay among the faults, and which of them it is. */
export function slowest(faults: readonly Fault[]): { readonly ms: number; readonly by: Fault } | undefined {
  let slowestFault: { ms: number; by: Fault } | undefined;
  for (const by of faults) {
    if (by.effect.fault === "slow" && by.effect.ms > (slowestFault?.ms ?? 0)) slowestFault = { ms: by.effect.ms, by };
  }
  return slowestFault;
}

function planFor({ effect }: Fault, kind: RequestKind): RequestPlan | undefined {
  if (effect.fault === "silence") {
    return effect.newConnections && kind !== "token" ? { act: "say-nothing" } : undefined;
  }
  if (!("requests" in effect) || !includes(effect.requests, kind)) return undefined;
  switch (effect.fault) {
    case "unauthorized":
      return { act: "refuse", status: 401, message: "unauthorized", anchor: "auth-error" };
    case "too-many-requests":
      return { act: "block", retryAfter: effect.retryAfter, seconds: effect.seconds };
    case "server-error":
      return { act: "refuse", status: effect.status, message: "internal error" };
    case "redirect-loop":
      return { act: "redirect", base: undefined };
    case "redirect-foreign":
      return { act: "redirect", base: effect.host };
  }
}

function includes(choice: RequestChoice, kind: RequestKind): boolean {
  return choice === kind || (choice === "all" && kind !== "token");
}
