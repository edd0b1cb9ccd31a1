/** The limit for each device and structure. */
export interface WriteLimitOptions {
  readonly writesPerHour: number;
  /** Whether a refusal says how long to wait; those of the ecosystem sometimes did. */
  readonly retryAfter: boolean;
}

export interface Blocked {
  /** Undefined without the option `retryAfter`. */
  readonly retryAfterSeconds: number | undefined;
}

const hourMs = 3_600_000;

/** Counts the commands of each device and structure over a rolling hour. */
export class WriteLimits {
  readonly #options: WriteLimitOptions;
  readonly #writesMs = new Map<string, readonly number[]>();

  constructor(options: WriteLimitOptions) {
    this.#options = options;
  }

  /** Undefined if the device or structure accepts a command now. */
  check(accountId: string, id: string, nowMs: number): Blocked | undefined {
    const { writesPerHour, retryAfter } = this.#options;
    const recent = this.#recent(accountId, id, nowMs);
    if (recent.length < writesPerHour) return undefined;
    const allowedMs = (recent.at(-writesPerHour) ?? nowMs) + hourMs;
    return { retryAfterSeconds: retryAfter ? Math.ceil((allowedMs - nowMs) / 1000) : undefined };
  }

  count(accountId: string, id: string, nowMs: number): void {
    this.#writesMs.set(keyOf(accountId, id), [...this.#recent(accountId, id, nowMs), nowMs]);
  }

  #recent(accountId: string, id: string, nowMs: number): readonly number[] {
    const writesMs = this.#writesMs.get(keyOf(accountId, id)) ?? [];
    return writesMs.filter((writtenMs) => writtenMs > nowMs - hourMs);
  }
}

function keyOf(accountId: string, id: string): string {
  return `${accountId} ${id}`;
}
