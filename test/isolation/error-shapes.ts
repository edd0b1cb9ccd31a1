import assert from "node:assert/strict";
import type { Address } from "./every-address.ts";
import { header, summaryOf, type WireAnswer } from "./wire.ts";

/** Refused by the service, or redirected to the client with an error. */
export function isRefused(answer: WireAnswer): boolean {
  return answer.status >= 400 || /[?&]error=/.test(header(answer, "location") ?? "");
}

/**
 * Asserts one clear refusal in the format of its address. A page has the standard format for requests that reach no
 * address, or use a wrong method; the adaptor and the platform calls never have it.
 */
export function assertRefusalShape(errors: Address["errors"], answer: WireAnswer, mayBeNowhere = false): void {
  const { status } = answer;
  const refused = summaryOf(answer);
  assert.equal(header(answer, "cache-control"), "no-store", refused);
  assert.equal(header(answer, "x-content-type-options"), "nosniff", refused);
  assert.match(header(answer, "x-request-id") ?? "", /^[0-9a-f-]{36}$/, refused);
  const isRedirected = header(answer, "location") !== undefined;
  assert.ok((status >= 400 && status < 500) || isRedirected || (status === 500 && errors === "fault"), refused);
  const isCommon = status === 405 || status === 431 || (mayBeNowhere && answer.text.startsWith('{"error":'));
  if (isRedirected) assertErrorRedirect(answer, refused);
  else if (errors === "fault") assertFault(answer, refused);
  else if (errors === "adaptor") assertAdaptorError(answer, refused);
  else if (errors === "page" && !isCommon) assertPage(answer, refused);
  else assertErrorObject(answer, refused);
}

/** A sentence may begin with the lower-case name of an ecosystem. */
const sentence = /^(?:[A-Z]|nest )[^\n]{3,300}\.$/;

function assertErrorObject(answer: WireAnswer, refused: string): void {
  assert.equal(header(answer, "content-type"), "application/json; charset=utf-8", refused);
  const body = JSON.parse(answer.text);
  assert.deepEqual(Object.keys(body), ["error", "error_description", "request_id"], refused);
  assert.match(body.error, /^[a-z]+(_[a-z]+)*$/, refused);
  assert.match(body.error_description, sentence, refused);
  assert.equal(body.request_id, header(answer, "x-request-id"), refused);
}

/** The status of each number; 102 also stands for malformed HTTP. */
const adaptorStatuses: Readonly<Record<number, readonly number[]>> = {
  101: [403],
  102: [400, 408, 413, 415, 431],
  103: [404, 405],
  106: [401],
  109: [404],
  118: [409],
  119: [404],
  120: [400],
  121: [422],
};

function assertAdaptorError(answer: WireAnswer, refused: string): void {
  assert.equal(header(answer, "content-type"), "application/json; charset=utf-8", refused);
  const body = JSON.parse(answer.text);
  assert.deepEqual(Object.keys(body), ["errorCode", "errorMessage"], refused);
  assert.ok(adaptorStatuses[body.errorCode]?.includes(answer.status), refused);
  assert.match(body.errorMessage, sentence, refused);
}

const fault =
  /^<\?xml version="1.0" encoding="UTF-8"\?>\n<ns1:requestFault xmlns:ns1="http:\/\/arrayent.com\/zamapi\/"><errorCode>(\d+)<\/errorCode><errorMsg>([^<]+)<\/errorMsg><\/ns1:requestFault>$/;

function assertFault(answer: WireAnswer, refused: string): void {
  assert.equal(header(answer, "content-type"), "text/xml; charset=utf-8", refused);
  const [, code = "", message = ""] = fault.exec(answer.text) ?? [];
  // Not 199, which is an internal error.
  assert.ok(Number(code) >= 101 && Number(code) <= 124, refused);
  assert.match(message, sentence, refused);
}

function assertPage(answer: WireAnswer, refused: string): void {
  assert.equal(header(answer, "content-type"), "text/html; charset=utf-8", refused);
  assert.match(header(answer, "content-security-policy") ?? "", /default-src 'none'.*frame-ancestors 'none'/, refused);
  assert.equal(header(answer, "x-frame-options"), "DENY", refused);
  assert.match(answer.text, /^<!doctype html>[\s\S]*<h1>[^<]+<\/h1>[\s\S]*<p[\s\S]*<\/html>\n$/, refused);
}

/** Redirected to the client's own address, with the codes of RFC 6749. */
function assertErrorRedirect(answer: WireAnswer, refused: string): void {
  assert.equal(answer.status, 302, refused);
  const location = new URL(header(answer, "location")!);
  assert.equal(location.origin + location.pathname, "http://127.0.0.1:9/callback", refused);
  assert.match(location.searchParams.get("error") ?? "", /^[a-z_]+$/, refused);
  assert.match(location.searchParams.get("error_description") ?? "", sentence, refused);
}
