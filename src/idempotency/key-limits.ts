import { TooManyIdempotencyKeys } from "../model/errors.ts";
import type { OwnerId } from "../model/ids.ts";
import { limits } from "../model/limits.ts";
import type { KeyUsage } from "../store/tables/idempotency-keys.ts";
import { UsageCounts } from "./usage-counts.ts";

/**
 * The limits of stored idempotency keys for each owner. Between two counts a node adds only its own keys, so several
 * nodes together can exceed a limit by the keys of ten seconds.
 */
export class KeyLimits {
  readonly #counts: UsageCounts;

  constructor(elapsedMs: () => number) {
    this.#counts = new UsageCounts(elapsedMs);
  }

  /** Throws when the owner has no room for another key. */
  async check(ownerId: OwnerId, count: () => Promise<KeyUsage>): Promise<void> {
    const { keys, bytes } = await this.#counts.of(ownerId, count);
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
    this.#counts.added(ownerId, bytes);
  }
}

const nextStep =
  "Nothing was changed. Send the request without an Idempotency-Key, or try again when keys have expired.";
