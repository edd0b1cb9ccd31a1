/**
 * How long a transaction of background work may take, roughly. On SQLite all other writers wait for it; on PostgreSQL
 * only those of the same users do.
 */
const groupMs = { alone: 5, shared: 50 };

/** How many devices or lines one transaction carries out, so that it takes about as long as it may. */
export class GroupSize {
  readonly longestMs: number;
  readonly #most: number;
  #count = 10;

  constructor({ isShared }: { readonly isShared: boolean }, most = 100) {
    this.longestMs = isShared ? groupMs.shared : groupMs.alone;
    this.#most = most;
  }

  get count(): number {
    return this.#count;
  }

  took(ms: number): void {
    if (ms > this.longestMs) this.#count = Math.max(1, Math.floor(this.#count / 2));
    else if (ms < this.longestMs / 2) this.#count = Math.min(this.#most, this.#count * 2);
  }
}
