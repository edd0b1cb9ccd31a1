import { createHash } from "node:crypto";

/** Bound on memory: the oldest are forgotten. */
const remembered = 10_000;

/**
 * Remembers addresses with tokens that an instance has refused, as digests. An instance counts wrong tokens and may ban
 * the caller's network address for good, so that a refused token is not presented again by this process.
 */
export class RefusedAccesses {
  readonly #digests = new Set<string>();

  add(access: string): void {
    this.#digests.add(digestOf(access));
    const [oldest] = this.#digests;
    if (oldest !== undefined && this.#digests.size > remembered) this.#digests.delete(oldest);
  }

  has(access: string): boolean {
    return this.#digests.size > 0 && this.#digests.has(digestOf(access));
  }
}

function digestOf(access: string): string {
  return createHash("sha256").update(access).digest("base64");
}
