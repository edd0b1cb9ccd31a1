import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { allOf } from "../../src/account/apps.ts";
import { scopes } from "../../src/model/scopes.ts";

describe("an app on the account page", () => {
  it("has the rights of all its grants, and may control devices if one of them names it", () => {
    assert.deepEqual(allOf([["alerts"], ["devices:read", "alerts"]]), ["devices:read", "alerts"]);
    assert.equal(allOf([null]), null);
    assert.equal(allOf([["alerts"], null]), null, "without scopes only fans can be controlled");
    assert.deepEqual(allOf([null, ["devices:control"]]), scopes);
  });
});
