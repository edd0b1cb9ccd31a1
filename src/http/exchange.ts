import type { IncomingMessage, ServerResponse } from "node:http";
import type { OpenLines } from "../runtime/kept-lines.ts";
import type { CallerIds, Failure } from "./answer/failure.ts";

/** One request and its answer. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Generated here, never taken from the client. It is in the answer's header, in the error body and in the log. */
  readonly requestId: string;
  readonly startedMs: number;
  /** The pattern of the route, never the address itself, which may hold a secToken. */
  route: string | undefined;
  /** The platform operation; undefined on all other routes. */
  operation: string | undefined;
  /** Undefined until the credentials were checked. */
  caller: CallerIds | undefined;
  /** Why the request was refused or failed. */
  failure: Failure | undefined;
  /** Ends an open-ended answer; undefined for all others. */
  end: (() => void) | undefined;
  /** The answer was written to the socket directly, not through the response. */
  isWrittenToSocket: boolean;
  /** Bytes of the answer's body; 0 until they are known. */
  bytes: number;
  /** Log lines that its work has written; undefined before the work begins. */
  lines: OpenLines | undefined;
}
