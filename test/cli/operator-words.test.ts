import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isAdmin } from "../../src/cli/noun.ts";
import { nouns } from "../../src/cli/nouns.ts";
import { madeReport } from "../verify/made-report.ts";

const commands = nouns.flatMap((noun) => noun.commands).filter(isAdmin);

function outputOf(name: string, answer: object): string {
  return commands.find((one) => one.name === name)!.toText(answer, {});
}

describe("the output of an operator's command", () => {
  it("says after a backup whether the key is in it, and what that means", () => {
    const taken = { file: "/b.tar", bytes: 7, keyIds: ["k1"] };
    assert.equal(
      outputOf("backup", { ...taken, withKey: false }),
      "Wrote /b.tar (7 bytes). The key is not in it. Keep the key file (key k1) elsewhere: without it the links in the backup are lost.",
    );
    assert.match(
      outputOf("backup", { ...taken, withKey: true }),
      /The key is in it: keep it as you keep the key itself\.$/,
    );
  });

  it("lists the waiting invitations, and says how many ended with an owner's access", () => {
    assert.match(outputOf("operator invitations list", { invitations: [] }), /^No invitation waits\./);
    const times = { created: new Date().toISOString(), expires: "2026-03-08T09:30:00.000Z" };
    const everywhere = { invitationId: "oi_1", name: null, role: "viewer", allTenants: true, tenants: [], ...times };
    const ofAcme = {
      ...everywhere,
      invitationId: "oi_2",
      name: "grace",
      allTenants: false,
      tenants: [{ name: "Acme" }],
    };
    const invitations = [everywhere, ofAcme];
    const lines = outputOf("operator invitations list", { invitations }).split("\n");
    assert.match(lines[1]!, /^oi_1 +any +viewer +all tenants .* 2026-03-08$/);
    assert.match(lines[2]!, /^oi_2 +grace +viewer +Acme .* 2026-03-08$/);
    assert.equal(outputOf("operator invitations end", { invitations }), "2 invitations ended.");
    const changed = { name: "ada", role: "viewer", allTenants: true, tenants: [], invitationsEnded: 1 };
    assert.equal(outputOf("operator suspend", changed), "ada is suspended. 1 waiting invitation ended.");
    assert.equal(outputOf("operator remove", { ...changed, invitationsEnded: 0 }), "ada is removed.");
    assert.equal(
      outputOf("operator role", { ...changed, invitationsEnded: 2 }),
      "ada is viewer now, for all tenants. 2 waiting invitations ended.",
    );
  });

  it("shows the next step of a key rotation", () => {
    assert.match(outputOf("key add", { keyId: "k2" }), /Copy the file to all nodes, then run: breezeway key rotate$/);
    const rotated = { keyId: "k2", resealed: 1, behind: [] };
    assert.match(outputOf("key rotate", rotated), /^Resealed 1 value: .* with: breezeway key prune$/);
    assert.match(
      outputOf("key rotate", { ...rotated, behind: ["node-a"] }),
      /1 node still seals with another key \(node-a\)\. Copy the key file to all nodes, then run: breezeway key rotate$/,
    );
    assert.match(
      outputOf("key rotate", { ...rotated, behind: ["node-a"], silent: [{ node: "node-a", seconds: 40 }] }),
      /\(node-a, silent for 40 s\)\. If it will not return .* finish with: breezeway key rotate --force\./,
    );
    assert.match(
      outputOf("key prune", { removed: ["k1"] }),
      /^Removed key k1 from the key file here\. .* copy the file to all/,
    );
    assert.equal(outputOf("key prune", { removed: [] }), "Every key is still needed.");
    const keys = [{ keyId: "k2", role: "current", values: 3, nodes: 2 }];
    const list = "KEY  ROLE     SEALED VALUES  NODES THAT SEAL WITH IT\nk2   current  3              2";
    assert.equal(outputOf("key list", { keys }), list);
    const alone = [{ keyId: "k2", role: "current", values: 3 }];
    assert.equal(outputOf("key list", { keys: alone }), "KEY  ROLE     SEALED VALUES\nk2   current  3");
    const missing = { keyId: "k1", role: "missing", values: 1, nodes: 0 };
    assert.match(
      outputOf("key list", { keys: [...keys, missing] }),
      /\n\nKey k1 is not in the key file: .* key drop --help$/,
    );
  });

  it("says what was lost with a key, and what to do about it", () => {
    const links = Array.from({ length: 30 }, (_, i) => ({ userId: i, deviceId: 100 + i, ecosystem: "nest" }));
    const webhooks = [{ id: "wh_1", ownerId: -4, clientId: "bwc_1" }];
    const lines = outputOf("key drop", { keyId: "k1", links, webhooks }).split("\n");
    assert.equal(lines[0], "Discarded the values of key k1: 30 tokens of links, 1 webhook.");
    assert.equal(lines[1], "  user 0: the token of device 100 (nest)");
    assert.equal(lines[21], "  and 11 more; --json lists all");
    assert.match(
      lines[22]!,
      /^Their users must connect their homes again: breezeway link\. Clients must add their webhooks again\./,
    );
    assert.match(
      outputOf("key drop", { keyId: "k1", links: [], webhooks }),
      /\n {2}tenant 4: webhook wh_1 of client bwc_1\n/,
    );
  });

  it("says how many bytes compacting returned", () => {
    assert.equal(
      outputOf("compact", { bytesBefore: 900, bytesAfter: 200 }),
      "The store takes 200 bytes now; it took 900. 700 bytes are free for other files.",
    );
    assert.match(outputOf("compact", { bytesBefore: 200, bytesAfter: 200 }), /There was no free space to return\.$/);
  });

  it("shows a verification as its report, or why there is none", () => {
    const begun = { verificationId: "v1", url: "http://a.example", by: "ada", startedTime: new Date().toISOString() };
    const running = { ...begun, grade: null, verdict: null, problem: null, rows: [] };
    assert.match(outputOf("verification show", running), /^http:\/\/a\.example\nIt runs\. Started \d+ s ago by ada\.$/);
    const failed = { ...running, problem: "Nothing answers." };
    assert.match(outputOf("verification show", failed), /Nothing answers\. Started/);
    const shown = outputOf("verification show", { ...madeReport(), ...begun, problem: null });
    assert.match(shown, /FAIL +The service is alive\n.*\n +At fault: the service\.\n +Next: Repair it\./);
    assert.match(shown, /Grade F\n.*by ada\.$/s);
    assert.match(outputOf("verification list", { verifications: [] }), /breezeway verify$/);
    const list = outputOf("verification list", {
      verifications: [failed, { ...running, grade: "A", verdict: "All." }],
    });
    assert.match(list, /- +Nothing answers\. +ada +v1\n.* A +All\. +ada +v1$/);
  });
});
