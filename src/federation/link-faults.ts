import type { Runtime } from "../runtime/runtime.ts";

/**
 * Where in a link's life an unexpected error arose. `stream`: the connector, or what hears its stream. `snapshot`:
 * mirroring or storing an account. `second_look`: the plain read beside a stream. `record`: storing how the link stands.
 * `command`: sending a fan request. `token`: opening the sealed token. `timer`: a delayed step. `uncaught`: an error that
 * none of these caught.
 */
export const linkFaultKinds = [
  "stream",
  "snapshot",
  "second_look",
  "record",
  "command",
  "token",
  "timer",
  "uncaught",
] as const;

export type LinkFaultKind = (typeof linkFaultKinds)[number];

/** Why a link is paused by a fault of ours: after an unexpected error, or because its token can't be opened. */
export type PauseCause = "error" | "token";

/** Takes an unexpected error of one link. Never throws. */
export type FailLink = (kind: LinkFaultKind, error: unknown) => void;

/** A fault that comes later than `calmMs` after the last try begins the back-off anew. */
export const faultPause = { fromMs: 1_000, toMs: 300_000, calmMs: 600_000 };

/** How often a token that can't be opened is tried again: the key file may hold its key by then. */
export const keyCheckMs = 30_000;

export const tokenReason = "its token can't be opened with the keys of this node";

export function pauseReason(delayMs: number, errorId: string): string {
  return `paused after an internal error; next try in ${delayMs / 1_000} s (error id ${errorId})`;
}

/** Finds the log line of an error from what a link's status shows. Not a secret, and not unique for ever. */
export function newErrorId({ random }: Runtime): string {
  return Math.floor(random() * 0x1_0000_0000)
    .toString(16)
    .padStart(8, "0");
}

/** The error as it may be logged: if it quotes the link's token anywhere, only its name is left. */
export function withoutToken(error: unknown, token: string | undefined): unknown {
  if (token === undefined || !quotes(error, token)) return error;
  return new Error(`${error instanceof Error ? error.name : typeof error} (its text held the token and is withheld)`);
}

function quotes(error: unknown, token: string, depth = 0): boolean {
  if (!(error instanceof Error)) return String(error).includes(token);
  if (error.message.includes(token) || error.stack?.includes(token)) return true;
  return error.cause !== undefined && depth < 5 && quotes(error.cause, token, depth + 1);
}

/** The growing, bounded pauses after faults of one link. */
export class FaultBackOff {
  #faults = 0;
  #triedMs = 0;

  /** The link was started at that time, on this node's monotonic clock. */
  tried(elapsedMs: number): void {
    this.#triedMs = elapsedMs;
  }

  nextMs(elapsedMs: number): number {
    this.#faults = elapsedMs - this.#triedMs > faultPause.calmMs ? 1 : this.#faults + 1;
    return Math.min(faultPause.toMs, faultPause.fromMs * 2 ** (this.#faults - 1));
  }
}
