import { StoreUnavailable } from "./errors.ts";
import type { Surroundings } from "./surroundings.ts";

/** Work that a node repeats by itself, by the name under which its failures are counted. */
export const backgroundTasks = [
  "compaction",
  "confirmation_times",
  "fan_requests",
  "heartbeat",
  "idempotency_keys",
  "link_shares",
  "log_retention",
  "erased_names",
  "revocations",
  "sweep",
] as const;

export type BackgroundTaskName = (typeof backgroundTasks)[number];

/** Reports of one failure that goes on: the first at once, then ever fewer. */
const reportEvery = { fromMs: 10_000, toMs: 3_600_000 };

/**
 * Failures of one repeated task. Each failure is counted. The first one is reported, further ones at growing intervals
 * until the task succeeds: a task that fails for ever is never silent and never floods the log.
 */
export class BackgroundTask {
  readonly #name: BackgroundTaskName;
  readonly #sentence: string;
  readonly #surroundings: Surroundings;
  #failures = 0;
  #nextReportMs = 0;
  #intervalMs = 0;

  constructor(name: BackgroundTaskName, sentence: string, surroundings: Surroundings) {
    this.#name = name;
    this.#sentence = sentence;
    this.#surroundings = surroundings;
  }

  failed(error: unknown, fields: object = {}): void {
    const { elapsedMs, report, countFailure } = this.#surroundings;
    countFailure?.(this.#name);
    this.#failures += 1;
    const nowMs = elapsedMs();
    if (this.#failures > 1 && nowMs < this.#nextReportMs) return;
    this.#intervalMs = Math.min(reportEvery.toMs, Math.max(reportEvery.fromMs, this.#intervalMs * 2));
    this.#nextReportMs = nowMs + this.#intervalMs;
    const level = error instanceof StoreUnavailable ? "warn" : "error";
    report[level]({ ...fields, task: this.#name, failures: this.#failures, error }, this.#sentence);
  }

  succeeded(): void {
    this.#failures = 0;
    this.#intervalMs = 0;
  }
}
