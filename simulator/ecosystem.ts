import { setImmediate as nextTick } from "node:timers/promises";
import type { Account } from "./accounts/account.ts";
import { Accounts } from "./accounts/accounts.ts";
import { FanRunOut } from "./accounts/fan-run-out.ts";
import { readStateFile, StateFile } from "./accounts/state-file.ts";
import { ActivityLog } from "./activity-log.ts";
import type { Cancel, Clock } from "./clock.ts";
import type { AccountDocument } from "./home/account-document.ts";
import type { AccountPlan } from "./home/account-plan.ts";
import { isDeeperThan, type Json, type JsonObject } from "./home/json.ts";
import { type LifeOptions, startLife } from "./life.ts";
import { badArgument } from "./refusal.ts";
import { playScene } from "./scenes/catalogue.ts";
import { readSteps } from "./scenes/random-scene.ts";
import { Streams } from "./streams/streams.ts";

const keptActivities = 10_000;
const listedChanges = 100;
const deepestDocument = 500;

/** What a played scene did; `revision` is that of the document after it. */
export type SceneOutcome = JsonObject & { readonly applied: true; readonly scene: string; readonly revision: number };

/** The simulated ecosystem without its HTTP: builds its parts and hands each what it needs. */
export class Ecosystem {
  readonly accounts: Accounts;
  readonly log: ActivityLog;
  readonly streams: Streams;
  readonly #clock: Clock;
  readonly #fans: FanRunOut;
  readonly #lives = new Set<Cancel>();
  readonly #stateFile: StateFile | undefined;
  #isStopped = false;

  /** With a state file, the accounts that it holds are there again, and whatever becomes of them is kept in it. */
  constructor(clock: Clock, keepAliveMs: number, stateFile?: string) {
    this.#clock = clock;
    this.log = new ActivityLog(keptActivities, clock.nowMs);
    this.streams = new Streams(clock, this.log, keepAliveMs);
    this.#fans = new FanRunOut(clock);
    this.accounts = new Accounts(
      (account, before) => {
        if (this.#isStopped) return;
        this.streams.publish(account, before);
        this.#fans.watch(account);
        this.#stateFile?.touch();
      },
      stateFile === undefined ? undefined : readStateFile(stateFile),
    );
    this.#stateFile = stateFile === undefined ? undefined : new StateFile(stateFile, this.accounts, clock);
    for (const account of this.accounts.all) this.#fans.watch(account);
  }

  addAccount(plan: AccountPlan): { account: Account; token: string } {
    const added = this.accounts.add(plan);
    this.#stateFile?.touch();
    return added;
  }

  issueToken(account: Account): string {
    const token = this.accounts.issueToken(account);
    this.#stateFile?.touch();
    return token;
  }

  get nowMs(): number {
    return this.#clock.nowMs();
  }

  /**
   * A write that the cloud has accepted. The device does it a moment later, after the caller has its answer: only the
   * following `put` says that it is done.
   */
  acceptWrite(account: Account, write: (document: AccountDocument) => AccountDocument): void {
    setImmediate(() => {
      if (this.#isStopped || account.readable === undefined) return;
      account.change({ ...account.home, document: write(account.readable) });
    });
  }

  /** Plays a scene. Its changes are one `put`, unless a random scene asks for them separately. */
  async playScene(account: Account, played: JsonObject): Promise<SceneOutcome> {
    const isSeparate = played.scene === "random" && played.separately === true;
    const changed = isSeparate ? await this.#playSeparately(account, played) : this.#playOnce(account, played);
    const scene = played.scene as string;
    this.log.record("scene", account.accountId, { scene, revision: account.revision });
    return { applied: true, scene, revision: account.revision, ...changed };
  }

  /** Replaces an account's document by any JSON object at all, so that readers can be shown what no home would say. */
  replaceDocument(account: Account, document: JsonObject): void {
    if (isDeeperThan(document, deepestDocument)) {
      throw badArgument(`The document is nested deeper than ${deepestDocument} levels.`);
    }
    account.replaceDocument(document);
    this.log.record("document", account.accountId, { revision: account.revision });
  }

  /** Ends a token; streams opened with it are told and ended. False when there is no such token. */
  revokeToken(token: string): boolean {
    const account = this.accounts.openedBy(token);
    if (account === undefined) return false;
    this.accounts.revoke(token);
    this.#stateFile?.touch();
    this.streams.revoke(account, token);
    return true;
  }

  /** Lets a slow everyday life go on in an account until the returned function is called. */
  startLife(account: Account, options: LifeOptions): Cancel {
    const cancel = startLife(account, this.#clock, options);
    this.#lives.add(cancel);
    return () => {
      this.#lives.delete(cancel);
      cancel();
    };
  }

  stop(): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    for (const cancel of this.#lives) cancel();
    this.#fans.stop();
    this.streams.stop();
    this.#stateFile?.write();
  }

  #playOnce(account: Account, played: JsonObject): JsonObject {
    const { home, changed } = playScene(account.home, played, { random: account.random, nowMs: this.nowMs });
    account.change(home);
    return changed;
  }

  async #playSeparately(account: Account, played: JsonObject): Promise<JsonObject> {
    const steps = readSteps(played);
    const changes: Json[] = [];
    for (let step = 0; step < steps && !this.#isStopped; step++) {
      const { changes: made } = this.#playOnce(account, { ...played, steps: 1 });
      changes.push(...(made as Json[]));
      if (changes.length > listedChanges) changes.shift();
      // Each change is a tick of its own, so that thousands of them leave room for other readers and callers.
      await nextTick();
    }
    return { steps, changes };
  }
}
