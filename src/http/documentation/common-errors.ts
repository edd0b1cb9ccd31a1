import { integer, named, object, text } from "../../model/json-schema.ts";
import type { ErrorShape } from "../answer/error-shape.ts";
import type { ContentDescription, ErrorDescription } from "./description.ts";

/** The content of an error answer, for each error shape. */
export const errorContents: Readonly<Record<ErrorShape, ContentDescription>> = {
  standard: {
    contentType: "application/json",
    schema: named(
      "Error",
      object("What was wrong, for a program and for a person.", {
        error: text("A stable code in snake_case."),
        error_description: text("A sentence that names the field and what is allowed. It never repeats what was sent."),
        request_id: text("The same as in the `X-Request-Id` header and in the service's log.", { format: "uuid" }),
      }),
    ),
    example: {
      error: "not_found",
      error_description: "There is nothing at this path.",
      request_id: "0b1e6a52-7c0f-4a8e-9a53-6f2d1c6f8f10",
    },
  },
  adaptor: {
    contentType: "application/json",
    schema: named(
      "AdaptorError",
      object("A refusal by the adaptor interface, with the numbers that its clients know.", {
        errorCode: integer("Which refusal it is."),
        errorMessage: text("The same in a sentence."),
      }),
    ),
    example: { errorCode: 106, errorMessage: "Invalid security token." },
  },
  page: { contentType: "text/html", schema: { type: "string", description: "A page that says what is wrong." } },
  fault: {
    contentType: "text/xml",
    schema: named("PlatformFault", {
      ...object("A platform call that failed.", {
        errorCode: integer("Which fault it is."),
        errorMsg: text("The same in a sentence."),
      }),
      xml: { name: "requestFault", prefix: "ns1", namespace: "http://arrayent.com/zamapi/" },
    }),
    example:
      '<?xml version="1.0" encoding="UTF-8"?>\n<ns1:requestFault xmlns:ns1="http://arrayent.com/zamapi/"><errorCode>106</errorCode><errorMsg>Invalid security token.</errorMsg></ns1:requestFault>',
  },
};

/** Errors that are not listed at each operation. */
export const commonErrors: readonly ErrorDescription[] = [
  { status: 400, code: "invalid_request", when: "The request, its percent-encoding or its JSON is malformed." },
  { status: 404, code: "not_found", when: "There is nothing at this path." },
  { status: 405, code: "method_not_allowed", when: "The path takes other methods; `Allow` names them." },
  { status: 408, code: "request_timeout", when: "The request did not arrive in time." },
  {
    status: 409,
    code: "limit_reached",
    when: "The query or the form has more than 10,000 parameters; or large bodies of the tenant with more than 16 MiB together arrive at the same time, and `Retry-After` says when to try again.",
  },
  {
    status: 413,
    code: "body_too_large",
    when: "The body is larger than the path takes: 64 KiB, 16 KiB below `/oauth2`.",
  },
  {
    status: 415,
    code: "unsupported_media_type",
    when: "The path doesn't take this `Content-Type`; `Accept` names those it takes.",
  },
  {
    status: 429,
    code: "too_many_requests",
    when: "Too many failed attempts, too many attempts at once, or too many calls to other services that have no answer yet; `Retry-After` says when to try again.",
  },
  {
    status: 429,
    code: "quota_exceeded",
    when: "The client or its tenant has used up a quota: requests or commands a minute, or open streams. Nothing was changed. `Retry-After` says when to try again.",
  },
  {
    status: 431,
    code: "headers_too_large",
    when: "The request line and headers are larger than 48 KB (49,152 bytes).",
  },
  { status: 500, code: "internal_error", when: "An internal error. The request id finds it in the service's log." },
  {
    status: 503,
    code: "store_unavailable",
    when: "The service can't use its store now. Nothing was changed. `Retry-After` says when to try again.",
  },
  {
    status: 503,
    code: "outcome_unknown",
    when: "The connection to the store ended before it confirmed the change: it may be stored or not. Read before you repeat the request, or repeat it with the same `Idempotency-Key` if it had one.",
  },
];

export const unexpectedBody: ErrorDescription = {
  status: 400,
  code: "invalid_request",
  when: "A body was sent, and this path takes none.",
};
