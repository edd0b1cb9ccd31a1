import type { Commit, CommitRequest, CommitTables } from "../../devices/commit.ts";
import type { CommandOutcome, Connector } from "../../ecosystems/connector.ts";
import { commandDeadlines } from "../../home/command-states.ts";
import { NotFound, StoreUnavailable } from "../../model/errors.ts";
import type { Membership } from "../../nodes/membership.ts";
import { BackgroundTask } from "../../runtime/background-task.ts";
import { type Cancel, pause, type Runtime, within } from "../../runtime/runtime.ts";
import type { Store } from "../../store/seam.ts";
import type { CommandChange, CommandRow } from "../../store/tables/commands.ts";
import type { AwaitedFans } from "./awaited-fans.ts";
import { answered, isShownAlready, overdue } from "./fan-outcome.ts";
import { changeReceipt } from "./fan-receipts.ts";
import type { LinkKey } from "../link-key.ts";

export interface FanSenderParts {
  readonly store: Store<CommitTables>;
  readonly commit: Commit;
  readonly membership: Membership;
  /** How to reach the ecosystem for a link that this node owns. */
  readonly connectionOf: (deviceId: CommandRow["deviceId"]) => FanConnection | undefined;
  readonly awaited: AwaitedFans;
  readonly runtime: Runtime;
}

export interface FanConnection {
  readonly link: LinkKey;
  readonly token: string;
  readonly connector: Pick<Connector, "runFan">;
  /** Runs work on behalf of the link: an error that nothing catches then belongs to the link. */
  readonly run: <Result>(act: () => Result) => Result;
  /** Handles an unexpected error of the sending. */
  readonly failed: (error: unknown) => void;
  /** Reads the account soon. */
  readonly readSoon: () => void;
}

const everyMs = 500;
const atOnce = 100;
const retryMs = 1_000;
/** How long a stopping node waits for outstanding answers. */
const patienceMs = 3_000;
/** How long the time of sending is remembered: longer than any snapshot waits for the store. */
const rememberedMs = 600_000;
/** Back-off for a request that could not be settled. */
const unsettledRetry = { fromMs: 1_000, toMs: 300_000 };
/** Maximal number of requests that wait for another try or for their link. Further ones count towards `atOnce`. */
const passedOverAtMost = 1_000;

/**
 * Sends the fan requests of the links that this node owns, at most once: a request is marked as sent before it is sent,
 * is never repeated, and its outcome is always recorded. Any node settles the requests of a dead node as `expired`,
 * because it is unknown whether they were carried out.
 */
export class FanSender {
  readonly #parts: FanSenderParts;
  readonly #sending = new Map<number, Promise<void>>();
  readonly #sentMs = new Map<number, number>();
  readonly #hurry = new AbortController();
  readonly #task: BackgroundTask;
  readonly #settling: BackgroundTask;
  /**
   * Requests that could not be settled, and when each is tried again. They must not block requests of other accounts.
   */
  readonly #unsettled = new Map<number, { readonly tries: number; readonly nextMs: number }>();
  /** Number of queued requests in the last round whose account can't be reached from this node. */
  #unreachable = 0;
  #isRunning = false;
  #isAwaited = false;
  #isWorking = false;
  #round: Promise<void> = Promise.resolve();
  #next: Cancel | undefined;

  constructor(parts: FanSenderParts) {
    this.#parts = parts;
    const { runtime } = parts;
    this.#task = new BackgroundTask("fan_requests", "fan requests could not be looked after", runtime);
    this.#settling = new BackgroundTask("fan_requests", "a fan request could not be settled", runtime);
  }

  /** On SQLite no other node exists, so a request that was being sent before a restart is settled at once. */
  async start(): Promise<void> {
    if (!this.#parts.store.isShared) await this.#sweep(Number.NEGATIVE_INFINITY);
    this.#isRunning = true;
    this.wake();
    this.#schedule();
  }

  /** A fan request has become durable on this node: send it at once. */
  wake(): void {
    this.#isAwaited = true;
    if (!this.#isRunning || this.#isWorking) return;
    this.#isWorking = true;
    this.#round = this.#work();
  }

  sentAt(commandId: number): number | undefined {
    return this.#sentMs.get(commandId);
  }

  /** Waits for requests in progress; when the ecosystem takes too long, they count as unanswered. */
  async stop(): Promise<void> {
    this.#isRunning = false;
    this.#next?.();
    const hurry = this.#parts.runtime.after(patienceMs, () => this.#hurry.abort());
    await this.#round;
    await Promise.all(this.#sending.values());
    hurry();
  }

  #schedule(): void {
    this.#next = this.#parts.runtime.after(everyMs, () => {
      this.wake();
      this.#schedule();
    });
  }

