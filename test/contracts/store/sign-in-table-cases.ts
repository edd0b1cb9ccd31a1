import assert from "node:assert/strict";
import { it } from "node:test";
import type { OwnerId, UserId } from "../../../src/model/ids.ts";
import type { SignInRow } from "../../../src/store/tables/sign-ins.ts";
import { onStore, type StoreHarness } from "./harness.ts";
import { makeHome, plain } from "./home.ts";

function signInOf(userId: UserId, idHash: string, loginId: string, expiresMs = 100): Omit<SignInRow, "decision"> {
  return { idHash, loginId, secretHash: `cookie of ${idHash}`, userId, clientId: "bwc_1", request: "{}", expiresMs };
}

export function signInTableCases(harness: StoreHarness): void {
  it("decide a sign-in once, and know the decision for its login page", () =>
    onStore(harness, async (store) => {
      const { userId } = await makeHome(store);
      const stranger = (userId + 1) as UserId;
      const [first, again, other] = [
        signInOf(userId, "first", "page 1"),
        signInOf(userId, "again", "page 1"),
        signInOf(userId, "other", "page 2"),
      ];
      await store.transaction(async ({ signIns }) => {
        for (const signIn of [first, again, other]) await signIns.add(signIn);
        const find = (hash: string, ownerId: OwnerId = userId) => signIns.find({ ownerId, hash });
        const undecided = { ...first, decision: null };
        assert.deepEqual(plain(await find("first")), undecided);
        assert.equal(await find("first", stranger), undefined);
        assert.equal(await signIns.decisionOf("page 1"), undefined);
        assert.equal(await signIns.decide({ ...undecided, userId: stranger }, "accepted"), false);
        assert.equal(await signIns.decide(undecided, "declined"), true);
        assert.equal(await signIns.decide(undecided, "accepted"), false, "it was declined");
        assert.deepEqual(
          [(await find("first"))?.decision, (await find("again"))?.decision, (await find("other"))?.decision],
          ["declined", null, null],
        );
        assert.deepEqual(
          [await signIns.decisionOf("page 1"), await signIns.decisionOf("page 2")],
          ["declined", undefined],
        );
      });
    }));

  it("know the browser of a sign-in, and remove sign-ins when they expire or with their user", () =>
    onStore(harness, async (store) => {
      const [ada, bob] = [await makeHome(store), await makeHome(store, { name: "Bob" })];
      await store.transaction(async ({ signIns }) => {
        await signIns.add(signInOf(ada.userId, "a", "page", 99));
        await signIns.add(signInOf(ada.userId, "b", "page"));
        await signIns.add(signInOf(bob.userId, "c", "page of bob"));
        assert.equal(await signIns.isOfBrowser("page", "cookie of a"), true);
        assert.equal(await signIns.isOfBrowser("page", "cookie of c"), false);
        assert.equal(await signIns.isOfBrowser("page of bob", "cookie of a"), false);
        assert.equal(await signIns.removeExpired(100), 1, "the other two expire at that time, not before it");
        assert.equal(await signIns.find({ ownerId: ada.userId, hash: "a" }), undefined);
        await signIns.removeOfUser(ada.userId);
        assert.equal(await signIns.find({ ownerId: ada.userId, hash: "b" }), undefined);
        assert.equal((await signIns.find({ ownerId: bob.userId, hash: "c" }))?.idHash, "c");
      });
    }));
}
