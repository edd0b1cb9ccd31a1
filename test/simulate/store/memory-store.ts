import { OutcomeUnknown, StoreUnavailable } from "../../../src/model/errors.ts";
import type { NodeId } from "../../../src/model/ids.ts";
import { GroupQueue } from "../../../src/store/groups/group-queue.ts";
import type { GroupTables } from "../../../src/store/groups/group-tables.ts";
import type { Hint } from "../../../src/store/node-bus.ts";
import type { Store, Transaction } from "../../../src/store/seam.ts";
import type { LogPosition } from "../../../src/store/tables/log-position.ts";
import type { Claim } from "../checks/history.ts";
import type { Clock } from "../clocks.ts";
import type { Faults } from "../faults.ts";
import type { Process, Scheduler } from "../scheduler.ts";
import { groupTablesOn, type MemberDraft } from "./group-rows.ts";
import { type Session, type SimulatedTables, tablesOn } from "./memory-tables.ts";
import { lostConnection, PresenceLocks } from "./presence-locks.ts";
import { type LockRequest, RowLocks } from "./row-locks.ts";
import { type Database, Draft } from "./rows.ts";

/** A process that uses the store. */
export interface StoreClient extends Process {
  /** The network between the process and the store is cut. */
  isCut: boolean;
  /** The minimum delay of requests and of answers. */
  readonly way: { readonly thereMs: number; readonly backMs: number };
  /** The right to write of the transaction that begins now; only for the record. */
  claim: Claim | null;
}

const attempts = 6;

/**
 * A shared store with the behaviour of PostgreSQL: READ COMMITTED, row locks until the end of the transaction, reads
 * from a snapshot. Every statement waits for the scheduler, and may be lost with its connection. A COMMIT may take effect
 * although its caller gets an error, at once or later.
 */
export class MemoryStore {
  /** Until then statements are slow. */
  slowUntilMs = 0;
  /** Until then every transaction is aborted. */
  refusesUntilMs = 0;
  /** The store cannot be reached. */
  isDown = false;
  readonly process: Process = { name: "store", isDead: false, isFrozen: false };
  readonly database: Database;
  readonly scheduler: Scheduler;
  readonly faults: Faults;
  readonly clock: Clock;
  locks = new RowLocks();
  readonly places: PresenceLocks;
  /** The time of the last start. */
  upSinceMs: number = Number.NEGATIVE_INFINITY;
  readonly #open = new Set<Connection>();
  /** The ids of open transactions that have written something. */
  readonly #writing = new Map<Connection, number>();
  readonly #usualMs: number;
  #lastTransaction = 0;
  /** The largest id of a committed transaction. */
  #lastDurable = 0;

  constructor(database: Database, scheduler: Scheduler, faults: Faults, clock: Clock) {
    this.database = database;
    this.scheduler = scheduler;
    this.faults = faults;
    this.clock = clock;
    this.#usualMs = scheduler.dice.pick([1, 4, 15]);
    this.places = new PresenceLocks(this);
  }

  /** The store's interface for one node. */
  for(client: StoreClient): Store<SimulatedTables> {
    const groups = this.#groupsOf(client);
    return {
      isShared: true,
      transaction: (body, { groupedBy, urgent, becomesUrgent } = {}) => {
        const { claim } = client;
        if (client.isDead) return never();
        if (groupedBy === undefined || urgent || becomesUrgent?.aborted) return this.#transaction(client, claim, body);
        return groups.add(groupedBy, withClaim(body, claim), becomesUrgent);
      },
      read: (body) => (client.isDead ? never() : body(tablesOn(new Connection(this, client, null, true)))),
    };
  }

