import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { describe, it } from "node:test";
import type { TenantId } from "../../src/model/ids.ts";
import { commandTokensWith } from "../../src/oauth/command-tokens.ts";
import { startLogging } from "../../src/runtime/process/log.ts";
import { processRuntime } from "../../src/runtime/process/process-runtime.ts";
import { startService } from "../../src/service/service.ts";
import { sealingWith } from "../../src/store/keys/sealing.ts";
import type { Store, Transaction } from "../../src/store/seam.ts";
import { cheapPasswords } from "../set-up/cheap-passwords.ts";
import { missingPostgres } from "../set-up/postgres.ts";
import { oauthWorld } from "./oauth-world.ts";

describe("the access token of a command", () => {
  it("is valid for its tenant, with the deployment's key, for an hour", async () => {
    const key = randomBytes(32);
    let nowMs = 1_000_000;
    const store = storeAt(() => nowMs);
    const tokens = commandTokensWith(sealingWith(key), store);
    const token = await tokens.issue(7 as TenantId, "bwc_own");
    const { principal, clientId } = (await tokens.open(token))!;
    const own = { clientId: "bwc_own", isCommand: true };
    assert.deepEqual([principal, clientId], [{ kind: "enterprise", tenantId: 7, scopes: null, ...own }, "bwc_own"]);
    const rotated = commandTokensWith(sealingWith(randomBytes(32), key), store);
    assert.deepEqual(
      (await rotated.open(token))?.principal,
      principal,
      "a key that was rotated away opens what it sealed",
    );
    const stranger = commandTokensWith(sealingWith(randomBytes(32)), store);
    const content = JSON.stringify({ tenantId: 7, clientId: "x", untilMs: nowMs + 1_000 });
    const sealedForOthers = [
      sealingWith(key).seal(content, "access of commands"),
      ...["", "login"].map((purpose) => sealingWith(key).derive(purpose).seal(content, purpose)),
    ].map((sealed) => `bwo_${sealed}`);
    const forged = [await stranger.issue(7 as TenantId, "x"), `${token}A`, token.slice(4), "bwo_", ""];
    for (const bad of [...forged, ...sealedForOthers]) {
      assert.equal(await tokens.open(bad), undefined, bad);
    }
    nowMs += 3_600_000;
    assert.equal(await tokens.open(token), undefined, "an hour later");
  });
});

describe("the access token of a command on PostgreSQL", { skip: missingPostgres() ?? false }, () => {
  it("is valid at nodes whose clocks are an hour early or late", { timeout: 60_000 }, async (t) => {
    const world = await oauthWorld(t, { database: "postgres" });
    const { oauth } = world.service.parts;
    const token = await oauth.commandTokens.issue(world.tenantId, "command-line");
    for (const aheadMs of [-3_600_000, 3_600_000]) {
      const real = processRuntime(startLogging("error", { write: () => undefined }));
      let passedMs = 0;
      const elapsedMs = () => real.elapsedMs() + passedMs;
      const runtime = { ...real, nowMs: () => real.nowMs() + aheadMs, elapsedMs };
      const node = await startService(world.config, real.report, runtime, cheapPasswords);
      t.after(() => node.stop());
      assert.equal((await node.parts.oauth.verify(token)).kind, "enterprise");
      const ofNode = await node.parts.oauth.commandTokens.issue(world.tenantId, "command-line");
      const { hasExpired } = await node.parts.oauth.watch(ofNode, () => undefined);
      passedMs = 3_000_000;
      assert.equal(hasExpired(), false);
      passedMs = 3_600_000;
      assert.equal(hasExpired(), true);
    }
  });
});

function storeAt(nowMs: () => number): Store<Pick<Transaction, "clock">> {
  const tx = { clock: { nowMs: async () => nowMs() } } as Pick<Transaction, "clock">;
  return { isShared: false, read: (body) => body(tx), transaction: (body) => body(tx) };
}
