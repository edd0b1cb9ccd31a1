import { createPublicKey, generateKeyPairSync, randomBytes, verify } from "node:crypto";
import type { Account } from "./account.ts";

interface Grant {
  readonly clientId: string;
  readonly redirectUri: string;
  readonly scope: string;
}

interface Code extends Grant {
  readonly account: Account;
  readonly untilMs: number;
}

interface Access {
  readonly account: Account;
  readonly refreshToken: string;
  readonly untilMs: number;
}

/** Expensive to make, and the same for all simulators of a process. */
const serviceKey = generateKeyPairSync("rsa", { modulusLength: 2_048 });

/** Codes and tokens of the project's users, and of its service account. */
export class Tokens {
  readonly serviceEmail = "breezeway@hearth-hollow.iam.gserviceaccount.com";
  lifetimeSeconds = 3_599;
  /** How often tokens were renewed. */
  renewals = 0;
  /** How often a token was presented that is not valid. */
  refused = 0;
  readonly #nowMs: () => number;
  readonly #codes = new Map<string, Code>();
  readonly #refresh = new Map<string, Account>();
  readonly #access = new Map<string, Access>();
  readonly #service = new Map<string, number>();

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** The key file of the service account, as Google's console creates it. */
  serviceAccountKey(tokenUrl: string): string {
    const private_key = serviceKey.privateKey.export({ type: "pkcs8", format: "pem" });
    const names = { type: "service_account", project_id: "hearth-hollow", private_key_id: "1" };
    return JSON.stringify({ ...names, private_key, client_email: this.serviceEmail, token_uri: tokenUrl });
  }

  issueCode(account: Account, grant: Grant): string {
    const code = `4/${randomBytes(30).toString("base64url")}`;
    this.#codes.set(code, { ...grant, account, untilMs: this.#nowMs() + 600_000 });
    return code;
  }

  /** Exchanges a code, once. Undefined when it is not valid. */
  redeem(code: string, clientId: string, redirectUri: string) {
    const issued = this.#codes.get(code);
    this.#codes.delete(code);
    if (!issued || issued.untilMs < this.#nowMs()) return undefined;
    if (issued.clientId !== clientId || issued.redirectUri !== redirectUri) return undefined;
    return { ...this.consent(issued.account), scope: issued.scope };
  }

  /** A person has consented. */
  consent(account: Account): { readonly accessToken: string; readonly refreshToken: string } {
    const refreshToken = `1//${randomBytes(40).toString("base64url")}`;
    this.#refresh.set(refreshToken, account);
    return { accessToken: this.#issue(account, refreshToken), refreshToken };
  }

  /** A new access token. The refresh token stays the same. Undefined: `invalid_grant`. */
  renew(refreshToken: string): string | undefined {
    const account = this.#refresh.get(refreshToken);
    if (account) this.renewals += 1;
    else this.refused += 1;
    return account && this.#issue(account, refreshToken);
  }

  accountOf(accessToken: string): Account | undefined {
    const issued = this.#access.get(accessToken);
    const isValid = issued !== undefined && issued.untilMs > this.#nowMs() && this.#refresh.has(issued.refreshToken);
    if (!isValid) this.refused += 1;
    return isValid ? issued.account : undefined;
  }

  /** All tokens of users. */
  get all(): readonly string[] {
    return [...this.#refresh.keys(), ...this.#access.keys()];
  }

  /** Ends all consents of the token's account to the project. Returns whether the token was known. */
  revoke(token: string): boolean {
    const account = this.#refresh.get(this.#access.get(token)?.refreshToken ?? token);
    if (account) this.revokeAll(account);
    return account !== undefined;
  }

  /** Ends all consents of an account: a person removes the project on the connections page. */
  revokeAll(account: Account): void {
    for (const [token, owner] of this.#refresh) if (owner === account) this.#refresh.delete(token);
  }

  /** The access tokens end at once; the refresh tokens stay valid. */
  expireAccess(): void {
    this.#access.clear();
  }

  /** A token for the service account that signed the assertion; undefined when the assertion is not valid. */
  serviceToken(assertion: string, tokenUrl: string): string | undefined {
    const [header = "", claims = "", signature = ""] = assertion.split(".");
    const isSigned = verify(
      "RSA-SHA256",
      Buffer.from(`${header}.${claims}`),
      createPublicKey(serviceKey.privateKey),
      Buffer.from(signature, "base64url"),
    );
    const read = isSigned ? JSON.parse(Buffer.from(claims, "base64url").toString("utf8")) : {};
    if (read.iss !== this.serviceEmail || read.aud !== tokenUrl) return undefined;
    if (read.scope !== "https://www.googleapis.com/auth/pubsub") return undefined;
    const token = `ya29.c.${randomBytes(24).toString("base64url")}`;
    this.#service.set(token, this.#nowMs() + this.lifetimeSeconds * 1_000);
    return token;
  }

  isServiceToken(token: string): boolean {
    return (this.#service.get(token) ?? 0) > this.#nowMs();
  }

  expireServiceTokens(): void {
    this.#service.clear();
  }

  #issue(account: Account, refreshToken: string): string {
    const token = `ya29.a0${randomBytes(40).toString("base64url")}`;
    this.#access.set(token, { account, refreshToken, untilMs: this.#nowMs() + this.lifetimeSeconds * 1_000 });
    return token;
  }
}
