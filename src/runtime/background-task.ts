import { StoreUnavailable } from "../model/errors.ts";
import type { BackgroundTaskName } from "./background-task-names.ts";
import type { Runtime } from "./runtime.ts";

/** The intervals between reports of a continuing failure: the first report is immediate, then the interval doubles. */
const reportEvery = { fromMs: 10_000, toMs: 3_600_000 };

/**
 * Failures of one repeated task. Each failure is counted. The first one is reported, further ones at growing intervals
 * until the task succeeds: a task that fails for ever is never silent and never floods the log.
 */
export class BackgroundTask {
  readonly #name: BackgroundTaskName;
  readonly #sentence: string;
  readonly #runtime: Runtime;
  #failures = 0;
  #nextReportMs = 0;
  #intervalMs = 0;

  constructor(name: BackgroundTaskName, sentence: string, runtime: Runtime) {
    this.#name = name;
    this.#sentence = sentence;
    this.#runtime = runtime;
  }

  failed(error: unknown, fields: object = {}): void {
    const { elapsedMs, report, countFailure } = this.#runtime;
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
