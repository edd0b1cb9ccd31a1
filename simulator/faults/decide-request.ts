import { concerns, type Fault, type RequestChoice, type RequestKind, type RetryAfter } from "./fault.ts";

/** A request as faults see it. The account is null when the token opens none. */
export interface FacedRequest {
  readonly kind: RequestKind;
  readonly accountId: string | null;
}

/** What becomes of a request before anybody looks at it. */
export type RequestPlan =
  | { readonly act: "go-on" }
  | { readonly act: "say-nothing" }
  | { readonly act: "refuse"; readonly status: number; readonly message: string; readonly anchor?: string }
  | { readonly act: "block"; readonly retryAfter: RetryAfter; readonly seconds: number }
  | { readonly act: "redirect"; readonly base: string | undefined };

export interface RequestDecision {
  readonly plan: RequestPlan;
  readonly delayMs: number;
  /** The faults that struck. */
  readonly struck: readonly Fault[];
}

/** Decides which faults strike a request: the oldest one that suits, and the slowest of those that only delay. */
export function decideRequest(faults: readonly Fault[], request: FacedRequest): RequestDecision {
  const suited = faults.filter((fault) => concerns(fault, request.accountId));
  const slow = slowest(suited);
  const delayMs = slow !== undefined && request.kind !== "token" ? slow.ms : 0;
  const slowed = delayMs > 0 ? [slow!.by] : [];
  for (const fault of suited) {
    const plan = planFor(fault, request.kind);
    if (plan !== undefined) return { plan, delayMs, struck: [...slowed, fault] };
  }
  return { plan: { act: "go-on" }, delayMs, struck: slowed };
}

/** The longest delay among the faults, and which of them it is. */
export function slowest(faults: readonly Fault[]): { readonly ms: number; readonly by: Fault } | undefined {
  let found: { ms: number; by: Fault } | undefined;
  for (const by of faults) {
    if (by.trouble.fault === "slow" && by.trouble.ms > (found?.ms ?? 0)) found = { ms: by.trouble.ms, by };
  }
  return found;
}

function planFor({ trouble }: Fault, kind: RequestKind): RequestPlan | undefined {
  if (trouble.fault === "silence") {
    return trouble.newConnections && kind !== "token" ? { act: "say-nothing" } : undefined;
  }
  if (!("requests" in trouble) || !includes(trouble.requests, kind)) return undefined;
  switch (trouble.fault) {
    case "unauthorized":
      return { act: "refuse", status: 401, message: "unauthorized", anchor: "auth-error" };
    case "too-many-requests":
      return { act: "block", retryAfter: trouble.retryAfter, seconds: trouble.seconds };
    case "server-error":
      return { act: "refuse", status: trouble.status, message: "internal error" };
    case "redirect-loop":
      return { act: "redirect", base: undefined };
    case "redirect-foreign":
      return { act: "redirect", base: trouble.host };
  }
}

function includes(choice: RequestChoice, kind: RequestKind): boolean {
  return choice === kind || (choice === "all" && kind !== "token");
}
