import { StoreUnavailable } from "../../model/errors.ts";

/** `small` proves that the store accepts a write, `ordinary` also that it has space for a commit of ordinary size. */
export type ProbeSize = "small" | "ordinary";

/** Health checks are public: a flood of them must not become a flood of commits. */
const probedAgainAfterMs = { healthy: 5_000, failed: 1_000 };
/** Shorter than the limit of `/readyz`, so that the answer gives the reason. */
const longestProbeMs = 1_500;

/**
 * Whether the store can write. A write that fails because of the store is remembered until a probe of ordinary size
 * succeeds: on a full disk a few bytes may still fit, so a small commit that succeeds proves nothing.
 */
export class Writability {
  readonly #probe: (size: ProbeSize) => Promise<void>;
  readonly #elapsedMs: () => number;
  #failure: StoreUnavailable | undefined;
  #probedMs = Number.NEGATIVE_INFINITY;
  #probing: Promise<void> | undefined;

  constructor(probe: (size: ProbeSize) => Promise<void>, elapsedMs: () => number = () => performance.now()) {
    this.#probe = probe;
    this.#elapsedMs = elapsedMs;
  }

  /** Runs a write and remembers its failure if the store caused it. */
  async observe<Result>(write: () => Promise<Result>): Promise<Result> {
    try {
      return await write();
    } catch (error) {
      if (error instanceof StoreUnavailable) this.#failed(error);
      throw error;
    }
  }

  /** Rejects with the reason while the store can't write. Concurrent checks share one probe. */
  async check(): Promise<void> {
    const waitMs = this.#failure ? probedAgainAfterMs.failed : probedAgainAfterMs.healthy;
    if (!this.#probing && this.#elapsedMs() - this.#probedMs >= waitMs) {
      this.#probing = this.#probeNow().finally(() => {
        this.#probing = undefined;
      });
    }
    if (this.#probing) await withinLimit(this.#probing);
    if (this.#failure) throw this.#failure;
  }

  async #probeNow(): Promise<void> {
    const before = this.#failure;
    try {
      await this.#probe(before ? "ordinary" : "small");
      // A write that failed while the probe ran needs a probe of its own.
      if (this.#failure === before) this.#failure = undefined;
    } catch (error) {
      this.#failure = error instanceof StoreUnavailable ? error : new WriteProbeFailed(error);
    }
    this.#probedMs = this.#elapsedMs();
  }

  /** After the first failure the next check probes at once. Repeated failures don't speed up the probes. */
  #failed(failure: StoreUnavailable): void {
    if (!this.#failure) this.#probedMs = Number.NEGATIVE_INFINITY;
    this.#failure = failure;
  }
}

async function withinLimit(probing: Promise<void>): Promise<void> {
  const { promise: tooLate, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new WriteProbeTimeout()), longestProbeMs);
  try {
    await Promise.race([probing, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}

class WriteProbeFailed extends StoreUnavailable {
  constructor(cause: unknown) {
    super("The store can't be written: a test write failed. The log of the database says why.", { cause });
  }
}

class WriteProbeTimeout extends StoreUnavailable {
  constructor() {
    super(`The store can't be written: a test write took longer than ${longestProbeMs} ms.`);
  }
}
