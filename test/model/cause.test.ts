import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { causes } from "../../src/model/cause.ts";

describe("the cause of a change", () => {
  it("is the ecosystem, a client, an alert or the administrator", () => {
    assert.deepEqual(causes, ["ecosystem", "client", "alert", "administrator"]);
  });
});
