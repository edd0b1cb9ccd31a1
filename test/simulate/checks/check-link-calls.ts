import { grantOf } from "../actors/tokens.ts";
import type { CommittedTransaction, LinkCall, Revocation, TokenUse } from "./history.ts";
import { demand } from "./violation.ts";

/** The device and token of a user's link after each transaction that changed it. */
interface LinkChange {
  readonly seq: number;
  readonly userId: number;
  readonly deviceId: number;
  readonly kind: "added" | "kept" | "removed";
  readonly token: string;
}

/** The answers to link calls match the history, and no link changed without a call. */
export function checkLinkCalls(calls: readonly LinkCall[], history: readonly CommittedTransaction[]): void {
  const changes = linkChanges(history);
  const explained = new Set<LinkChange>();
  for (const call of calls) {
    const { kind, userId, token, fromSeq, toSeq, outcome, deviceId, leftOver } = call;
    const within = (change: LinkChange) => change.userId === userId && change.seq >= fromSeq && change.seq < toSeq;
    const what = `user ${userId}: ${kind} between transactions ${fromSeq} and ${toSeq}`;
    if (outcome === "refused") {
      const hasLink = kind === "link";
      demand(wasEver(changes, userId, hasLink, fromSeq, toSeq), () => `${what} was refused without reason`);
    }
    if (outcome !== "done") continue;
    const expected = ({ link: "added", relink: "kept", unlink: "removed" } as const)[kind];
    const change = changes.find((one) => {
      return (
        within(one) && one.kind === expected && one.deviceId === deviceId && (token === null || one.token === token)
      );
    });
    // The same token again changes nothing while another node follows the link with it.
    const isKept = kind === "relink" && lastBefore(changes, userId, fromSeq)?.token === token;
    demand(change !== undefined || isKept, () => `${what} was acknowledged for device ${deviceId}, and did not happen`);
    demand(leftOver === undefined, () => `${what} was acknowledged for device ${deviceId}, and ${leftOver}`);
    if (change) explained.add(change);
  }
  demandRequested(calls, changes, explained);
}

/** The node that has acknowledged an unlinking opens no further stream for the removed link. */
export function checkRemovedLinks(
  calls: readonly LinkCall[],
  uses: readonly TokenUse[],
  history: readonly CommittedTransaction[],
): void {
  const changes = linkChanges(history);
  for (const { kind, outcome, node, deviceId, toMs } of calls) {
    if (kind !== "unlink" || outcome !== "done") continue;
    const grant = grantOf(changes.find((one) => one.deviceId === deviceId && one.kind === "removed")!.token);
    // Another call may have linked with the same token.
    const isAnothers = changes.some((one) => one.deviceId !== deviceId && grantOf(one.token) === grant);
    const use = uses.find((one) => {
      return one.kind === "stream" && one.node === node && one.atMs > toMs && grantOf(one.token) === grant;
    });
    demand(
      isAnothers || !use,
      () => `${node} acknowledged that link ${deviceId} is removed at ${toMs}, and opens a stream with ${grant}`,
    );
  }
}

/** The token of a removed link is revoked at most once, and only after the removal is durable. */
export function checkRevocations(revocations: readonly Revocation[], history: readonly CommittedTransaction[]): void {
  const removals = linkChanges(history).filter(({ kind }) => kind === "removed");
  revocations.forEach(({ token, seq }, index) => {
    // Of two calls to link with the same token the later may succeed after the first link was removed again.
    const removed = removals.filter((removal) => removal.token === token && removal.seq < seq).length;
    const revoked = revocations.slice(0, index + 1).filter((other) => other.token === token).length;
    demand(
      revoked <= removed,
      () =>
        `the token ${token} was revoked ${revoked} times by transaction ${seq}; of its links ${removed} were removed`,
    );
  });
}

/** Every change without an acknowledged call belongs to one call without an answer. */
function demandRequested(
  calls: readonly LinkCall[],
  changes: readonly LinkChange[],
  explained: ReadonlySet<LinkChange>,
): void {
  const unexplained = changes.filter((change) => change.kind !== "kept" && !explained.has(change));
  for (const { userId, kind, deviceId, seq } of unexplained) {
    const asking = kind === "added" ? "link" : "unlink";
    const inDoubt = calls.filter((call) => {
      const isOpen = call.outcome === "open" || call.outcome === "failed";
      return call.userId === userId && call.kind === asking && isOpen && call.fromSeq <= seq;
    });
    const alike = unexplained.filter((other) => other.userId === userId && other.kind === kind && other.seq <= seq);
    demand(
      alike.length <= inDoubt.length,
      () => `transaction ${seq}: the link ${deviceId} of user ${userId} is ${kind}, and no call requested it`,
    );
  }
}

/** Whether the user had a link (or none) at any time between the two transactions. */
function wasEver(
  changes: readonly LinkChange[],
  userId: number,
  hasLink: boolean,
  fromSeq: number,
  toSeq: number,
): boolean {
  let has = false;
  for (const change of changes) {
    if (change.userId !== userId || change.seq >= toSeq) continue;
    if (change.seq >= fromSeq && has === hasLink) return true;
    has = change.kind !== "removed";
  }
  return has === hasLink;
}

/** The link that the user had before the transaction. */
function lastBefore(changes: readonly LinkChange[], userId: number, seq: number): LinkChange | undefined {
  const last = changes.filter((change) => change.userId === userId && change.seq < seq).at(-1);
  return last?.kind === "removed" ? undefined : last;
}

function linkChanges(history: readonly CommittedTransaction[]): LinkChange[] {
  return history.flatMap(({ seq, writes }) =>
    writes.flatMap(({ table, key, before, after }): LinkChange[] => {
      const row = after ?? before;
      if (table !== "links" || !row) return [];
      const kind = !before ? "added" : after ? "kept" : "removed";
      const token = (row.sealedToken as string).split(": ")[1]!;
      return [{ seq, userId: row.userId as number, deviceId: key as number, kind, token }];
    }),
  );
}
