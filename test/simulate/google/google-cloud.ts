import type { Credential } from "../../../src/ecosystems/credential.ts";
import type { CallJson, JsonAnswer, JsonCall } from "../../../src/ecosystems/kit/json-call.ts";
import { beginningMs } from "../clocks.ts";
import type { Faults } from "../faults.ts";
import type { Process, Scheduler } from "../scheduler.ts";
import { GoogleAccount } from "./account.ts";
import { PubSub } from "./subscription.ts";

export interface GoogleCloudParts {
  readonly scheduler: Scheduler;
  readonly faults: Faults;
  readonly committedSoFar: () => number;
  /** The users, and whether all of them have linked the same account. */
  readonly users: readonly number[];
  readonly areOneAccount: boolean;
  readonly losesMessages: boolean;
  /** Kills a node. */
  readonly kill: (node: Process) => void;
}

interface Access {
  readonly userId: number;
  readonly grant: string;
  readonly untilMs: number;
}

type Answered = Extract<JsonAnswer, { readonly isAnswered: true }>;

const listsPerMinute = 8;

/** Google's side of the wire: accounts that change, tokens, lists within a budget, and the feed of events. */
export class GoogleCloud {
  readonly pubSub: PubSub;
  readonly accounts: readonly GoogleAccount[];
  readonly #parts: GoogleCloudParts;
  readonly #process: Process = { name: "google", isDead: false, isFrozen: false };
  readonly #accesses = new Map<string, Access>();
  /** The grants that users have not revoked, with their users. */
  readonly #grants = new Map<string, number>();
  readonly #lists = new Map<string, number[]>();
  readonly #lifetimeSeconds: number;
  #issued = 0;
  #feedToken = 1;

