import { type Runtime, within } from "../../runtime/runtime.ts";
import type { Store, Transaction } from "../../store/seam.ts";
import type { AssistantGrantKey, ClaimedGrant, GrantProgress } from "../../store/tables/assistant-grants.ts";
import type { AssistantMark } from "../../store/tables/assistant-marks.ts";
import type { AssistantReply } from "../../store/tables/assistant-replies.ts";
import type { AssistantMessage, Outcome, Recipient } from "../assistant.ts";
import { credentialContext } from "../grants.ts";
import type { Outlet, Outlets } from "../outlets.ts";
import { type BuiltReport, dueReport, isDue, type ReportParts } from "./due-report.ts";

export type SendingTables = Pick<
  Transaction,
  "assistantGrants" | "assistantMarks" | "assistantReplies" | "assistantDeliveries" | "clock"
>;

export interface SendingParts extends ReportParts {
  readonly store: Store<SendingTables>;
  readonly runtime: Runtime;
  readonly outlets: Pick<Outlets, "find">;
  readonly sealing: {
    seal(text: string, context: string): string;
    open(sealed: string, context: string): string;
  };
}

/**
 * `answerMs`: time limit of one attempt. `claimMs`: how long a claimed grant belongs to one node; each attempt prolongs it.
 * So it ends soon after a node has died, also for an emergency. `attemptMs`: when an attempt must have ended after the
 * claim was prolonged, which leaves a margin. `usedMs`: a report that takes longer gives the claim back.
 */
export const reportTimes = { answerMs: 10_000, claimMs: 20_000, attemptMs: 15_000, usedMs: 50_000 };
const marksPerReport = 300;
const deliveriesKept = 100;
/** The things that a stored delivery names. */
const thingsNamed = 20;
const longestWaitMs = 15 * 60_000;

/**
 * Reports to the assistant of one user, if this node can claim the grant. Before each message it checks under the grant's
 * lock that the link has not ended and that no other node has claimed it meanwhile. So no report is older than one that
 * was sent before, and nothing is sent after the end of a link.
 */
export async function sendDue(parts: SendingParts, key: AssistantGrantKey, stopping: AbortSignal): Promise<boolean> {
  const { store, runtime, outlets } = parts;
  const untilMs = runtime.elapsedMs() + reportTimes.usedMs;
  const claimed = await store.transaction(
    async (tx) => {
      const nowMs = await tx.clock.nowMs();
      const grant = await tx.assistantGrants.claim(key, nowMs, nowMs + reportTimes.claimMs);
      if (!grant) return undefined;
      const marks = await tx.assistantMarks.due(grant, nowMs, marksPerReport);
      const thingIds = marks.map(({ thingId }) => thingId);
      return { grant, nowMs, marks, replies: await tx.assistantReplies.ofThings(grant, thingIds) };
    },
    { soon: true },
  );
  if (!claimed) return false;
  const { grant, marks, replies, nowMs } = claimed;
  const outlet = await outlets.find(grant.outletId);
  const report = await dueReport(parts, grant, marks, replies, nowMs);
  const messages = outlet.assistant.messages(report, outlet.settings);
  const recipient = recipientOf(parts, outlet, grant);
  const attempt = new Attempt(parts, grant, marks, replies, report);
  const again = marks.length > 0 ? 0 : undefined;
  for (const message of messages) {
    const startedMs = runtime.elapsedMs();
    if (stopping.aborted || startedMs >= untilMs) return attempt.release(again);
    if (!(await prolong(store, grant))) return true;
    // If this node was suspended for too long, its claim may have ended.
    const leftMs = startedMs + reportTimes.attemptMs - runtime.elapsedMs();
    if (leftMs <= 0) return attempt.release(again);
    const outcome = await within(runtime, Math.min(reportTimes.answerMs, leftMs), stopping, (inTime) =>
      outlet.assistant.deliver(message, recipient, inTime),
    );
    if (!(await attempt.settle(message, outcome))) return true;
  }
  await attempt.finish(nowMs);
  return true;
}

/** False when the link has ended, or another node has claimed the grant. */
function prolong(store: Store<SendingTables>, grant: ClaimedGrant): Promise<boolean> {
  return store.transaction(
    async (tx) => tx.assistantGrants.prolong(grant, (await tx.clock.nowMs()) + reportTimes.claimMs),
    { urgent: true },
  );
}

function recipientOf({ store, sealing }: SendingParts, outlet: Outlet, grant: ClaimedGrant): Recipient {
  const { userId, outletId, agentUserId, region } = grant;
  const context = credentialContext(userId, outletId);
  let { sealedCredential } = grant;
  return {
    outletId,
    settings: outlet.settings,
    agentUserId,
    region,
    credential: sealedCredential === null ? undefined : (JSON.parse(sealing.open(sealedCredential, context)) as object),
    async keepCredential(credential) {
      const sealed = sealing.seal(JSON.stringify(credential), context);
      const before = sealedCredential;
      const isKept = await store.transaction(
        async (tx) =>
          (await tx.assistantGrants.holds(grant)) && tx.assistantGrants.replaceCredential(grant, before, sealed),
      );
      if (isKept) sealedCredential = sealed;
      return isKept;
    },
  };
}

