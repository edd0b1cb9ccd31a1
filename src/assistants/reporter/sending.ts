import { within } from "../../runtime/runtime.ts";
import type { Priority, Store } from "../../store/seam.ts";
import type { AssistantGrantKey, ClaimedGrant } from "../../store/tables/assistant-grants.ts";
import type { DueReport, Recipient } from "../assistant.ts";
import { credentialContext } from "../grants.ts";
import type { Outlet, Outlets } from "../outlets.ts";
import { Attempt, type AttemptParts, marksPerReport, type SendingTables } from "./attempt.ts";
import { dueReport, type ReportParts, readAgain, remainingReport } from "./due-report.ts";
import { markLeft, storeReportBaseline } from "./report-marks.ts";
import { reportTimes } from "./report-times.ts";

export interface SendingParts extends ReportParts, AttemptParts {
  readonly store: Store<SendingTables>;
  readonly outlets: Pick<Outlets, "find">;
  readonly sealing: {
    seal(text: string, context: string): string;
    open(sealed: string, context: string): string;
  };
}

/**
 * Reports to the assistant of one user, if this node can claim the grant. Before each message it checks under the grant's
 * lock that the link has not ended and that no other node has claimed it meanwhile. So no report is older than one that
 * was sent before, and nothing is sent after the end of a link.
 */
export async function sendDue(
  parts: SendingParts,
  key: AssistantGrantKey,
  stopping: AbortSignal,
  isUrgent = false,
): Promise<boolean> {
  // From its claim to its end, the report of an emergency does not wait for the reports of others.
  const priority: Priority = isUrgent ? { urgent: true } : { soon: true };
  const { store, runtime, outlets } = parts;
  const untilMs = runtime.elapsedMs() + reportTimes.usedMs;
  const claimed = await store.transaction(async (tx) => {
    const nowMs = await tx.clock.nowMs();
    const grant = await tx.assistantGrants.claim(key, nowMs, nowMs + reportTimes.claimMs);
    if (!grant) return undefined;
    const first = await tx.assistantMarks.due(grant, nowMs, marksPerReport);
    // Things that come take the places of things that go: one report tells of all of them.
    const more = first.length < marksPerReport ? [] : await tx.assistantMarks.dueSyncs(grant, nowMs);
    const marks = [...new Map([...first, ...more].map((mark) => [mark.thingId, mark])).values()];
    const thingIds = marks.map(({ thingId }) => thingId);
    return { grant, nowMs, marks, replies: await tx.assistantReplies.ofThings(grant, thingIds) };
  }, priority);
  if (!claimed) return false;
  const { grant, marks, replies, nowMs } = claimed;
  const outlet = await outlets.find(grant.outletId);
  const report = await dueReport(parts, grant, marks, replies, nowMs, outlet);
  const recipient = recipientOf(parts, priority, outlet, grant);
  const kept = await storeReportBaseline(store, priority, grant, marks, report, nowMs);
  if (!kept) return true;
  const attempt = new Attempt(parts, priority, grant, [...marks, ...kept], replies, report);
  const vanished = [...report.vanished];
  let left: DueReport = report;
  let builtMs = runtime.elapsedMs();
  let messages = outlet.assistant.messages(left, outlet.settings);
  /** A report about a whole home that is broken off goes on where it was, if the assistant has taken some of it. */
  const keepLeft = async () => {
    const untold = new Set(messages.flatMap(({ thingIds }) => thingIds));
    const things = left.things.filter(({ thingId }) => report.whole.has(thingId) && untold.has(thingId));
    if (attempt.isTaken) await markLeft(store, priority, grant, attempt, things, nowMs);
  };
  for (let message = messages[0]; message; message = messages[0]) {
    const startedMs = runtime.elapsedMs();
    if (stopping.aborted || startedMs >= untilMs) {
      await keepLeft();
      return attempt.release();
    }
    if (!(await prolong(store, grant, priority))) return true;
    // If this node was suspended for too long, its claim may have ended.
    const leftMs = startedMs + reportTimes.attemptMs - runtime.elapsedMs();
    if (leftMs <= 0) return attempt.release();
    const sent = message;
    const outcome = await within(runtime, Math.min(reportTimes.answerMs, leftMs), stopping, (inTime) =>
      outlet.assistant.deliver(sent, recipient, inTime),
    );
    if (outcome.result === "retry") {
      await keepLeft();
      // The node has ended the attempt: the assistant has not failed.
      if (stopping.aborted) return attempt.release();
    }
    messages = messages.slice(1);
    const end = messages.length === 0 ? { readMs: nowMs, vanished } : undefined;
    const follows = await attempt.settle(sent, outcome, end);
    if (follows === "over") return true;
    left = remainingReport(left, sent);
    if (follows === "emergency") {
      await keepLeft();
      return attempt.release();
    }
    if (messages.length > 0 && runtime.elapsedMs() - builtMs >= reportTimes.readAgainMs) {
      const again = await readAgain(parts, grant, left, report.staleDevices);
      left = again.left;
      vanished.push(...again.vanished);
      builtMs = runtime.elapsedMs();
      messages = outlet.assistant.messages(left, outlet.settings);
    }
  }
  await attempt.finish({ readMs: nowMs, vanished });
  return true;
}

/** False when the link has ended, or another node has claimed the grant. */
function prolong(store: Store<SendingTables>, grant: ClaimedGrant, priority: Priority): Promise<boolean> {
  return store.transaction(
    async (tx) => tx.assistantGrants.prolong(grant, (await tx.clock.nowMs()) + reportTimes.claimMs),
    priority,
  );
}

function recipientOf(
  { store, sealing }: SendingParts,
  priority: Priority,
  outlet: Outlet,
  grant: ClaimedGrant,
): Recipient {
  const { userId, outletId, agentUserId, region } = grant;
  const context = credentialContext(userId, outletId);
  let { sealedCredential } = grant;
  let credential =
    sealedCredential === null ? undefined : (JSON.parse(sealing.open(sealedCredential, context)) as object);
  return {
    outletId,
    settings: outlet.settings,
    agentUserId,
    region,
    /** The next message of the same report uses a renewed credential. */
    get credential() {
      return credential;
    },
    async keepCredential(renewed) {
      const sealed = sealing.seal(JSON.stringify(renewed), context);
      const before = sealedCredential;
      const isKept = await store.transaction(
        async (tx) =>
          (await tx.assistantGrants.holds(grant)) && tx.assistantGrants.replaceCredential(grant, before, sealed),
        priority,
      );
      if (isKept) [sealedCredential, credential] = [sealed, renewed];
      return isKept;
    },
  };
}
