import { type AccountPlan, buildHome } from "../home/account-plan.ts";
import { seededRandom } from "../home/random.ts";
import { notFound } from "../refusal.ts";
import { Account, type Announce, type KeptAccount } from "./account.ts";

/** The persisted form of all accounts. */
export interface KeptAccounts {
  readonly accounts: readonly KeptAccount[];
  readonly madeFromSeed: readonly (readonly [seed: string, count: number])[];
}

/** All accounts of the ecosystem. */
export class Accounts {
  readonly #announce: Announce;
  readonly #byId = new Map<string, Account>();
  readonly #madeFromSeed: Map<string, number>;

  constructor(announce: Announce, kept?: KeptAccounts) {
    this.#announce = announce;
    this.#madeFromSeed = new Map(kept?.madeFromSeed);
    for (const one of kept?.accounts ?? []) {
      const random = seededRandom(`${one.home.idSource}/${one.revision}`);
      this.#byId.set(one.accountId, new Account(one.accountId, one.home, random, announce, one));
    }
  }

  get kept(): KeptAccounts {
    return {
      accounts: this.all.map((account) => account.kept),
      madeFromSeed: [...this.#madeFromSeed],
    };
  }

  get all(): readonly Account[] {
    return [...this.#byId.values()];
  }

  get count(): number {
    return this.#byId.size;
  }

  /**
   * Adds an account. The n-th account of a seed is the same in every simulator, and two accounts never share an id.
   * `token` is the owner's first token.
   */
  add(plan: AccountPlan, token: string): Account {
    const seed = JSON.stringify(plan.seed);
    const number = (this.#madeFromSeed.get(seed) ?? 0) + 1;
    this.#madeFromSeed.set(seed, number);
    const idSource = `${seed}/${number}`;
    const random = seededRandom(idSource);
    // Removed accounts count too, so that an id is never used again.
    const accountId = `account-${[...this.#madeFromSeed.values()].reduce((sum, count) => sum + count, 0)}`;
    const account = new Account(accountId, buildHome(plan, idSource, token, random), random, this.#announce);
    this.#byId.set(accountId, account);
    return account;
  }

  remove({ accountId }: Account): void {
    this.#byId.delete(accountId);
  }

  get(accountId: string): Account {
    const account = this.#byId.get(accountId);
    if (account === undefined) throw notFound("There is no account with this id.");
    return account;
  }
}
