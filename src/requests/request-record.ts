import type { NodeId } from "../model/ids.ts";
import type { LineLevel } from "../model/log-line.ts";

/** A finished request. It holds no secret and no address of a request, only the pattern of its route. */
export interface RequestRecord {
  readonly timeMs: number;
  readonly requestId: string;
  readonly method: string;
  readonly route: string;
  /** The platform operation; null on all other routes. */
  readonly operation: string | null;
  readonly status: number;
  /** The code of the error that was answered; null when there was none. */
  readonly code: string | null;
  readonly tookMs: number;
  /** Bytes of the answer's body. */
  readonly bytes: number;
  /** Null for a request of an operator, and for one whose credentials were not verified. */
  readonly tenantId: number | null;
  readonly userId: number | null;
  readonly clientId: string | null;
  /** The address of the client, as the log has it. */
  readonly source: string;
  /** Its log lines, oldest first, when it was looked for by its id. A node of the version before has none. */
  readonly lines?: readonly RecordedLine[];
}

/** A log line of a request, redacted as the log is. */
export interface RecordedLine {
  readonly timeMs: number;
  readonly level: LineLevel;
  readonly sentence: string;
  /** JSON; cut when it is long. */
  readonly fields: string;
}

/** A record with the node that answered the request. */
export type FoundRequest = RequestRecord & { readonly node: NodeId };

/** Undefined members match every request. */
export interface RequestFilter {
  readonly tenantId?: number | undefined;
  /** Of these tenants only. */
  readonly tenantIds?: readonly number[] | undefined;
  readonly clientId?: string | undefined;
  readonly userId?: number | undefined;
  readonly route?: string | undefined;
  /** A status such as 404, or a class: 4 for all from 400 to 499. */
  readonly status?: number | undefined;
  readonly minMs?: number | undefined;
  readonly requestId?: string | undefined;
  /** The beginning of the id. */
  readonly requestIdPrefix?: string | undefined;
  /** Only those of clients and users, or only those of operators and of the console's pages. */
  readonly only?: "clients" | "operators" | undefined;
  /** Only requests that come after this one in the list, which is newest first. */
  readonly after?: RequestCursor | undefined;
}

/** The place of a request in the list. Requests of one time are in the order of their ids. */
export type RequestCursor = Pick<RequestRecord, "timeMs" | "requestId">;

export function matches(record: RequestRecord, filter: RequestFilter): boolean {
  const { tenantId, tenantIds, clientId, userId, route, status, minMs, requestId, requestIdPrefix, only, after } =
    filter;
  if (tenantId !== undefined && record.tenantId !== tenantId) return false;
  if (tenantIds !== undefined && (record.tenantId === null || !tenantIds.includes(record.tenantId))) return false;
  if (clientId !== undefined && record.clientId !== clientId) return false;
  if (userId !== undefined && record.userId !== userId) return false;
  if (route !== undefined && record.route !== route) return false;
  if (status !== undefined && record.status !== status && Math.floor(record.status / 100) !== status) return false;
  if (minMs !== undefined && record.tookMs < minMs) return false;
  if (only !== undefined && (only === "operators") !== isOfOperators(record)) return false;
  if (after !== undefined && inOrder(after, record) >= 0) return false;
  if (requestIdPrefix !== undefined && !record.requestId.startsWith(requestIdPrefix)) return false;
  return requestId === undefined || record.requestId === requestId;
}

function isOfOperators({ route }: RequestRecord): boolean {
  return /^\/(console|admin)(\/|$)/.test(route);
}

/** Negative when the first comes before the second in the list. */
function inOrder(a: RequestCursor, b: RequestCursor): number {
  if (a.timeMs !== b.timeMs) return b.timeMs - a.timeMs;
  return a.requestId === b.requestId ? 0 : a.requestId < b.requestId ? -1 : 1;
}

/** The newest ones, newest first. */
export function newest<Record extends RequestRecord>(records: readonly Record[], limit: number): readonly Record[] {
  return records.toSorted(inOrder).slice(0, limit);
}
