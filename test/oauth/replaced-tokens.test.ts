import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { ownerIdOf } from "../../src/model/ids.ts";
import { tokenLimits } from "../../src/oauth/token-limits.ts";
import type { GrantRow } from "../../src/store/tables/grants.ts";
import { madeIdentity } from "../identity/made-identity.ts";

const grant = { id: "g", tenantId: 1, userId: 1, clientId: "client", covers: "user" } as unknown as GrantRow;
const ownerId = ownerIdOf(grant);
const dayMs = 24 * 60 * 60_000;
/** The hash of a new token that makes its refresh count the tokens of the grant. */
const counted = "A";

/** A client refreshes at its pace; then a thief refreshes with its last token. Returns the tokens that are known at last. */
async function afterTheft(
  t: TestContext,
  client: { readonly refreshes: number; readonly everyMs: number },
  thief: { readonly refreshes: number; readonly everyMs: number },
) {
  const { store, clock } = await madeIdentity(t);
  const limit = tokenLimits();
  await store.transaction(async (tx) => {
    let parentHash: string | null = null;
    const refresh = async (hash: string, place: number) => {
      const token = { ownerId, hash, grantId: grant.id, issuedMs: clock.nowMs, expiresMs: clock.nowMs + 365 * dayMs };
      await tx.refreshTokens.add({ ...token, parentHash });
      await tx.refreshTokens.retireParent(
        { ...token, parentHash, isUsed: true, retiresMs: null },
        clock.nowMs + 60_000,
      );
      if (place % 16 === 0) await limit.ofGrant(tx, grant, counted);
      parentHash = hash;
    };
    for (let place = 0; place < client.refreshes; place++, clock.nowMs += client.everyMs) {
      await refresh(`client ${place}`, place);
    }
    await refresh("last of the client", 1);
    for (let place = 0; place < thief.refreshes; place++) {
      clock.nowMs += thief.everyMs;
      await refresh(`thief ${place}`, place);
    }
    await limit.ofGrant(tx, grant, counted);
  });
  const made = ["last of the client"];
  for (let place = 0; place < client.refreshes; place++) made.push(`client ${place}`);
  for (let place = 0; place < thief.refreshes; place++) made.push(`thief ${place}`);
  return store.read(async (tx) => {
    const found = await Promise.all(made.map((hash) => tx.refreshTokens.find({ ownerId, hash })));
    return new Set(found.flatMap((token) => (token ? [token.hash] : [])));
  });
}

describe("the replaced refresh tokens of a grant", () => {
  const [seconds, minutes] = [1_000, 60_000];
  for (const [client, thief] of [
    [
      { refreshes: 1_000, everyMs: 30 * minutes },
      { refreshes: 200, everyMs: 1 * seconds },
    ],
    [
      { refreshes: 1_000, everyMs: 30 * minutes },
      { refreshes: 5_000, everyMs: 1 },
    ],
    [
      { refreshes: 1_000, everyMs: 30 * minutes },
      { refreshes: 300, everyMs: 6 * seconds },
    ],
    [
      { refreshes: 2_000, everyMs: 5 * minutes },
      { refreshes: 1_000, everyMs: 1 * minutes },
    ],
    [
      { refreshes: 2, everyMs: 30 * minutes },
      { refreshes: 1_500, everyMs: 1 },
    ],
  ] as const) {
    const [often, loop] = [client, thief].map(({ refreshes, everyMs }) => `${refreshes} times every ${everyMs} ms`);
    it(`of a client that refreshed ${often} still have its last one after a thief's ${loop}`, async (t) => {
      const known = await afterTheft(t, client, thief);
      assert.ok(known.has("last of the client"));
      assert.ok(known.has("client 0"));
      assert.ok(known.size <= 1_000 + 16, `${known.size} tokens are kept`);
    });
  }
});
