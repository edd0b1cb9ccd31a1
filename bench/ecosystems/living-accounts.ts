/** The token of an account of a living ecosystem begins with this and ends with the account's number. */
export const tokenPrefix = "c.living-";

/** A change of a field that the virtual device shows. */
export interface ShownChange {
  readonly account: number;
  /** In milliseconds since 1970, with fractions. */
  readonly sentMs: number;
}

export type Command =
  | { readonly kind: "houses" }
  | { readonly kind: "streams" }
  /** From now on each account sends a snapshot at this interval on average; null: none. */
  | { readonly kind: "live"; readonly everyMs: number | null }
  /** Asks for the changes of shown fields since the last question. */
  | { readonly kind: "sent" };

export interface Reply {
  readonly url: string;
  readonly streams: number;
  readonly sent: readonly ShownChange[];
  /** The number of all snapshots that were sent while the accounts lived. */
  readonly snapshots: number;
}
