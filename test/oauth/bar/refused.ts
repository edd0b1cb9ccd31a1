import assert from "node:assert/strict";
import { type Answered, callback, type OAuthWorld } from "../oauth-world.ts";

/** Asserts a complete error object with that status and one of these codes, and headers against caching. */
export function assertRefused(answer: Answered, status: number, ...errors: readonly string[]): void {
  const body = JSON.stringify(answer.body);
  assert.equal(answer.status, status, body);
  assert.deepEqual(Object.keys(answer.body).sort(), ["error", "error_description", "request_id"], body);
  assert.ok(errors.includes(answer.body.error), body);
  assert.match(answer.body.error_description, /^[A-Z].*\.$/, body);
  assert.equal(answer.body.request_id, answer.headers.get("x-request-id"));
  assert.match(answer.headers.get("cache-control") ?? "", /\bno-store\b/);
}

/** Asserts invalid_client: 401 with the accepted scheme. */
export function assertInvalidClient(answer: Answered): void {
  assertRefused(answer, 401, "invalid_client");
  assert.match(answer.headers.get("www-authenticate") ?? "", /^Basic\b/);
}

/** Asserts a redirect to the client with that error and without a code or a page. */
export async function assertErrorRedirect(world: OAuthWorld, address: string, error: string): Promise<void> {
  const shown = await world.browser().get(address);
  assert.equal(shown.status, 302, `${address}: ${shown.status} ${shown.body}`);
  const location = new URL(shown.location);
  const { state, iss, error: sentError, code } = Object.fromEntries(location.searchParams);
  assert.equal(location.origin + location.pathname, callback);
  assert.deepEqual([state, iss, sentError, code], ["s-1", world.baseUrl, error, undefined]);
  assert.equal(shown.form, undefined);
}
