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
  readonly #around: AccountAccessParts;
  readonly #keep: () => void;

  constructor(around: AccountAccessParts, keep: () => void) {
    this.#around = around;
    this.#keep = keep;
  }

  registerClient(plan: ClientPlan): ClientCredentials {
    const credentials = this.#around.clients.register(plan);
    this.#keep();
    return credentials;
  }

  /** Changes what a client asks of owners from now on. */
  setClientPermissions(clientId: string, permissions: Permissions): void {
    this.#around.clients.setPermissions(clientId, permissions);
    this.#keep();
  }

  /** Makes a token without asking the owner, as much allowed as the client asks for. */
  issueToken(account: Account, clientId = defaultClient.clientId): string {
    return this.grant(account, clientId, this.#around.clients.get(clientId).permissions).token;
  }

  /** Makes a token that opens so much; other tokens of the same client and account open as much from now on. */
  grant(account: Account, clientId: string, permissions: Permissions): Grant {
    this.changePermissions(account, clientId, permissions);
    const grant = this.#around.grants.add(account, clientId, permissions);
    this.#keep();
    return grant;
  }

  /** The owner allows a client more or less; its streams are told and ended. The number of them. */
  changePermissions(account: Account, clientId: string, permissions: Permissions): number {
    const { grants, streams, log } = this.#around;
    if (!grants.setPermissions(account, clientId, permissions)) return 0;
    this.#keep();
    const told = streams.cancel(account, clientId);
    log.record("permissions", account.accountId, { permissions: permissions.join(" "), streams: told });
    return told;
  }

  /** Ends a token; streams opened with it are told and ended. False when there is no such token. */
  revokeToken(token: string): boolean {
    const { grants, streams } = this.#around;
    const grant = grants.find(token);
    if (grant === undefined) return false;
    grants.remove(grant);
    this.#keep();
    streams.revoke(grant);
    return true;
  }

  /** The owner ends all tokens that a client has; how many there were. */
  end(account: Account, clientId: string): number {
    const ended = this.#around.grants.of(account).filter((grant) => grant.clientId === clientId);
    for (const { token } of ended) this.revokeToken(token);
    return ended.length;
  }
}
