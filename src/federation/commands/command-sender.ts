import { WorkNeeded } from "../../devices/attempts.ts";
import type { Commit, CommitRequest, CommitTables } from "../../devices/commit.ts";
import type { CommandOutcome } from "../../ecosystems/connector.ts";
import { commandDeadlines } from "../../home/command-states.ts";
import { ClientGone, NotFound, OwnershipLost, StoreUnavailable } from "../../model/errors.ts";
import type { DeviceId } from "../../model/ids.ts";
import type { Membership } from "../../nodes/membership.ts";
import { BackgroundTask } from "../../runtime/background-task.ts";
import { type Cancel, outsideRequests, pause, type Runtime, within } from "../../runtime/runtime.ts";
import type { Store } from "../../store/seam.ts";
import type { LinkKey } from "../link-key.ts";
import { CausedEchoes } from "./caused-echoes.ts";
import type { CommandConnection, CommandKind, StoredCommand } from "./command-kind.ts";

export interface CommandSenderParts<Command extends StoredCommand> {
  readonly kind: CommandKind<Command>;
  readonly store: Store<CommitTables>;
  readonly commit: Commit;
  readonly membership: Membership;
  /** How to reach the ecosystem for a link that this node owns. */
  readonly connectionOf: (deviceId: DeviceId) => CommandConnection | undefined;
  /** Whether this node, or another one that is alive, follows the command's link live. */
  readonly isFollowed: (link: Pick<LinkKey, "userId" | "deviceId">) => Promise<boolean>;
  /** The sending of a command has ended: others may have waited for it. */
  readonly ended: () => void;
  readonly runtime: Runtime;
}

/**
 * How often stored commands are looked at: `idleMs` on SQLite while no command is open. There every command comes from
 * this node, which is woken for it.
 */
const look = { everyMs: 500, idleMs: 60_000 };
/** A command has its outcome this long after its request: the last deadline counts from its sending. */
const openAtMostMs = commandDeadlines.sweepMs + commandDeadlines.showMs;
const atOnce = 100;
const retryMs = 1_000;
/** How long a stopping node waits for outstanding answers. */
const patienceMs = 3_000;
/** How long the time of sending is remembered: longer than any snapshot waits for the store. */
const rememberedMs = 600_000;
/** Back-off for a command that could not be settled. */
const unsettledRetry = { fromMs: 1_000, toMs: 300_000 };
/** Maximal number of commands that wait for another try or for their link. Further ones count towards `atOnce`. */
const passedOverAtMost = 1_000;

/**
 * Sends the commands of the links that this node owns, at most once: a command is marked as sent before it is sent,
 * is never repeated, and its outcome is always recorded. Any node settles the commands of a dead node as `expired`,
 * because it is unknown whether they were carried out.
 */
export class CommandSender<Command extends StoredCommand> {
  readonly #parts: CommandSenderParts<Command>;
  readonly #sending = new Map<number, Promise<void>>();
  readonly #sentMs = new Map<number, number>();
  /** When the last command was sent to each device. */
  readonly #sentToMs = new Map<DeviceId, number>();
  readonly #abandon = new AbortController();
  readonly #task: BackgroundTask;
  readonly #settling: BackgroundTask;
  readonly #causedEchoes: CausedEchoes<Command>;
  /**
   * Commands that could not be settled, and when each is tried again. They must not block commands of other accounts.
   */
  readonly #unsettled = new Map<number, { readonly tries: number; readonly nextMs: number }>();
  /** Commands that wait for costly patterns of alerts before they are settled. The others are settled meanwhile. */
  readonly #held = new Map<number, Promise<unknown>>();
  /** Number of queued commands in the last round whose account can't be reached from this node. */
  #unreachable = 0;
  /** When a round last found a command, or failed. */
  #lastFoundMs: number;
  #isRunning = false;
  #isAwaited = false;
  #isWorking = false;
  #round: Promise<void> = Promise.resolve();
  #next: Cancel | undefined;

  constructor(parts: CommandSenderParts<Command>) {
    this.#parts = parts;
    const { kind, runtime } = parts;
    this.#lastFoundMs = runtime.elapsedMs();
    this.#task = new BackgroundTask(kind.task, `${kind.words.many} could not be looked after`, runtime);
    this.#settling = new BackgroundTask(kind.task, `${kind.words.one} could not be settled`, runtime);
    this.#causedEchoes = new CausedEchoes({ settle: (command) => this.#settleCaused(command), runtime });
  }