  async #work(): Promise<void> {
    const { store, membership, runtime } = this.#parts;
    try {
      while (this.#isAwaited && this.#isRunning && membership.isAlive) {
        this.#isAwaited = false;
        const limit = atOnce + Math.min(this.#unreachable, passedOverAtMost);
        const queued = await store.read((tx) => tx.commands.queuedFor(membership.id, limit));
        this.#unreachable = 0;
        for (const command of queued) if (this.#isRunning) this.#begin(command);
        await this.#sweep(commandDeadlines.sweepMs);
      }
      this.#task.succeeded();
    } catch (error) {
      this.#task.failed(error);
    } finally {
      this.#forgetLongSent(runtime.elapsedMs());
      this.#isWorking = false;
    }
  }

  #begin(command: CommandRow): void {
    const connection = this.#parts.connectionOf(command.deviceId);
    if (!connection) this.#unreachable += 1;
    if (!connection || this.#sending.has(command.id) || this.#isPutOff(command)) return;
    const sending = connection
      .run(() => this.#send(command, connection))
      .catch((error) => {
        // The sweep settles requests that were sent; requests that were not sent are tried again later.
        if (error instanceof StoreUnavailable) return;
        this.#putOff(command);
        connection.failed(error);
      })
      .finally(() => this.#sending.delete(command.id));
    this.#sending.set(command.id, sending);
  }

  async #send(command: CommandRow, connection: FanConnection): Promise<void> {
    const { link } = connection;
    // The mark may be visible to others before this call returns. Until then a snapshot counts as received before the
    // sending.
    this.#sentMs.set(command.id, Number.POSITIVE_INFINITY);
    const marked = await this.#mark(command, link);
    if (!marked || marked === "too late") {
      this.#sentMs.delete(command.id);
      if (marked) await this.#record(command, (tx, nowMs) => overdue(tx, command, nowMs));
      return;
    }
    const sentMs = this.#parts.runtime.elapsedMs();
    this.#sentMs.set(command.id, sentMs);
    const leftMs = timeLeft(marked, commandDeadlines.answerMs);
    const outcome = await this.#run(command, connection, leftMs);
    if (!(await this.#settle(marked, outcome))) return;
    // The fan is shown in the requested state already, so no change will confirm the request.
    this.#parts.awaited.add(command, sentMs);
    connection.readSoon();
  }

  /** A connector that throws has not answered: it is unknown whether the ecosystem carried the request out. */
  async #run(
    command: CommandRow,
    { connector, token, failed }: FanConnection,
    leftMs: number,
  ): Promise<CommandOutcome> {
    const isOn = command.value === "true";
    try {
      return await within(this.#parts.runtime, leftMs, this.#hurry.signal, (inTime) =>
        connector.runFan(token, { thermostatId: command.thermostatId, isOn }, inTime),
      );
    } catch (error) {
      failed(error);
      return { state: "unanswered", detail: "the connector failed" };
    }
  }

  /**
   * Marks the request as sent, durably and before it is sent: another node that finds the mark knows that the request
   * may have been sent.
   */
  async #mark(
    command: CommandRow,
    { userId, deviceId, ownership }: LinkKey,
  ): Promise<CommandRow | "too late" | undefined> {
    return this.#parts.store.transaction(async (tx) => {
      const sentMs = await tx.users.lock(userId);
      if (sentMs === undefined || !(await tx.links.holds(userId, deviceId, ownership))) return undefined;
      if (timeLeft({ ...command, sentMs }, commandDeadlines.sendMs) === 0) return "too late";
      const change: CommandChange = { state: "sending", sentMs };
      return (await changeReceipt(tx, command, ["queued"], change, sentMs)) ? { ...command, ...change } : undefined;
    });
  }

