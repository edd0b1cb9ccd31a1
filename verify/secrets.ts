/** All that must not be told: a report goes to people who may see none of it. */
export class Secrets {
  readonly #known = new Set<string>();

  /** Remembers a secret and hands it back. */
  keep<Text extends string | undefined>(secret: Text): Text {
    // Shorter ones would blank out ordinary words; nobody's secret is that short.
    if (secret !== undefined && secret.length >= 6) this.#known.add(secret);
    return secret;
  }

  /** The text without any of them, in clear or as it stands in an address. */
  without(text: string): string {
    let clean = text;
    for (const secret of [...this.#known].sort((a, b) => b.length - a.length)) {
      clean = clean.replaceAll(secret, "…").replaceAll(encodeURIComponent(secret), "…");
    }
    return clean;
  }
}
