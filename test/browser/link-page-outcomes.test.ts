import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { assertAccessible } from "./axe.ts";
import { assertFits, button, consent, heading, linkSite, signIn, visit } from "./link-site.ts";
import { browserOfFile, fillIn, signInButton, skip } from "./world.ts";

const browser = browserOfFile();
const bob = { name: "bob", password: "another word" };

describe("the outcomes of a link page in a browser", { skip }, () => {
  it("survives Back, Reload and double clicks", async (t) => {
    const site = await linkSite(t);
    const { id, url } = await site.create();
    await visit(browser(), {}, async (tab) => {
      await tab.goto(url);
      await fillIn(tab);
      await signInButton(tab).dblclick();
      await heading(tab, "Connect your home to Acme");
      await button(tab, "Continue").dblclick();
      await heading(tab, /asks to use your home/);
      await tab.goBack();
      await heading(tab, "Connect your home to Acme");
      await button(tab, "Continue").click();
      await consent(tab, "Maple Street");
      await heading(tab, "Your home is connected");
      await tab.reload();
      await heading(tab, "Your home is connected");
      await tab.goBack();
      await tab.goto(url);
      await heading(tab, "Your home is connected");
    });
    assert.equal(await site.status(id), "linked");
  });

  it("says what happened when the owner declines, the page has expired, or it is another browser", async (t) => {
    const site = await linkSite(t, { isClockStill: true });
    const declined = await site.create();
    await visit(browser(), { device: "phone", scheme: "dark" }, async (tab) => {
      await signIn(tab, declined.url);
      await button(tab, "Continue").click();
      await consent(tab, "Maple Street", "Deny");
      await heading(tab, "Nothing was connected");
      await assertAccessible(tab);
      await assertFits(tab);
    });
    assert.equal(await site.status(declined.id), "declined");
    const session = await site.create();
    await visit(browser(), {}, async (tab) => {
      await signIn(tab, session.url);
      await heading(tab, "Connect your home to Acme");
      await visit(browser(), {}, async (other) => {
        await other.goto(session.url);
        await heading(other, "Go on in the other browser");
        await assertAccessible(other);
      });
      await site.timePasses(31 * 60_000);
      await tab.reload();
      await heading(tab, "This page has expired");
      await assertAccessible(tab);
    });
  });

  it("names the account to the victim of a forwarded address, who can't sign in as another user", async (t) => {
    const site = await linkSite(t);
    const { id, url } = await site.create();
    await visit(browser(), { device: "phone" }, async (tab) => {
      await tab.goto(url);
      assert.ok(await tab.getByText("The account ada will see this home").isVisible());
      await fillIn(tab, bob);
      await signInButton(tab).click();
      assert.ok(await tab.getByRole("alert").getByText("This page is for the account ada").isVisible());
      await assertAccessible(tab);
    });
    assert.equal(await site.status(id), "pending");
  });

  it("keeps the session while the home can't be reached, and asks before it shows another home", async (t) => {
    const site = await linkSite(t, { issuesDirectly: true });
    const first = await site.create();
    await visit(browser(), { scheme: "dark" }, async (tab) => {
      await signIn(tab, first.url);
      await button(tab, "Continue").click();
      site.proxy.mood = "closed";
      await consent(tab, "Maple Street");
      await heading(tab, "Your home can’t be read now");
      await assertAccessible(tab);
      site.proxy.mood = "open";
      await button(tab, "Try again").click();
      await heading(tab, "Your home is connected");
    });
    const renewal = await site.create({ mode: "renew" });
    await visit(browser(), { device: "phone" }, async (tab) => {
      await signIn(tab, renewal.url);
      await button(tab, "Continue").click();
      await consent(tab, "Cabin");
      await heading(tab, "This is another home");
      await assertAccessible(tab);
      await assertFits(tab);
      await button(tab, "Switch").click();
      await heading(tab, "Your home is connected");
      assert.ok(await tab.getByText("Cabin: 1 thermostat").isVisible());
    });
    assert.equal(await site.status(renewal.id), "linked");
  });

  it("in a popup tells the window of the registered origin, closes, and can't be framed", async (t) => {
    const site = await linkSite(t);
    const { id, url } = await site.create();
    await visit(browser(), {}, async (tab) => {
      await tab.goto(site.site);
      await tab.evaluate(
        "window.heard = []; addEventListener('message', ({ data, origin }) => heard.push([data, origin]))",
      );
      const opening = tab.waitForEvent("popup");
      await tab.evaluate(`void window.open(${JSON.stringify(url)})`);
      const popup = await opening;
      await fillIn(popup);
      await signInButton(popup).click();
      await button(popup, "Continue").click();
      const closed = popup.waitForEvent("close");
      await consent(popup, "Maple Street");
      await closed;
      const [message, origin] = (await tab.evaluate<[object, string][]>("heard"))[0]!;
      assert.deepEqual(message, { linkSession: id, state: "s 1", status: "linked" });
      assert.equal(origin, new URL(site.baseUrl).origin);
    });
    const { headers } = await fetch(url);
    assert.match(headers.get("content-security-policy") ?? "", /frame-ancestors 'none'/);
  });
});
