import type { IncomingMessage } from "node:http";
import {
  BreezewayError,
  IdempotencyKeyInUse,
  LimitReached,
  OutcomeUnknown,
  StoreUnavailable,
  storeFailureSentence,
  TooManyRequests,
} from "../../model/errors.ts";
import { InsufficientScope } from "../../model/scope-errors.ts";
import { messagePage } from "../../web/message-page.ts";
import type { Exchange } from "../exchange.ts";
import { formBody, jsonBody } from "../request/body-types.ts";
import { type Answer, jsonAnswer, pageAnswer, xmlAnswer } from "./answer.ts";
import type { ErrorShape } from "./error-shape.ts";
import { type Failure, internalError } from "./failure.ts";
import { plainSentence } from "./plain-sentence.ts";
import { platformFault } from "./platform-fault.ts";
import { Refusal, refusals } from "./refusal.ts";

/** The HTTP status and the adaptor's number of each error code. */
const answers: Readonly<Record<string, { readonly status: number; readonly errorCode: number }>> = {
  invalid_login: { status: 401, errorCode: 101 },
  bad_parameter: { status: 400, errorCode: 102 },
  unknown_operation: { status: 404, errorCode: 103 },
  invalid_sec_token: { status: 401, errorCode: 106 },
  // Only the log and the metrics see this status, which proxies use for a client that disconnected.
  client_gone: { status: 499, errorCode: 107 },
  too_many_requests: { status: 429, errorCode: 107 },
  quota_exceeded: { status: 429, errorCode: 107 },
  unknown_device: { status: 404, errorCode: 109 },
  unknown_thing: { status: 404, errorCode: 109 },
  unknown_device_type: { status: 404, errorCode: 109 },
  unknown_command: { status: 404, errorCode: 109 },
  already_federated: { status: 409, errorCode: 118 },
  not_federated: { status: 404, errorCode: 119 },
  unknown_ecosystem: { status: 400, errorCode: 120 },
  ecosystem_refused: { status: 422, errorCode: 121 },
  ecosystem_unreachable: { status: 503, errorCode: 122 },
  conflict: { status: 409, errorCode: 102 },
  // An operator who rotates keys learns which key the key file lacks.
  wrong_key: { status: 409, errorCode: 102 },
  not_found: { status: 404, errorCode: 102 },
  unknown_attribute: { status: 404, errorCode: 110 },
  read_only_attribute: { status: 403, errorCode: 111 },
  value_too_large: { status: 413, errorCode: 112 },
  bad_value: { status: 400, errorCode: 112 },
  unknown_trigger: { status: 404, errorCode: 113 },
  too_many_triggers: { status: 409, errorCode: 113 },
  limit_reached: { status: 409, errorCode: 123 },
  too_many_idempotency_keys: { status: 409, errorCode: 123 },
  idempotency_key_in_use: { status: 409, errorCode: 102 },
  idempotency_key_reused: { status: 422, errorCode: 102 },
  misplaced_token: { status: 400, errorCode: 102 },
  missing_token: { status: 401, errorCode: 106 },
  invalid_token: { status: 401, errorCode: 106 },
  enterprise_only: { status: 403, errorCode: 106 },
  insufficient_scope: { status: 403, errorCode: 106 },
  not_signed_in: { status: 401, errorCode: 106 },
  operator_forbidden: { status: 403, errorCode: 106 },
  password_needed: { status: 403, errorCode: 106 },
  foreign_origin: { status: 403, errorCode: 106 },
  invalid_client: { status: 401, errorCode: 106 },
  invalid_grant: { status: 400, errorCode: 102 },
  invalid_scope: { status: 400, errorCode: 102 },
  unauthorized_client: { status: 400, errorCode: 102 },
  unsupported_grant_type: { status: 400, errorCode: 102 },
};
const storeRetrySeconds = 5;

/** Turns errors into answers; the only place that does. An unexpected error reveals no detail. */
export function errorAnswer(error: unknown, shape: ErrorShape, requestId: string): Answer {
  const { status, code, errorCode, sentence, headers } = describe(asExpected(error));
  // A fault is HTTP 500, as clients of the platform calls expect. Refusals by HTTP itself keep their status.
  const faultStatus = error instanceof BreezewayError ? 500 : status;
  if (shape === "fault") return xmlAnswer(faultStatus, platformFault(errorCode, sentence), headers);
  if (shape === "page") return pageAnswer(status, messagePage({ kind: "error", sentence, requestId }), headers);
  const body =
    shape === "adaptor"
      ? { errorCode, errorMessage: sentence }
      : { error: code, error_description: sentence, request_id: requestId };
  return jsonAnswer(status, body, headers);
}

