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

const maxActivities = 10_000;
const maxListedChanges = 100;
const maxDepth = 500;

/** The result of a scene; `revision` is the revision of the changed document. */
export type SceneOutcome = JsonObject & { readonly applied: true; readonly scene: string; readonly revision: number };

export interface EcosystemOptions extends StreamOptions, WriteLimitOptions {
  readonly stateFile: string | undefined;
}

/** The simulated ecosystem without HTTP. Builds the parts and passes each what it needs. */
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
  readonly #runningLives = new Set<Cancel>();
  readonly #stateFile: StateFile | undefined;
  #lastSerial = 0;
  #isStopped = false;

  /** With a state file, restores the state from it and writes all changes to it. */
  constructor(clock: Clock, options: EcosystemOptions) {
    const { stateFile } = options;
    const kept = stateFile === undefined ? undefined : readStateFile(stateFile);
    const nextSerial = () => ++this.#lastSerial;
    this.clock = clock;
    this.log = new ActivityLog(maxActivities, clock.nowMs, this.secrets);
    this.clients = new Clients(this.secrets, kept?.clients);
    this.codes = new Codes(clock.nowMs, this.secrets);
    this.faults = new Faults(clock.nowMs, nextSerial);
    this.limits = new WriteLimits(options);
    this.streams = new Streams({ clock, log: this.log, faults: this.faults, nextSerial }, options);
    this.access = new AccountAccess(this, () => this.#save());
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
    this.#save();
    return { account, token };
  }

  /** Ends the account's tokens and streams, then removes it. */
  removeAccount(account: Account): void {
    for (const { token } of this.grants.of(account)) this.access.revokeToken(token);
    this.#fans.forget(account);
    this.accounts.remove(account);
    this.#save();
  }

  /** Activates a fault. A fault that ends streams ends the open ones at once: `streams` says how many. */
  addFault(plan: FaultPlan): ShownFault {
    const accounts = plan.accountId === undefined ? this.accounts.all : [this.accounts.get(plan.accountId)];
    const fault = this.faults.add(plan);
    this.log.record("fault", plan.accountId ?? null, { id: fault.id, fault: fault.fault, is: "on" });
    const { effect } = plan;
    if (effect.fault !== "drop" && effect.fault !== "stream-error") return fault;
    return { ...fault, streams: this.streams.endByFault(effect, accounts) };
  }

  clearFaults(id?: string): number {
    const cleared = this.faults.clear(id);
    if (cleared > 0) this.log.record("fault", null, { id: id ?? null, is: "cleared", cleared });
    return cleared;
  }

  get nowMs(): number {
    return this.clock.nowMs();
  }

  /** Applies an accepted write after the caller has its answer: only the next `put` shows that the device has done it. */
  acceptWrite(account: Account, write: (document: AccountDocument) => AccountDocument): void {
    account.touchedMs = this.nowMs;
    setImmediate(() => this.#edit(account, write));
  }

  /** Stops a started fan after the `put` that shows it running. */
  revertFan(account: Account, thermostatId: string, afterMs: number): void {
    const stop = () => this.#edit(account, (document) => stopFan(document, thermostatId));
    setImmediate(() => {
      if (afterMs === 0) stop();
      else this.clock.after(afterMs, stop);
    });
  }

  /** Plays a scene. Streams get one `put`, or with `separately` of a random scene one for each change. */
  async playScene(account: Account, played: JsonObject): Promise<SceneOutcome> {
    account.touchedMs = this.nowMs;
    const isSeparate = played.scene === "random" && played.separately === true;
    const changed = isSeparate ? await this.#playSeparately(account, played) : this.#playOnce(account, played);
    const scene = played.scene as string;
    this.log.record("scene", account.accountId, { scene, revision: account.revision });
    return { applied: true, scene, revision: account.revision, ...changed };
  }

  /** Replaces an account's document by any JSON object, also one that no real home would have. */
  replaceDocument(account: Account, document: JsonObject): void {
    if (isDeeperThan(document, maxDepth)) {
      throw badArgument(`The document is nested deeper than ${maxDepth} levels.`);
    }
    account.touchedMs = this.nowMs;
    account.replaceDocument(document);
    this.log.record("document", account.accountId, { revision: account.revision });
  }

  /** Starts a simulated everyday life in an account; the returned function ends it. */
  startLife(account: Account, options: LifeOptions): Cancel {
    const cancel = startLife(account, this.clock, options);
    this.#runningLives.add(cancel);
    return () => {
      this.#runningLives.delete(cancel);
      cancel();
    };
  }

  stop(): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    for (const cancel of this.#runningLives) cancel();
    this.#fans.stop();
    this.streams.stop();
    this.held.stop();
    this.#stateFile?.write();
  }

  #announce(account: Account, before: JsonObject): void {
    if (this.#isStopped) return;
    this.streams.publish(account, before);
    this.#fans.watch(account);
    this.#save();
  }

  #save(): void {
    this.#stateFile?.save();
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
      if (changes.length > maxListedChanges) changes.shift();
      // Yields to the event loop, so that thousands of changes do not block other callers.
      await nextTick();
    }
    return { steps, changes };
  }
}
