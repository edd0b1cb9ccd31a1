import type { DeviceId } from "../../model/ids.ts";
import { within } from "../../runtime/runtime.ts";
import type { Store } from "../../store/seam.ts";
import type { AssistantGrantKey, ClaimedGrant } from "../../store/tables/assistant-grants.ts";
import type { Recipient } from "../assistant.ts";
import { credentialContext } from "../grants.ts";
import type { Outlet, Outlets } from "../outlets.ts";
import { Attempt, type AttemptParts, marksPerReport, type SendingTables } from "./attempt.ts";
import { dueReport, type ReportParts } from "./due-report.ts";

export interface SendingParts extends ReportParts, AttemptParts {
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
  // Stored before the first message: if this node dies, the next report knows what was told as stale.
  const staleDevices = [...new Set([...grant.staleDevices, ...report.staleDevices])];
  const isMore = staleDevices.length > grant.staleDevices.length;
  for (const [index, message] of messages.entries()) {
    const startedMs = runtime.elapsedMs();
    if (stopping.aborted || startedMs >= untilMs) return attempt.release();
    if (!(await prolong(store, grant, isMore && index === 0 ? staleDevices : undefined))) return true;
    // If this node was suspended for too long, its claim may have ended.
    const leftMs = startedMs + reportTimes.attemptMs - runtime.elapsedMs();
    if (leftMs <= 0) return attempt.release();
    const outcome = await within(runtime, Math.min(reportTimes.answerMs, leftMs), stopping, (inTime) =>
      outlet.assistant.deliver(message, recipient, inTime),
    );
    if (!(await attempt.settle(message, outcome, index + 1 < messages.length))) return true;
  }
  await attempt.finish(nowMs);
  return true;
}

/** False when the link has ended, or another node has claimed the grant. */
function prolong(
  store: Store<SendingTables>,
  grant: ClaimedGrant,
  staleDevices: readonly DeviceId[] | undefined,
): Promise<boolean> {
  return store.transaction(
    async (tx) => tx.assistantGrants.prolong(grant, (await tx.clock.nowMs()) + reportTimes.claimMs, staleDevices),
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
