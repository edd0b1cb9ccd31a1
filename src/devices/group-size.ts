/**
 * How long a transaction of background work may take, roughly. On SQLite all other writers wait for it; on PostgreSQL
 * only those of the same users do.
 */
const groupMs = { alone: 5, shared: 50 };

/**
 * How many devices or lines one transaction carries out, so that it takes about as long as it may. Never fewer than
 * `least`: on a busy machine a transaction takes long however little it does.
 */
export class GroupSize {
  readonly longestMs: number;
  readonly #least: number;
  readonly #most: number;
  #count: number;

  constructor({ isShared }: { readonly isShared: boolean }, { least, most }: { least: number; most: number }) {
    this.longestMs = isShared ? groupMs.shared : groupMs.alone;
    this.#least = least;
    this.#most = most;
    this.#count = least;
  }

  get count(): number {
    return this.#count;
  }

  took(ms: number): void {
    if (ms > this.longestMs) this.#count = Math.max(this.#least, Math.floor(this.#count / 2));
    else if (ms < this.longestMs / 2) this.#count = Math.min(this.#most, this.#count * 2);
  }
}
