import { BreezewayError, StoreUnavailable, TooManyRequests } from "../model/errors.ts";
import type { Report } from "../model/surroundings.ts";
import { document } from "./xml.ts";

export interface Fault {
  readonly status: 500;
  readonly xml: string;
  readonly retryAfterSeconds?: number;
}

/** The numbers that clients know, by the code of the error. */
const faultCodes: Readonly<Record<string, number>> = {
  invalid_login: 101,
  bad_parameter: 102,
  unknown_operation: 103,
  invalid_sec_token: 106,
  client_gone: 107,
  too_many_requests: 107,
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
const internal = 199;

/** A fault is HTTP 500 whatever its cause, as clients of this platform expect. What we did not foresee tells no detail. */
export function faultOf(error: unknown, report: Report): Fault {
  if (error instanceof StoreUnavailable) {
    report.warn({ error }, "a platform call found the store unavailable");
    return { ...fault(internal, "The service can't answer now."), retryAfterSeconds: 5 };
  }
  const code = error instanceof BreezewayError ? faultCodes[error.code] : undefined;
  if (code === undefined) {
    report.error({ error }, "a platform call failed unexpectedly");
    return fault(internal, "Internal error.");
  }
  const known = fault(code, (error as BreezewayError).message);
  return error instanceof TooManyRequests ? { ...known, retryAfterSeconds: error.retryAfterSeconds } : known;
}

function fault(code: number, text: string): Fault {
  const children = [["errorCode", code] as const, ["errorMsg", text] as const];
  return { status: 500, xml: document("requestFault", children) };
}
