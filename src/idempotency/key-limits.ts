import { TooManyIdempotencyKeys } from "../model/errors.ts";
import type { OwnerId } from "../model/ids.ts";
import { limits } from "../model/limits.ts";
import type { KeyUsage } from "../store/tables/idempotency-keys.ts";

/** Counting reads all keys of an owner, so a count is reused for this long. */
const recountAfterMs = 10_000;
const ownersRemembered = 10_000;

interface UsageCount {
  readonly atMs: number;
  keys: number;
  bytes: number;
}

/**
 * The limits of stored idempotency keys for each owner. Between two counts a node adds only its own keys, so several
 * nodes together can exceed a limit by the keys of ten seconds.
 */
export class KeyLimits {
  readonly #elapsedMs: () => number;
  readonly #counted = new Map<OwnerId, UsageCount>();
  /** Single-flight: concurrent requests of one owner share one count. */
  readonly #counting = new Map<OwnerId, Promise<UsageCount>>();

  constructor(elapsedMs: () => number) {
    this.#elapsedMs = elapsedMs;
  }

  /** Throws when the owner has no room for another key. */
  async check(ownerId: OwnerId, count: () => Promise<KeyUsage>): Promise<void> {
    const { keys, bytes } = this.#recent(ownerId) ?? (await this.#countOnce(ownerId, count));
    if (keys >= limits.idempotencyKeysPerOwner) {
      throw new TooManyIdempotencyKeys(
        "idempotencyKeysPerOwner",
        `This user or tenant used ${keys} idempotency keys in the last 24 hours and may use ${limits.idempotencyKeysPerOwner}. ${nextStep}`,
      );
    }
    if (bytes >= limits.idempotencyBytesPerOwner) {
      throw new TooManyIdempotencyKeys(
        "idempotencyBytesPerOwner",
        `The answers kept for the idempotency keys of this user or tenant take ${bytes} bytes and may take ${limits.idempotencyBytesPerOwner}. ${nextStep}`,
      );
    }
  }

  /** Called when this node stores a key. */
  added(ownerId: OwnerId, bytes: number): void {
    const counted = this.#counted.get(ownerId);
    if (!counted) return;
    counted.keys += 1;
    counted.bytes += bytes;
  }

  #recent(ownerId: OwnerId): UsageCount | undefined {
    const counted = this.#counted.get(ownerId);
    return counted && this.#elapsedMs() - counted.atMs < recountAfterMs ? counted : undefined;
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

const nextStep =
  "Nothing was changed. Send the request without an Idempotency-Key, or try again when keys have expired.";
