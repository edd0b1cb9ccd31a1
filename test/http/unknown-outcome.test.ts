import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { errorAnswer } from "../../src/http/answer/error-response.ts";
import { OutcomeUnknown, StoreUnavailable } from "../../src/model/errors.ts";
import { faultOf } from "../../src/outlets/platform/faults.ts";

const lost = new OutcomeUnknown("The store's answer to COMMIT was lost (terminated).");
const sentence = "Breezeway can't tell whether the change was stored.";

describe("a change whose outcome is unknown", () => {
  it("is reported as such by every kind of call, and never as one that changed nothing", () => {
    const standard = errorAnswer(lost, "standard", "r-1");
    assert.deepEqual([standard.status, standard.headers["retry-after"]], [503, "5"]);
    assert.deepEqual(JSON.parse(String(standard.body)), {
      error: "outcome_unknown",
      error_description: `${sentence} Read before you repeat it.`,
      request_id: "r-1",
    });
    const keyed = JSON.parse(String(errorAnswer(lost.ofKeyedRequest(), "standard", "r-1").body));
    assert.equal(
      keyed.error_description,
      `${sentence} Repeat it with the same Idempotency-Key: it is carried out once.`,
    );
    const adaptor = errorAnswer(lost, "adaptor", "r-1");
    assert.deepEqual(JSON.parse(String(adaptor.body)), {
      errorCode: 124,
      errorMessage: `${sentence} Read before you repeat it.`,
    });
    assert.match(faultOf(lost).xml, /<errorCode>124<\/errorCode><errorMsg>Breezeway can't tell whether/);
    assert.ok(String(errorAnswer(lost, "page", "r-1").body).includes("tell whether the change was stored"));
  });

  it("differs from a store failure that changed nothing", () => {
    const away = new StoreUnavailable("The store can't be used now (ECONNREFUSED).");
    const { error, error_description } = JSON.parse(String(errorAnswer(away, "standard", "r-1").body));
    assert.deepEqual([error, /Nothing was changed/.test(error_description)], ["store_unavailable", true]);
    assert.match(faultOf(away).xml, /<errorCode>199<\/errorCode>.*Nothing was changed/);
  });
});
