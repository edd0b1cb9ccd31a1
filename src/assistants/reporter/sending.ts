import { within } from "../../runtime/runtime.ts";
import type { Store } from "../../store/seam.ts";
import type { AssistantGrantKey, ClaimedGrant } from "../../store/tables/assistant-grants.ts";
import type { AssistantMark, MarkOfGrant } from "../../store/tables/assistant-marks.ts";
import type { DueReport, Recipient } from "../assistant.ts";
import { credentialContext } from "../grants.ts";
import type { Outlet, Outlets } from "../outlets.ts";
import { Attempt, type AttemptParts, marksPerReport, type SendingTables } from "./attempt.ts";
import { removalMs } from "./changes.ts";
import { type BuiltReport, dueReport, type ReportParts, readAgain, remainingReport, turnedLink } from "./due-report.ts";

export interface SendingParts extends ReportParts, AttemptParts {
  readonly store: Store<SendingTables>;
  readonly outlets: Pick<Outlets, "find">;
  readonly sealing: {
    seal(text: string, context: string): string;
    open(sealed: string, context: string): string;
  };
}

/**
 * `answerMs`: time limit of one attempt. `claimMs`: how long a claimed grant belongs to one node; each attempt prolongs it.
 * So it ends soon after a node has died, also for an emergency. `attemptMs`: when an attempt must have ended after the
 * claim was prolonged, which leaves a margin. `usedMs`: a report that takes longer gives the claim back. `readAgainMs`: what
 * is left of a report that takes longer is read again, so that no message tells a state that has changed meanwhile.
 */
export const reportTimes = { answerMs: 10_000, claimMs: 20_000, attemptMs: 15_000, usedMs: 50_000, readAgainMs: 1_000 };

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
      const first = await tx.assistantMarks.due(grant, nowMs, marksPerReport);
      // Things that come take the places of things that go: one report tells of all of them.
      const more = first.length < marksPerReport ? [] : await tx.assistantMarks.dueSyncs(grant, nowMs);
      const marks = [...new Map([...first, ...more].map((mark) => [mark.thingId, mark])).values()];
      const thingIds = marks.map(({ thingId }) => thingId);
      return { grant, nowMs, marks, replies: await tx.assistantReplies.ofThings(grant, thingIds) };
    },
    { soon: true },
  );
  if (!claimed) return false;
  const { grant, marks, replies, nowMs } = claimed;
  const outlet = await outlets.find(grant.outletId);
  const report = await dueReport(parts, grant, marks, replies, nowMs, outlet);
  const recipient = recipientOf(parts, outlet, grant);
  const kept = await storeReportBaseline(store, grant, marks, report, nowMs);
  if (!kept) return true;
  const attempt = new Attempt(parts, grant, [...marks, ...kept], replies, report);
  let left: DueReport = report;
  let builtMs = runtime.elapsedMs();
  let messages = outlet.assistant.messages(left, outlet.settings);
  for (let message = messages[0]; message; message = messages[0]) {
    const startedMs = runtime.elapsedMs();
    if (stopping.aborted || startedMs >= untilMs) return attempt.release();
    if (!(await prolong(store, grant))) return true;
    // If this node was suspended for too long, its claim may have ended.
    const leftMs = startedMs + reportTimes.attemptMs - runtime.elapsedMs();
    if (leftMs <= 0) return attempt.release();
    const sent = message;
    const outcome = await within(runtime, Math.min(reportTimes.answerMs, leftMs), stopping, (inTime) =>
      outlet.assistant.deliver(sent, recipient, inTime),
    );
    messages = messages.slice(1);
    if (!(await attempt.settle(sent, outcome, messages.length > 0))) return true;
    left = remainingReport(left, sent);
    if (messages.length > 0 && runtime.elapsedMs() - builtMs >= reportTimes.readAgainMs) {
      left = await readAgain(parts, grant, left, report.staleDevices);
      builtMs = runtime.elapsedMs();
      messages = outlet.assistant.messages(left, outlet.settings);
    }
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

/** Others wait while marks are written. */
const marksAtOnce = 500;

/**
 * Stores before the first message which links are told as stale and which devices are offered, with a mark for each link
 * that has turned and each thing that is offered from now on, or no longer. If this report fails, or its node dies, the
 * next one tells them. Undefined when the link to the assistant has ended, or another node has claimed the grant.
 */
async function storeReportBaseline(
  store: Store<SendingTables>,
  grant: ClaimedGrant,
  read: readonly AssistantMark[],
  { turned, staleDevices, shifted, omittedIds: omitted }: BuiltReport,
  nowMs: number,
): Promise<readonly AssistantMark[] | undefined> {
  if (turned.length === 0 && isSameList(omitted, grant.omitted)) return [];
  const marks = [
    ...turned.map((deviceId) => ({ thingId: turnedLink(deviceId), stateMs: nowMs })),
    ...shifted.map(({ thingId, goneMs }) => ({
      ...{ thingId, stateMs: nowMs, syncMs: nowMs, sinceMs: 0 },
      isPresent: goneMs === null,
    })),
  ];
  const kept: AssistantMark[] = [];
  for (let from = 0; from === 0 || from < marks.length; from += marksAtOnce) {
    // If the node dies before the last of these transactions, the next report makes the same choice again.
    const reportBaseline = from + marksAtOnce < marks.length ? undefined : { staleDevices, omitted };
    const added = await store.transaction(
      async (tx) => {
        const untilMs = (await tx.clock.nowMs()) + reportTimes.claimMs;
        if (!(await tx.assistantGrants.prolong(grant, untilMs, reportBaseline))) return undefined;
        return addToRead(tx, grant, read, marks.slice(from, from + marksAtOnce), nowMs);
      },
      { urgent: true },
    );
    if (!added) return undefined;
    kept.push(...added);
  }
  return kept;
}

/**
 * Adds marks, and returns those that this report tells. A mark that has changed since it was read is not among them: the
 * report does not tell that change, so the mark must stay.
 */
async function addToRead(
  tx: SendingTables,
  grant: ClaimedGrant,
  read: readonly AssistantMark[],
  marks: readonly (MarkOfGrant & { readonly isPresent?: boolean })[],
  nowMs: number,
): Promise<readonly AssistantMark[]> {
  const versions = new Map(read.map(({ thingId, version }) => [thingId, version]));
  const ids = marks.map(({ thingId }) => thingId);
  const found = await tx.assistantMarks.some(grant, ids);
  const isChanged = ({ thingId, version }: AssistantMark) => versions.get(thingId) !== version;
  const changed = new Map(found.filter(isChanged).map((mark) => [mark.thingId, mark]));
  const { userId, outletId } = grant;
  const added = marks.map(({ isPresent = false, ...mark }) => {
    // The thing has vanished since the home was read: it is not told as removed before its time.
    const isVanished = isPresent && (changed.get(mark.thingId)?.syncMs ?? 0) >= nowMs + removalMs;
    return { ...mark, userId, outletId, ...(isVanished && { syncMs: undefined }) };
  });
  const now = await tx.assistantMarks.addAll(added, nowMs);
  return now.filter(({ thingId }) => !changed.has(thingId));
}

function isSameList(one: readonly string[] | null, other: readonly string[] | null): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function recipientOf({ store, sealing }: SendingParts, outlet: Outlet, grant: ClaimedGrant): Recipient {
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
      );
      if (isKept) [sealedCredential, credential] = [sealed, renewed];
      return isKept;
    },
  };
}
