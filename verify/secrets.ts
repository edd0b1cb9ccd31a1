/** The secrets of a run, which are removed from the report: its readers may not see them. */
export class Secrets {
  readonly #known = new Set<string>();

  /** Registers a secret and returns it. */
  keep<Text extends string | undefined>(secret: Text): Text {
    // Replacing shorter texts would remove ordinary words; no secret is that short.
    if (secret !== undefined && secret.length >= 6) this.#known.add(secret);
    return secret;
  }

  /** The text without the secrets, in plain text or URL-encoded. */
  without(text: string): string {
    let clean = text;
    for (const secret of [...this.#known].sort((a, b) => b.length - a.length)) {
      clean = clean.replaceAll(secret, "…").replaceAll(encodeURIComponent(secret), "…");
    }
    return clean;
  }
}
