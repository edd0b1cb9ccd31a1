import { randomBytes } from "node:crypto";

export interface Issued {
  readonly accessToken: string;
  readonly refreshToken: string;
}

export type RefreshError = "invalid_grant" | "invalid_request" | "access_denied";

export interface KeptTokens {
  readonly access: readonly (readonly [token: string, refreshToken: string | null])[];
  readonly refresh: readonly (readonly [token: string, clientId: string])[];
}

export interface TokenOptions {
  readonly nowMs?: () => number;
  /** Lifetime of an access token; half an hour when left out. */
  readonly lifetimeMs?: number;
}

interface Code {
  readonly clientId: string;
  readonly issuedMs: number;
}

/** How long a code can be redeemed. */
const codeLifeMs = 10 * 60_000;

/**
 * The tokens of an instance. A long-lived access token is valid until a person deletes it. Short-lived ones belong to
 * a refresh token, which stays the same when it is used.
 */
export class Tokens {
  /** Access tokens, each with the refresh token behind it; a long-lived one has none. */
  readonly #access = new Map<string, string | undefined>();
  /** When short-lived access tokens expire. */
  readonly #expiresMs = new Map<string, number>();
  /** Refresh tokens, each with its client. */
  readonly #refresh = new Map<string, string>();
  readonly #codes = new Map<string, Code>();
  readonly #nowMs: () => number;
  /** False: an administrator has deactivated the user, so that none of these tokens is accepted. */
  isUserActive = true;
  /** How often a wrong token was presented: a real instance may ban the address for it. */
  failures = 0;
  /** How often a client has tried to authenticate a session. */
  attempts = 0;

  /** Lifetime of an access token. */
  readonly lifetimeMs: number;

  constructor({ nowMs = Date.now, lifetimeMs = 1_800_000 }: TokenOptions = {}) {
    this.#nowMs = nowMs;
    this.lifetimeMs = lifetimeMs;
  }

  addLongLived(token = newAccessToken()): string {
    this.#access.set(token, undefined);
    return token;
  }

  addRefresh(clientId: string): string {
    const token = randomBytes(32).toString("hex");
    this.#refresh.set(token, clientId);
    return token;
  }

  /** A code for a client, after the owner's consent. */
  addCode(clientId: string): string {
    const code = randomBytes(16).toString("hex");
    this.#codes.set(code, { clientId, issuedMs: this.#nowMs() });
    return code;
  }

  /** Redeems a code, once; undefined for a wrong or expired code, or for another client. */
  redeem(code: string, clientId: string): Issued | undefined {
    const found = this.#codes.get(code);
    this.#codes.delete(code);
    if (found?.clientId !== clientId || this.#nowMs() - found.issuedMs > codeLifeMs) return undefined;
    return this.#issue(this.addRefresh(clientId));
  }

  /** A new access token, or the error for a wrong refresh token, another client or a deactivated user. */
  refresh(refreshToken: string, clientId: string): Issued | RefreshError {
    const owner = this.#refresh.get(refreshToken);
    if (owner === undefined) return "invalid_grant";
    if (owner !== clientId) return "invalid_request";
    return this.isUserActive ? this.#issue(refreshToken) : "access_denied";
  }

  /** Whether a client may authenticate with this token. */
  isValid(accessToken: unknown): accessToken is string {
    this.attempts += 1;
    const isKnown = typeof accessToken === "string" && this.#access.has(accessToken);
    if (isKnown && this.isUserActive && !this.#isExpired(accessToken)) return true;
    this.failures += 1;
    return false;
  }

  /** What a later run needs. Codes are not kept. */
  get kept(): KeptTokens {
    return {
      access: [...this.#access].map(([token, refresh]) => [token, refresh ?? null]),
      refresh: [...this.#refresh],
    };
  }

  restore({ access, refresh }: KeptTokens): void {
    for (const [token, behind] of access) this.#access.set(token, behind ?? undefined);
    for (const [token, clientId] of refresh) this.#refresh.set(token, clientId);
  }

  /** Number of tokens. */
  get count(): number {
    return this.#access.size + this.#refresh.size;
  }

  /** The tokens that persons made on the profile page. */
  get longLived(): readonly string[] {
    return [...this.#access].filter(([, refresh]) => refresh === undefined).map(([token]) => token);
  }

  /** All access and refresh tokens. */
  get all(): readonly string[] {
    return [...this.#access.keys(), ...this.#refresh.keys()];
  }

  /** Deletes an access token, or a refresh token with all its access tokens. Returns the access tokens that ended. */
  delete(token: string): readonly string[] {
    const ended = [...this.#access].filter(([access, refresh]) => access === token || refresh === token);
    this.#refresh.delete(token);
    for (const [access] of ended) this.#forget(access);
    return ended.map(([access]) => access);
  }

  #forget(accessToken: string): void {
    this.#access.delete(accessToken);
    this.#expiresMs.delete(accessToken);
  }

  #isExpired(accessToken: string): boolean {
    return (this.#expiresMs.get(accessToken) ?? Number.POSITIVE_INFINITY) <= this.#nowMs();
  }

  #issue(refreshToken: string): Issued {
    for (const [token] of this.#expiresMs) if (this.#isExpired(token)) this.#forget(token);
    const accessToken = newAccessToken();
    this.#access.set(accessToken, refreshToken);
    this.#expiresMs.set(accessToken, this.#nowMs() + this.lifetimeMs);
    return { accessToken, refreshToken };
  }
}

function newAccessToken(): string {
  return `eyJ.${randomBytes(24).toString("base64url")}`;
}
