import type { MalformedKind } from "../streams/malformed-frames.ts";

/** What goes wrong, in the words of the control interface. */
export type Trouble =
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
  | { readonly fault: "reset-after-body"; readonly carriedOut: boolean }
  | { readonly fault: "accept-then-revert"; readonly afterMs: number };

export type FaultName = Trouble["fault"];

/** The kinds of request that a fault can tell apart. */
export const requestKinds = ["stream", "read", "write", "token"] as const;
export type RequestKind = (typeof requestKinds)[number];
/** `all` means whatever asks for the account document; the token address is meant only by its own name. */
export type RequestChoice = "all" | RequestKind;

export const retryAfters = ["none", "seconds", "http-date", "nonsense", "negative", "huge"] as const;
export type RetryAfter = (typeof retryAfters)[number];

/** A fault that is on: what, for whom, and for how long. */
export interface Fault {
  readonly id: string;
  /** Faults and streams are numbered together, so that a fault knows which streams were there before it. */
  readonly serial: number;
  readonly trouble: Trouble;
  /** Undefined: for every account. */
  readonly accountId: string | undefined;
  /** How often it still strikes; undefined: always. */
  readonly timesLeft: number | undefined;
  /** When it ends by itself; undefined: never. */
  readonly untilMs: number | undefined;
}

export function concerns(fault: Fault, accountId: string | null): boolean {
  return fault.accountId === undefined || fault.accountId === accountId;
}