  constructor(parts: GoogleCloudParts) {
    this.#parts = parts;
    const { scheduler, users, areOneAccount } = parts;
    this.pubSub = new PubSub({ ...parts, process: this.#process });
    this.accounts = users
      .slice(0, areOneAccount ? 1 : users.length)
      .map((_, index) => new GoogleAccount(`account-${index + 1}`, scheduler.dice));
    // A read chooses its token before it waits for the budget of lists: the rest of a renewed token's life is longer.
    this.#lifetimeSeconds = scheduler.dice.pick([120, 300, 3_600]);
  }

  accountOf(userId: number): GoogleAccount {
    const { users, areOneAccount } = this.#parts;
    return this.accounts[areOneAccount ? 0 : users.indexOf(userId)]!;
  }

  /** The user consents: a new grant and its first access token. */
  consent(userId: number, nowMs: number): Credential {
    const grant = `grant-${userId}-${++this.#issued}`;
    this.#grants.set(grant, userId);
    return { accessToken: this.#issue(grant), refreshToken: grant, expiresMs: nowMs + this.#lifetimeSeconds * 1_000 };
  }

  /** The user withdraws all consent. */
  withdraw(userId: number): void {
    for (const [grant, whose] of this.#grants) if (whose === userId) this.#grants.delete(grant);
  }

  change(account: GoogleAccount): void {
    this.pubSub.publish(account.id, account.change());
  }

  /** A last change that events alone must bring. */
  settle(): void {
    for (const account of this.accounts) {
      for (const device of account.thermostats.keys()) this.pubSub.publish(account.id, account.setHeat(device));
    }
  }

  /** The token of the service account, with which the feed is pulled. */
  feedTokens() {
    return { token: async () => ({ token: `feed-${this.#feedToken}` }), forget: () => undefined };
  }

  /** How a node calls Google. */
  callFor(node: Process): CallJson {
    const { scheduler, faults } = this.#parts;
    return (call, signal) =>
      new Promise((resolve) => {
        const giveUp = () => resolve({ isAnswered: false, detail: "no answer in time" });
        if (signal.aborted) return giveUp();
        signal.addEventListener("abort", giveUp, { once: true });
        const answer = (answered: JsonAnswer) =>
          scheduler.after(this.#delayMs(), node, `Google answers ${call.url}`, () => resolve(answered));
        scheduler.after(this.#delayMs(), this.#process, `${node.name} calls ${call.url}`, () => {
          if (signal.aborted) return;
          if (faults.strikes("google down", 0.04)) return answer({ isAnswered: false, detail: "no connection" });
          const method = call.url.split(":").at(-1)!;
          if (method === "acknowledge" && faults.strikes("puller killed before acknowledging", 0.03)) {
            return this.#parts.kill(node);
          }
          const isLost = faults.strikes("google answer lost", 0.03);
          const respond = (answered: Answered) => {
            if (!isLost) answer(answered);
          };
          if (method === "pull") this.#pull(node, call, signal, respond);
          else respond(this.#respond(call, method));
        });
      });
  }

  #pull(node: Process, { token }: JsonCall, signal: AbortSignal, respond: (answer: Answered) => void): void {
    if (this.#parts.faults.strikes("feed token refused", 0.02)) this.#feedToken += 1;
    if (token !== `feed-${this.#feedToken}`) respond(this.#answered(401, {}));
    else this.pubSub.pull(node, signal, (document) => respond(this.#answered(200, document)));
  }

  #respond({ url, token = "", body = {}, form = {} }: JsonCall, method: string): Answered {
    const { ackIds = [] } = body as { readonly ackIds?: readonly string[] };
    if (method === "acknowledge") this.pubSub.acknowledge(ackIds);
    if (method === "modifyAckDeadline") this.pubSub.release(ackIds);
    if (url.includes("/subscriptions/")) return this.#answered(200, {});
    if (url.endsWith("/revoke")) {
      const access = this.#accesses.get(form.token ?? "");
      if (access) this.#grants.delete(access.grant);
      return this.#answered(200, {});
    }
    if (url.endsWith("/token")) return this.#renew(form.refresh_token ?? "");
    const access = this.#accesses.get(token);
    const isGood = access && this.#grants.has(access.grant) && this.#parts.scheduler.nowMs < access.untilMs;
    if (!isGood) return this.#answered(401, {});
    const account = this.accountOf(access.userId);
    if (this.#isOverBudget(account.id)) return this.#answered(429, { error: { status: "RESOURCE_EXHAUSTED" } });
    const document = url.endsWith("/structures") ? account.structures() : account.devices();
    return this.#answered(200, document, { userid: account.id });
  }

  #renew(grant: string): Answered {
    if (this.#parts.faults.strikes("renewal refused", 0.03)) this.#grants.delete(grant);
    if (!this.#grants.has(grant)) return this.#answered(400, { error: "invalid_grant" });
    this.#parts.faults.count("google token renewed");
    return this.#answered(200, { access_token: this.#issue(grant), expires_in: this.#lifetimeSeconds });
  }

  #issue(grant: string): string {
    const token = `access-${++this.#issued}`;
    const untilMs = this.#parts.scheduler.nowMs + this.#lifetimeSeconds * 1_000;
    this.#accesses.set(token, { userId: this.#grants.get(grant)!, grant, untilMs });
    return token;
  }

  #isOverBudget(account: string): boolean {
    const { nowMs } = this.#parts.scheduler;
    const recent = (this.#lists.get(account) ?? []).filter((atMs) => atMs > nowMs - 60_000);
    const isOver = recent.length >= listsPerMinute;
    if (isOver) this.#parts.faults.count("lists over budget");
    this.#lists.set(account, isOver ? recent : [...recent, nowMs]);
    return isOver;
  }

  #answered(status: number, document: object, headers: Readonly<Record<string, string>> = {}): Answered {
    const date = new Date(beginningMs + this.#parts.scheduler.nowMs).toUTCString();
    return { isAnswered: true, status, document: { ...document }, headers: { date, ...headers } };
  }

  #delayMs(): number {
    const { dice } = this.#parts.scheduler;
    return dice.chance(0.05) ? dice.between(500, 4_000) : dice.between(1, 80);
  }
}
