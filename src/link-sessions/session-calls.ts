import { type CallCause, causeOfUser } from "../runtime/network/outgoing-calls.ts";
import type { LinkSessionRow } from "../store/tables/link-sessions.ts";

/** The cause of a call to an ecosystem for a session. */
export function causeOfSession(
  { id, userId, tenantId }: Pick<LinkSessionRow, "id" | "userId" | "tenantId">,
  disconnected: AbortSignal,
): CallCause {
  const cause = userId === null ? { user: id, tenant: `tenant ${tenantId}` } : causeOfUser(userId, tenantId);
  return { ...cause, linkSession: id, disconnected };
}
