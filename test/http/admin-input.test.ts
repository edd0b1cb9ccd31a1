import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Incoming } from "../../src/http/request/incoming.ts";
import { BadParameter } from "../../src/model/errors.ts";
import type { AdminCall, AdminField } from "../../src/operators/admin-call.ts";
import { inputOf } from "../../src/outlets/admin/admin-routes.ts";

const fields: readonly AdminField[] = [
  { option: "full-name", kind: "text", meaning: "", isRequired: true },
  { option: "redirect-uri", kind: "texts", meaning: "" },
  { option: "is-admin", kind: "flag", meaning: "" },
  { option: "days", kind: "number", meaning: "" },
  { option: "settings", kind: "object", meaning: "" },
];

/** What a call makes of a request. */
function input(method: AdminCall["method"], sent: Partial<Incoming>, call: Partial<AdminCall> = {}) {
  const request = { pathParameters: {}, query: [], body: { kind: "none" }, ...sent } as unknown as Incoming;
  return inputOf({ method, fields, ...call } as AdminCall, request);
}
const json = (value: unknown) => ({ body: { kind: "json", value } as never });
const query = (...pairs: readonly (readonly [string, string])[]) => ({ query: pairs as never });

describe("the input of a command over HTTP", () => {
  it("comes from the body, by the names of the options", () => {
    const members = { fullName: "Ada", redirectUri: ["a", "b"], isAdmin: true, days: 3, settings: { a: 1 } };
    assert.deepEqual(input("POST", { ...json(members), pathParameters: { user: "7" } as never }), {
      "full-name": "Ada",
      "redirect-uri": ["a", "b"],
      "is-admin": true,
      days: "3",
      settings: { a: 1 },
      user: "7",
    });
    assert.deepEqual(input("PATCH", json({ fullName: "Ada", isAdmin: "false", days: "4", settings: null })), {
      "full-name": "Ada",
      "is-admin": false,
      days: "4",
      settings: undefined,
    });
    assert.deepEqual(input("POST", {}, { fields: [] }), {});
  });

  it("comes from the query of a read, where lists repeat a name and unknown names are ignored", () => {
    const pairs = query(
      ["fullName", "Ada"],
      ["redirectUri", "a"],
      ["other", "x"],
      ["redirectUri", "b"],
      ["isAdmin", "true"],
    );
    assert.deepEqual(input("GET", pairs), { "full-name": "Ada", "redirect-uri": ["a", "b"], "is-admin": true });
    assert.throws(() => input("GET", query(["fullName", "Ada"], ["fullName", "Eve"])), /fullName must be sent once/);
    assert.equal(input("DELETE", query(["fullName", "Ada"]))["full-name"], "Ada");
  });

  it("of a list has a page size", () => {
    const paged = { fields: [], isPaged: true } as const;
    assert.deepEqual(input("GET", {}, paged), { "page-size": "50" });
    assert.deepEqual(input("GET", query(["pageSize", "7"]), paged), { "page-size": "7" });
  });

  it("is refused with the name of the member", () => {
    for (const [value, sentence] of [
      [{}, /fullName is missing/],
      [{ fullName: null }, /fullName is missing/],
      [{ fullName: "Ada", nickname: "x" }, /It takes: fullName, redirectUri, isAdmin, days, settings\./],
      [{ fullName: 5 }, /fullName must be a text/],
      [{ fullName: "Ada", redirectUri: "a" }, /redirectUri must be a list of texts/],
      [{ fullName: "Ada", redirectUri: ["a", 5] }, /redirectUri must be a list of texts/],
      [{ fullName: "Ada", isAdmin: "yes" }, /isAdmin must be true or false/],
      [{ fullName: "Ada", days: true }, /days must be a number/],
      [{ fullName: "Ada", settings: [] }, /settings must be an object/],
      [{ fullName: "Ada", settings: "{}" }, /settings must be an object/],
    ] as const) {
      const refused = (error: unknown) => error instanceof BadParameter && sentence.test(error.message);
      assert.throws(() => input("POST", json(value)), refused, JSON.stringify(value));
    }
    assert.throws(() => input("POST", json({ a: 1 }), { fields: [] }), /It takes: none\./);
    for (const value of [null, [], "text", 5]) assert.throws(() => input("POST", json(value)), /must be a JSON object/);
    assert.throws(() => input("POST", { body: { kind: "form" } as never }), /Content-Type/i);
  });
});
