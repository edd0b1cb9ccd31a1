import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { accountSessionsOn, openSession, sessionLifetime } from "../../src/account/sessions.ts";
import { madeIdentity, password } from "../identity/made-identity.ts";
import { cheapPasswords } from "../set-up/cheap-passwords.ts";

describe("a session of the account page", () => {
  it("ends when the clock is set back by more than a minute: nobody knows how old it is", async (t) => {
    const { identity, store, clock } = await madeIdentity(t, cheapPasswords);
    const { tenantId } = await identity.addTenant({ name: "Acme" });
    const userId = await identity.addUser({ tenant: "Acme", name: "ada", password, isAdmin: false });
    const secret = await store.transaction((tx) => openSession(tx, userId, () => undefined));
    const sessions = accountSessionsOn(store);
    clock.nowMs -= sessionLifetime.aheadMs;
    assert.equal((await sessions.bySession(tenantId, secret))?.userId, userId);
    clock.nowMs -= 1;
    assert.equal(await sessions.bySession(tenantId, secret), undefined);
    clock.nowMs -= 24 * 3_600_000;
    assert.equal(await sessions.bySession(tenantId, secret), undefined);
  });
});
