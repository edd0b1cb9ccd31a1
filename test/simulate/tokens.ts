/** The tokens that an ecosystem has issued. Each is valid until it is revoked, independent of the others. */
export class Tokens {
  readonly #issued = new Map<number, number>();
  readonly #ended = new Set<string>();

  newest(userId: number): string {
    return `${userId}.${this.#issued.get(userId) ?? 0}`;
  }

  issue(userId: number): string {
    this.#issued.set(userId, (this.#issued.get(userId) ?? 0) + 1);
    return this.newest(userId);
  }

  isGood(token: string): boolean {
    return !this.#ended.has(token);
  }

  end(token: string): void {
    this.#ended.add(token);
  }

  endAll(userId: number): void {
    for (let number = this.#issued.get(userId) ?? 0; number >= 0; number--) this.end(`${userId}.${number}`);
  }
}

export function userOf(token: string): number {
  return Number.parseInt(token, 10);
}
