import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isAdmin } from "../../src/cli/noun.ts";
import { nouns } from "../../src/cli/nouns.ts";

const commands = nouns.flatMap((noun) => noun.commands).filter(isAdmin);

function told(name: string, answer: object): string {
  return commands.find((one) => one.name === name)!.tell(answer, {});
}

describe("what an operator reads", () => {
  it("says after a backup where the key is, and what that means", () => {
    const taken = { file: "/b.tar", bytes: 7, keyIds: ["k1"] };
    assert.equal(
      told("backup", { ...taken, withKey: false }),
      "Wrote /b.tar (7 bytes). The key is not in it. Keep the key file (key k1) elsewhere: without it the links in the backup are lost.",
    );
    assert.match(
      told("backup", { ...taken, withKey: true }),
      /The key is in it: keep it as you keep the key itself\.$/,
    );
  });

  it("leads through the change of a key", () => {
    assert.match(told("key add", { keyId: "k2" }), /Copy the file to all nodes, then run: breezeway key rotate$/);
    assert.match(
      told("key rotate", { keyId: "k2", resealed: 1 }),
      /^1 value sealed anew: .* with: breezeway key prune$/,
    );
    assert.equal(told("key prune", { removed: ["k1"] }), "Removed key k1.");
    assert.equal(told("key prune", { removed: [] }), "Every key is still needed.");
    const keys = [{ keyId: "k2", role: "current", values: 3 }];
    assert.equal(told("key list", { keys }), "KEY  ROLE     SEALED VALUES\nk2   current  3");
  });
});
