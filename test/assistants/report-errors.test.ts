import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { errorsByCode } from "../../src/assistants/report-errors.ts";

describe("the errors of an outlet's reports", () => {
  it("are counted by the maker's code, else by the status, else by what happened", () => {
    const retry = { outcome: "retry" } as const;
    const noToken = "no token for the service account: Google answered 400 invalid_grant";
    assert.deepEqual(
      errorsByCode([
        { outcome: "taken", status: 202, text: null, count: 90 },
        { ...retry, status: 403, text: "answered 403 INVALID_ACCESS_TOKEN_EXCEPTION", count: 1 },
        { outcome: "refused", status: 400, text: "answered 400 INVALID_ACCESS_TOKEN_EXCEPTION", count: 1 },
        { outcome: "forgotten", status: 404, text: "Google answered 404 NOT_FOUND", count: 4 },
        { ...retry, status: 503, text: "answered 503", count: 3 },
        { ...retry, status: null, text: noToken, count: 1 },
        { ...retry, status: null, text: "no answer in time", count: 1 },
      ]),
      [
        { code: "NOT_FOUND", count: 4 },
        { code: "HTTP 503", count: 3 },
        { code: "INVALID_ACCESS_TOKEN_EXCEPTION", count: 2 },
        { code: "invalid_grant", count: 1 },
        { code: "no answer in time", count: 1 },
      ],
    );
    assert.deepEqual(errorsByCode([]), []);
  });
});
