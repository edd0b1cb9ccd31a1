import pg from "pg";
import { BreezewayError, OutcomeUnknown, StoreUnavailable } from "../../model/errors.ts";

/** What a failed transaction's caller is told: the store's trouble by its name, everything else as it was thrown. */
export function translated(error: unknown, isConnected: boolean): unknown {
  if (error instanceof BreezewayError || !(error instanceof Error)) return error;
  const code = codeOf(error);
  // Lost connections, a server that stops or starts, a full disk, a read-only server: not the caller's fault.
  const isTrouble = !isConnected || isReadOnly(error) || /^(08|53|57|58|XX)/.test(code) || /^E[A-Z]+$/.test(code);
  return isTrouble ? unavailable(error) : error;
}

/** Serialisation failures and deadlocks: nothing was changed, and the same body may well succeed now. */
export function isWorthRepeating(error: unknown): boolean {
  return error instanceof Error && ["40001", "40P01"].includes(codeOf(error));
}

/** Whatever is asked in a transaction in which a statement has failed. */
export function isRefusal(error: unknown): boolean {
  return error instanceof Error && codeOf(error) === "25P02";
}

/** No answer within the time that a query may take: the connection may be dead without anybody having said so. */
export function isSilence(error: unknown): boolean {
  const cause = error instanceof StoreUnavailable ? error.cause : error;
  return cause instanceof Error && cause.message === "Query read timeout";
}

/** The server takes no writes: it is a standby, or `default_transaction_read_only` is on. */
export function isReadOnly(error: unknown): boolean {
  return error instanceof ReadOnlyServer || (error instanceof Error && codeOf(error) === "25006");
}

/** The same, found out before anything was written. */
export class ReadOnlyServer extends StoreUnavailable {}

/**
 * What a failed COMMIT means. An answer of severity ERROR says that the server rolled back; nothing was sent on a
 * connection that was known to be broken. Everything else (a lost connection, silence, a server that stops) leaves open
 * whether the transaction was committed.
 */
export function failedCommit(error: unknown): unknown {
  if (isWorthRepeating(error)) return error;
  const isRolledBack = error instanceof pg.DatabaseError && error.severity === "ERROR";
  if (isRolledBack || isUnsent(error)) return unavailable(error);
  const reason = error instanceof Error ? error.message : String(error);
  return new OutcomeUnknown(`The store's answer to COMMIT was lost (${reason}). The change may be stored or not.`, {
    cause: error,
  });
}

/** The client refused the statement because its connection had ended before. */
function isUnsent(error: unknown): boolean {
  return error instanceof Error && error.message.endsWith("is not queryable");
}

export function unavailable(error: unknown): StoreUnavailable {
  const reason = error instanceof Error ? error.message : String(error);
  return new StoreUnavailable(`The store can't be used now (${reason}). This transaction changed nothing.`, {
    cause: error,
  });
}

function codeOf(error: Error): string {
  return String((error as { code?: unknown }).code ?? "");
}
