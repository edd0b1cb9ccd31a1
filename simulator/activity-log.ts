import type { Json } from "./home/json.ts";
import type { Secrets } from "./secrets.ts";

export type ActivityKind =
  | ("stream-opened" | "put" | "stream-closed" | "request" | "command")
  | ("scene" | "document" | "consent" | "permissions" | "fault");

export interface Activity {
  readonly sequence: number;
  readonly time: string;
  readonly kind: ActivityKind;
  /** Null if no account is known, for example with an invalid token. */
  readonly accountId: string | null;
  readonly [detail: string]: Json;
}

/** Longer texts are cut: callers may send megabytes. */
const maxTextLength = 500;

/**
 * What the simulator sent and received, newest last: a ring buffer. Secrets are redacted, also those that a caller put
 * into a path or a body by mistake.
 */
export class ActivityLog {
  readonly #capacity: number;
  readonly #nowMs: () => number;
  readonly #secrets: Secrets;
  readonly #ring: Activity[] = [];
  #lastSequence = 0;

  constructor(capacity: number, nowMs: () => number, secrets: Secrets) {
    this.#capacity = capacity;
    this.#nowMs = nowMs;
    this.#secrets = secrets;
  }

  get lastSequence(): number {
    return this.#lastSequence;
  }

  record(
    kind: ActivityKind,
    accountId: string | null,
    details: Readonly<Record<string, string | number | null>>,
  ): void {
    const sequence = ++this.#lastSequence;
    const entry: Record<string, string | number | null> = {
      sequence,
      time: new Date(this.#nowMs()).toISOString(),
      kind,
      accountId,
    };
    for (const [name, value] of Object.entries(details)) {
      entry[name] = typeof value === "string" ? this.#secrets.redact(value).slice(0, maxTextLength) : value;
    }
    this.#ring[(sequence - 1) % this.#capacity] = entry as unknown as Activity;
  }

  /** The kept entries whose sequence is greater than `after`. */
  entries(after = 0): Activity[] {
    const first = Math.max(after + 1, this.#lastSequence - this.#capacity + 1, 1);
    const entries: Activity[] = [];
    for (let sequence = first; sequence <= this.#lastSequence; sequence++) {
      entries.push(this.#ring[(sequence - 1) % this.#capacity]!);
    }
    return entries;
  }
}
