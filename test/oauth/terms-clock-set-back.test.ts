import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { missingTerms } from "../../src/oauth/accepted-terms.ts";
import type { GrantRow } from "../../src/store/tables/grants.ts";
import { madeIdentity } from "../identity/made-identity.ts";

describe("terms that are set after the clock was set back", () => {
  for (const isRemovedBetween of [false, true]) {
    const detail = isRemovedBetween ? ", after the earlier ones were removed" : "";
    it(`must be accepted also by users who accepted the earlier ones${detail}`, async (t) => {
      const { identity, store, clock } = await madeIdentity(t);
      const { tenantId } = await identity.addTenant({ name: "Acme" });
      const setTerms = async (version: string) => {
        await identity.setTerms(
          tenantId,
          { text: `Terms ${version}`, version },
          { isRequired: true, refreshesEndMs: 1 },
        );
        return (await identity.brandOf(tenantId)).terms!.dateMs;
      };
      const isMissing = (termsMs: number) =>
        store.read(
          async (tx) => (await missingTerms(tx, { tenantId, termsMs } as GrantRow, clock.nowMs)) !== undefined,
        );
      const first = await setTerms("1");
      assert.equal(await isMissing(first), false);
      clock.nowMs -= 3_600_000;
      if (isRemovedBetween) {
        await identity.setTerms(tenantId, null);
        assert.equal((await identity.brandOf(tenantId)).terms, undefined);
        assert.equal(await isMissing(0), false);
      }
      const second = await setTerms("2");
      assert.deepEqual([await isMissing(first), await isMissing(second)], [true, false]);
    });
  }
});
