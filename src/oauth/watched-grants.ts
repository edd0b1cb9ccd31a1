import type { GrantRow } from "../store/tables/grants.ts";

interface Watched {
  readonly grant: GrantRow;
  readonly onRevoked: Set<() => void>;
}

/** Grants of open streams, with one callback for each stream, which ends with its grant. */
export class WatchedGrants {
  readonly #watched = new Map<string, Watched>();

  /** Calls `onRevoked` once, when the grant ends. The returned function removes the callback. */
  add(grant: GrantRow, onRevoked: () => void): () => void {
    const watched = this.#watched.get(grant.id) ?? { grant, onRevoked: new Set() };
    this.#watched.set(grant.id, watched);
    watched.onRevoked.add(onRevoked);
    return () => {
      watched.onRevoked.delete(onRevoked);
      if (watched.onRevoked.size === 0 && this.#watched.get(grant.id) === watched) this.#watched.delete(grant.id);
    };
  }

  end(grantId: string): void {
    const watched = this.#watched.get(grantId);
    this.#watched.delete(grantId);
    for (const onRevoked of watched?.onRevoked ?? []) onRevoked();
  }

  /** Ends the streams of all grants of this user or client. */
  endOf(isMeant: (grant: GrantRow) => boolean): void {
    for (const { grant } of [...this.#watched.values()]) if (isMeant(grant)) this.end(grant.id);
  }

  get grants(): readonly GrantRow[] {
    return [...this.#watched.values()].map(({ grant }) => grant);
  }
}
