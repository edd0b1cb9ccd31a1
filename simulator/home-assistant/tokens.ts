import { randomBytes } from "node:crypto";

interface RefreshToken {
  readonly clientId: string;
}

/**
 * The tokens of an instance. A long-lived access token is valid until a person deletes it. Short-lived ones belong to
 * a refresh token, which stays the same when it is used.
 */
export class Tokens {
  /** Access tokens, each with the refresh token behind it; a long-lived one has none. */
  readonly #access = new Map<string, string | undefined>();
  readonly #refresh = new Map<string, RefreshToken>();
  /** How often a wrong token was presented: a real instance may ban the address for it. */
  failures = 0;

  addLongLived(): string {
    const token = `eyJ.${randomBytes(24).toString("base64url")}`;
    this.#access.set(token, undefined);
    return token;
  }

  addRefresh(clientId: string): string {
    const token = randomBytes(32).toString("hex");
    this.#refresh.set(token, { clientId });
    return token;
  }

  /** A new access token; undefined for a wrong refresh token or another client. */
  refresh(refreshToken: string, clientId: string): string | undefined {
    if (this.#refresh.get(refreshToken)?.clientId !== clientId) return undefined;
    const token = `eyJ.${randomBytes(24).toString("base64url")}`;
    this.#access.set(token, refreshToken);
    return token;
  }

  isValid(accessToken: unknown): accessToken is string {
    if (typeof accessToken === "string" && this.#access.has(accessToken)) return true;
    this.failures += 1;
    return false;
  }

  /** Deletes an access token, or a refresh token with all its access tokens. Returns the access tokens that ended. */
  delete(token: string): readonly string[] {
    const ended = [...this.#access].filter(([access, refresh]) => access === token || refresh === token);
    this.#refresh.delete(token);
    for (const [access] of ended) this.#access.delete(access);
    return ended.map(([access]) => access);
  }
}
