import { isDeepStrictEqual } from "node:util";
import type { Home } from "../../home/home.ts";
import { EcosystemRefused, EcosystemUnreachable } from "../../model/errors.ts";
import { pause, type Runtime, within } from "../../runtime/runtime.ts";
import type { StreamEnd, StreamListener } from "../connector.ts";
import { untilAborted } from "./abort.ts";

/** The fastest and the slowest pace. A home that nothing confirms for 15 minutes counts as stale. */
const shortestPauseMs = 1_000;
const longestPauseMs = 10 * 60_000;

export interface PollerParts {
  /**
   * Reads the whole home. Throws EcosystemRefused when the token is invalid, EcosystemUnreachable when there is no usable
   * answer. It ends when the signal aborts.
   */
  readonly read: (signal: AbortSignal) => Promise<Home>;
  /** The pause between the end of a read and the begin of the next one; clamped to 1 s … 10 minutes. */
  readonly everyMs: number;
  /** The time limit of one read. */
  readonly answerLimitMs: number;
  /** How the stream ends after an error of the protocol, such as a rate limit; undefined for all other errors. */
  readonly endAfter?: (error: unknown) => StreamEnd | undefined;
  readonly runtime: Runtime;
}

/**
 * `follow` for an ecosystem that can only be read. It reads at once, and then at the given pace with a jitter of 10 %,
 * so that links that began together do not read together. One read runs at a time. The first read that fails ends the
 * stream, as a lost connection does: the back-off before the next one is the link's.
 * Breezeway's own connectors have streams. This is for connectors to come.
 */
export async function followByReading(
  parts: PollerParts,
  listener: StreamListener,
  signal: AbortSignal,
): Promise<StreamEnd> {
  const { runtime } = parts;
  const everyMs = Math.min(Math.max(parts.everyMs, shortestPauseMs), longestPauseMs);
  let last: Home | undefined;
  let heardMs = runtime.elapsedMs();
  while (!signal.aborted) {
    const outcome = await readOnce(parts, signal, heardMs);
    if (signal.aborted) break;
    if ("end" in outcome) return outcome.end;
    heardMs = runtime.elapsedMs();
    if (last !== undefined && isDeepStrictEqual(outcome.home, last)) listener.unchanged();
    else listener.home(outcome.home);
    last = outcome.home;
    await pause(runtime, everyMs * (0.9 + 0.2 * runtime.random()), signal);
  }
  return { reason: "stopped", detail: "stopped by us" };
}

/** Reads the home, or says how the stream ends. Never throws. */
async function readOnce(
  { read, answerLimitMs, endAfter, runtime }: PollerParts,
  signal: AbortSignal,
  heardMs: number,
): Promise<{ readonly home: Home } | { readonly end: StreamEnd }> {
  let isLate = false;
  try {
    const home = await within(runtime, answerLimitMs, signal, (inTime) => {
      inTime.addEventListener("abort", () => {
        isLate = true;
      });
      return untilAborted(read(inTime), inTime);
    });
    return { home };
  } catch (error) {
    const unheardMs = Math.ceil(runtime.elapsedMs() - heardMs);
    if (isLate) return { end: { reason: "silent", detail: "no answer in time", unheardMs } };
    return { end: endAfter?.(error) ?? endOf(error) };
  }
}

function endOf(error: unknown): StreamEnd {
  if (error instanceof EcosystemRefused) return { reason: "unauthorized", detail: error.message };
  if (error instanceof EcosystemUnreachable) return { reason: "unreachable", detail: error.message };
  const name = error instanceof Error ? error.name : typeof error;
  return { reason: "malformed", detail: `a read failed (${name})`, error };
}
