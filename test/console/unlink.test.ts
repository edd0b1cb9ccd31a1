import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Page } from "playwright-core";
import { linkMaple } from "../account/account-visitor.ts";
import { browserOfFile, skip } from "../browser/world.ts";
import { linkWorld } from "../link-sessions/link-world.ts";
import { OperatorBrowser } from "../operators/operator-browser.ts";
import { password } from "./administration-world.ts";
import { operatorTab } from "./operator-tab.ts";

const browser = browserOfFile();
const minute = 60_000;

const givePassword = async (tab: Page) => {
  await tab.getByLabel("Password").fill(password);
  await tab.keyboard.press("Enter");
};

describe("unlinking a home on its page", { skip }, () => {
  it("asks for the password and then for the act, without a script, and says Done only when it is done", async (t) => {
    const world = await linkWorld(t, { database: "sqlite" });
    await linkMaple(world);
    const { administration, federation } = world.service.parts;
    const { path } = (await administration.run("operator claim", {}, { service: { baseUrl: world.baseUrl } })) as {
      path: string;
    };
    const operator = new OperatorBrowser(world.baseUrl);
    await operator.send(path, { password, name: "olga" });
    const links = async () => (await federation.shownLinksOf(world.userId)).length;

    await world.timePasses(6 * minute);
    await operatorTab(browser(), { world }, operator, { javaScriptEnabled: false }, async (tab) => {
      await tab.goto(`/console/homes/${world.userId}/nest`);
      await tab.getByRole("link", { name: "Disconnect", exact: true }).click();
      await givePassword(tab);
      const dialog = tab.getByRole("dialog", { name: "Disconnect the home" });
      await dialog.getByText(/can't be undone/).waitFor();
      assert.match((await dialog.locator("pre").first().textContent())!, /^breezeway home unlink /);
      assert.equal(await links(), 1);

      // The form waits for longer than the password counts.
      await world.timePasses(6 * minute);
      await dialog.getByRole("button", { name: "Disconnect" }).click();
      await givePassword(tab);
      await dialog.waitFor();
      assert.equal(await tab.getByText(/^Done:/).count(), 0);
      assert.equal(await links(), 1);

      await dialog.getByRole("button", { name: "Disconnect" }).click();
      await tab.getByText("Done: home unlink.").waitFor();
      assert.equal(await links(), 0);
    });
  });
});
