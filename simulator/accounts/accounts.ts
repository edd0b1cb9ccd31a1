import { randomBytes } from "node:crypto";
import { type AccountPlan, buildHome } from "../home/account-plan.ts";
import { seededRandom } from "../home/random.ts";
import { notFound } from "../refusal.ts";
import { Account, type Announce, type KeptAccount } from "./account.ts";

/** All accounts as they are written down between two runs; tokens are the simulator's own secrets. */
export interface KeptAccounts {
  readonly accounts: readonly KeptAccount[];
  readonly tokens: readonly (readonly [token: string, accountId: string])[];
  readonly madeFromSeed: readonly (readonly [seed: string, count: number])[];
}

/** All accounts of the ecosystem and the tokens that open them. */
export class Accounts {
  readonly #announce: Announce;
  readonly #byId = new Map<string, Account>();
  readonly #byToken = new Map<string, Account>();
  readonly #madeFromSeed: Map<string, number>;

  constructor(announce: Announce, kept?: KeptAccounts) {
    this.#announce = announce;
    this.#madeFromSeed = new Map(kept?.madeFromSeed);
    for (const one of kept?.accounts ?? []) {
      const random = seededRandom(`${one.home.idSource}/${one.revision}`);
      this.#byId.set(one.accountId, new Account(one.accountId, one.home, random, announce, one));
    }
    for (const [token, accountId] of kept?.tokens ?? []) this.#byToken.set(token, this.get(accountId));
  }

  get kept(): KeptAccounts {
    return {
      accounts: this.all.map((account) => account.kept),
      tokens: [...this.#byToken].map(([token, { accountId }]) => [token, accountId]),
      madeFromSeed: [...this.#madeFromSeed],
    };
  }

  get tokenCount(): number {
    return this.#byToken.size;
  }

  get all(): readonly Account[] {
    return [...this.#byId.values()];
  }

  get count(): number {
    return this.#byId.size;
  }

  /**
   * Makes an account from its plan. The first one of a seed is the same in every simulator, the second differs from the
   * first, and so on: two accounts never share an id.
   */
  add(plan: AccountPlan): { account: Account; token: string } {
    const seed = JSON.stringify(plan.seed);
    const number = (this.#madeFromSeed.get(seed) ?? 0) + 1;
    this.#madeFromSeed.set(seed, number);
    const idSource = `${seed}/${number}`;
    const random = seededRandom(idSource);
    const token = newToken();
    const accountId = `account-${this.#byId.size + 1}`;
    const account = new Account(accountId, buildHome(plan, idSource, token, random), random, this.#announce);
    this.#byId.set(accountId, account);
    this.#byToken.set(token, account);
    return { account, token };
  }

  get(accountId: string): Account {
    const account = this.#byId.get(accountId);
    if (account === undefined) throw notFound("There is no account with this id.");
    return account;
  }

  issueToken(account: Account): string {
    const token = newToken();
    this.#byToken.set(token, account);
    return token;
  }

  /** The account that a token opens; undefined when it opens none, or no longer. */
  openedBy(token: string): Account | undefined {
    return this.#byToken.get(token);
  }

  /** Ends a token; false when there is no such one. */
  revoke(token: string): boolean {
    return this.#byToken.delete(token);
  }
}

function newToken(): string {
  return `c.${randomBytes(48).toString("base64url")}`;
}
