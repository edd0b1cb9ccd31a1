import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Page } from "playwright-core";
import { assertAccessible } from "../browser/axe.ts";
import { browserOfFile, skip } from "../browser/world.ts";
import { write } from "../events/made-home.ts";
import { OperatorBrowser } from "../operators/operator-browser.ts";
import { madeReport } from "../verify/made-report.ts";
import { administrationWorld, alexa, everyPage, hostileName, password } from "./administration-world.ts";
import { operatorTab } from "./operator-tab.ts";
import { previewsOn } from "./previews.ts";

const browser = browserOfFile();
const widths = [390, 768, 1440];
const schemes = ["light", "dark"] as const;

describe("every page of administration", { skip }, () => {
  it("is accessible and has no sideways scroll at each width, light and dark, with hostile names", {
    timeout: 600_000,
  }, async (t) => {
    const made = await administrationWorld(t);
    const { run, world, clientId, hook, token, lamp } = made;
    const webhook = await made.addWebhook();
    hook.behaviour.answer = () => ({ status: 500 });
    await write(world, token, lamp, { level: 7 });
    await hook.until(1);
    await run("client edit", { client: clientId, name: hostileName });
    await run("user add", { tenant: "Acme", name: hostileName, password });
    const { outlet } = await run("outlet add", { kind: "alexa", tenant: "Acme", settings: alexa });
    const owner = await made.owner();
    const { verificationId } = await run("verification keep", { report: madeReport({}, hostileName) });
    const { deliveries } = await run("hook deliveries", { webhook });
    const forms = [
      `/webhooks/${webhook}?delivery=${deliveries[0].deliveryId}`,
      `/webhooks/${webhook}?do=resend`,
      "/users?do=add",
      "/clients?do=add",
      `/clients/${clientId}?do=edit`,
      `/tenants/${world.tenantId}?do=brand`,
      `/tenants/${world.tenantId}?do=terms`,
      `/clients/${clientId}?do=quota-set`,
      "/sessions?do=token",
      "/operators?do=invite",
      "/system?do=backup",
      "/system?do=verify",
      `/verifications/${verificationId}`,
    ];
    for (const scheme of schemes) {
      await operatorTab(browser(), made, owner, { scheme }, async (tab) => {
        for (const path of [...everyPage(made, webhook, outlet), ...forms]) {
          const answer = await tab.goto(`/console${path}`);
          assert.equal(answer?.status(), 200, path);
          for (const width of widths) {
            // So high that the bar at the bottom covers nothing: axe can't judge what is covered.
            await tab.setViewportSize({ width, height: 6_000 });
            await assertFits(tab, `${path} at ${width}`);
            await assertAccessible(tab, previewsOn(path));
          }
        }
      });
    }
  });

  it("is reached and used with the keyboard alone", async (t) => {
    const made = await administrationWorld(t);
    const owner = await made.owner();
    await operatorTab(browser(), made, owner, {}, async (tab) => {
      await tab.goto("/console/users?do=add");
      // The first field has the focus.
      await tab.keyboard.type("grace");
      await tab.keyboard.press("Tab");
      await tab.keyboard.type(password);
      await tab.keyboard.press("Enter");
      await tab.getByText("Done: user add.").waitFor();
      await tab.getByRole("link", { name: "grace" }).focus();
      await tab.keyboard.press("Enter");
      await tab.getByRole("heading", { name: "grace" }).waitFor();
    });
  });

  it("invites an operator, who signs in with a password of their own and sees one tenant", async (t) => {
    const made = await administrationWorld(t);
    const owner = await made.owner();
    let link = "";
    await operatorTab(browser(), made, owner, {}, async (tab) => {
      await tab.goto("/console/operators");
      await tab.getByRole("link", { name: "Invite a person" }).click();
      await tab.getByLabel("Role").selectOption("tenantAdmin");
      await tab.getByLabel("Tenants").fill("Other");
      await tab.getByLabel("Name to sign in with").fill("olga");
      await tab.getByRole("button", { name: "Make the link" }).click();
      link = /http:\S+\/console\/invitation\/[\w-]+/.exec(await tab.getByRole("dialog").innerText())?.[0] ?? "";
    });
    await operatorTab(browser(), made, new OperatorBrowser(made.world.baseUrl), {}, async (tab) => {
      await tab.goto(link);
      await tab.getByLabel("Password").fill(password);
      await tab.getByRole("button", { name: "Go to the console" }).click();
      await tab.goto("/console/clients");
      assert.ok(!(await tab.content()).includes("Voice"));
      assert.ok(!(await tab.content()).includes("Acme"));
    });
  });
});

async function assertFits(tab: Page, place: string): Promise<void> {
  const width = await tab.evaluate<number>("document.documentElement.scrollWidth");
  assert.ok(width <= tab.viewportSize()!.width, `${place} is ${width} wide`);
}
