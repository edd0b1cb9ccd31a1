import type { Credential } from "../ecosystems/credential.ts";

/** The part of its lifetime after which a credential is renewed: 80 %, with jitter on both sides. */
const renewedAfter = { part: 0.8, jitter: 0.1 };
/** The shortest interval between two renewals of one link, whatever lifetime the ecosystem claims. */
export const shortestIntervalMs = 10_000;
/** The longest delay until the next look at the clock: the store's clock may be set, and timers have a limit. */
const longestDelayMs = 3_600_000;
const retry = { fromMs: 2_000, toMs: 120_000 };

/**
 * How long to wait before a credential is renewed; undefined when it does not expire, or when its lifetime makes no sense
 * (the ecosystem's clock may be wrong): then it is renewed when its token is refused. `isDue`: renew after the delay,
 * otherwise look again. `random`: the jitter, from 0 to 1.
 */
export function renewalDelay(
  { issuedMs, expiresMs }: Credential,
  nowMs: number,
  random: number,
): { readonly delayMs: number; readonly isDue: boolean } | undefined {
  if (expiresMs === undefined) return undefined;
  const lifetimeMs = expiresMs - (issuedMs ?? nowMs);
  if (lifetimeMs < shortestIntervalMs) return undefined;
  const part = renewedAfter.part + renewedAfter.jitter * (random - 0.5);
  const delayMs = Math.max(0, expiresMs - lifetimeMs * (1 - part) - nowMs);
  return { delayMs: Math.min(delayMs, longestDelayMs), isDue: delayMs <= longestDelayMs };
}

/** The pause before the next try of a renewal that was not answered: it grows, with jitter. */
export function retryDelayMs(failures: number, random: number): number {
  const delayMs = Math.min(retry.toMs, retry.fromMs * 2 ** (failures - 1));
  return delayMs * (0.75 + 0.5 * random);
}