/** What was told of one claim, and how the claim ends. */
class Attempt {
  readonly #parts: SendingParts;
  readonly #grant: ClaimedGrant;
  /** What is left to tell of the marks that were read. */
  readonly #marks: Map<string, AssistantMark>;
  readonly #replies: readonly AssistantReply[];
  readonly #report: BuiltReport;
  #problem: string | null = null;
  #isTaken = false;

  constructor(
    parts: SendingParts,
    grant: ClaimedGrant,
    marks: readonly AssistantMark[],
    replies: readonly AssistantReply[],
    report: BuiltReport,
  ) {
    this.#parts = parts;
    this.#grant = grant;
    this.#marks = new Map(marks.map((mark) => [mark.thingId, mark]));
    this.#replies = replies;
    this.#report = report;
  }

  /** Stores the outcome of a message; returns whether the next one may be sent. */
  async settle(message: AssistantMessage, outcome: Outcome): Promise<boolean> {
    const grant = this.#grant;
    const goesOn = await this.#parts.store.transaction(
      async (tx) => {
        if (!(await tx.assistantGrants.holds(grant))) return false;
        await tx.assistantDeliveries.add(deliveryOf(grant, message, outcome), deliveriesKept);
        if (outcome.result === "forget") {
          await tx.assistantGrants.remove(grant);
          return false;
        }
        if (outcome.result === "retry") {
          const nowMs = await tx.clock.nowMs();
          const waitMs = outcome.afterMs ?? waitAfter(grant.attempts + 1, this.#parts.runtime.random());
          const isEmergency = await this.#hasNewEmergency(tx, nowMs);
          await tx.assistantGrants.release(grant, {
            ...this.#progress(nowMs),
            retryMs: isEmergency ? 0 : nowMs + Math.min(waitMs, longestWaitMs),
            attempts: grant.attempts + 1,
            problem: outcome.text,
            staleDevices: grant.staleDevices,
          });
          return false;
        }
        if (outcome.result === "refused") this.#problem = outcome.text;
        else this.#isTaken = true;
        await this.#told(tx, message);
        return true;
      },
      { soon: true },
    );
    if (goesOn) for (const thingId of message.thingIds) this.#strike(thingId, message.tells);
    return goesOn;
  }

  /** A mark that was told is gone. A new one of the same thing must not be taken for it. */
  #strike(thingId: string, tells: AssistantMessage["tells"]): void {
    const mark = this.#marks.get(thingId);
    if (!mark) return;
    const left = { ...mark, stateMs: tells.state ? null : mark.stateMs, syncMs: tells.sync ? null : mark.syncMs };
    if (left.stateMs === null && left.syncMs === null) this.#marks.delete(thingId);
    else this.#marks.set(thingId, left);
  }

  /** Everything was sent: marks that no message tells about are removed too. */
  async finish(readMs: number): Promise<void> {
    const grant = this.#grant;
    await this.#parts.store.transaction(
      async (tx) => {
        if (!(await tx.assistantGrants.holds(grant))) return;
        for (const mark of this.#marks.values()) {
          const told = { state: isDue(mark.stateMs, readMs), sync: isDue(mark.syncMs, readMs) };
          await tx.assistantMarks.told(mark, told);
        }
        const nowMs = await tx.clock.nowMs();
        await tx.assistantGrants.release(grant, this.#progress(nowMs));
      },
      { soon: true },
    );
  }

  /** Gives the claim back before everything was sent. */
  async release(retryMs: number | undefined): Promise<boolean> {
    const grant = this.#grant;
    await this.#parts.store.transaction(async (tx) => {
      const nowMs = await tx.clock.nowMs();
      await tx.assistantGrants.release(grant, {
        ...this.#progress(nowMs),
        retryMs,
        attempts: grant.attempts,
        staleDevices: grant.staleDevices,
      });
    });
    return true;
  }

  /** An emergency since the claim is tried at once, whatever has just failed. */
  async #hasNewEmergency(tx: SendingTables, nowMs: number): Promise<boolean> {
    const [first] = await tx.assistantMarks.due(this.#grant, nowMs, 1);
    if (!first?.isUrgent) return false;
    const due = await tx.assistantMarks.due(this.#grant, nowMs, marksPerReport);
    return due.some((mark) => mark.isUrgent && this.#marks.get(mark.thingId)?.version !== mark.version);
  }

  #progress(nowMs: number): GrantProgress {
    const reportedMs = this.#isTaken ? nowMs : this.#grant.reportedMs;
    return { attempts: 0, problem: this.#problem, reportedMs, staleDevices: this.#report.staleDevices };
  }

  async #told(tx: SendingTables, { thingIds, tells, replies = [] }: AssistantMessage): Promise<void> {
    for (const thingId of thingIds) {
      const mark = this.#marks.get(thingId);
      if (mark) await tx.assistantMarks.told(mark, tells);
    }

    for (const { commandId, reply } of this.#replies) {
      if (replies.includes(reply)) await tx.assistantReplies.remove({ ...this.#grant, commandId });
    }
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
