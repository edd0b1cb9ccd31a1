import { generationOf, grantOf } from "../actors/tokens.ts";
import type { CommittedTransaction, CredentialRecord, RenewalCall, TokenUse, Visibility } from "./history.ts";
import { demand } from "./violation.ts";

/**
 * The credentials of links: a new one is stored before its first use and never replaced by an older one, a link asks for
 * consent only after the ecosystem refused, a follower uses no token that was refused, and one refresh token is never
 * used twice at the same time.
 */
export function checkCredentials(
  record: CredentialRecord,
  history: readonly CommittedTransaction[],
  visibility: Visibility | undefined,
): void {
  checkStoredFirst(record.uses, history);
  checkConsents(record, history);
  checkRefused(record.uses);
  if (visibility) checkOverlaps(record.calls, visibility.frozen);
}

function checkStoredFirst(uses: readonly TokenUse[], history: readonly CommittedTransaction[]): void {
  const storedSeq = new Map<string, number>();
  const newest = new Map<string, number>();
  for (const { seq, writes } of history) {
    for (const { table, key, after } of writes) {
      if (table !== "links" || !after) continue;
      const token = tokenIn(after.sealedToken);
      if (!storedSeq.has(token)) storedSeq.set(token, seq);
      const line = `${key} ${grantOf(token)}`;
      const [before, generation] = [newest.get(line) ?? 0, generationOf(token)];
      demand(generation >= before, () => `transaction ${seq}: link ${key} gets ${token} after generation ${before}`);
      newest.set(line, generation);
    }
  }
  for (const { node, token, kind, seq } of uses) {
    demand(
      (storedSeq.get(token) ?? Number.POSITIVE_INFINITY) < seq,
      () => `${node} used ${token} for a ${kind} before transaction ${seq}, when it was not stored yet`,
    );
  }
}

/** A link needs new consent when the ecosystem refused to renew, or refused a token and the one that replaced it. */
function checkConsents({ uses, refusals, calls }: CredentialRecord, history: readonly CommittedTransaction[]): void {
  for (const { seq, node, writes } of history) {
    for (const { table, key, before, after } of writes) {
      if (table !== "links" || after?.state !== "needs_reauth" || before?.state === "needs_reauth") continue;
      demand(after.reason !== "", () => `transaction ${seq}: link ${key} needs consent, and says no reason`);
      const token = tokenIn(after.sealedToken);
      const grant = grantOf(token);
      const isRefused = refusals.some((one) => one.grant === grant && one.seq <= seq);
      const refused = new Set(
        uses.flatMap((use) => {
          const isKnown = use.node === node && use.refusedSeq !== undefined && use.refusedSeq <= seq;
          return isKnown && grantOf(use.token) === grant ? [use.token] : [];
        }),
      );
      const isRenewed = calls.some(({ refreshToken }) => grantOf(refreshToken) === grant) || token !== grant;
      demand(
        isRefused || refused.size >= (isRenewed ? 2 : 1),
        () =>
          `transaction ${seq}: link ${key} needs consent (${after.reason}), though only [${[...refused]}] were refused`,
      );
    }
  }
}

/**
 * After the first refusal no stream is opened and no command is sent with the same token by the same follower. The
 * refusal of a command counts only for a token that can be renewed.
 */
function checkRefused(uses: readonly TokenUse[]): void {
  const known = new Map<string, number>();
  for (const { follower, token, kind, refusedMs } of uses) {
    const isKnown = kind === "stream" || (kind === "command" && token !== grantOf(token));
    if (follower === undefined || refusedMs === undefined || !isKnown) continue;
    const name = `${follower} ${token}`;
    known.set(name, Math.min(refusedMs, known.get(name) ?? Number.POSITIVE_INFINITY));
  }
  for (const { node, follower, token, kind, atMs, seq } of uses) {
    const refusedMs = known.get(`${follower} ${token}`);
    demand(
      kind === "read" || refusedMs === undefined || atMs <= refusedMs,
      () => `${node} used ${token} for a ${kind} before transaction ${seq}, though it had been refused before`,
    );
  }
}

/** With right clocks no two calls use one refresh token at the same time. A frozen node cannot end a call in time. */
function checkOverlaps(calls: readonly RenewalCall[], frozen: Visibility["frozen"]): void {
  const longestMarkMs = 10_000;
  const wasFrozen = ({ node, fromMs, toMs }: RenewalCall) =>
    frozen.some((one) => one.node === node && one.fromMs <= toMs && one.toMs > fromMs - longestMarkMs);
  for (const [refreshToken, same] of Map.groupBy(calls, (call) => call.refreshToken)) {
    const moving = same.filter((call) => !wasFrozen(call));
    moving.forEach((call, index) => {
      const both = moving.slice(0, index).find((one) => endOf(one) > call.fromMs);
      demand(
        !both,
        () =>
          `${call.node} renews with ${refreshToken} at ${call.fromMs}, while ${both?.node} does since ${both?.fromMs}`,
      );
    });
  }
}

/** A node that died in a call may leave it open until the end of the run; the mark of the call counts for 30 seconds. */
function endOf({ fromMs, toMs }: RenewalCall): number {
  return toMs === Number.POSITIVE_INFINITY ? fromMs + 30_000 : toMs;
}

function tokenIn(sealed: unknown): string {
  return (sealed as string).split(": ")[1]!;
}
