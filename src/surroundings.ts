import type { Report, Surroundings } from "./model/surroundings.ts";

/** The real time, randomness and timers, for everything but the deterministic simulation. */
export function realSurroundings(report: Report): Surroundings {
  return {
    nowMs: Date.now,
    elapsedMs: () => performance.now(),
    random: Math.random,
    after(delayMs, act) {
      const timer = setTimeout(act, delayMs);
      return () => clearTimeout(timer);
    },
    report,
  };
}
