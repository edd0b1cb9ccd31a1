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
      assert.equal(titleOf(await owner.open(renewing.location)), "Renew the connection of your home to Acme");

      const password = "a fresh new password";
      await world.service.parts.identity.setPassword(world.userId, password);
      const page = await owner.open(renewing.location);
      assert.equal(titleOf(page), "Sign in");
      assert.equal(titleOf(await owner.signIn(page)), "Sign in", "the old password is wrong");
      const again = await owner.signIn(await owner.open(renewing.location), { ...ada, password });
      assert.equal(titleOf(again), "Renew the connection of your home to Acme");
    });
  });
}
