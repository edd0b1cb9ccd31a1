import type { Commit, CommitRequest, CommitTables } from "../devices/commit.ts";
import type { CommandOutcome, Connector } from "../ecosystem/connector.ts";
import { NotFound, StoreUnavailable } from "../model/errors.ts";
import { fanDeadlines } from "../model/fan-request.ts";
import type { Membership } from "../nodes/membership.ts";
import { BackgroundTask } from "../runtime/background-task.ts";
import { type Cancel, pause, type Runtime, within } from "../runtime/runtime.ts";
import type { Store } from "../store/seam.ts";
import type { CommandChange, CommandRow } from "../store/tables/commands.ts";
import type { AwaitedFans } from "./awaited-fans.ts";
import { answered, isShownAlready, overdue } from "./fan-outcome.ts";
import { changeReceipt } from "./fan-receipts.ts";
import type { LinkKey } from "./link-key.ts";

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
  readonly connector: Connector;
  /** Runs work on behalf of the link: an error that nothing catches then belongs to the link. */
  readonly run: <Result>(act: () => Result) => Result;
  /** Takes an unexpected error of the sending. */
  readonly failed: (error: unknown) => void;
  /** Reads the account soon. */
  readonly readSoon: () => void;
}

const everyMs = 500;
const atOnce = 100;
const retryMs = 1_000;
/** How long a node that stops waits for answers that are still to come. */
const patienceMs = 3_000;
/** How long it is remembered when something was sent: longer than any snapshot waits for the store. */
const rememberedMs = 600_000;
/** How soon a request that could not be settled is tried again: sooner at first, then ever later. */
const unsettledRetry = { fromMs: 1_000, toMs: 300_000 };
/** Requests that wait for another try or for their link. Beyond it, they count towards those that are looked at at once. */
const passedOverAtMost = 1_000;

/**
 * Sends the fan requests of the links that this node owns: marked as sent before the one sending, never sent again, and
 * its outcome always recorded. What a node that died left behind, any node settles: nobody knows whether it was carried
 * out, and so it says.
 */
export class FanSender {
  readonly #parts: FanSenderParts;
  readonly #sending = new Map<number, Promise<void>>();
  readonly #sentMs = new Map<number, number>();
  readonly #hurry = new AbortController();
  readonly #task: BackgroundTask;
  readonly #settling: BackgroundTask;
  /** Requests that could not be settled, and when each is tried again. One account's must not crowd out the others'. */
  readonly #unsettled = new Map<number, { readonly tries: number; readonly nextMs: number }>();
  /** How many queued requests the last round found whose account can't be reached from here. */
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

  /** Whatever an earlier life of a lone node was sending has no answer to wait for. */
  async start(): Promise<void> {
    if (!this.#parts.store.isShared) await this.#sweep(Number.NEGATIVE_INFINITY);
    this.#isRunning = true;
    this.wake();
    this.#schedule();
  }

  /** There is something to send: a write has just become durable here. */
  wake(): void {
    this.#isAwaited = true;
    if (!this.#isRunning || this.#isWorking) return;
    this.#isWorking = true;
    this.#round = this.#work();
  }

  sentAt(commandId: number): number | undefined {
    return this.#sentMs.get(commandId);
  }

  /** Lets what is under way end; an ecosystem that takes too long has not answered. */
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
        await this.#sweep(fanDeadlines.sweepMs);
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
        // The sweep settles what was sent; what was not sent is tried again a little later.
        if (error instanceof StoreUnavailable) return;
        this.#putOff(command);
        connection.failed(error);
      })
      .finally(() => this.#sending.delete(command.id));
    this.#sending.set(command.id, sending);
  }

  async #send(command: CommandRow, connection: FanConnection): Promise<void> {
    const { link } = connection;
    // Others may see it marked before we do: what they receive until then was received before it was sent.
    this.#sentMs.set(command.id, Number.POSITIVE_INFINITY);
    const marked = await this.#mark(command, link);
    if (!marked || marked === "too late") {
      this.#sentMs.delete(command.id);
      if (marked) await this.#record(command, (tx, nowMs) => overdue(tx, command, nowMs));
      return;
    }
    const sentMs = this.#parts.runtime.elapsedMs();
    this.#sentMs.set(command.id, sentMs);
    const leftMs = timeLeft(marked, fanDeadlines.answerMs);
    const outcome = await this.#run(command, connection, leftMs);
    if (!(await this.#settle(marked, outcome))) return;
    // No change will confirm it: the fan is shown so already.
    this.#parts.awaited.add(command, sentMs);
    connection.readSoon();
  }

  /** A connector that throws has not answered: nobody knows whether the ecosystem carried the request out. */
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

  /** Durable before anything is sent: whoever finds it so knows that it may have been. */
  async #mark(
    command: CommandRow,
    { userId, deviceId, ownership }: LinkKey,
  ): Promise<CommandRow | "too late" | undefined> {
    return this.#parts.store.transaction(async (tx) => {
      const sentMs = await tx.users.lock(userId);
      if (sentMs === undefined || !(await tx.links.holds(userId, deviceId, ownership))) return undefined;
      if (timeLeft({ ...command, sentMs }, fanDeadlines.sendMs) === 0) return "too late";
      const change: CommandChange = { state: "sending", sentMs };
      return (await changeReceipt(tx, command, ["queued"], change, sentMs)) ? { ...command, ...change } : undefined;
    });
  }

  /**
   * The outcome of what was sent is not given up because the store is slow. Answers whether the request was accepted
   * while the fan is shown as requested already.
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
      // Removed meanwhile: there is nobody left to tell.
      if (!(error instanceof NotFound)) throw error;
    }
  }

  /** Settles what was sent and is still open so long after it was asked for, and what else should have gone on. */
  async #sweep(openForMs: number): Promise<void> {
    for (;;) {
      const found = await this.#parts.store.read(async (tx) => {
        const nowMs = await tx.clock.nowMs();
        const sendingBeforeMs = Math.min(nowMs - openForMs, Number.MAX_SAFE_INTEGER);
        const limit = atOnce + this.#unsettled.size;
        return tx.commands.overdue(nowMs - fanDeadlines.sweepMs, sendingBeforeMs, nowMs - fanDeadlines.showMs, limit);
      });
      let settled = 0;
      for (const command of found) if (await this.#sweepOne(command)) settled += 1;
      if (settled < atOnce) return;
    }
  }

  /** One that can't be settled must not hold up those behind it. */
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
    // Settled elsewhere, or gone with their device: a try that was due long ago will not come.
    for (const [id, { nextMs: dueMs }] of this.#unsettled) if (nowMs - dueMs > rememberedMs) this.#unsettled.delete(id);
  }
}

/** What is left of a time that began with the request; all of it for one that, by a clock that was set back, is to come. */
function timeLeft({ requestedMs, sentMs }: CommandRow, ofMs: number): number {
  return Math.min(ofMs, Math.max(0, ofMs - ((sentMs ?? requestedMs) - requestedMs)));
}
