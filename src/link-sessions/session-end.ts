import { linkSessionEntry } from "../devices/log-entries.ts";
import { auditEntry } from "../identity/audit.ts";
import type { DeviceId } from "../model/ids.ts";
import type { Transaction } from "../store/seam.ts";
import type { LinkSessionRow } from "../store/tables/link-sessions.ts";
import type { HomeSummary } from "./home-summary.ts";
import { auditedClient } from "./session-client.ts";
import { openSecrets, type Sealer, sealSecrets } from "./session-secrets.ts";
import type { SessionProblem } from "./session-status.ts";

export type EndTables = Pick<Transaction, "linkSessions" | "log" | "audit" | "clock">;

/** How a session ends. */
export type SessionEnd =
  | { readonly phase: "linked"; readonly deviceId: DeviceId; readonly summary: HomeSummary }
  | { readonly phase: "declined" }
  | { readonly phase: "failed"; readonly problem: SessionProblem };

/**
 * Ends a session that the caller has locked: stores the end, writes it to the log and to the audit log, and erases
 * the credential.
 */
export async function endSession(
  tx: EndTables,
  sealer: Sealer,
  session: LinkSessionRow,
  end: SessionEnd,
  source: string,
): Promise<void> {
  const { id, userId, tenantId, clientId, ecosystem, mode } = session;
  const deviceId = end.phase === "linked" ? end.deviceId : null;
  const problem = end.phase === "failed" ? end.problem : undefined;
  await tx.linkSessions.save({
    ...session,
    phase: end.phase,
    claimedMs: null,
    sealed: withoutCredential(sealer, session),
    problem: problem ? JSON.stringify(problem) : null,
    deviceId,
    summary: end.phase === "linked" ? JSON.stringify(end.summary) : null,
  });
  const detail = { ecosystem, mode, status: end.phase, problem: problem?.code };
  await tx.audit.add(auditEntry({ act: "link_session", tenantId, userId, ...auditedClient(clientId), source, detail }));
  if (userId === null) return;
  const body = { linkSessionId: id, ecosystem, mode, status: end.phase, ...(problem && { problem }) };
  await tx.log.append(linkSessionEntry(userId, deviceId, await tx.clock.nowMs(), body));
}

/** The sealed secrets of a session without its credential. The others still open its page. */
export function withoutCredential(sealer: Sealer, session: LinkSessionRow): string {
  const { credential: _, ...secrets } = openSecrets(sealer, session);
  return sealSecrets(sealer, session.id, secrets);
}
