import { setImmediate as nextTick } from "node:timers/promises";
import type { Account } from "./accounts/account.ts";
import { Accounts } from "./accounts/accounts.ts";
import { FanRunOut } from "./accounts/fan-run-out.ts";
import { Grants, newToken } from "./accounts/grants.ts";
import { readStateFile, StateFile } from "./accounts/state-file.ts";
import { ActivityLog } from "./activity-log.ts";
import { AccountAccess } from "./clients/account-access.ts";
import { Clients, defaultClient } from "./clients/clients.ts";
import { everything } from "./clients/permissions.ts";
import type { Cancel, Clock } from "./clock.ts";
import { type FaultPlan, Faults, type ShownFault } from "./faults/faults.ts";
import type { AccountDocument } from "./home/account-document.ts";
import type { AccountPlan } from "./home/account-plan.ts";
import { stopFan } from "./home/fan-timer.ts";
import { isDeeperThan, type Json, type JsonObject } from "./home/json.ts";
import { HeldAnswers } from "./http/held-answers.ts";
import { type LifeOptions, startLife } from "./life.ts";
import { type WriteLimitOptions, WriteLimits } from "./limits/write-limits.ts";
import { Codes } from "./oauth/codes.ts";
import { badArgument } from "./refusal.ts";
import { playScene } from "./scenes/catalogue.ts";
import { readSteps } from "./scenes/random-scene.ts";
import { Secrets } from "./secrets.ts";
import { type StreamOptions, Streams } from "./streams/streams.ts";

const keptActivities = 10_000;
const listedChanges = 100;
const deepestDocument = 500;

/** What a played scene did; `revision` is that of the document after it. */
export type SceneOutcome = JsonObject & { readonly applied: true; readonly scene: string; readonly revision: number };

/** What can be chosen about an ecosystem. */
export interface EcosystemOptions extends StreamOptions, WriteLimitOptions {
  readonly stateFile: string | undefined;
}

/** The simulated ecosystem without its HTTP: builds its parts and hands each what it needs. */
export class Ecosystem {
  readonly clock: Clock;
  readonly secrets = new Secrets();
  readonly log: ActivityLog;
  readonly clients: Clients;
  readonly accounts: Accounts;
  readonly grants = new Grants();
  readonly codes: Codes;
  readonly faults: Faults;
  readonly limits: WriteLimits;
  readonly streams: Streams;
  readonly access: AccountAccess;
  readonly held = new HeldAnswers();
  readonly #fans: FanRunOut;
  readonly #lives = new Set<Cancel>();
  readonly #stateFile: StateFile | undefined;
  #lastSerial = 0;
  #isStopped = false;

  /** With a state file, what it holds is there again, and whatever becomes of it is kept in it. */
  constructor(clock: Clock, options: EcosystemOptions) {
    const { stateFile } = options;
    const kept = stateFile === undefined ? undefined : readStateFile(stateFile);
    const nextSerial = () => ++this.#lastSerial;
    this.clock = clock;
    this.log = new ActivityLog(keptActivities, clock.nowMs, this.secrets);
    this.clients = new Clients(this.secrets, kept?.clients);
    this.codes = new Codes(clock.nowMs, this.secrets);
    this.faults = new Faults(clock.nowMs, nextSerial);
    this.limits = new WriteLimits(options);
    this.streams = new Streams({ clock, log: this.log, faults: this.faults, nextSerial }, options);
    this.access = new AccountAccess(this, () => this.#keep());
    this.#fans = new FanRunOut(clock);
    this.accounts = new Accounts((account, before) => this.#announce(account, before), kept);
    for (const [token, accountId, clientId, permissions] of kept?.tokens ?? []) {
      const account = this.accounts.get(accountId);
      this.grants.add(account, clientId ?? defaultClient.clientId, permissions ?? everything, token);
    }
    this.#stateFile = stateFile === undefined ? undefined : new StateFile(stateFile, this.#stateSource(), clock);
    for (const account of this.accounts.all) this.#fans.watch(account);
  }

  addAccount(plan: AccountPlan): { account: Account; token: string } {
    const token = newToken();
    const account = this.accounts.add(plan, token);
    this.grants.add(account, defaultClient.clientId, everything, token);
    this.#keep();
    return { account, token };
  }

  /** The owner closes the account: its tokens end, and with them its streams. */
  removeAccount(account: Account): void {
    for (const { token } of this.grants.of(account)) this.access.revokeToken(token);
    this.#fans.forget(account);
    this.accounts.remove(account);
    this.#keep();
  }

  /** Turns a fault on. One that ends streams strikes those that are open at once: `streams` says how many. */
  addFault(plan: FaultPlan): ShownFault {
    const accounts = plan.accountId === undefined ? this.accounts.all : [this.accounts.get(plan.accountId)];
    const fault = this.faults.add(plan);
    this.log.record("fault", plan.accountId ?? null, { id: fault.id, fault: fault.fault, is: "on" });
    const { trouble } = plan;
    if (trouble.fault !== "drop" && trouble.fault !== "stream-error") return fault;
    return { ...fault, streams: this.streams.strike(trouble, accounts) };
  }

  clearFaults(id?: string): number {
    const cleared = this.faults.clear(id);
    if (cleared > 0) this.log.record("fault", null, { id: id ?? null, is: "cleared", cleared });
    return cleared;
  }

  get nowMs(): number {
    return this.clock.nowMs();
  }

  /**
   * A write that the cloud has accepted. The device does it a moment later, after the caller has its answer: only the
   * following `put` says that it is done.
   */
  acceptWrite(account: Account, write: (document: AccountDocument) => AccountDocument): void {
    account.touchedMs = this.nowMs;
    setImmediate(() => this.#edit(account, write));
  }

  /** A fan that was started stops again by itself, after the `put` that says it runs. */
  revertFan(account: Account, thermostatId: string, afterMs: number): void {
    const stop = () => this.#edit(account, (document) => stopFan(document, thermostatId));
    setImmediate(() => {
      if (afterMs === 0) stop();
      else this.clock.after(afterMs, stop);
    });
  }

  /** Plays a scene. Its changes are one `put`, unless a random scene asks for them separately. */
  async playScene(account: Account, played: JsonObject): Promise<SceneOutcome> {
    account.touchedMs = this.nowMs;
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
    account.touchedMs = this.nowMs;
    account.replaceDocument(document);
    this.log.record("document", account.accountId, { revision: account.revision });
  }

  /** Lets a slow everyday life go on in an account until the returned function is called. */
  startLife(account: Account, options: LifeOptions): Cancel {
    const cancel = startLife(account, this.clock, options);
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
    this.held.stop();
    this.#stateFile?.write();
  }

  #announce(account: Account, before: JsonObject): void {
    if (this.#isStopped) return;
    this.streams.publish(account, before);
    this.#fans.watch(account);
    this.#keep();
  }

  #keep(): void {
    this.#stateFile?.touch();
  }

  #edit(account: Account, edit: (document: AccountDocument) => AccountDocument): void {
    if (this.#isStopped || account.readable === undefined) return;
    account.change({ ...account.home, document: edit(account.readable) });
  }

  #stateSource() {
    const { accounts, grants, clients } = this;
    return {
      get kept() {
        return { ...accounts.kept, tokens: grants.kept, clients: clients.kept };
      },
      get urgentCount() {
        return grants.count + clients.count;
      },
    };
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
