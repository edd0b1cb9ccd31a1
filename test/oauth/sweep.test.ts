import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { keyOf, newOwnedSecret } from "../../src/identity/secrets.ts";
import { type OwnerId, ownerIdOf, type TenantId, type UserId } from "../../src/model/ids.ts";
import type { Transaction } from "../../src/store/seam.ts";
import type { GrantRow } from "../../src/store/tables/grants.ts";
import { longSuiteOn } from "../stories/world.ts";
import { oauthWorld } from "./oauth-world.ts";

const hourMs = 3_600_000;
const monthMs = 31 * 24 * hourMs;

/** Whether the grant, its access token, its present refresh token and its retired one exist. */
type Left = readonly [grant: boolean, access: boolean, present: boolean, retired: boolean];

interface AddedGrant {
  readonly grant: GrantRow;
  readonly accessToken: string;
  readonly present: string;
  readonly retired: string;
  readonly left: Left;
}

for (const database of longSuiteOn("sqlite")) {
  describe(`expired access on ${database}`, () => {
    it("is removed completely, page by page, and nothing else is", {
      timeout: 60_000,
    }, async (t) => {
      const world = await oauthWorld(t, { database });
      const { store, oauth } = world.service.parts;
      const used = await world.tokens();
      const added = await store.transaction(async (tx) => {
        const nowMs = await tx.clock.nowMs();
        return Promise.all(Array.from({ length: 5_000 }, (_, place) => addGrant(tx, world.tenantId, place, nowMs)));
      });
      await world.timePasses(2 * hourMs);
      const transactions = t.mock.method(store, "transaction");
      await oauth.tokens.sweep();
      const count = transactions.mock.callCount();
      transactions.mock.restore();
      assert.ok(count > 8, `it took ${count} transactions`);
      const left = await store.read(async (tx) => {
        const grants = new Set((await tx.grants.ofClient("bwc_x")).map(({ id }) => id));
        return Promise.all(added.map((one) => leftOf(tx, grants, one)));
      });
      assert.deepEqual(
        left,
        added.map((one) => one.left),
      );
      assert.equal((await world.refresh(used.refresh_token)).status, 200);
    });
  });
}

/** Three kinds in turn: a grant that has expired, one with a valid refresh token only, and a tenant's own valid grant. */
async function addGrant(tx: Transaction, tenantId: TenantId, place: number, issuedMs: number): Promise<AddedGrant> {
  const kind = place % 3;
  // Several grants of each owner, and more than one page of a tenant.
  const userId = kind === 2 ? null : ((100_000 + (place >> 2)) as UserId);
  const grant: GrantRow = {
    id: `grant-${place}`,
    tenantId,
    userId,
    clientId: "bwc_x",
    scope: null,
    covers: userId ? "user" : "tenant",
    termsVersion: null,
    termsMs: null,
  };
  const ownerId: OwnerId = ownerIdOf(grant);
  const [accessToken, present, retired] = ["bwa_", "bwr_", "bwr_"].map((prefix) => newOwnedSecret(prefix, ownerId)) as [
    string,
    string,
    string,
  ];
  const isOver = kind !== 2 || place % 6 === 2;
  await tx.grants.add(grant);
  await tx.accessTokens.add(keyOf(accessToken), grant.id, isOver ? issuedMs + hourMs : issuedMs + monthMs);
  if (kind === 2) return { grant, accessToken, present, retired, left: [!isOver, !isOver, false, false] };
  const [key, before] = [keyOf(present), keyOf(retired)];
  const expiresMs = kind === 0 ? issuedMs + hourMs : issuedMs + monthMs;
  await tx.refreshTokens.add({
    ...before,
    grantId: grant.id,
    parentHash: null,
    issuedMs,
    expiresMs: issuedMs + monthMs,
  });
  const token = { ...key, grantId: grant.id, parentHash: before.hash, issuedMs, expiresMs };
  await tx.refreshTokens.add(token);
  await tx.refreshTokens.retireParent({ ...token, isUsed: true, retiresMs: null }, issuedMs - monthMs);
  return { grant, accessToken, present, retired, left: [kind === 1, false, kind === 1, false] };
}

async function leftOf(tx: Transaction, grants: ReadonlySet<string>, added: AddedGrant): Promise<Left> {
  const access = await tx.accessTokens.find(keyOf(added.accessToken));
  const present = await tx.refreshTokens.find(keyOf(added.present));
  const retired = await tx.refreshTokens.find(keyOf(added.retired));
  return [grants.has(added.grant.id), access !== undefined, present !== undefined, retired !== undefined];
}
