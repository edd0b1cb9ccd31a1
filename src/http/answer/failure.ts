import type { IncomingMessage } from "node:http";
import type { BlockList } from "node:net";
import { isIP } from "node:net";
import { isInNetworks } from "../connection/connection-limits.ts";

/**
 * Why a request was refused or failed, for the log and the metrics. It leaves out the error's message, which may quote
 * the caller.
 */
export interface Failure {
  /** The stable code of the error. */
  readonly code: string;
  /** The number that a platform client reads. */
  readonly fault?: number;
  /** The thrown error, only if an operator has to look into it. */
  readonly error?: unknown;
}

/** The code of an unexpected error. */
export const internalError = "internal_error";

/** The caller, as far as the request's credentials say. */
export interface CallerIds {
  readonly tenantId?: number | undefined;
  readonly userId?: number | undefined;
  readonly clientId?: string | undefined;
  readonly operatorId?: number | undefined;
}

/**
 * The address of the client. `X-Forwarded-For` counts only from trusted proxies. Text that is not an IP address is
 * never logged: a client could write anything into the header.
 */
export function clientAddress({ socket, headers }: IncomingMessage, trustedProxies: BlockList): string {
  const remote = socket.remoteAddress ?? "";
  const sent = headers["x-forwarded-for"];
  if (sent === undefined) return remote;
  const forwarded = String(sent)
    .split(",")
    .map((one) => one.trim());
  let address = remote;
  while (isIP(address) !== 0 && isInNetworks(trustedProxies, address)) {
    const before = forwarded.pop();
    if (before === undefined || before === "") return address;
    address = before;
  }
  return isIP(address) === 0 ? remote : address;
}
