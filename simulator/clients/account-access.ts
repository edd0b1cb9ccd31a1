import type { Account } from "../accounts/account.ts";
import type { Grant, Grants } from "../accounts/grants.ts";
import type { ActivityLog } from "../activity-log.ts";
import type { Streams } from "../streams/streams.ts";
import type { ClientPlan } from "./client.ts";
import { type ClientCredentials, type Clients, defaultClient } from "./clients.ts";
import type { Permissions } from "./permissions.ts";

export interface AccountAccessParts {
  readonly clients: Clients;
  readonly grants: Grants;
  readonly streams: Streams;
  readonly log: ActivityLog;
}

/** Which client may use which account, with which permissions. Each change is saved and reaches the open streams. */
export class AccountAccess {
  readonly #parts: AccountAccessParts;
  readonly #save: () => void;

  constructor(parts: AccountAccessParts, save: () => void) {
    this.#parts = parts;
    this.#save = save;
  }

  registerClient(plan: ClientPlan): ClientCredentials {
    const credentials = this.#parts.clients.register(plan);
    this.#save();
    return credentials;
  }

  /** Changes the permissions that a client requests from now on. */
  setClientPermissions(clientId: string, permissions: Permissions): void {
    this.#parts.clients.setPermissions(clientId, permissions);
    this.#save();
  }

  /** Issues a token without consent, with the permissions that the client requests. */
  issueToken(account: Account, clientId = defaultClient.clientId): string {
    return this.grant(account, clientId, this.#parts.clients.get(clientId).permissions).token;
  }

  /** Issues a token. The client's other tokens for this account get the same permissions. */
  grant(account: Account, clientId: string, permissions: Permissions): Grant {
    this.changePermissions(account, clientId, permissions);
    const grant = this.#parts.grants.add(account, clientId, permissions);
    this.#save();
    return grant;
  }

  /** Changes a client's permissions and ends its streams with a `cancel` event. Returns the number of streams. */
  changePermissions(account: Account, clientId: string, permissions: Permissions): number {
    const { grants, streams, log } = this.#parts;
    if (!grants.setPermissions(account, clientId, permissions)) return 0;
    this.#save();
    const ended = streams.cancel(account, clientId);
    log.record("permissions", account.accountId, { permissions: permissions.join(" "), streams: ended });
    return ended;
  }

  /** Ends a token, and its streams with an `auth_revoked` event. Returns false if there is no such token. */
  revokeToken(token: string): boolean {
    const { grants, streams } = this.#parts;
    const grant = grants.find(token);
    if (grant === undefined) return false;
    grants.remove(grant);
    this.#save();
    streams.revoke(grant);
    return true;
  }

  /** Ends all tokens of a client. Returns how many there were. */
  end(account: Account, clientId: string): number {
    const ended = this.#parts.grants.of(account).filter((grant) => grant.clientId === clientId);
    for (const { token } of ended) this.revokeToken(token);
    return ended.length;
  }
}
