import {
  AlreadyFederated,
  Conflict,
  EcosystemRefused,
  EcosystemUnreachable,
  Forbidden,
  InvalidClient,
  InvalidGrant,
  InvalidLogin,
  InvalidRequest,
  NotFederated,
  NotFound,
  NotSignedIn,
  OutcomeUnknown,
  QuotaExceeded,
  ReadOnlyAttribute,
  type Refused,
  ServiceError,
  TooManyRequests,
  Unavailable,
  UnexpectedAnswer,
  UnknownEcosystem,
  Unreachable,
} from "./errors.ts";
import type { Answer } from "./transport.ts";

/** The error numbers of the adaptor and the platform calls, with the codes of /v3 for the same errors. */
const codes: ReadonlyMap<number, string> = new Map([
  [101, "invalid_login"],
  [102, "invalid_request"],
  [103, "unknown_operation"],
  [106, "invalid_token"],
  [107, "too_many_requests"],
  [109, "unknown_device"],
  [110, "unknown_attribute"],
  [111, "read_only_attribute"],
  [112, "bad_value"],
  [113, "unknown_trigger"],
  [118, "already_federated"],
  [119, "not_federated"],
  [120, "unknown_ecosystem"],
  [121, "ecosystem_refused"],
  [122, "ecosystem_unreachable"],
  [123, "limit_reached"],
  [124, "outcome_unknown"],
  [199, "internal_error"],
]);

const byCode: ReadonlyMap<string, typeof ServiceError> = new Map<string, typeof ServiceError>([
  ["invalid_login", InvalidLogin],
  ["invalid_token", NotSignedIn],
  ["missing_token", NotSignedIn],
  ["too_many_requests", TooManyRequests],
  ["quota_exceeded", QuotaExceeded],
  ["unknown_device", NotFound],
  ["unknown_thing", NotFound],
  ["unknown_device_type", NotFound],
  ["unknown_command", NotFound],
  ["unknown_attribute", NotFound],
  ["unknown_trigger", NotFound],
  ["unknown_operation", NotFound],
  ["read_only_attribute", ReadOnlyAttribute],
  ["bad_value", InvalidRequest],
  ["already_federated", AlreadyFederated],
  ["not_federated", NotFederated],
  ["unknown_ecosystem", UnknownEcosystem],
  ["ecosystem_refused", EcosystemRefused],
  ["ecosystem_unreachable", EcosystemUnreachable],
  ["limit_reached", Conflict],
  ["invalid_grant", InvalidGrant],
  ["invalid_client", InvalidClient],
  ["invalid_request", InvalidRequest],
  ["internal_error", Unavailable],
  ["outcome_unknown", OutcomeUnknown],
]);

/** Classes for codes that are not in `byCode`. */
const byStatus: ReadonlyMap<number, typeof ServiceError> = new Map<number, typeof ServiceError>([
  [400, InvalidRequest],
  [401, NotSignedIn],
  [403, Forbidden],
  [404, NotFound],
  [409, Conflict],
  [413, InvalidRequest],
  [415, InvalidRequest],
  [422, InvalidRequest],
  [429, TooManyRequests],
]);

/** The typed error of a refusal in JSON: the error object of /v3 and /oauth2, or the numbered one of the adaptor. */
export function refusalInJson(answer: Answer): ServiceError | UnexpectedAnswer {
  const body = objectOf(answer.text);
  if (typeof body.errorCode === "number") {
    return numberedRefusal(answer, body.errorCode, textOf(body.errorMessage));
  }
  if (typeof body.error !== "string") return unexpectedAnswer(answer);
  const requestId = typeof body.request_id === "string" ? body.request_id : undefined;
  return refusal(answer, { code: body.error, requestId }, textOf(body.error_description));
}

/** The typed error of an error number. */
export function numberedRefusal(answer: Answer, errorCode: number, message: string): ServiceError {
  return refusal(answer, { code: codes.get(errorCode) ?? `error_${errorCode}`, errorCode }, message);
}

/** An answer that does not come from the service. A 5xx or 429 of a gateway counts like one of the service. */
export function unexpectedAnswer(answer: Answer): ServiceError | UnexpectedAnswer {
  const { status } = answer;
  if (status >= 500 || status === 429) return refusal(answer, { code: `http_${status}` }, "");
  return new UnexpectedAnswer(`The answer (HTTP ${status}) isn't one of the service.`, status);
}

/** Whether another attempt may succeed. */
export function isTemporary(error: unknown): boolean {
  if (error instanceof Unreachable) return true;
  return error instanceof ServiceError && error.status !== undefined && (error.status >= 500 || error.status === 429);
}

function refusal(answer: Answer, facts: Partial<Refused> & { readonly code: string }, message: string): ServiceError {
  const { status, retryAfterSeconds } = answer;
  const byRange = status >= 500 ? Unavailable : ServiceError;
  const Kind = byCode.get(facts.code) ?? byStatus.get(status) ?? byRange;
  const sentence = message === "" ? `The service refused the call (HTTP ${status}).` : message;
  const requestId = facts.requestId ?? answer.requestId;
  return new Kind(answer.redact(sentence), { ...facts, status, retryAfterSeconds, requestId });
}

function objectOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
