import type { GrantRow } from "../store/tables/grants.ts";

interface Watched {
  readonly grant: GrantRow;
  readonly revoked: Set<() => void>;
}

/** Grants whose end ends something that goes on: open streams, one callback each. */
export class WatchedGrants {
  readonly #watched = new Map<string, Watched>();

  /** Runs `revoked` once, when the grant ends. The returned function stops watching. */
  add(grant: GrantRow, revoked: () => void): () => void {
    const watched = this.#watched.get(grant.id) ?? { grant, revoked: new Set() };
    this.#watched.set(grant.id, watched);
    watched.revoked.add(revoked);
    return () => {
      watched.revoked.delete(revoked);
      if (watched.revoked.size === 0 && this.#watched.get(grant.id) === watched) this.#watched.delete(grant.id);
    };
  }

  end(grantId: string): void {
    const watched = this.#watched.get(grantId);
    this.#watched.delete(grantId);
    for (const revoked of watched?.revoked ?? []) revoked();
  }

  get grants(): readonly GrantRow[] {
    return [...this.#watched.values()].map(({ grant }) => grant);
  }
}
