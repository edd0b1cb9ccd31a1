import type { LimitName, OnLimitReached } from "../../model/limits.ts";
import { BackgroundTask } from "../../runtime/background-task.ts";
import { type Cancel, outsideRequests } from "../../runtime/runtime.ts";
import { Sweep } from "../../runtime/sweep.ts";
import type { Store } from "../../store/seam.ts";
import type { DueGrant, ListedGrant } from "../../store/tables/assistant-grants.ts";
import type { SendingTables } from "./attempt.ts";
import { type FeedTables, feedMarks } from "./feeder.ts";
import { type SendingParts, sendDue } from "./sending.ts";
import { ReportSlots } from "./slots.ts";
import { type SweepTables, sweepReports } from "./sweep.ts";

export interface ReporterParts extends SendingParts {
  readonly store: Store<SendingTables & FeedTables & SweepTables>;
  /** Counts reports that wait because of a limit. */
  readonly onLimitReached: OnLimitReached;
}

const everyMs = 1_000;
const sweepEveryMs = 60_000;
/** The node that appended to the log makes the marks at once; other nodes wait this long before they look. */
const othersMs = 250;
/** Bounds the cost of one read, however many grants are due. */
const grantsPerLook = 100;

/**
 * Tells assistants what has changed, at least once and in order for each thing. Log entries become marks, at most one a
 * thing; the node that claims a grant reports its marked things as they are now. So the backlog is bounded by the home,
 * and a report is never older than the one before.
 */
export class Reporter {
  readonly #parts: ReporterParts;
  readonly #stopping = new AbortController();
  readonly #slots = new ReportSlots();
  readonly #sending = new Map<string, Promise<void>>();
  readonly #task: BackgroundTask;
  readonly #sweep: Sweep;
  #round: Promise<void> | undefined;
  #isRoundRequested = false;
  #hasGrants = true;
  /** An urgent entry was appended to the log and is not fed yet. */
  #isUrgent = false;
  #next: Cancel | undefined;
  #hinted: Cancel | undefined;

  constructor(parts: ReporterParts) {
    const { runtime } = parts;
    this.#parts = parts;
    this.#task = new BackgroundTask("assistant_reports", "assistants could not be told; trying again", runtime);
    this.#sweep = new Sweep({
      task: "assistant_reports",
      failure: "what assistants were told could not be compared or removed",
      everyMs: sweepEveryMs,
      runtime,
      remove: (signal) => this.sweep(signal),
    });
  }

  start(): void {
    this.#sweep.start();
    this.#tick();
  }

  #tick(): void {
    this.#next = this.#parts.runtime.after(everyMs, () => {
      this.wake();
      if (!this.#stopping.signal.aborted) this.#tick();
    });
  }

  /** Called when the log has grown. */
  afterCommit(isUrgent: boolean): void {
    if (!this.#hasGrants) return;
    this.#isUrgent ||= isUrgent;
    this.wake();
  }

  /** Called at a hint: another node may have appended to the log. */
  hinted(): void {
    if (!this.#hasGrants || this.#stopping.signal.aborted) return;
    this.#hinted ??= this.#parts.runtime.after(othersMs, () => {
      this.#hinted = undefined;
      this.wake();
    });
  }

  wake(): void {
    if (this.#stopping.signal.aborted) return;
    this.#isRoundRequested = true;
    this.#round ??= outsideRequests(this.#parts.runtime, () => this.#work());
  }

  /** Aborts running attempts; another node, or the next start, reports again. */
  async stop(): Promise<void> {
    this.#next?.();
    this.#hinted?.();
    this.#stopping.abort();
    await this.#sweep.stop();
    await this.#round;
    await Promise.all(this.#sending.values());
  }

  /** Compares freshness with what was reported, and removes what has expired; returns how much was removed. */
  async sweep(signal: AbortSignal): Promise<number> {
    const removed = await sweepReports(this.#parts, signal);
    this.wake();
    return removed;
  }

  async #work(): Promise<void> {
    const { store } = this.#parts;
    try {
      while (this.#isRoundRequested && !this.#stopping.signal.aborted) {
        this.#isRoundRequested = false;
        const isUrgent = this.#isUrgent;
        this.#isUrgent = false;
        const fed = await feedMarks(store, isUrgent ? { urgent: true } : { soon: true });
        this.#hasGrants = fed !== "no grants";
        if (fed === "there is more") {
          this.#isUrgent ||= isUrgent;
          this.#isRoundRequested = true;
        }
        if (this.#hasGrants) await this.#beginDue();
      }
      this.#task.succeeded();
    } catch (error) {
      this.#task.failed(error);
    } finally {
      this.#round = undefined;
    }
  }

  async #beginDue(): Promise<void> {
    const reached = new Set<LimitName>();
    const isCut = await this.#look(reached);
    // The users of an outlet whose gateway is slow must not hide those of other outlets.
    if (isCut && reached.has("assistantSendsPerOutlet")) await this.#look(reached, this.#slots.taken());
    for (const limit of reached) this.#parts.onLimitReached(limit);
  }

  /** Begins reports of due grants while there are slots; returns whether more grants may be due. */
  async #look(reached: Set<LimitName>, except?: ReturnType<ReportSlots["taken"]>): Promise<boolean> {
    const due = await this.#parts.store.read(
      async (tx) => tx.assistantGrants.due(await tx.clock.nowMs(), grantsPerLook, except),
      { soon: true },
    );
    if (this.#stopping.signal.aborted) return false;
    for (const grant of due) {
      if (this.#sending.has(nameOf(grant))) continue;
      const limit = this.#slots.limitFor(grant.outletId, grant.isUrgent);
      if (limit) reached.add(limit);
      else this.#begin(grant);
    }
    return due.length === grantsPerLook;
  }

  #begin(grant: DueGrant): void {
    const name = nameOf(grant);
    this.#slots.take(grant.outletId);
    const done = sendDue(this.#parts, grant, this.#stopping.signal, grant.isUrgent)
      // An error of one grant must not touch another; the grant is due again when its claim has ended.
      .catch((error: unknown) => {
        const { userId, outletId } = grant;
        this.#task.failed(error, { user: userId, outlet: outletId });
        return false;
      })
      .then((isDone) => {
        this.#sending.delete(name);
        this.#slots.release(grant.outletId);
        // More may have become due for this user, and others may wait for the slot.
        if (isDone) this.wake();
      });
    this.#sending.set(name, done);
  }
}

function nameOf({ userId, outletId }: ListedGrant): string {
  return `${userId} ${outletId}`;
}