  /** The node has died: its transactions are rolled back, except for a COMMIT that may be in flight. */
  disconnect(client: StoreClient): void {
    this.places.lose(client);
    for (const connection of [...this.#open]) if (connection.client === client) connection.lose();
  }

  /** The disk is full: transactions get ids, here and in other databases of the server, and are aborted. */
  refuse(forMs: number): void {
    this.refusesUntilMs = this.scheduler.nowMs + forMs;
    this.#lastTransaction += this.scheduler.dice.between(0, 200);
  }

  /**
   * All open transactions are lost. Ids that only they and aborted transactions had are assigned again to the next
   * transactions.
   */
  crash(): void {
    for (const connection of [...this.#open]) connection.crash();
    this.#open.clear();
    this.#writing.clear();
    this.locks = new RowLocks();
    const { dice } = this.scheduler;
    this.#lastTransaction = dice.pick([this.#lastDurable, dice.between(this.#lastDurable, this.#lastTransaction)]);
  }

  tookEffect(connection: Connection): void {
    this.#lastDurable = Math.max(this.#lastDurable, this.#writing.get(connection) ?? 0);
  }

  latencyMs(): number {
    const { dice, nowMs } = this.scheduler;
    if (nowMs < this.slowUntilMs) return dice.between(20, 500);
    return dice.chance(0.03) ? dice.between(5, 120) : dice.between(0, this.#usualMs);
  }

  begun(connection: Connection): void {
    this.#open.add(connection);
  }

  ended(connection: Connection): void {
    this.#open.delete(connection);
    this.#writing.delete(connection);
  }

  /** The id of a transaction, assigned at its first write. */
  numberOf(connection: Connection): number {
    const known = this.#writing.get(connection);
    if (known !== undefined) return known;
    this.#lastTransaction += 1;
    this.#writing.set(connection, this.#lastTransaction);
    return this.#lastTransaction;
  }

  /** Every transaction with a smaller id has ended. */
  oldestWriting(): number {
    return Math.min(this.#lastTransaction + 1, ...this.#writing.values());
  }

  /** Transactions of different users share one transaction, as on PostgreSQL. */
  #groupsOf(client: StoreClient): GroupQueue {
    return new GroupQueue({
      together: (work) => this.#sharedTransaction(client, work),
      alone: (body) => {
        if (client.isDead) return never();
        this.faults.count("commit left its group");
        return this.#transaction(client, claimOf(body), body as unknown as SimulatedBody<never>);
      },
      committed: (members) => {
        if (members > 1) this.faults.count("commits shared a transaction");
      },
    });
  }

  async #sharedTransaction(client: StoreClient, work: (tables: GroupTables) => Promise<void>): Promise<void> {
    // The one connection of groups may have to be opened first. Meanwhile more commits join the group.
    const { dice } = this.scheduler;
    const openingMs = dice.pick([0, 0, 100, 1_000]);
    await new Promise<void>((open) => this.scheduler.after(openingMs, client, `${client.name} group`, open));
    const connection = new Connection(this, client, null, false);
    try {
      await work(groupTablesOn(connection, this.database, (member) => connection.members.push(member)));
    } catch (error) {
      connection.rollBack();
      throw error;
    }
    await connection.commit().catch((error) => {
      if (error instanceof Refused) throw error;
      if (connection.members.length > 1) this.faults.count("outcome of a group unknown");
      throw new OutcomeUnknown("The answer to COMMIT was lost.", { cause: error });
    });
  }

  async #transaction<Result>(
    client: StoreClient,
    claim: Claim | null,
    body: (tx: SimulatedTables) => Promise<Result>,
  ): Promise<Result> {
    for (let attempt = 1; ; attempt++) {
      const connection = new Connection(this, client, claim, false);
      try {
        const result = await body(tablesOn(connection));
        await connection.commit();
        return result;
      } catch (error) {
        connection.rollBack();
        if (!(error instanceof Deadlock) || attempt === attempts) throw error;
      }
    }
  }
}

class Deadlock extends Error {}

/** The store has answered that it can't commit. */
class Refused extends StoreUnavailable {}

type SimulatedBody<Result> = (tx: SimulatedTables) => Promise<Result>;

/** The claims of bodies that may run in a group; only for the record. */
const claims = new WeakMap<object, Claim | null>();

function withClaim<Result>(body: SimulatedBody<Result>, claim: Claim | null): (tx: Transaction) => Promise<Result> {
  const claiming = (tx: Transaction) => body(tx);
  claims.set(claiming, claim);
  return claiming;
}

function claimOf(body: object): Claim | null {
  return claims.get(body) ?? null;
}

/** One connection for one transaction. */
class Connection implements Session {
  readonly client: StoreClient;
  readonly #store: MemoryStore;
  readonly #claim: Claim | null;
  readonly #isReading: boolean;
  #draft: Draft | undefined;
  #seenBefore: number | undefined;
  readonly #hints = new Set<Hint>();
  /** The writes of the members of a group. */
  readonly members: MemberDraft[] = [];
  /** The statement in progress, and those behind it. */
  readonly #waiting: (() => void)[] = [];
  /** Neither the node nor the store will use the connection any more. */
  #hasEnded = false;
  #isLost = false;
  #isCommitting = false;
  /** Requests for which the node waits. */
  readonly #unanswered = new Set<(error: Error) => void>();
  #hasCrashed = false;

  constructor(store: MemoryStore, client: StoreClient, claim: Claim | null, isReading: boolean) {
    this.#store = store;
    this.client = client;
    this.#claim = claim;
    this.#isReading = isReading;
    if (!isReading) store.begun(this);
  }

  run<Result>(
    what: string,
    act: (rows: Draft) => Result,
    locks?: (rows: Draft) => readonly LockRequest[],
  ): Promise<Result> {
    if (this.#isCommitting) throw new Error("a transaction was used after it had ended");
    return this.#request<Result>((resolve, reject) => {
      this.#inTurn(what, () => {
        if (this.#isOutOfReach || this.#store.faults.strikes("statement lost", 0.001)) return this.#fail(reject);
        const wishes = this.#isReading ? [] : (locks?.(this.#rows) ?? []);
        if (wishes.length > 0) this.#store.numberOf(this);
        this.#withLocks(what, wishes, reject, () => {
          const result = act(this.#rows);
          this.#answer(() => resolve(result), reject);
          this.#next();
        });
      });
    });
  }