  /** On SQLite no other node exists, so a command that was being sent before a restart is settled at once. */
  async start(): Promise<void> {
    if (!this.#parts.store.isShared) await this.#sweep(Number.NEGATIVE_INFINITY);
    this.#isRunning = true;
    this.wake();
  }

  /** A command has become durable on this node: send it at once. */
  wake(): void {
    this.#isAwaited = true;
    if (!this.#isRunning || this.#isWorking) return;
    this.#isWorking = true;
    this.#round = outsideRequests(this.#parts.runtime, () => this.#work());
  }

  sentAt(commandId: number): number | undefined {
    return this.#sentMs.get(commandId);
  }

  /** Whether this node has sent a command to this device in the last ten minutes. */
  hasSentTo(deviceId: DeviceId): boolean {
    return this.#sentToMs.has(deviceId);
  }

  /** Waits for commands in progress; when the ecosystem takes too long, they count as unanswered. */
  async stop(): Promise<void> {
    this.#isRunning = false;
    this.#next?.();
    const cancelAbandon = this.#parts.runtime.after(patienceMs, () => this.#abandon.abort());
    await this.#round;
    await Promise.all([...this.#sending.values(), ...this.#held.values()]);
    await this.#causedEchoes.stop();
    cancelAbandon();
  }

  #schedule(): void {
    this.#next?.();
    if (!this.#isRunning) return;
    const { store, runtime } = this.#parts;
    const isIdle =
      !store.isShared && runtime.elapsedMs() - this.#lastFoundMs > openAtMostMs && this.#unsettled.size === 0;
    this.#next = runtime.after(isIdle ? look.idleMs : look.everyMs, () => this.wake());
  }

  async #work(): Promise<void> {
    const { kind, store, membership, runtime } = this.#parts;
    try {
      while (this.#isAwaited && this.#isRunning && membership.isAlive) {
        this.#isAwaited = false;
        const limit = atOnce + Math.min(this.#unreachable, passedOverAtMost);
        const queued = await store.read((tx) => kind.queuedFor(tx, membership.id, limit));
        this.#unreachable = 0;
        if (queued.length > 0) this.#lastFoundMs = runtime.elapsedMs();
        for (const command of queued) if (this.#isRunning) this.#begin(command);
        await this.#sweep(commandDeadlines.sweepMs);
      }
      this.#task.succeeded();
    } catch (error) {
      this.#lastFoundMs = runtime.elapsedMs();
      this.#task.failed(error);
    } finally {
      this.#forgetLongSent(runtime.elapsedMs());
      this.#isWorking = false;
      this.#schedule();
    }
  }

  #begin(command: Command): void {
    const connection = this.#parts.connectionOf(command.deviceId);
    if (!connection) this.#unreachable += 1;
    if (!connection || this.#sending.has(command.id) || this.#isPutOff(command)) return;
    const sending = connection
      .run(() => this.#send(command, connection))
      .catch((error) => {
        // The sweep settles commands that were sent; commands that were not sent are tried again later.
        if (error instanceof StoreUnavailable || this.#abandon.signal.aborted) return false;
        this.#putOff(command);
        connection.failed(error);
        return false;
      })
      .then((isSent) => {
        this.#sending.delete(command.id);
        if (isSent) this.#parts.ended();
      });
    this.#sending.set(command.id, sending);
  }

  /** Returns whether it was sent. */
  async #send(command: Command, connection: CommandConnection): Promise<boolean> {
    const { kind, runtime } = this.#parts;
    // The mark may be visible to others before this call returns. Until then a snapshot counts as received before the
    // sending.
    this.#sentMs.set(command.id, Number.POSITIVE_INFINITY);
    for (let sent: Command | undefined; ; ) {
      const marked: Command | "too late" | undefined = await this.#mark(sent ?? command, connection.link);
      if (!marked || marked === "too late") {
        if (!sent) this.#sentMs.delete(command.id);
        // Of two steps only the first was sent: the sweep would settle the command later.
        if (marked || sent) await this.#settleOverdue(sent ?? command);
        return sent !== undefined;
      }
      sent = marked;
      const sentMs = runtime.elapsedMs();
      this.#sentMs.set(command.id, sentMs);
      this.#sentToMs.set(command.deviceId, sentMs);
      kind.expectEcho(marked, sentMs);
      const outcome = await this.#run(marked, connection, timeLeft(marked, commandDeadlines.answerMs));
      if (outcome.state === "accepted" && kind.hasNextStep(marked)) continue;
      await this.#restate(marked, outcome, connection);
      if (await this.#settle(marked, outcome)) connection.readSoon();
      if (outcome.state === "accepted" && outcome.caused) {
        this.#causedEchoes.expect(marked, outcome.caused, connection);
      }
      return true;
    }
  }

  /** A failure leaves the confirmation to the next snapshot. */
  async #restate(command: Command, outcome: CommandOutcome, { link, failed }: CommandConnection): Promise<void> {
    const updates = this.#parts.kind.restate(command, outcome);
    if (!updates) return;
    const { userId, deviceId } = link;
    const ownership = { deviceId, ...link.ownership };
    const abandoned = this.#abandon.signal;
    try {
      await this.#parts.commit({ userId, cause: { by: "ecosystem" }, updates, ownership, abandoned });
    } catch (error) {
      const isExpected = [StoreUnavailable, OwnershipLost, NotFound, ClientGone].some((kind) => error instanceof kind);
      if (!isExpected) failed(error);
    }
  }

  /** A connector that throws has not answered: it is unknown whether the ecosystem carried the command out. */
  async #run(
    command: Command,
    { connector, token, failed }: CommandConnection,
    leftMs: number,
  ): Promise<CommandOutcome> {
    try {
      return await within(this.#parts.runtime, leftMs, this.#abandon.signal, (inTime) =>
        this.#parts.kind.send(connector, token, command, inTime),
      );
    } catch (error) {
      failed(error);
      return { state: "unanswered", detail: "the connector failed" };
    }
  }

  /**
   * Marks the command as sent, durably and before it is sent: another node that finds the mark knows that the command
   * may have been sent.
   */
  async #mark(command: Command, { userId, deviceId, ownership }: LinkKey): Promise<Command | "too late" | undefined> {
    return this.#parts.store.transaction(async (tx) => {
      const nowMs = await tx.users.lock(userId);
      if (nowMs === undefined || !(await tx.links.holds(userId, deviceId, ownership))) return undefined;
      if (timeLeft({ ...command, sentMs: nowMs }, commandDeadlines.sendMs) === 0) return "too late";
      // The clock was set back since the request, which may be of any age. A command must not be carried out late.
      if (command.requestedMs > nowMs + commandDeadlines.sweepMs) return "too late";
      return this.#parts.kind.mark(tx, command, nowMs);
    });
  }

  /**
   * Records the outcome, and retries while the store is unavailable. Returns whether the command was accepted while no
   * change will confirm it.
   */
  async #settle(command: Command, outcome: CommandOutcome): Promise<boolean> {
    for (;;) {
      try {
        let isAwaited = false;
        const isFollowed = await this.#parts.isFollowed(command);
        await this.#record(command, async (tx, nowMs) => {
          const answered = await this.#parts.kind.answered(tx, command, outcome, nowMs, isFollowed);
          isAwaited = answered.isAwaited;
          return answered.updates;
        });
        return isAwaited;
      } catch (error) {
        if (error instanceof ClientGone) return this.#keepAnswer(command, outcome);
        if (!(error instanceof StoreUnavailable) || this.#abandon.signal.aborted) throw error;
        await pause(this.#parts.runtime, retryMs, this.#abandon.signal);
      }
    }
  }

  /** This node stops while alerts on the outcome wait for costly patterns. */
  async #keepAnswer(command: Command, outcome: CommandOutcome): Promise<false> {
    await this.#parts.store.transaction(async (tx) => {
      const nowMs = await tx.users.lock(command.userId);
      if (nowMs !== undefined) await this.#parts.kind.keepAnswer?.(tx, command, outcome, nowMs);
    });
    return false;
  }

  async #settleCaused(command: Command): Promise<void> {
    const isFollowed = await this.#parts.isFollowed(command);
    await this.#record(command, async (tx, nowMs) => {
      await this.#parts.kind.settleCaused(tx, command, nowMs, isFollowed);
      return [];
    });
    this.#parts.ended();
  }

  async #settleOverdue(command: Command, options: Pick<CommitRequest, "mayWait"> = {}): Promise<void> {
    const isFollowed = await this.#parts.isFollowed(command);
    await this.#record(command, (tx, nowMs) => this.#parts.kind.settleOverdue(tx, command, nowMs, isFollowed), options);
  }

  async #record(
    { userId }: Command,
    updates: Extract<CommitRequest["updates"], (...args: never[]) => unknown>,
    options: Pick<CommitRequest, "mayWait"> = {},
  ): Promise<void> {
    const abandoned = this.#abandon.signal;
    try {
      await this.#parts.commit({ userId, cause: { by: "ecosystem" }, updates, abandoned, ...options });
    } catch (error) {
      // The device was removed meanwhile: there is no receipt to change.
      if (!(error instanceof NotFound)) throw error;
    }
  }

  /** Settles commands that were sent and have been open for `openForMs`, and others that are overdue. */
  async #sweep(openForMs: number): Promise<void> {
    for (;;) {
      const found = await this.#parts.store.read(async (tx) => {
        const nowMs = await tx.clock.nowMs();
        const sendingBeforeMs = Math.min(nowMs - openForMs, Number.MAX_SAFE_INTEGER);
        const limit = atOnce + this.#unsettled.size + this.#held.size;
        return this.#parts.kind.overdue(
          tx,
          nowMs - commandDeadlines.sweepMs,
          sendingBeforeMs,
          nowMs - commandDeadlines.showMs,
          limit,
          nowMs + commandDeadlines.sweepMs,
        );
      });
      let settled = 0;
      for (const command of found) if (await this.#sweepOne(command)) settled += 1;
      if (settled < atOnce) return;
    }
  }

  /** Settles one command. A failure is put off, so that it does not block the commands behind it. */
  async #sweepOne(command: Command): Promise<boolean> {
    if (this.#sending.has(command.id) || this.#held.has(command.id)) return false;
    if (this.#isPutOff(command)) return false;
    try {
      await this.#settleOverdue(command, { mayWait: false });
      this.#settledLate(command);
      return true;
    } catch (error) {
      if (error instanceof StoreUnavailable) throw error;
      if (error instanceof WorkNeeded) this.#hold(command);
      else this.#unsettledYet(command, error);
      return false;
    }
  }

  /** Settles the command beside the sweep: it waits for costly patterns of the user's alerts. */
  #hold(command: Command): void {
    const settling = this.#settleOverdue(command)
      .then(
        () => this.#settledLate(command),
        (error) => {
          // The next sweep tries again.
          if (error instanceof StoreUnavailable || this.#abandon.signal.aborted) return;
          this.#unsettledYet(command, error);
        },
      )
      .finally(() => this.#held.delete(command.id));
    this.#held.set(command.id, settling);
  }

  #settledLate({ id }: Command): void {
    if (this.#unsettled.delete(id)) this.#settling.succeeded();
  }

  #unsettledYet(command: Command, error: unknown): void {
    this.#putOff(command);
    this.#settling.failed(error, { userId: command.userId, deviceId: command.deviceId });
  }

  #isPutOff({ id }: Command): boolean {
    return this.#parts.runtime.elapsedMs() < (this.#unsettled.get(id)?.nextMs ?? 0);
  }

  #putOff({ id }: Command): void {
    const tries = (this.#unsettled.get(id)?.tries ?? 0) + 1;
    const delayMs = Math.min(unsettledRetry.toMs, unsettledRetry.fromMs * 2 ** (tries - 1));
    this.#unsettled.delete(id);
    this.#unsettled.set(id, { tries, nextMs: this.#parts.runtime.elapsedMs() + delayMs });
    const [oldest] = this.#unsettled.keys();
    if (oldest !== undefined && this.#unsettled.size > passedOverAtMost) this.#unsettled.delete(oldest);
  }

  #forgetLongSent(nowMs: number): void {
    this.#parts.kind.forgetOverdue(nowMs);
    for (const [id, sentMs] of this.#sentMs) {
      if (nowMs - sentMs > rememberedMs || (sentMs === Number.POSITIVE_INFINITY && !this.#sending.has(id))) {
        this.#sentMs.delete(id);
      }
    }
    for (const [id, sentMs] of this.#sentToMs) if (nowMs - sentMs > rememberedMs) this.#sentToMs.delete(id);
    // Remove commands that another node settled or that were removed with their device: their next try never came.
    for (const [id, { nextMs: dueMs }] of this.#unsettled) if (nowMs - dueMs > rememberedMs) this.#unsettled.delete(id);
  }
}

/** The part of a time limit that is left, counted from the request. The whole limit if the clock was set back a little. */
function timeLeft({ requestedMs, sentMs }: StoredCommand, ofMs: number): number {
  return Math.min(ofMs, Math.max(0, ofMs - ((sentMs ?? requestedMs) - requestedMs)));
}
