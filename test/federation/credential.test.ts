import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isCredential, openCredential, sealCredential, secretsOf } from "../../src/federation/credential.ts";
import { tokenContext } from "../../src/federation/link-key.ts";
import type { UserId } from "../../src/model/ids.ts";
import { sealingWith } from "../../src/store/keys/sealing.ts";

const link = { userId: 1 as UserId, ecosystem: "hearth" };
const [oldKey, newKey] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];
const { seal, open } = sealingWith(oldKey);
const given = { accessToken: "access-1", refreshToken: "refresh-1", expiresMs: 5, project: { id: "kept-verbatim" } };

describe("the credential of a link", () => {
  it("is stored with all members, beside the token that nodes of the version before read", () => {
    const sealed = sealCredential(seal, link, given);
    assert.deepEqual(openCredential(open, { ...link, ...sealed }), { credential: given, isRenewable: true });
    assert.equal(open(sealed.sealedToken, tokenContext(link.userId, link.ecosystem)), "access-1");
  });

  it("is the token alone when no credential is stored", () => {
    const sealed = sealCredential(seal, link, "access-1");
    assert.equal(sealed.sealedCredential, null);
    const expected = { credential: { accessToken: "access-1" }, isRenewable: false };
    assert.deepEqual(openCredential(open, { ...link, ...sealed }), expected);
  });

  it("never wins over a token that a node of the version before has stored later", () => {
    const { sealedCredential } = sealCredential(seal, link, given);
    const { sealedToken } = sealCredential(seal, link, "access-2");
    const opened = openCredential(open, { ...link, sealedToken, sealedCredential });
    assert.deepEqual(opened, { credential: { accessToken: "access-2" }, isRenewable: false });
  });

  it("stays valid when a node of the version before reseals the token with another key", () => {
    const { sealedCredential } = sealCredential(seal, link, given);
    const both = sealingWith(newKey, oldKey);
    const { sealedToken } = sealCredential(both.seal, link, "access-1");
    const opened = openCredential(both.open, { ...link, sealedToken, sealedCredential });
    assert.deepEqual(opened, { credential: given, isRenewable: true });
  });

  it("leaves the token in use when the credential alone can't be opened, and says why", () => {
    const { sealedCredential } = sealCredential(seal, link, given);
    const only = sealingWith(newKey);
    const { sealedToken } = sealCredential(only.seal, link, "access-1");
    const { fault, ...opened } = openCredential(only.open, { ...link, sealedToken, sealedCredential });
    assert.deepEqual(opened, { credential: { accessToken: "access-1" }, isRenewable: false });
    assert.match(String(fault), /a value was sealed with key/);
  });

  it("opens only for its own link, and a token never opens as a credential", () => {
    const sealed = sealCredential(seal, link, given);
    assert.throws(() => openCredential(open, { ...link, ...sealed, ecosystem: "other" }));
    const swapped = { sealedToken: sealed.sealedToken, sealedCredential: sealed.sealedToken };
    assert.equal(openCredential(open, { ...link, ...swapped }).isRenewable, false);
  });

  it("must have an access token, and only members that can be used", () => {
    assert.ok(isCredential({ accessToken: "a" }));
    for (const wrong of [
      null,
      "a",
      {},
      { accessToken: "" },
      { accessToken: 1 },
      { accessToken: "a", refreshToken: 2 },
      { accessToken: "a", expiresMs: "soon" },
      { accessToken: "a", expiresMs: Number.NaN },
    ]) {
      assert.equal(isCredential(wrong), false, JSON.stringify(wrong));
    }
  });

  it("names the texts that must not be shown, at any depth", () => {
    assert.deepEqual(secretsOf({ ...given, unit: "c" }), ["access-1", "refresh-1", "kept-verbatim"]);
    assert.deepEqual(secretsOf(undefined), []);
  });
});
