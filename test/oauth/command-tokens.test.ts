import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { describe, it } from "node:test";
import type { TenantId } from "../../src/model/ids.ts";
import { commandTokensWith } from "../../src/oauth/command-tokens.ts";
import { sealingWith } from "../../src/store/keys/sealing.ts";

describe("the access token of a command", () => {
  it("is valid for its tenant, with the deployment's key, for an hour", () => {
    const key = randomBytes(32);
    let nowMs = 1_000_000;
    const clock = { nowMs: () => nowMs };
    const tokens = commandTokensWith(sealingWith(key), clock);
    const token = tokens.issue(7 as TenantId, "bwc_own");
    const { principal, clientId } = tokens.open(token)!;
    const own = { clientId: "bwc_own", isCommand: true };
    assert.deepEqual([principal, clientId], [{ kind: "enterprise", tenantId: 7, scopes: null, ...own }, "bwc_own"]);
    const rotated = commandTokensWith(sealingWith(randomBytes(32), key), clock);
    assert.deepEqual(rotated.open(token)?.principal, principal, "a key that was rotated away opens what it sealed");
    const stranger = commandTokensWith(sealingWith(randomBytes(32)), clock);
    const content = JSON.stringify({ tenantId: 7, clientId: "x", untilMs: nowMs + 1_000 });
    const sealedForOthers = [
      sealingWith(key).seal(content, "access of commands"),
      ...["", "login"].map((purpose) => sealingWith(key).derive(purpose).seal(content, purpose)),
    ].map((sealed) => `bwo_${sealed}`);
    const forged = [stranger.issue(7 as TenantId, "x"), `${token}A`, token.slice(4), "bwo_", ""];
    for (const bad of [...forged, ...sealedForOthers]) {
      assert.equal(tokens.open(bad), undefined, bad);
    }
    nowMs += 3_600_000;
    assert.equal(tokens.open(token), undefined, "an hour later");
  });
});
