import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Account } from "../../src/account/account.ts";
import { InvalidLogin } from "../../src/model/errors.ts";
import { actOf } from "../../src/outlets/account/account-acts.ts";
import type { SignedInVisit } from "../../src/outlets/account/visit.ts";

const visit = {
  brand: { tenantName: "Acme", accent: undefined, logoUrl: undefined, supportUrl: undefined },
  cookie: { clear: () => "session=; Max-Age=0" },
  secret: "secret",
  address: "/account/1",
  incoming: { source: "192.0.2.1" },
  user: { userId: 7, tenantId: 1, name: "ada", createdMs: 0 },
} as unknown as SignedInVisit;

const form = Object.entries({ deleteAccount: "yes", decision: "confirm", password: "correct horse" });

async function deletion(deleteAccount: Account["deleteAccount"]) {
  const act = actOf({ account: { deleteAccount } as Account, baseUrl: () => "https://here" });
  const { status, body } = await act(visit, form);
  return { status, text: String(body) };
}

describe("a second click on the button that deletes an account", () => {
  it("reads that the account is deleted, or that this goes on", async () => {
    const deleted = await deletion(async () => "deleted");
    assert.equal(deleted.status, 200);
    assert.match(deleted.text, /Your account is deleted/);
    const underway = await deletion(async () => "underway");
    assert.equal(underway.status, 200);
    assert.match(underway.text, /Your account is being deleted/);
    assert.doesNotMatch(underway.text, /Everything that belonged to it is removed/);
  });

  it("reads that the password is wrong only when the account still exists", async () => {
    const wrong = await deletion(() => Promise.reject(new InvalidLogin()));
    assert.equal(wrong.status, 401);
    assert.match(wrong.text, /The password is wrong\. Nothing was deleted/);
  });
});
