import pg from "pg";
import { BreezewayError, OutcomeUnknown, StoreUnavailable } from "../../model/errors.ts";

/** The error for the caller of a failed transaction: StoreUnavailable if the database failed, otherwise the same error. */
export function toStoreError(error: unknown, isConnected: boolean): unknown {
  if (error instanceof BreezewayError || !(error instanceof Error)) return error;
  const code = codeOf(error);
  // SQLSTATE classes of lost connections, exhausted resources, a server that stops or starts, and internal errors.
  const isServerFailure = !isConnected || isReadOnly(error) || /^(08|53|57|58|XX)/.test(code) || /^E[A-Z]+$/.test(code);
  return isServerFailure ? unavailable(error) : error;
}

/** Serialisation failures and deadlocks: nothing was changed, and a retry may succeed. */
export function isRetryable(error: unknown): boolean {
  return error instanceof Error && ["40001", "40P01"].includes(codeOf(error));
}

/** The server refused the statement because an earlier one of the same transaction has failed. */
export function isInFailedTransaction(error: unknown): boolean {
  return error instanceof Error && codeOf(error) === "25P02";
}

/** The server did not answer a query in time. The connection may be dead without a reset. */
export function isQueryTimeout(error: unknown): boolean {
  const cause = error instanceof StoreUnavailable ? error.cause : error;
  return cause instanceof Error && cause.message === "Query read timeout";
}

/** The server accepts no writes: it is a standby, or `default_transaction_read_only` is on. */
export function isReadOnly(error: unknown): boolean {
  return error instanceof ReadOnlyServer || (error instanceof Error && codeOf(error) === "25006");
}

/** The server was found to be read-only before anything was written. */
export class ReadOnlyServer extends StoreUnavailable {}

/** The pool lent a connection that was already closed: the server has received nothing, and another one may work. */
export class ClosedConnection extends StoreUnavailable {}

/**
 * The error of a failed COMMIT. After an answer of severity ERROR the server has rolled back, and on a connection that
 * was already closed nothing was sent. In all other cases (a lost connection, a timeout, a server that stops) it is
 * unknown whether the transaction was committed.
 */
export function failedCommit(error: unknown): unknown {
  if (isRetryable(error)) return error;
  const isRolledBack = error instanceof pg.DatabaseError && error.severity === "ERROR";
  if (isRolledBack || isUnsent(error)) return unavailable(error);
  const reason = error instanceof Error ? error.message : String(error);
  return new OutcomeUnknown(`The store's answer to COMMIT was lost (${reason}). The change may be stored or not.`, {
    cause: error,
  });
}

/** The driver did not send the statement, because its connection was closed. */
export function isUnsent(error: unknown): boolean {
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
