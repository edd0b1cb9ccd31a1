import type { IncomingMessage } from "node:http";
import type { BlockList } from "node:net";
import { isIP } from "node:net";
import { isIn } from "../connection/connection-limits.ts";

/** Why a request was refused or failed, for the log and the metrics. The sentence of the error may quote the caller. */
export interface Failure {
  /** The stable code of the error. */
  readonly code: string;
  /** The number that a platform client reads. */
  readonly fault?: number;
  /** What was thrown. Only for errors that an operator has to look into. */
  readonly error?: unknown;
}

/** The code of an error that we did not foresee. */
export const internalError = "internal_error";

/** Who called: as far as the request's credentials say. */
export interface CallerIds {
  readonly tenantId?: number | undefined;
  readonly userId?: number | undefined;
  readonly clientId?: string | undefined;
}

/**
 * The address that a request comes from. A trusted proxy is believed about the address before it. What isn't an IP
 * address is never logged: a client could write anything into the header.
 */
export function clientAddress({ socket, headers }: IncomingMessage, trustedProxies: BlockList): string {
  const remote = socket.remoteAddress ?? "";
  const forwarded = String(headers["x-forwarded-for"] ?? "")
    .split(",")
    .map((one) => one.trim());
  let address = remote;
  while (isIP(address) !== 0 && isIn(trustedProxies, address)) {
    const before = forwarded.pop();
    if (before === undefined || before === "") return address;
    address = before;
  }
  return isIP(address) === 0 ? remote : address;
}
