import type { Runtime } from "../../runtime/runtime.ts";
import type { Priority, Store, Transaction } from "../../store/seam.ts";
import type { AssistantGrantKey, ClaimedGrant, GrantProgress } from "../../store/tables/assistant-grants.ts";
import type { AssistantMark } from "../../store/tables/assistant-marks.ts";
import type { AssistantReply } from "../../store/tables/assistant-replies.ts";
import type { AssistantMessage, Outcome } from "../assistant.ts";
import { allThings, listingMs } from "../grants.ts";
import { removalMs } from "./changes.ts";
import { type BuiltReport, isDue, isStateDue, type VanishedThing } from "./due-report.ts";

export type SendingTables = Pick<
  Transaction,
  "assistantGrants" | "assistantMarks" | "assistantReplies" | "assistantDeliveries" | "clock"
>;

export interface AttemptParts {
  readonly store: Store<SendingTables>;
  readonly runtime: Runtime;
}

export const marksPerReport = 300;
const deliveriesKept = 100;
/** The things that a stored delivery names. */
const thingsNamed = 20;
const longestWaitMs = 15 * 60_000;
/** While an emergency waits to be told, attempts are not further apart. */
const longestUrgentWaitMs = 30_000;
/** A command without an outcome is looked at again this often, until its reply expires. */
const replyEveryMs = 2_000;

/** When the marks of a report were read, and its things that have vanished since. */
export interface ReportEnd {
  readonly readMs: number;
  readonly vanished: readonly VanishedThing[];
}

/** What was told of one claim, and how the claim ends. */
export class Attempt {
  readonly #parts: AttemptParts;
  readonly #priority: Priority;
  readonly #grant: ClaimedGrant;
  /** What is left to tell of the marks that were read. */
  #marks: ReadonlyMap<string, AssistantMark>;
  readonly #replies: readonly AssistantReply[];
  readonly #report: BuiltReport;
  readonly #sentReplies = new Set<string>();
  #problem: string | null = null;
  #isTaken = false;

  constructor(
    parts: AttemptParts,
    priority: Priority,
    grant: ClaimedGrant,
    marks: readonly AssistantMark[],
    replies: readonly AssistantReply[],
    report: BuiltReport,
  ) {
    this.#parts = parts;
    this.#priority = priority;
    this.#grant = grant;
    this.#marks = new Map(marks.map((mark) => [mark.thingId, mark]));
    this.#replies = replies;
    this.#report = report;
  }

