import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { LinkVisitor, linkWorld, titleOf } from "../link-sessions/link-world.ts";
import { ada } from "../oauth/oauth-world.ts";
import { longSuiteOn } from "../set-up/deployment.ts";
import { AccountVisitor, linkMaple } from "./account-visitor.ts";

for (const database of longSuiteOn("sqlite")) {
  describe(`a new password on ${database}`, () => {
    it("ends the sign-ins on link pages: the browser that has one must sign in with the new password", async (t) => {
      const world = await linkWorld(t, { database });
      await linkMaple(world);
      const visitor = new AccountVisitor(world);
      await visitor.signIn();
      const renewing = await visitor.press({ renew: "nest" });
      const owner = new LinkVisitor(() => world.baseUrl);
      for (const [name, value] of visitor.browser.cookies) owner.browser.cookies.set(name, value);
      assert.equal(titleOf(await owner.open(renewing.location)), "Connect your home to Acme again");

      const password = "a fresh new password";
      await world.service.parts.identity.setPassword(world.userId, password);
      const page = await owner.open(renewing.location);
      assert.equal(titleOf(page), "Sign in");
      assert.equal(titleOf(await owner.signIn(page)), "Sign in", "the old password is wrong");
      const again = await owner.signIn(await owner.open(renewing.location), { ...ada, password });
      assert.equal(titleOf(again), "Connect your home to Acme again");
    });

    it("keeps a browser that is at the ecosystem from linking a home, until it has signed in again", async (t) => {
      const world = await linkWorld(t, { database });
      const { identity, store, federation } = world.service.parts;
      const links = () => store.read((tx) => tx.links.ofUser(world.userId));
      const token = await world.tokenOf();
      const { url, id } = await world.create(token);
      const thief = world.visitor();
      const away = await thief.leave(await thief.signIn(await thief.open(url)));
      const password = "a fresh new password";
      await identity.setPassword(world.userId, password);

      const page = await thief.arrive(await thief.consent(away, world.accounts.cabin));
      assert.equal(titleOf(page), "Sign in");
      assert.equal(titleOf(await thief.signIn(page)), "Sign in", "the old password is wrong");
      assert.deepEqual(await links(), []);

      const key = { ownerId: world.userId, id };
      const session = (await store.read((tx) => tx.linkSessions.find(key)))!;
      assert.deepEqual([session.phase, session.isSignedIn], ["open", false]);
      // A node that had begun to read the account is gone.
      await store.transaction((tx) => tx.linkSessions.save({ ...session, phase: "reading", claimedMs: 1 }));
      assert.equal(titleOf(await thief.open(url)), "Sign in");
      await store.transaction((tx) => tx.linkSessions.save(session));

      const connect = await thief.signIn(await thief.open(url), { ...ada, password });
      const linked = await thief.arrive(await thief.consent(await thief.leave(connect), world.accounts.maple));
      assert.equal(titleOf(linked), "Your home is connected");
      assert.equal((await links()).length, 1);
      await federation.unlinkAll(world.userId);
    });
  });
}
