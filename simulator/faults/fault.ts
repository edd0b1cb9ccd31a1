import type { MalformedKind } from "../streams/malformed-frames.ts";

/** The effect of a fault, with the names of the control interface. */
export type FaultEffect =
  | { readonly fault: "drop" }
  | { readonly fault: "stream-error"; readonly message: string }
  | { readonly fault: "silence"; readonly newConnections: boolean }
  | { readonly fault: "keep-alives-only" }
  | { readonly fault: "slow"; readonly ms: number }
  | { readonly fault: "cut-mid-frame" }
  | { readonly fault: "malformed"; readonly kind: MalformedKind }
  | { readonly fault: "duplicate" }
  | { readonly fault: "out-of-size"; readonly megabytes: number }
  | { readonly fault: "unauthorized"; readonly requests: RequestChoice }
  | {
      readonly fault: "too-many-requests";
      readonly retryAfter: RetryAfter;
      readonly seconds: number;
      readonly requests: RequestChoice;
    }
  | { readonly fault: "server-error"; readonly status: number; readonly requests: RequestChoice }
  | { readonly fault: "redirect-loop"; readonly requests: RequestChoice }
  | { readonly fault: "redirect-foreign"; readonly host: string; readonly requests: RequestChoice }
  | {
      readonly fault: "reject-fan";
      readonly status: number;
      readonly message: string;
      readonly anchor: string | undefined;
    }
  | { readonly fault: "withhold-answer" }
  | { readonly fault: "answer-late"; readonly afterMs: number }
  | { readonly fault: "reset-after-body"; readonly carriedOut: boolean }
  | { readonly fault: "accept-then-revert"; readonly afterMs: number };

export type FaultName = FaultEffect["fault"];

export const requestKinds = ["stream", "read", "write", "token"] as const;
export type RequestKind = (typeof requestKinds)[number];
/** `all` means every request for the account document; requests to the token address need `token`. */
export type RequestChoice = "all" | RequestKind;

export const retryAfters = ["none", "seconds", "http-date", "nonsense", "negative", "huge"] as const;
export type RetryAfter = (typeof retryAfters)[number];

/** An active fault. */
export interface Fault {
  readonly id: string;
  /** Faults and streams share one sequence, so that a fault can be limited to streams that were opened before it. */
  readonly serial: number;
  readonly effect: FaultEffect;
  /** Undefined: for every account. */
  readonly accountId: string | undefined;
  /** How often it still applies; undefined: always. */
  readonly timesLeft: number | undefined;
  /** When it ends by itself; undefined: never. */
  readonly untilMs: number | undefined;
}

export function concerns(fault: Fault, accountId: string | null): boolean {
  return fault.accountId === undefined || fault.accountId === accountId;
}