  /**
   * Records the outcome, and retries while the store is unavailable. Returns whether the request was accepted while the
   * fan is shown in the requested state already.
   */
  async #settle(command: CommandRow, outcome: CommandOutcome): Promise<boolean> {
    for (;;) {
      try {
        let isShown = false;
        await this.#record(command, async (tx, nowMs) => {
          const updates = await answered(tx, command, outcome, nowMs);
          isShown = outcome.state === "accepted" && (await isShownAlready(tx, command));
          return updates;
        });
        return isShown;
      } catch (error) {
        if (!(error instanceof StoreUnavailable) || this.#hurry.signal.aborted) throw error;
        await pause(this.#parts.runtime, retryMs, this.#hurry.signal);
      }
    }
  }

  async #record(
    { userId }: CommandRow,
    updates: Extract<CommitRequest["updates"], (...given: never[]) => unknown>,
  ): Promise<void> {
    try {
      await this.#parts.commit({ userId, cause: { by: "ecosystem" }, updates });
    } catch (error) {
      // The device was removed meanwhile: there is no receipt to change.
      if (!(error instanceof NotFound)) throw error;
    }
  }

  /** Settles requests that were sent and have been open for `openForMs`, and others that are overdue. */
  async #sweep(openForMs: number): Promise<void> {
    for (;;) {
      const found = await this.#parts.store.read(async (tx) => {
        const nowMs = await tx.clock.nowMs();
        const sendingBeforeMs = Math.min(nowMs - openForMs, Number.MAX_SAFE_INTEGER);
        const limit = atOnce + this.#unsettled.size;
        return tx.commands.overdue(
          nowMs - commandDeadlines.sweepMs,
          sendingBeforeMs,
          nowMs - commandDeadlines.showMs,
          limit,
        );
      });
      let settled = 0;
      for (const command of found) if (await this.#sweepOne(command)) settled += 1;
      if (settled < atOnce) return;
    }
  }

  /** Settles one request. A failure is put off, so that it does not block the requests behind it. */
  async #sweepOne(command: CommandRow): Promise<boolean> {
    if (this.#sending.has(command.id)) return false;
    if (this.#isPutOff(command)) return false;
    try {
      await this.#record(command, (tx, nowMs) => overdue(tx, command, nowMs));
      if (this.#unsettled.delete(command.id)) this.#settling.succeeded();
      return true;
    } catch (error) {
      if (error instanceof StoreUnavailable) throw error;
      this.#putOff(command);
      this.#settling.failed(error, { userId: command.userId, deviceId: command.deviceId });
      return false;
    }
  }

  #isPutOff({ id }: CommandRow): boolean {
    return this.#parts.runtime.elapsedMs() < (this.#unsettled.get(id)?.nextMs ?? 0);
  }

  #putOff({ id }: CommandRow): void {
    const tries = (this.#unsettled.get(id)?.tries ?? 0) + 1;
    const delayMs = Math.min(unsettledRetry.toMs, unsettledRetry.fromMs * 2 ** (tries - 1));
    this.#unsettled.delete(id);
    this.#unsettled.set(id, { tries, nextMs: this.#parts.runtime.elapsedMs() + delayMs });
    const [oldest] = this.#unsettled.keys();
    if (oldest !== undefined && this.#unsettled.size > passedOverAtMost) this.#unsettled.delete(oldest);
  }

  #forgetLongSent(nowMs: number): void {
    this.#parts.awaited.forgetOverdue(nowMs);
    for (const [id, sentMs] of this.#sentMs) {
      if (nowMs - sentMs > rememberedMs || (sentMs === Number.POSITIVE_INFINITY && !this.#sending.has(id))) {
        this.#sentMs.delete(id);
      }
    }
    // Remove requests that another node settled or that were removed with their device: their next try never came.
    for (const [id, { nextMs: dueMs }] of this.#unsettled) if (nowMs - dueMs > rememberedMs) this.#unsettled.delete(id);
  }
}

/** The part of a time limit that is left, counted from the request. The whole limit if the clock was set back. */
function timeLeft({ requestedMs, sentMs }: CommandRow, ofMs: number): number {
  return Math.min(ofMs, Math.max(0, ofMs - ((sentMs ?? requestedMs) - requestedMs)));
}
