import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { hashOf, isOwnedSecret, keyOf, newOwnedSecret, newSecret, withOwner } from "../../src/identity/secrets.ts";
import type { OwnerId } from "../../src/model/ids.ts";

const owners = [1, 2, 77, 2 ** 31 - 1, -1, -2, -(2 ** 31 - 1)] as OwnerId[];

describe("a credential", () => {
  it("encodes its owner, a user or a tenant", () => {
    for (const ownerId of owners) {
      for (const prefix of ["bwa_", ""]) {
        for (let i = 0; i < 50; i++) {
          const credential = newOwnedSecret(prefix, ownerId);
          assert.deepEqual(keyOf(credential), { ownerId, hash: hashOf(credential) });
          assert.ok(isOwnedSecret(prefix, credential));
        }
      }
    }
  });

  it("hides its owner: two credentials of one owner end differently", () => {
    const ends = new Set(Array.from({ length: 200 }, () => newOwnedSecret("bwa_", 7 as OwnerId).slice(-6)));
    assert.ok(ends.size > 195, `${ends.size} of 200`);
  });

  it("is another credential when any character is changed, also of its owner", () => {
    const credential = newOwnedSecret("bwa_", 7 as OwnerId);
    for (let place = 4; place < credential.length; place++) {
      const other = credential[place] === "A" ? "B" : "A";
      const changed = credential.slice(0, place) + other + credential.slice(place + 1);
      assert.notEqual(keyOf(changed).hash, keyOf(credential).hash);
    }
  });

  it("can be derived again from the same secret", () => {
    const secret = newSecret("");
    assert.equal(withOwner(secret, 7 as OwnerId), withOwner(secret, 7 as OwnerId));
    assert.equal(keyOf(withOwner(secret, 7 as OwnerId)).ownerId, 7);
  });

  it("of an older version, or other text, has no owner", () => {
    for (const text of ["", "bwa_", newSecret("bwa_"), newSecret(""), `${"A".repeat(48)}!`, "é".repeat(49), "\0"]) {
      assert.deepEqual(keyOf(text), { ownerId: 0, hash: hashOf(text) });
    }
    assert.ok(isOwnedSecret("bwa_", newSecret("bwa_")), "those from before are still good");
    for (const text of [
      "",
      "bwa_",
      newSecret("bwr_"),
      `${newSecret("bwa_")}A`,
      `${newOwnedSecret("bwa_", owners[0]!)}A`,
    ]) {
      assert.ok(!isOwnedSecret("bwa_", text), text);
    }
  });
});
