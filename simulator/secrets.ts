/** The oldest are dropped first. */
const maxSecrets = 50_000;

/** Redacts secrets in logs and answers: access tokens by their format; codes, PINs and client secrets by their value. */
export class Secrets {
  readonly #known = new Set<string>();

  remember(secret: string): void {
    if (this.#known.size >= maxSecrets) this.#known.delete(this.#known.values().next().value!);
    this.#known.add(secret);
  }

  redact(text: string): string {
    const withoutTokens = text.replace(/c\.[\w-]{8,}/g, "c.…");
    return withoutTokens.replace(/[\w-]{8,}/g, (word) => (this.#known.has(word) ? "…" : word));
  }
}
