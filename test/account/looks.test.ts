import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { Page } from "playwright-core";
import { assertAccessible } from "../browser/axe.ts";
import { assertFits, button, heading, linkSite, visit } from "../browser/link-site.ts";
import { browserOfFile, fillIn, skip } from "../browser/world.ts";
import { ada, admin } from "../oauth/oauth-world.ts";
import { linkMaple } from "./account-visitor.ts";

const browser = browserOfFile();
const widths = [390, 768, 1440];
const schemes = ["light", "dark"] as const;
/** A folder for pictures of the pages, to look at. */
const pictures = process.env.ACCOUNT_PICTURES;
const hostile = `<script>alert("${"W".repeat(20)}")</script>\u05D0`;

describe("every page of the account", { skip }, () => {
  it("is accessible and has no sideways scroll at each width, light and dark, with many and hostile names", {
    timeout: 600_000,
  }, async (t) => {
    const site = await linkSite(t);
    await linkMaple({ ...site, create: () => site.create() });
    for (const name of [hostile, "W".repeat(60), "Café 🏠", "A", "B", "C"]) {
      await site.tokens(await site.addClient({ name }));
    }
    await site.tokens(await site.addClient({ name: "<b>Company</b>", kind: "enterprise" }), admin);
    const { identity } = site.service.parts;
    await identity.addTenant({ name: "Elsewhere" });
    const address = `${site.baseUrl}/account/${site.tenantId}`;
    for (const scheme of schemes) {
      await visit(browser(), { scheme }, async (tab) => {
        await tab.goto(`${site.baseUrl}/account`);
        await inspect(tab, `company-${scheme}`);
        await tab.goto(address);
        await inspect(tab, `sign-in-${scheme}`);
        await fillIn(tab);
        await button(tab, "Sign in").click();
        await heading(tab, "Your account");
        await inspect(tab, `account-${scheme}`);
        await tab.goto(`${address}?page=2`);
        await inspect(tab, `account-second-${scheme}`);
        for (const name of ["Disconnect Maple Street", "Sign out everywhere", "Delete my account"]) {
          await tab.goto(address);
          await button(tab, name).click();
          await button(tab, "Cancel").waitFor();
          await inspect(tab, `${name.replaceAll(" ", "-").toLowerCase()}-${scheme}`);
        }
        await tab.getByLabel("Your password").fill("wrong");
        await button(tab, "Delete").click();
        await tab.getByRole("alert").waitFor();
        await inspect(tab, `wrong-password-${scheme}`);
      });
    }
  });

  it("is used with the keyboard alone", async (t) => {
    const site = await linkSite(t);
    await linkMaple({ ...site, create: () => site.create() });
    await visit(browser(), {}, async (tab) => {
      await tab.goto(`${site.baseUrl}/account/${site.tenantId}`);
      await tab.keyboard.press("Tab");
      await tab.keyboard.type(ada.name);
      await tab.keyboard.press("Tab");
      await tab.keyboard.type(ada.password);
      await tab.keyboard.press("Enter");
      await heading(tab, "Your account");
      const names: string[] = [];
      for (let stop = 0; stop < 7; stop++) {
        await tab.keyboard.press("Tab");
        names.push(await tab.evaluate<string>("document.activeElement.ariaLabel || document.activeElement.innerText"));
      }
      assert.deepEqual(names, [
        "Connect again: Maple Street",
        "Disconnect Maple Street",
        "End access of Lantern",
        "Export my data",
        "Sign out",
        "Sign out everywhere",
        "Delete my account",
      ]);
      await tab.keyboard.press("Enter");
      await heading(tab, "Delete your account?");
      await tab.keyboard.press("Tab");
      await tab.keyboard.press("Tab");
      await tab.keyboard.press("Enter");
      await heading(tab, "Your account");
    });
  });
});

async function inspect(tab: Page, name: string): Promise<void> {
  for (const width of widths) {
    await tab.setViewportSize({ width, height: 900 });
    await assertFits(tab);
    await assertAccessible(tab);
    if (pictures === undefined) continue;
    mkdirSync(pictures, { recursive: true });
    await tab.screenshot({ path: join(pictures, `${name}-${width}.png`), fullPage: true });
  }
}
