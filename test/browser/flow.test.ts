import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Page } from "playwright-core";
import { ada, admin } from "../oauth/oauth-world.ts";
import {
  acceptButton,
  backAtClient,
  browserOfFile,
  browserWorld,
  comeToLogin,
  comeToTerms,
  declineButton,
  fillIn,
  looksOf,
  signInButton,
  skip,
  visit,
} from "./world.ts";

const browser = browserOfFile();

describe("authorizing a client in a browser", { skip }, () => {
  for (const look of looksOf(0)) {
    it(`leads over login and terms back to the client's own site (${look.device}, ${look.scheme})`, async (t) => {
      const world = await browserWorld(t);
      await visit(browser(), world, look, async (tab) => {
        await comeToTerms(tab, world);
        assert.ok(await tab.getByText("See your devices").isVisible());
        assert.deepEqual(await cutIcons(tab), [], "all icons are drawn whole");
        await acceptButton(tab).click();
        await backAtClient(tab);
        assert.equal(new URL(tab.url()).origin, world.site.url);
      });
      const [arrival] = world.site.arrivals;
      assert.equal(arrival!.get("state"), "s-1");
      assert.equal(arrival!.get("iss"), world.baseUrl);
      await world.assertLinked();
    });
  }

  it("works without JavaScript", async (t) => {
    const world = await browserWorld(t);
    await visit(browser(), world, { javaScriptEnabled: false }, async (tab) => {
      await comeToTerms(tab, world);
      await acceptButton(tab).click();
      await backAtClient(tab);
    });
    await world.assertLinked();
  });

  it("works by keyboard alone, with a visible focus", async (t) => {
    const world = await browserWorld(t);
    await visit(browser(), world, {}, async (tab) => {
      await comeToLogin(tab, world);
      await tabTo(tab, "username");
      await tab.keyboard.type(ada.name);
      await tab.keyboard.press("Tab");
      await tab.keyboard.type(ada.password);
      await tab.keyboard.press("Enter");
      await acceptButton(tab).waitFor();
      await tabTo(tab, "terms");
      await tabTo(tab, "decline");
      await tabTo(tab, "accept");
      await tab.keyboard.press("Enter");
      await backAtClient(tab);
    });
    await world.assertLinked();
  });

  it("ends without access when the user declines", async (t) => {
    const world = await browserWorld(t);
    await visit(browser(), world, { device: "phone" }, async (tab) => {
      await comeToTerms(tab, world);
      await declineButton(tab).click();
      await backAtClient(tab);
    });
    assert.equal(world.site.arrivals[0]!.get("error"), "access_denied");
    assert.equal(world.site.arrivals[0]!.get("state"), "s-1");
    world.assertNotLinked();
  });

  it("goes on after a wrong password, with the user name kept and the password field in focus", async (t) => {
    const world = await browserWorld(t);
    await visit(browser(), world, {}, async (tab) => {
      await comeToLogin(tab, world);
      await fillIn(tab, { ...ada, password: "wrong" });
      await signInButton(tab).click();
      await tab.getByRole("alert").waitFor();
      assert.equal(await tab.getByLabel("User name").inputValue(), ada.name);
      assert.equal(await tab.getByLabel("Password").inputValue(), "");
      await tab.keyboard.type(ada.password);
      await tab.keyboard.press("Enter");
      await acceptButton(tab).click();
      await backAtClient(tab);
    });
    await world.assertLinked();
  });

  it("tells an administrator that an enterprise client reaches every user of the tenant", async (t) => {
    const world = await browserWorld(t, { kind: "enterprise" });
    await visit(browser(), world, { device: "phone", scheme: "dark" }, async (tab) => {
      await comeToTerms(tab, world, admin);
      assert.ok(await tab.getByText("See every user of Acme").isVisible());
      await acceptButton(tab).click();
      await backAtClient(tab);
    });
    await world.assertLinked();
  });

  it("shows the tenant's logo", async (t) => {
    const world = await browserWorld(t);
    await visit(browser(), world, {}, async (tab) => {
      await comeToLogin(tab, world);
      const logo = tab.getByRole("img", { name: "Acme" });
      assert.ok(await logo.evaluate((picture) => (picture as unknown as { naturalWidth: number }).naturalWidth > 0));
    });
  });
});

/** Presses Tab until the element with this id, name or value has the focus; asserts that its outline is visible. */
async function tabTo(tab: Page, wanted: string): Promise<void> {
  const attributeValues = "[...document.activeElement.attributes].map((attribute) => attribute.value)";
  const mostPresses = 20;
  for (let presses = 0; presses < mostPresses; presses++) {
    await tab.keyboard.press("Tab");
    if (!(await tab.evaluate<string[]>(attributeValues)).includes(wanted)) continue;
    assert.match(await tab.evaluate<string>("getComputedStyle(document.activeElement).outline"), /solid 3px/);
    return;
  }
  assert.fail(`the Tab key does not lead to ${wanted}`);
}

/** Icons whose shapes reach beyond their box, with the lengths that are cut off. */
function cutIcons(tab: Page): Promise<readonly number[]> {
  return tab.locator(".may svg").evaluateAll((icons) =>
    icons
      .map((icon) => {
        const [box, shapes] = [icon, icon.firstElementChild!].map((one) => one.getBoundingClientRect());
        return Math.max(shapes!.right - box!.right, shapes!.bottom - box!.bottom);
      })
      .filter((cut) => cut > 0),
  );
}
