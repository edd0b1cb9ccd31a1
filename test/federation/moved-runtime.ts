import type { Report, Runtime } from "../../src/runtime/runtime.ts";

export interface Said {
  readonly level: keyof Report;
  readonly fields: object;
  readonly sentence: string;
}

/** Runtime in which time passes only when the test says so. */
export interface MovedRuntime extends Runtime {
  /** Lets time pass: timers that fall due run in order, and all that follows from one settles before the next. */
  advance(ms: number): Promise<void>;
  /** Sets the clock on the wall forward or back; no time passes by it. */
  jump(ms: number): void;
  /** How many timers are waiting. */
  readonly timers: number;
  /** All that was reported. */
  readonly said: readonly Said[];
}

/** Where the clock on the wall begins. */
export const noonMs = Date.UTC(2026, 0, 1, 12);

interface Timer {
  readonly dueMs: number;
  readonly act: () => void;
}

/** In the middle of every jitter, unless the test has another idea of chance. */
export function movedRuntime({ random = (): number => 0.5 } = {}): MovedRuntime {
  // Earliest first; of equals the one that was set first.
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

/** The core waits for nothing but promises and timers: one turn of the event loop, and all promises have run. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
