import type { Logger, Runtime } from "../../src/runtime/runtime.ts";

export interface LogLine {
  readonly level: keyof Logger;
  readonly fields: object;
  readonly sentence: string;
}

/** A runtime whose time passes only when the test says so. */
export interface ManualRuntime extends Runtime {
  /** Lets time pass: due timers run in order, and all consequences of one settle before the next. */
  advance(ms: number): Promise<void>;
  /** Sets the wall clock forward or back; no time passes. */
  jump(ms: number): void;
  /** Number of waiting timers. */
  readonly timers: number;
  /** All log lines. */
  readonly logLines: readonly LogLine[];
}

/** Start of the wall clock. */
export const noonMs = Date.UTC(2026, 0, 1, 12);

interface Timer {
  readonly dueMs: number;
  readonly act: () => void;
}

/** Random numbers are 0.5, the middle of every jitter, unless the test says otherwise. */
export function manualRuntime({ random = (): number => 0.5 } = {}): ManualRuntime {
  // Sorted by time; equal ones in the order in which they were set.
  const timers: Timer[] = [];
  const logLines: LogLine[] = [];
  let elapsedMs = 0;
  let wallMs = noonMs;
  const at = (level: keyof Logger) => (fields: object, sentence: string) => {
    logLines.push({ level, fields, sentence });
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
      await flushPromises();
      for (let next = timers[0]; next && next.dueMs <= untilMs; next = timers[0]) {
        timers.shift();
        elapsedMs = next.dueMs;
        next.act();
        await flushPromises();
      }
      elapsedMs = untilMs;
    },
    jump(ms) {
      wallMs += ms;
    },
    get timers() {
      return timers.length;
    },
    logLines,
  };
}

/** Waits one turn of the event loop: the core waits for promises and timers only, so all promises have run then. */
export function flushPromises(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
