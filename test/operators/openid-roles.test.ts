import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readOpenIdRoles } from "../../src/config/openid-roles.ts";
import { ruleFor } from "../../src/operators/openid/role-rules.ts";

describe("the rules that give operators a role by their claims", () => {
  const rules = readOpenIdRoles(
    JSON.stringify([
      { claim: "groups", value: "ops", role: "owner" },
      { claim: "is_auditor", value: "true", role: "viewer" },
      { claim: "team", value: "acme", role: "tenantAdmin", tenants: ["Acme"] },
    ]),
  );
  const roleOf = (claims: Readonly<Record<string, unknown>>) => ruleFor(rules, claims)?.role;

  it("match a text, one text of a list, or true, and the first rule decides", () => {
    assert.equal(roleOf({ groups: ["staff", "ops"] }), "owner");
    assert.equal(roleOf({ groups: "ops", team: "acme" }), "owner");
    assert.equal(roleOf({ is_auditor: true }), "viewer");
    assert.equal(roleOf({ team: "acme" }), "tenantAdmin");
  });

  it("match nothing else", () => {
    for (const claims of [
      {},
      { groups: ["OPS"] },
      { groups: { ops: true } },
      { groups: "staff ops" },
      { groups: ["opsies"] },
      { groups: [["ops"]] },
      { is_auditor: false },
      { team: null },
      Object.create({ groups: "ops" }),
    ]) {
      assert.equal(roleOf(claims), undefined, JSON.stringify(claims));
    }
  });

  it("are refused with a sentence when they are not as they must be", () => {
    for (const [rule, sentence] of [
      [{ claim: "groups", value: "ops" }, /needs a "role" in rule 1/],
      [{ claim: "groups", value: "ops", role: "king" }, /needs a "role" in rule 1: owner, tenantAdmin, viewer/],
      [{ value: "ops", role: "owner" }, /needs the texts "claim" and "value"/],
      [{ claim: "groups", value: "ops", role: "tenantAdmin" }, /needs "tenants" for a tenantAdmin/],
      [{ claim: "groups", value: "ops", role: "owner", tenants: ["Acme"] }, /names tenants for an owner/],
      [{ claim: "groups", value: "ops", role: "viewer", tenant: "Acme" }, /unknown member "tenant"/],
      ["owner", /must hold an object/],
    ] as const) {
      assert.throws(() => readOpenIdRoles(JSON.stringify([rule])), sentence);
    }
    assert.throws(() => readOpenIdRoles("[]"), /must be a JSON list of rules/);
    assert.throws(() => readOpenIdRoles("[{"), /is not JSON/);
  });
});
