import type { Report, Runtime } from "../../src/runtime/runtime.ts";

export interface Said {
  readonly level: keyof Report;
  readonly fields: object;
  readonly sentence: string;
}

/** A runtime whose time passes only when the test says so. */
export interface MovedRuntime extends Runtime {
  /** Lets time pass: due timers run in order, and all consequences of one settle before the next. */
  advance(ms: number): Promise<void>;
  /** Sets the wall clock forward or back; no time passes. */
  jump(ms: number): void;
  /** Number of waiting timers. */
  readonly timers: number;
  /** All log lines. */
  readonly said: readonly Said[];
}

/** Start of the wall clock. */
export const noonMs = Date.UTC(2026, 0, 1, 12);

interface Timer {
  readonly dueMs: number;
  readonly act: () => void;
}

/** Random numbers are 0.5, the middle of every jitter, unless the test says otherwise. */
export function movedRuntime({ random = (): number => 0.5 } = {}): MovedRuntime {
  // Sorted by time; equal ones in the order in which they were set.
  const timers: Timer[] = [];
  const said: Said[] = [];
  let elapsedMs = 0;
  let wallMs = noonMs;
  const at = (level: keyof Report) => (fields: object, sentence: string) => {
    said.push({ level, fields, sentence });
  };
  return {
    nowMs: () => wallMs + elapsedMs,
    elapsedMs: () => elapsedMs,
    random,
    after(delayMs, act) {
      const timer = { dueMs: elapsedMs + Math.max(0, delayMs), act };
      timers.splice(timers.findLastIndex(({ dueMs }) => dueMs <= timer.dueMs) + 1, 0, timer);
      return () => {
        const place = timers.indexOf(timer);
        if (place >= 0) timers.splice(place, 1);
      };
    },
    report: { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") },
    async advance(ms) {
      const untilMs = elapsedMs + ms;
      await settled();
      for (let next = timers[0]; next && next.dueMs <= untilMs; next = timers[0]) {
        timers.shift();
        elapsedMs = next.dueMs;
        next.act();
        await settled();
      }
      elapsedMs = untilMs;
    },
    jump(ms) {
      wallMs += ms;
    },
    get timers() {
      return timers.length;
    },
    said,
  };
}

/** Waits one turn of the event loop: the core waits for promises and timers only, so all promises have run then. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
