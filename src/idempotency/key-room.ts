import { TooManyIdempotencyKeys } from "../model/errors.ts";
import type { OwnerId } from "../model/ids.ts";
import { limits } from "../model/limits.ts";
import type { KeyUsage } from "../store/tables/idempotency-keys.ts";

/** Counting reads all keys of an owner: once in so long, however many requests come. */
const countedAgainMs = 10_000;
const ownersRemembered = 10_000;

interface Counted {
  readonly atMs: number;
  keys: number;
  bytes: number;
}

/**
 * The bound on stored idempotency keys. Between two counts this node adds what it stored itself, so several nodes
 * together can exceed the limit by what they store in ten seconds.
 */
export class KeyRoom {
  readonly #elapsedMs: () => number;
  readonly #counted = new Map<OwnerId, Counted>();
  /** Counts under way. Requests of one owner that arrive together share one. */
  readonly #counting = new Map<OwnerId, Promise<Counted>>();

  constructor(elapsedMs: () => number) {
    this.#elapsedMs = elapsedMs;
  }

  /** Throws when the owner has no room for another key. */
  async check(ownerId: OwnerId, count: () => Promise<KeyUsage>): Promise<void> {
    const { keys, bytes } = this.#fresh(ownerId) ?? (await this.#shared(ownerId, count));
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

  /** This node has stored a key. */
  added(ownerId: OwnerId, bytes: number): void {
    const counted = this.#counted.get(ownerId);
    if (!counted) return;
    counted.keys += 1;
    counted.bytes += bytes;
  }

  #fresh(ownerId: OwnerId): Counted | undefined {
    const counted = this.#counted.get(ownerId);
    return counted && this.#elapsedMs() - counted.atMs < countedAgainMs ? counted : undefined;
  }

  #shared(ownerId: OwnerId, count: () => Promise<KeyUsage>): Promise<Counted> {
    const underWay = this.#counting.get(ownerId);
    if (underWay) return underWay;
    const counting = this.#count(ownerId, count).finally(() => this.#counting.delete(ownerId));
    this.#counting.set(ownerId, counting);
    return counting;
  }

  async #count(ownerId: OwnerId, count: () => Promise<KeyUsage>): Promise<Counted> {
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
