import type { Runtime } from "../runtime/runtime.ts";

/**
 * Where an unexpected error of a link arose. `stream`: the connector or its listener. `snapshot`: mirroring or storing
 * an account. `second_look`: the plain read beside a stream. `record`: storing the link's standing. `command`: sending
 * a fan request. `token`: opening the sealed token. `renewal`: renewing the credential. `timer`: a delayed step.
 * `uncaught`: an error that none of these caught.
 */
export const linkFaultKinds = [
  "stream",
  "snapshot",
  "second_look",
  "record",
  "command",
  "token",
  "renewal",
  "timer",
  "uncaught",
] as const;

export type LinkFaultKind = (typeof linkFaultKinds)[number];

/** Why a link is paused: after an unexpected error, or because its token can't be opened. */
export type PauseCause = "error" | "token";

/** Handles an unexpected error of one link. Never throws. */
export type FailLink = (kind: LinkFaultKind, error: unknown) => void;

/** Back-off after faults. It restarts when a fault comes later than `calmMs` after the last start. */
export const faultPause = { fromMs: 1_000, toMs: 300_000, calmMs: 600_000 };

/** How often a token that can't be opened is tried again: the key file may hold its key by then. */
export const keyCheckMs = 30_000;

export const tokenReason = "its token can't be opened with the keys of this node";

export function pauseReason(delayMs: number, errorId: string): string {
  return `paused after an internal error; next try in ${delayMs / 1_000} s (error id ${errorId})`;
}

/** An id that a link's status shows, to find the error in the log. It is neither secret nor unique. */
export function newErrorId({ random }: Runtime): string {
  return Math.floor(random() * 0x1_0000_0000)
    .toString(16)
    .padStart(8, "0");
}

/** Redacts an error that quotes a secret of the link: only its name is left. */
export function withoutToken(error: unknown, secrets: readonly string[]): unknown {
  if (!secrets.some((secret) => quotes(error, secret))) return error;
  return new Error(`${error instanceof Error ? error.name : typeof error} (its text held the token and is withheld)`);
}

function quotes(error: unknown, token: string, depth = 0): boolean {
  if (!(error instanceof Error)) return String(error).includes(token);
  if (error.message.includes(token) || error.stack?.includes(token)) return true;
  return error.cause !== undefined && depth < 5 && quotes(error.cause, token, depth + 1);
}

/** Exponential back-off after faults of one link. */
export class FaultBackOff {
  #faults = 0;
  #triedMs = 0;

  /** Records when the link was started, on this node's monotonic clock. */
  tried(elapsedMs: number): void {
    this.#triedMs = elapsedMs;
  }

  nextMs(elapsedMs: number): number {
    this.#faults = elapsedMs - this.#triedMs > faultPause.calmMs ? 1 : this.#faults + 1;
    return Math.min(faultPause.toMs, faultPause.fromMs * 2 ** (this.#faults - 1));
  }
}