  commit(): Promise<void> {
    this.#isCommitting = true;
    return this.#request((resolve, reject) => {
      const { faults, scheduler } = this.#store;
      this.#atStore("COMMIT", () => {
        if (this.#isOutOfReach && scheduler.dice.chance(0.5)) return this.#fail(reject);
        if (scheduler.nowMs < this.#store.refusesUntilMs) {
          this.#end();
          return this.#answer(() => reject(diskFull()), reject);
        }
        if (faults.strikes("commit refused", 0.01)) return this.#fail(reject);
        if (this.#isOutOfReach || faults.strikes("commit late", 0.025)) {
          this.#tellLoss(reject);
          scheduler.after(scheduler.dice.between(1, 3_000), this.#store.process, this.#label("late COMMIT"), () =>
            this.#takeEffect(),
          );
          return;
        }
        this.#takeEffect();
        // Few transactions are shared: a lost answer to one of them must not be rarer in a run than the others.
        const isAmbiguous = faults.strikes("commit ambiguous", this.members.length > 1 ? 0.25 : 0.02);
        if (isAmbiguous) this.#tellLoss(reject);
        else this.#answer(resolve, reject);
      });
    });
  }

  /** The store has crashed: the transaction is lost, and every waiting statement fails. */
  crash(): void {
    this.#hasEnded = true;
    this.#hasCrashed = true;
    for (const reject of [...this.#unanswered]) this.#tellLoss(reject);
  }

  rollBack(): void {
    // A COMMIT with unknown outcome, and a lost connection, are ended by the store itself.
    if (!this.#isCommitting && !this.#isLost) this.#end();
  }

  lose(): void {
    const { dice } = this.#store.scheduler;
    if (this.#isLost || (this.#isCommitting && dice.chance(0.5))) return;
    this.#rollBackLater();
  }

  tryLock(wish: LockRequest): boolean {
    return this.#store.locks.tryTake(this, wish);
  }

  nowMs(): number {
    return this.#store.clock.nowMs();
  }

  nextId(): number {
    return this.#store.database.nextId();
  }

  nextPosition(): LogPosition {
    return { transaction: this.#store.numberOf(this), id: this.nextId() };
  }

  seenBefore(): number {
    return this.#isReading ? this.#seenBefore! : this.#store.oldestWriting();
  }

  hint(hint: Hint): void {
    this.#hints.add(hint);
  }

  isPresent(id: NodeId): boolean {
    return this.#store.places.isTaken(id);
  }

  upMs(): number {
    return this.#store.scheduler.nowMs - this.#store.upSinceMs;
  }

  get #isOutOfReach(): boolean {
    return this.client.isCut || this.#store.isDown;
  }

  get #rows(): Draft {
    const { database } = this.#store;
    this.#seenBefore ??= this.#store.oldestWriting();
    this.#draft ??= new Draft(this.#isReading ? database.snapshot() : database);
    return this.#draft;
  }

  #request<Result>(act: (resolve: (result: Result) => void, reject: (error: Error) => void) => void): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      if (this.#hasCrashed || this.#isLost) return this.#tellLoss(reject);
      this.#unanswered.add(reject);
      const answered = () => this.#unanswered.delete(reject);
      act(
        (result) => {
          answered();
          resolve(result);
        },
        (error) => {
          answered();
          reject(error);
        },
      );
    });
  }

  /** Pipelined statements are executed one after the other, in order. */
  #inTurn(what: string, act: () => void): void {
    // Pipelined statements share one network delay.
    const thereMs = this.#waiting.length === 0 ? this.client.way.thereMs : 0;
    this.#waiting.push(() => this.#atStore(what, act, thereMs));
    if (this.#waiting.length === 1) this.#waiting[0]!();
  }

  #next(): void {
    this.#waiting.shift();
    this.#waiting[0]?.();
  }

  #atStore(what: string, act: () => void, thereMs = 0): void {
    const { scheduler, process } = this.#store;
    scheduler.after(thereMs + this.#store.latencyMs(), process, this.#label(what), () => {
      if (!this.#hasEnded && !this.#isLost) act();
    });
  }

  #withLocks(what: string, wishes: readonly LockRequest[], reject: (error: Error) => void, act: () => void): void {
    const [wish, ...others] = wishes;
    if (!wish) {
      act();
      return;
    }
    let isWaiting = false;
    const granted = () => {
      if (!isWaiting) this.#withLocks(what, others, reject, act);
      else this.#atStore(`${what}, after waiting`, () => this.#withLocks(what, others, reject, act));
    };
    if (!this.#store.locks.take(this, wish, granted)) {
      this.#end();
      this.#answer(() => reject(new Deadlock()), reject);
    }
    isWaiting = true;
  }

  #takeEffect(): void {
    if (this.#hasEnded) return;
    const { database, scheduler } = this.#store;
    this.#store.tookEffect(this);
    const by = { node: this.client.name, atMs: scheduler.nowMs };
    database.apply(this.#rows, { ...by, claim: this.#claim });
    for (const { draft, claim } of this.members) database.apply(draft, { ...by, claim });
    this.#end();
    this.#store.places.tell(this.client, this.#hints);
  }

  /** Delivers an answer to the node, now or later; a frozen node gets it when it thaws, a dead node never. */
  #answer(deliver: () => void, reject: (error: Error) => void): void {
    const { scheduler } = this.#store;
    const isSlow = scheduler.dice.chance(0.2);
    const { backMs } = this.client.way;
    if (this.client.isDead) return;
    if (this.#isOutOfReach) this.#fail(reject);
    else if (!isSlow && !this.client.isFrozen && backMs === 0) deliver();
    else scheduler.after(backMs + (isSlow ? this.#store.latencyMs() : 0), this.client, this.#label("answer"), deliver);
  }

  /** The connection breaks: node and store notice it after a while. */
  #fail(reject: (error: Error) => void): void {
    for (const each of new Set([reject, ...this.#unanswered])) this.#tellLoss(each);
    if (!this.#hasEnded) this.#rollBackLater();
  }

  #tellLoss(reject: (error: Error) => void): void {
    const { scheduler } = this.#store;
    const noticedMs = scheduler.dice.chance(0.7) ? 0 : scheduler.dice.between(1, 2_000);
    scheduler.after(noticedMs, this.client, this.#label("connection lost"), () => reject(lostConnection()));
  }

  #rollBackLater(): void {
    this.#isLost = true;
    const { scheduler, process } = this.#store;
    const noticedMs = scheduler.dice.chance(0.6) ? 0 : scheduler.dice.between(1, 3_000);
    scheduler.after(noticedMs, process, this.#label("rolled back"), () => this.#end());
  }

  #end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#store.ended(this);
    this.#store.locks.releaseAll(this);
  }

  #label(what: string): string {
    return `${this.client.name} ${what}`;
  }
}

function diskFull(): Error {
  return new Refused("The store can't write now (disk full).");
}

/** A request of a dead node must not reach the store, because it would hold its locks forever. */
function never<Result>(): Promise<Result> {
  return new Promise(() => undefined);
}
