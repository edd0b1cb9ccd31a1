import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ownerWithin } from "../../src/model/access-scope.ts";
import { ownerIdOf, parseId, type TenantId, type UserId } from "../../src/model/ids.ts";

const userId = 7 as UserId;
const tenantId = 3 as TenantId;

describe("an id", () => {
  it("is a whole number from 1 to 2^31 - 1, written plainly", () => {
    assert.equal(parseId("1"), 1);
    assert.equal(parseId("2147483647"), 2_147_483_647);
    for (const text of ["2147483648", "9999999999", "0", "01", "-1", "+1", "1.0", "1e3", " 1", ""]) {
      assert.equal(parseId(text), undefined, text);
    }
  });
});

describe("an owner", () => {
  it("is a user by the user's id, a tenant by its id negated, and nobody by 0", () => {
    assert.equal(ownerIdOf({ userId, tenantId }), 7);
    assert.equal(ownerIdOf({ userId: null, tenantId }), -3);
    assert.equal(Math.abs(ownerIdOf({ userId: null, tenantId: null })), 0);
    assert.equal(ownerWithin({ kind: "user", userId }), 7);
    assert.equal(ownerWithin({ kind: "enterprise", tenantId }), -3);
  });
});
