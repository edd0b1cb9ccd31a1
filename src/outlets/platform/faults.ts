import {
  BreezewayError,
  OutcomeUnknown,
  StoreUnavailable,
  storeFailureSentence,
  TooManyRequests,
} from "../../model/errors.ts";
import { document } from "./xml.ts";

export interface Fault {
  readonly status: 500;
  readonly xml: string;
  readonly retryAfterSeconds?: number;
  /** For the log and the metrics: the number in the document, and the stable code of the error. */
  readonly fault: number;
  readonly code: string;
  /** The thrown error, only if an operator has to look into it. */
  readonly error?: unknown;
}

/** The numbers that clients know, by the code of the error. */
const faultCodes: Readonly<Record<string, number>> = {
  invalid_login: 101,
  bad_parameter: 102,
  unknown_operation: 103,
  invalid_sec_token: 106,
  client_gone: 107,
  too_many_requests: 107,
  quota_exceeded: 107,
  unknown_device: 109,
  unknown_attribute: 110,
  read_only_attribute: 111,
  bad_value: 112,
  value_too_large: 112,
  unknown_trigger: 113,
  too_many_triggers: 113,
  already_federated: 118,
  not_federated: 119,
  unknown_ecosystem: 120,
  ecosystem_refused: 121,
  ecosystem_unreachable: 122,
  limit_reached: 123,
};
const outcomeUnknown = 124;
const internal = 199;

/** Every number that a fault can have, for the metrics. */
export const faultNumbers: readonly number[] = [...new Set([...Object.values(faultCodes), outcomeUnknown, internal])];

/**
 * Turns an error into a fault. A fault is always HTTP 500, as clients of this platform expect. An unexpected error
 * reveals no detail.
 */
export function faultOf(error: unknown): Fault {
  if (error instanceof StoreUnavailable) {
    const number = error instanceof OutcomeUnknown ? outcomeUnknown : internal;
    return { ...fault(number, error.code, storeFailureSentence(error)), error, retryAfterSeconds: 5 };
  }
  const number = error instanceof BreezewayError ? faultCodes[error.code] : undefined;
  if (number === undefined) return { ...fault(internal, "internal_error", "Internal error."), error };
  const { code, message } = error as BreezewayError;
  const known = fault(number, code, message);
  return error instanceof TooManyRequests ? { ...known, retryAfterSeconds: error.retryAfterSeconds } : known;
}

function fault(number: number, code: string, text: string): Fault {
  const children = [["errorCode", number] as const, ["errorMsg", text] as const];
  return { status: 500, xml: document("requestFault", children), fault: number, code };
}
