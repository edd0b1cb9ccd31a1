import type { ShownDevice } from "./friendly-names.ts";
import { clockTime } from "./times.ts";

/** Whether the shown values are current: while the stream is open and the service answers. */
export class ConnectionState {
  #stream: Outage | undefined;
  #answers: Outage | undefined;
  #answeredMs = Date.now();

  get lost(): Outage | undefined {
    return this.#stream ?? this.#answers;
  }

  streamLost(sinceMs: number, reason: string): void {
    this.#stream = { sinceMs, reason };
  }

  streamLive(): void {
    this.#stream = undefined;
  }

  /** `error` is why the service did not answer; undefined when it did. */
  answered(error: unknown): void {
    if (error === undefined) this.#answeredMs = Date.now();
    const reason = error instanceof Error ? error.message : String(error);
    this.#answers = error === undefined ? undefined : { sinceMs: this.#answeredMs, reason };
  }
}

interface Outage {
  readonly sinceMs: number;
  readonly reason: string;
}

export function freshnessLine({ deviceId, presenceInfo, stale, confirmedTime }: ShownDevice): object {
  return { type: "freshness", deviceId, presenceInfo, stale, confirmedTime };
}

export function freshnessInWords({ stale, confirmedTime }: ShownDevice): string {
  const now = clockTime(Date.now());
  if (!stale) return `${now}  the account is followed again: the values are those of now`;
  return `${now}  stale: the values are as of ${confirmedTime === undefined ? "an unknown time" : clockTime(confirmedTime)}`;
}