/** Status, code and sentence of an error, for a part of an answer. */
export function errorFields(error: unknown): Pick<ReturnType<typeof describe>, "status" | "code" | "sentence"> {
  return describe(asExpected(error));
}

/** The answer to a failed request. The exchange keeps the failure for the log and the metrics. */
export function failureAnswer(
  error: unknown,
  shape: ErrorShape,
  exchange: Pick<Exchange, "request" | "requestId" | "failure"> | undefined,
): Answer {
  if (exchange) exchange.failure = failureOf(error, exchange.request);
  return errorAnswer(error, shape, exchange?.requestId ?? "");
}

/** The failure for the log; undefined when the client disconnected before its body was complete, which is normal. */
export function failureOf(error: unknown, request: IncomingMessage): Failure | undefined {
  if (request.destroyed && !request.complete) return undefined;
  const { code } = describe(asExpected(error));
  return needsOperator(error) ? { code, error } : { code };
}

/** Whether an operator has to look into it: the error is unexpected, or the store failed. */
function needsOperator(error: unknown): boolean {
  const known = asExpected(error);
  return known === undefined || known instanceof StoreUnavailable;
}

type ExpectedError = BreezewayError | Refusal | undefined;

function asExpected(error: unknown): ExpectedError {
  if (error instanceof Refusal || error instanceof StoreUnavailable) return error;
  if (error instanceof BreezewayError) return error.code in answers ? error : undefined;
  return refusalByFastify(error);
}

/** Fastify's own refusals, with our texts: Fastify's messages repeat parts of the request. */
function refusalByFastify(error: unknown): Refusal | undefined {
  if (!(error instanceof Error) || !("code" in error) || !String(error.code).startsWith("FST_ERR_")) return undefined;
  if (error.code === "FST_ERR_CTP_INVALID_MEDIA_TYPE") return refusals.wrongContentType(formBody, jsonBody);
  const isClientError = "statusCode" in error && Number(error.statusCode) >= 400 && Number(error.statusCode) < 500;
  return isClientError ? refusals.malformed("The request is malformed.") : undefined;
}

function describe(error: ExpectedError) {
  if (error instanceof Refusal) {
    const { status, code, message: sentence, headers } = error;
    return { status, code, errorCode: refusalNumbers[status] ?? 102, sentence, headers };
  }
  if (error instanceof StoreUnavailable) {
    const headers = { "retry-after": String(storeRetrySeconds) };
    const errorCode = error instanceof OutcomeUnknown ? 124 : 199;
    return { status: 503, code: error.code, errorCode, sentence: storeFailureSentence(error), headers };
  }
  const known = error && answers[error.code];
  if (!known) return { status: 500, code: internalError, errorCode: 199, sentence: "Internal error.", headers: {} };
  const sentence = plainSentence(error.message);
  return { ...known, code: wireCodes[error.code] ?? error.code, sentence, headers: headersOf(error) };
}

/**
 * The adaptor's number of a refusal by its status; 102 for all others. An unknown path or method counts as an unknown
 * operation.
 */
const refusalNumbers: Readonly<Record<number, number>> = { 404: 103, 405: 103 };

/** Codes that RFC 6749 names differently. */
const wireCodes: Readonly<Record<string, string>> = {
  bad_parameter: "invalid_request",
  bad_value: "invalid_request",
  misplaced_token: "invalid_request",
  wrong_key: "conflict",
};

/** `WWW-Authenticate` of a 400, 401 or 403 (RFC 6749 5.2, RFC 6750 3). A call without any token gets no error code. */
const challenges: Readonly<Record<string, string>> = {
  misplaced_token: 'Bearer error="invalid_request"',
  invalid_token: 'Bearer error="invalid_token"',
  invalid_client: 'Basic realm="breezeway"',
};

function headersOf(error: BreezewayError): Readonly<Record<string, string>> {
  if (error instanceof LimitReached && error.limit === "arrivingBytesPerTenant") return { "retry-after": "1" };
  if (error instanceof TooManyRequests || error instanceof IdempotencyKeyInUse)
    return { "retry-after": String(error.retryAfterSeconds) };
  if (error instanceof InsufficientScope) {
    return { "www-authenticate": `Bearer error="insufficient_scope", scope="${error.needed.join(" ")}"` };
  }
  // Some clients (Android's among them) throw on a 401 that names no scheme.
  const challenge = challenges[error.code] ?? (answers[error.code]?.status === 401 ? "Bearer" : undefined);
  return challenge === undefined ? {} : { "www-authenticate": challenge };
}
