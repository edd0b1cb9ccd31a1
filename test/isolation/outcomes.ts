import assert from "node:assert/strict";
import type { KeyKind } from "./calls.ts";
import type { Address } from "./every-address.ts";
import { header, summaryOf, type WireAnswer } from "./wire.ts";

/** Asserts that the address refused the key, in the format of its kind, whatever was requested. */
export function assertClosed({ errors }: Address, kind: KeyKind, answer: WireAnswer, label: string): void {
  const { status, text } = answer;
  const refused = `${label}: ${summaryOf(answer)}`;
  if (errors === "fault") {
    assert.equal(status, 500, refused);
    // A missing password is a missing parameter.
    assert.match(text, kind === "password" ? /<errorCode>(101|102)</ : /<errorCode>106</, refused);
  } else if (errors === "adaptor" && kind === "password") {
    const { errorCode } = JSON.parse(text);
    assert.ok((status === 403 && errorCode === 101) || (status === 400 && errorCode === 102), refused);
  } else if (kind === "account") {
    // A caller without a session is asked to sign in.
    if (status === 200) assert.match(text, /name="username"/, refused);
    else assert.match(header(answer, "location") ?? "", /^\/account\/\d+\?done=session-ended$/, refused);
  } else if (errors === "page") {
    assert.ok(status === 400 || status === 401, refused);
    assert.equal(header(answer, "location"), undefined, refused);
  } else {
    assert.equal(status, 401, refused);
    const body = JSON.parse(text);
    if (errors === "adaptor") assert.equal(body.errorCode, 106, refused);
    else assert.ok(namesOf(kind).includes(body.error), refused);
    assert.match(header(answer, "www-authenticate") ?? "", kind === "client" ? /^Basic/ : /^Bearer/, refused);
  }
}

function namesOf(kind: KeyKind): readonly string[] {
  return kind === "client" ? ["invalid_client"] : ["missing_token", "invalid_token"];
}

/**
 * Asserts that answers are equal byte for byte, except for parts that always differ: request id, time, and what a page
 * seals or draws.
 */
export function assertAlike(one: WireAnswer, other: WireAnswer, label: string): void {
  assert.deepEqual(comparable(one), comparable(other), label);
}

function comparable(answer: WireAnswer) {
  const requestId = header(answer, "x-request-id") ?? "";
  const headers = answer.headers
    .filter(([name]) => !["date", "x-request-id"].includes(name.toLowerCase()))
    .map(([name, value]) => [name, value.replace(/^(breezeway(?:-account-\d+)?=)[\w-]+/, "$1…")]);
  const text = answer.text
    .replaceAll(requestId, "…")
    .replace(/(<input type="hidden" name="\w+" value=")[^"]*/g, "$1…")
    .replace(/(name="username"[^>]* value=")[^"]*/g, "$1…");
  return { status: answer.status, headers, text };
}
