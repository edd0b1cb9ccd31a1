import { randomBytes } from "node:crypto";
import { isSame, type Permissions } from "../clients/permissions.ts";
import type { Account } from "./account.ts";

/** The access of one client to one account, with the permissions that the owner allowed. */
export interface Grant {
  readonly token: string;
  readonly account: Account;
  readonly clientId: string;
  readonly permissions: Permissions;
}

/** The persisted form of a grant. Files of earlier versions have neither client nor permissions. */
export type KeptGrant = readonly [token: string, accountId: string, clientId?: string, permissions?: Permissions];

/** The access tokens of all accounts. */
export class Grants {
  readonly #byToken = new Map<string, Grant>();
  readonly #tokensOf = new Map<Account, Set<string>>();

  get kept(): readonly KeptGrant[] {
    return [...this.#byToken.values()].map(({ token, account, clientId, permissions }) => [
      token,
      account.accountId,
      clientId,
      permissions,
    ]);
  }

  get count(): number {
    return this.#byToken.size;
  }

  find(token: string): Grant | undefined {
    return this.#byToken.get(token);
  }

  /** All grants of an account. */
  of(account: Account): readonly Grant[] {
    return [...(this.#tokensOf.get(account) ?? [])].map((token) => this.#byToken.get(token)!);
  }

  /** Adds a grant with a new token, or with a persisted one. */
  add(account: Account, clientId: string, permissions: Permissions, token = newToken()): Grant {
    const grant = { token, account, clientId, permissions };
    this.#byToken.set(token, grant);
    const tokens = this.#tokensOf.get(account) ?? new Set<string>();
    this.#tokensOf.set(account, tokens.add(token));
    return grant;
  }

  remove({ token, account }: Grant): void {
    this.#byToken.delete(token);
    this.#tokensOf.get(account)?.delete(token);
  }

  /** Sets a client's permissions. Returns whether that changed one of its grants. */
  setPermissions(account: Account, clientId: string, permissions: Permissions): boolean {
    const changed = this.of(account).filter(
      (grant) => grant.clientId === clientId && !isSame(grant.permissions, permissions),
    );
    for (const grant of changed) this.#byToken.set(grant.token, { ...grant, permissions });
    return changed.length > 0;
  }
}

export function newToken(): string {
  return `c.${randomBytes(48).toString("base64url")}`;
}
