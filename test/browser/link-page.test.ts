import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { assertAccessible } from "./axe.ts";
import { assertFits, button, connect, consent, heading, linkSite, visit } from "./link-site.ts";
import { browserOfFile, fillIn, looksOf, signInButton, skip } from "./world.ts";

const browser = browserOfFile();

describe("a link page in a browser", { skip }, () => {
  for (const look of looksOf(1)) {
    it(`leads from sign-in to the result and back, accessibly (${look.device}, ${look.scheme})`, async (t) => {
      const site = await linkSite(t);
      const { id, url } = await site.create();
      await visit(browser(), look, async (tab) => {
        const inspect = async () => {
          await assertAccessible(tab);
          await assertFits(tab);
        };
        await tab.goto(url);
        await heading(tab, "Sign in");
        await inspect();
        await fillIn(tab);
        await signInButton(tab).click();
        await heading(tab, "Connect your home to Acme");
        await inspect();
        await button(tab, "Continue").click();
        await consent(tab, "Maple Street");
        await heading(tab, "Your home is connected");
        assert.ok(await tab.getByText("Maple Street: 2 thermostats, 3 alarms").isVisible());
        await inspect();
        await tab.getByRole("link", { name: "Back to Lantern" }).click();
        await heading(tab, "Back at Lantern");
      });
      assert.equal(await site.status(id), "linked");
      assert.deepEqual(
        [...site.arrivals[0]!],
        [
          ["linkSession", id],
          ["state", "s 1"],
        ],
      );
    });
  }

  it("needs no script", async (t) => {
    const site = await linkSite(t);
    const { id, url } = await site.create();
    await visit(browser(), { script: false, device: "phone" }, (tab) => connect(tab, url));
    assert.equal(await site.status(id), "linked");
  });

  it("stays below 15 kB", async (t) => {
    const site = await linkSite(t);
    const visitor = site.visitor();
    const { url } = await site.create();
    const pages = [await visitor.open(url)];
    pages.push(await visitor.signIn(pages[0]!));
    pages.push(await visitor.link(url, site.accounts.maple));
    for (const { body } of pages) assert.ok(Buffer.byteLength(body) < 15_000, `${Buffer.byteLength(body)} bytes`);
  });
});