  /** What is left to tell of the marks that were read. */
  get marks(): readonly AssistantMark[] {
    return [...this.#marks.values()];
  }

  /** Whether the assistant has taken a message of this claim. */
  get isTaken(): boolean {
    return this.#isTaken;
  }

  /** From now on these marks are told instead of those marks. */
  replaceMarks(before: readonly AssistantMark[], by: readonly AssistantMark[]): void {
    const left = new Map(this.#marks);
    for (const { thingId } of before) left.delete(thingId);
    for (const mark of by) left.set(mark.thingId, mark);
    this.#marks = left;
  }

  /**
   * Stores the outcome of a message; returns what follows. `over`: nothing, the claim has ended. `emergency`: an emergency
   * goes before the next message; the caller releases the claim. `end`: this was the last message, and the same transaction
   * finishes the report.
   */
  async settle(
    message: AssistantMessage,
    answered: Outcome,
    end: ReportEnd | undefined,
  ): Promise<"over" | "next" | "emergency"> {
    const grant = this.#grant;
    const marksAfter = this.#marksAfter(message);
    const follows = await this.#parts.store.transaction(async (tx) => {
      if (!(await tx.assistantGrants.holds(grant))) return "over";
      const outcome = await this.#sinceClaimed(tx, answered);
      await tx.assistantDeliveries.add(deliveryOf(grant, message, outcome), deliveriesKept);
      if (outcome.result === "forget") {
        await tx.assistantGrants.remove(grant);
        return "over";
      }
      if (outcome.result === "retry") {
        const nowMs = await tx.clock.nowMs();
        const isEmergency = await this.#hasNewEmergency(tx, nowMs);
        await this.#lookAgain(tx, nowMs);
        await tx.assistantGrants.release(grant, {
          ...this.#progress(nowMs),
          retryMs: isEmergency ? 0 : nowMs + this.#waitAfter(outcome),
          attempts: grant.attempts + 1,
          problem: outcome.text,
        });
        return "over";
      }
      if (outcome.result === "refused") this.#problem = outcome.text;
      else this.#isTaken = true;
      await this.#removeReportedMarks(tx, message);
      if (outcome.result === "refused" && outcome.afterMs !== undefined) {
        await this.#tellAgain(tx, outcome.thingIds ?? message.thingIds, outcome.afterMs);
      }
      if (end) {
        await this.#finish(tx, marksAfter, end);
        return "over";
      }
      return (await this.#hasNewEmergency(tx, await tx.clock.nowMs())) ? "emergency" : "next";
    }, this.#priority);
    if (follows !== "over") this.#marks = marksAfter;
    return follows;
  }

  /** A user who has linked the assistant again since the claim has not ended that link. */
  async #sinceClaimed(tx: SendingTables, outcome: Outcome): Promise<Outcome> {
    if (outcome.result !== "forget") return outcome;
    const listed = await tx.assistantMarks.find(this.#grant, allThings);
    if (!listed || listed.version === this.#marks.get(allThings)?.version) return outcome;
    return { ...outcome, result: "retry", afterMs: listingMs };
  }

  /** While an emergency waits, the own back-off is short. It is never shorter than what the assistant asks for. */
  #waitAfter({ afterMs }: { readonly afterMs?: number | undefined }): number {
    const isUrgent = [...this.#marks.values()].some((mark) => mark.isUrgent);
    const ownMs = waitAfter(this.#grant.attempts + 1, this.#parts.runtime.random());
    return Math.min(Math.max(afterMs ?? 0, isUrgent ? Math.min(ownMs, longestUrgentWaitMs) : ownMs), longestWaitMs);
  }

  /** The marks without the fields that the message reports, so that a later mark of the same thing is kept. */
  #marksAfter({ thingIds, tells }: AssistantMessage): ReadonlyMap<string, AssistantMark> {
    const marks = new Map(this.#marks);
    for (const thingId of thingIds) {
      const mark = marks.get(thingId);
      if (!mark) continue;
      const syncMs = tells.sync ? null : mark.syncMs;
      // As it is stored: the state of a thing that is to be added later is told again after that.
      const told = { stateMs: syncMs, isUrgent: false };
      const left = { ...mark, syncMs, ...(tells.state && told) };
      if (left.stateMs === null && left.syncMs === null) marks.delete(thingId);
      else marks.set(thingId, left);
    }
    return marks;
  }

  /** Everything was sent: marks that no message tells about are removed too. Vanished things are told as removed later. */
  async finish(end: ReportEnd): Promise<void> {
    await this.#parts.store.transaction(async (tx) => {
      if (await tx.assistantGrants.holds(this.#grant)) await this.#finish(tx, this.#marks, end);
    }, this.#priority);
  }

  async #finish(
    tx: SendingTables,
    marks: ReadonlyMap<string, AssistantMark>,
    { readMs, vanished }: ReportEnd,
  ): Promise<void> {
    const unchanged = await this.#unchanged(tx, marks, vanished);
    await tx.assistantMarks.removeAllSent(this.#grant, [...marks.values()], (mark) => ({
      state: isStateDue(mark, readMs),
      sync: isDue(mark.syncMs, readMs),
    }));
    const nowMs = await tx.clock.nowMs();
    await this.#removeLater(tx, unchanged, nowMs);
    for (const { reply } of this.#report.replies) this.#sentReplies.add(reply);
    await this.#lookAgain(tx, nowMs);
    await tx.assistantGrants.release(this.#grant, this.#progress(nowMs));
  }

  /** Gives the claim back before everything was sent. */
  async release(): Promise<boolean> {
    await this.#parts.store.transaction((tx) => this.#release(tx), this.#priority);
    return true;
  }

  async #release(tx: SendingTables): Promise<void> {
    const { attempts, problem } = this.#grant;
    const nowMs = await tx.clock.nowMs();
    if (await tx.assistantGrants.holds(this.#grant)) await this.#lookAgain(tx, nowMs);
    const progress = this.#progress(nowMs);
    await tx.assistantGrants.release(this.#grant, { ...progress, attempts, problem: progress.problem ?? problem });
  }

  /** Those of these things whose marks are as they were read. */
  async #unchanged(
    tx: SendingTables,
    marks: ReadonlyMap<string, AssistantMark>,
    things: readonly VanishedThing[],
  ): Promise<readonly VanishedThing[]> {
    if (things.length === 0) return [];
    const ids = things.map(({ thingId }) => thingId);
    const now = new Map((await tx.assistantMarks.some(this.#grant, ids)).map((mark) => [mark.thingId, mark.version]));
    return things.filter(({ thingId }) => now.get(thingId) === marks.get(thingId)?.version);
  }

  /** The log says that these things are gone, but the mark of that was not made yet, or the clock was set back. */
  async #removeLater(tx: SendingTables, things: readonly VanishedThing[], nowMs: number): Promise<void> {
    if (things.length === 0) return;
    const { userId, outletId } = this.#grant;
    const later = { userId, outletId, syncMs: nowMs + removalMs, isGone: true };
    await tx.assistantMarks.addAll(
      things.map(({ thingId, sinceMs }) => ({ ...later, thingId, sinceMs })),
      nowMs,
    );
  }

  /** Not every outcome is in the log as one of this assistant's commands: some commands joined that of another client. */
  async #lookAgain(tx: SendingTables, nowMs: number): Promise<void> {
    const { userId, outletId } = this.#grant;
    const waiting = this.#replies.filter(({ reply }) => !this.#sentReplies.has(reply));
    for (const thingId of new Set(waiting.map((one) => one.thingId))) {
      await tx.assistantMarks.add({ userId, outletId, thingId, stateMs: nowMs + replyEveryMs }, nowMs);
    }
  }

  /** An emergency since the claim is tried at once, whatever has just failed. */
  async #hasNewEmergency(tx: SendingTables, nowMs: number): Promise<boolean> {
    const [first] = await tx.assistantMarks.due(this.#grant, nowMs, 1);
    if (!first?.isUrgent) return false;
    const due = await tx.assistantMarks.due(this.#grant, nowMs, marksPerReport);
    return due.some((mark) => mark.isUrgent && this.#marks.get(mark.thingId)?.version !== mark.version);
  }

  /** The assistant has no room for these things at present. */
  async #tellAgain(tx: SendingTables, thingIds: readonly string[], afterMs: number): Promise<void> {
    const nowMs = await tx.clock.nowMs();
    const dueMs = nowMs + afterMs;
    const { userId, outletId } = this.#grant;
    const marks = thingIds.map((thingId) => ({ userId, outletId, thingId, stateMs: dueMs, syncMs: dueMs }));
    await tx.assistantMarks.addAll(marks, nowMs);
  }

  #progress(nowMs: number): GrantProgress {
    const reportedMs = this.#isTaken ? nowMs : this.#grant.reportedMs;
    return { attempts: 0, problem: this.#problem, reportedMs, staleDevices: this.#report.staleDevices };
  }

  async #removeReportedMarks(
    tx: SendingTables,
    { thingIds, tells, rises, replies = [] }: AssistantMessage,
  ): Promise<void> {
    await tx.assistantMarks.removeAllSent(
      this.#grant,
      thingIds.flatMap((thingId) => this.#marks.get(thingId) ?? []),
      ({ thingId }) => ({ ...tells, rises: rises?.[thingId] ?? [] }),
    );
    for (const { commandId, reply } of this.#replies) {
      if (replies.includes(reply)) await tx.assistantReplies.remove({ ...this.#grant, commandId });
    }
    for (const reply of replies) this.#sentReplies.add(reply);
  }
}

function deliveryOf({ userId, outletId }: AssistantGrantKey, { type, thingIds }: AssistantMessage, outcome: Outcome) {
  const { result, status } = outcome;
  return {
    userId,
    outletId,
    type,
    thingIds: thingIds.slice(0, thingsNamed),
    things: thingIds.length,
    outcome: result === "forget" ? ("forgotten" as const) : result,
    status,
    text: "text" in outcome ? outcome.text : null,
  };
}

/** Exponential back-off from one second, the least that Alexa allows, to a quarter of an hour, with jitter. */
export function waitAfter(attempts: number, random: number): number {
  return Math.round(Math.min(longestWaitMs, 1_000 * 2 ** Math.min(attempts - 1, 20)) * (1 + 0.4 * random));
}
