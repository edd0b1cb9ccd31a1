import type { OwnerId } from "../model/ids.ts";
import type { KeyUsage } from "../store/tables/idempotency-keys.ts";

/** Counting reads all rows of an owner, so a count is reused for this long. */
const recountAfterMs = 10_000;
const ownersRemembered = 10_000;

interface UsageCount {
  readonly atMs: number;
  keys: number;
  bytes: number;
}

/** Cache of what each owner's rows take. Between two counts it adds only what its user reports. */
export class UsageCounts {
  readonly #elapsedMs: () => number;
  readonly #counted = new Map<OwnerId, UsageCount>();
  /** Single-flight: concurrent requests of one owner share one count. */
  readonly #counting = new Map<OwnerId, Promise<UsageCount>>();

  constructor(elapsedMs: () => number) {
    this.#elapsedMs = elapsedMs;
  }

  async of(ownerId: OwnerId, count: () => Promise<KeyUsage>): Promise<KeyUsage> {
    return this.#recent(ownerId) ?? (await this.#countOnce(ownerId, count));
  }

  /** Called when this node stores a row. */
  added(ownerId: OwnerId, bytes: number): void {
    const counted = this.#counted.get(ownerId);
    if (!counted) return;
    counted.keys += 1;
    counted.bytes += bytes;
  }

  #recent(ownerId: OwnerId): UsageCount | undefined {
    const counted = this.#counted.get(ownerId);
    if (!counted) return undefined;
    const ageMs = this.#elapsedMs() - counted.atMs;
    // The clock may be the store's, which can be set back: then the age is unknown.
    return ageMs >= 0 && ageMs < recountAfterMs ? counted : undefined;
  }

  #countOnce(ownerId: OwnerId, count: () => Promise<KeyUsage>): Promise<UsageCount> {
    const running = this.#counting.get(ownerId);
    if (running) return running;
    const counting = this.#count(ownerId, count).finally(() => this.#counting.delete(ownerId));
    this.#counting.set(ownerId, counting);
    return counting;
  }

  async #count(ownerId: OwnerId, count: () => Promise<KeyUsage>): Promise<UsageCount> {
    const counted = { atMs: this.#elapsedMs(), ...(await count()) };
    this.#counted.delete(ownerId);
    this.#counted.set(ownerId, counted);
    const [oldest] = this.#counted.keys();
    if (oldest !== undefined && this.#counted.size > ownersRemembered) this.#counted.delete(oldest);
    return counted;
  }
}
