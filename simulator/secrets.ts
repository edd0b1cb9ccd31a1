/** How many codes, PINs and secrets are remembered; the oldest are the first to be forgotten. */
const mostRemembered = 50_000;

/**
 * Knows what must never be written down. Access tokens are recognised by their form, everything else that was given out
 * by its value.
 */
export class Secrets {
  readonly #known = new Set<string>();

  remember(secret: string): void {
    if (this.#known.size >= mostRemembered) this.#known.delete(this.#known.values().next().value!);
    this.#known.add(secret);
  }

  /** The text as it may be written down: callers put secrets into paths and bodies by mistake. */
  blot(text: string): string {
    const withoutTokens = text.replace(/c\.[\w-]{8,}/g, "c.…");
    return withoutTokens.replace(/[\w-]{8,}/g, (word) => (this.#known.has(word) ? "…" : word));
  }
}
