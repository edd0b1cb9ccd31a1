import type { IncomingMessage, ServerResponse } from "node:http";
import type { CallerIds, Failure } from "./answer/failure.ts";

/** One request and its answer. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Ours, never the client's: it stands in the answer, in the error and in the log. */
  readonly requestId: string;
  readonly startedMs: number;
  /** The pattern of the route, never the address itself: addresses carry secTokens. */
  route: string | undefined;
  /** The platform operation; undefined on all other routes. */
  operation: string | undefined;
  /** Undefined until the credentials were checked. */
  caller: CallerIds | undefined;
  /** Why the request was refused or failed. */
  failure: Failure | undefined;
  /** Ends an answer that would otherwise go on. */
  end: (() => void) | undefined;
  /** The answer is being sent to the socket directly, not through the response. */
  isSentPast: boolean;
}
