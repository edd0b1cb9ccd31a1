import type { Dice } from "../dice.ts";

/** How an ecosystem treats the credentials that it issues. */
export interface CredentialRules {
  /** How long an access token is valid. */
  readonly lifetimeMs: number;
  /** A refresh token stays valid until a token that followed it is used. Otherwise it can be used once. */
  readonly isForgiving: boolean;
  /** A renewal ends the access tokens before it. */
  readonly endsOldTokens: boolean;
  /** A stream ends when its access token expires. */
  readonly endsStreams: boolean;
}

export function anyCredentialRules(dice: Dice): CredentialRules {
  return {
    lifetimeMs: dice.pick([20_000, 40_000, 60_000]),
    isForgiving: dice.chance(0.7),
    endsOldTokens: dice.chance(0.3),
    endsStreams: dice.chance(0.6),
  };
}

/** The consent of a user, with all tokens that followed from it. */
interface Grant {
  hasEnded: boolean;
  /** The last generation that was used. */
  used: number;
  /** When the access token of each generation expires. */
  readonly expiriesMs: number[];
}

/**
 * The tokens that an ecosystem has issued. Without rules a token is valid until it is revoked, independent of the
 * others. With rules each grant has generations of an access token and a refresh token.
 */
export class Tokens {
  readonly rules: CredentialRules | undefined;
  readonly #nowMs: () => number;
  readonly #issued = new Map<number, number>();
  readonly #grants = new Map<string, Grant>();

  constructor(rules: CredentialRules | undefined, nowMs: () => number) {
    this.rules = rules;
    this.#nowMs = nowMs;
  }

  /** The first access token of the user's newest grant. */
  newest(userId: number): string {
    const grant = `${userId}.${this.#issued.get(userId) ?? 0}`;
    return this.rules ? `${grant}.a0` : grant;
  }

  /** A token for another call: with rules the user consents anew, because an older grant may be in use. */
  forCall(userId: number): string {
    return this.rules ? this.issue(userId) : this.newest(userId);
  }

  issue(userId: number): string {
    this.#issued.set(userId, (this.#issued.get(userId) ?? 0) + 1);
    const token = this.newest(userId);
    this.#grant(token);
    return token;
  }

  isGood(token: string): boolean {
    const { hasEnded, expiriesMs } = this.#grant(token);
    return !hasEnded && expiriesMs[generationOf(token)]! > this.#nowMs();
  }

  /** Whether the ecosystem can still renew the tokens of the grant. */
  isGrantGood(token: string): boolean {
    return !this.#grant(token).hasEnded;
  }

  /** The ecosystem has accepted the access token. */
  use(token: string): void {
    const grant = this.#grant(token);
    grant.used = Math.max(grant.used, generationOf(token));
  }

  /** The next access token; undefined when the ecosystem refuses the refresh token, which also ends the grant. */
  renew(refreshToken: string): string | undefined {
    const grant = this.#grant(refreshToken);
    const { lifetimeMs, isForgiving, endsOldTokens } = this.rules!;
    const last = grant.expiriesMs.length - 1;
    const isValid = generationOf(refreshToken) >= (isForgiving ? grant.used : last);
    if (grant.hasEnded || !isValid) {
      grant.hasEnded = true;
      return undefined;
    }
    this.use(refreshToken);
    if (endsOldTokens) grant.expiriesMs.fill(Number.NEGATIVE_INFINITY);
    grant.expiriesMs.push(this.#nowMs() + lifetimeMs);
    return `${grantOf(refreshToken)}.a${last + 1}`;
  }

  /** Ends the grant of a token. */
  end(token: string): void {
    this.#grant(token).hasEnded = true;
  }

  endAll(userId: number): void {
    for (const grant of this.#grantsOf(userId)) this.end(grant);
  }

  /** Ends all access tokens of a user before their time. They can still be renewed. */
  endAccess(userId: number): void {
    for (const grant of this.#grantsOf(userId)) this.#grant(grant).expiriesMs.fill(Number.NEGATIVE_INFINITY);
  }

  #grantsOf(userId: number): string[] {
    return Array.from({ length: (this.#issued.get(userId) ?? 0) + 1 }, (_, number) => `${userId}.${number}`);
  }

  #grant(token: string): Grant {
    const name = grantOf(token);
    const lifetimeMs = this.rules?.lifetimeMs ?? Number.POSITIVE_INFINITY;
    const grant = this.#grants.get(name) ?? { hasEnded: false, used: 0, expiriesMs: [this.#nowMs() + lifetimeMs] };
    this.#grants.set(name, grant);
    return grant;
  }
}

export function userOf(token: string): number {
  return Number.parseInt(token, 10);
}

/** `1.0` of `1.0`, `1.0.a3` and `1.0.r3`: the same for all tokens that followed from one consent. */
export function grantOf(token: string): string {
  return token.split(".").slice(0, 2).join(".");
}

export function generationOf(token: string): number {
  return Number(token.split(".")[2]?.slice(1) ?? 0);
}

export function refreshTokenFor(accessToken: string): string {
  return `${grantOf(accessToken)}.r${generationOf(accessToken)}`;
}
