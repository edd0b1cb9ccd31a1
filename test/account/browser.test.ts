import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { assertAccessible } from "../browser/axe.ts";
import { assertFits, button, consent, heading, linkSite, signIn, visit } from "../browser/link-site.ts";
import { browserOfFile, skip } from "../browser/world.ts";
import { ada } from "../oauth/oauth-world.ts";
import { linkMaple } from "./account-visitor.ts";

const browser = browserOfFile();

describe("the account page in a browser", { skip }, () => {
  it("shows the home, ends an app's access, renews, unlinks, exports and deletes, without script", async (t) => {
    const site = await linkSite(t);
    await linkMaple({ ...site, create: () => site.create() });
    const token = await site.tokenOf();
    assert.equal(await site.statusWith(token), 200);
    await visit(browser(), { device: "phone", script: false }, async (tab) => {
      await signIn(tab, `${site.baseUrl}/account/${site.tenantId}`);
      await heading(tab, "Your account");
      await tab.getByRole("heading", { name: "Maple Street" }).waitFor();
      await tab.getByText("Connected.").waitFor();
      await assertFits(tab);

      await button(tab, "End access of Lantern").click();
      await heading(tab, "End this app’s access?");
      await button(tab, "End access").click();
      await tab.getByRole("status").getByText("The app has no access any more.").waitFor();
      assert.equal(await site.statusWith(token), 401);

      await button(tab, "Connect again: Maple Street").click();
      await heading(tab, "Connect your home to Acme again");
      await button(tab, "Continue").click();
      await consent(tab, "Maple Street");
      await heading(tab, "Your home is connected");
      await tab.getByRole("link", { name: "Back to your account page" }).click();
      await heading(tab, "Your account");

      const [download] = await Promise.all([
        tab.waitForEvent("download"),
        tab.getByRole("link", { name: "Export my data" }).click(),
      ]);
      assert.equal(JSON.parse(readFileSync(await download.path(), "utf8")).user.userName, ada.name);

      await button(tab, "Disconnect Maple Street").click();
      await heading(tab, "Disconnect this home?");
      await button(tab, "Disconnect").click();
      await tab.getByText("No home is connected.").waitFor();

      await button(tab, "Delete my account").click();
      await heading(tab, "Delete your account?");
      await tab.getByLabel("Your password").fill(ada.password);
      await button(tab, "Delete").click();
      await heading(tab, "Your account is deleted");
    });
  });

  it("is accessible", async (t) => {
    const site = await linkSite(t);
    await linkMaple({ ...site, create: () => site.create() });
    await visit(browser(), { device: "phone", scheme: "dark" }, async (tab) => {
      await signIn(tab, `${site.baseUrl}/account/${site.tenantId}`);
      await heading(tab, "Your account");
      await assertAccessible(tab);
    });
  });
});
