import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { requireScopes } from "../../src/model/scope-errors.ts";
import { hasScope, parseScopes, type Scope, scopes, scopeText, storedScopes } from "../../src/model/scopes.ts";

describe("a scope parameter", () => {
  const cases: readonly (readonly [string | undefined, readonly Scope[] | null])[] = [
    [undefined, null],
    ["", null],
    ["openid admin * Devices:Read devices:rea", null],
    ["devices:read", ["devices:read"]],
    ["links  openid alerts\tdevices:read alerts", ["devices:read", "alerts", "links"]],
    ["alerts,webhooks", ["alerts", "webhooks"]],
    [scopes.toReversed().join(" "), scopes],
  ];
  for (const [sent, known] of cases) {
    it(`names ${known?.join(" ") ?? "everything"} when it is ${JSON.stringify(sent)}`, () => {
      assert.deepEqual(parseScopes(sent), known);
    });
  }
});

describe("scopes in the store", () => {
  it("are all when there is none, and never all because words of a later version are unknown", () => {
    assert.equal(storedScopes(null), null);
    assert.deepEqual(storedScopes("alerts later:words"), ["alerts"]);
    assert.deepEqual(storedScopes("later:words"), []);
    assert.throws(() => requireScopes({ scopes: [] }, ["alerts"]));
  });

  it("are written as words with spaces between them, and not at all when they are all", () => {
    assert.equal(scopeText(["alerts", "links"]), "alerts links");
    assert.equal(scopeText(null), null);
  });
});

describe("a call", () => {
  it("has a scope that was granted, and every scope without a list", () => {
    assert.equal(hasScope({ scopes: ["alerts"] }, "alerts"), true);
    assert.equal(hasScope({ scopes: ["alerts"] }, "links"), false);
    assert.equal(hasScope({ scopes: null }, "links"), true);
  });

  it("needs all of its scopes, and is told which are missing", () => {
    const needed = ["webhooks", "devices:read"] as const;
    requireScopes({ scopes: null }, needed);
    requireScopes({ scopes: ["devices:read", "webhooks"] }, needed);
    const sentence =
      "This call needs the scope webhooks devices:read, and the access token lacks devices:read. Use a token that was granted it.";
    assert.throws(() => requireScopes({ scopes: ["webhooks", "alerts"] }, needed), { message: sentence });
  });
});
