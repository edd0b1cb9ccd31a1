import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { owner } from "../../simulator/home-assistant/pages/login-page.ts";
import { startHomeAssistant } from "../../simulator/home-assistant/simulator.ts";
import { ada, oauthWorld } from "../oauth/oauth-world.ts";
import { assertAccessible } from "./axe.ts";
import { browserOfFile, devices, skip } from "./world.ts";

const returnUrl = "http://127.0.0.1:9/linked";
const browser = browserOfFile();

describe("the link page with a Home Assistant in Chromium", { skip, timeout: 120_000 }, () => {
  it("asks for the address, says what is wrong with it, and links over the instance's login page, without a token in the log", async (t) => {
    const simulator = await startHomeAssistant({ locationName: "Maple Street" });
    t.after(() => simulator.stop());
    const ecosystems = { home: { protocol: "home-assistant", allowPrivateNetworks: true } };
    const world = await oauthWorld(t, { environment: { BREEZEWAY_ECOSYSTEMS: JSON.stringify(ecosystems) } });
    const client = await world.addClient({ name: "Lantern", returnUrls: [returnUrl] });
    const { access_token: token } = await world.tokens(client, ada);
    const created = await fetch(`${world.baseUrl}/v3/link-sessions`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ ecosystem: "home", returnUrl, state: "s" }),
    });
    const { id, url } = (await created.json()) as { id: string; url: string };
    const context = await browser().newContext(devices.phone);
    t.after(() => context.close());
    const tab = await context.newPage();
    tab.setDefaultTimeout(20_000);

    await tab.goto(url);
    await tab.locator("input[name=username]").fill(ada.name);
    await tab.locator("input[name=password]").fill(ada.password);
    await tab.locator("button").first().click();
    const address = tab.getByLabel(/Address of your/);
    const continueButton = tab.locator('button[value="continue"]');
    await address.fill("http://127.0.0.1:1");
    await continueButton.click();
    await tab.getByText(/Nothing accepts connections at this address/).waitFor();
    await assertAccessible(tab);
    await address.fill(`${simulator.url}/`);
    await address.press("Enter");
    await tab.getByRole("heading", { name: "Log in to Maple Street" }).waitFor();
    await assertAccessible(tab);
    await tab.getByLabel("Username").fill(owner.name);
    await tab.getByLabel("Password").fill(owner.password);
    await tab.getByRole("button", { name: "Log in" }).click();
    await tab.getByRole("heading", { name: "Your home is connected" }).waitFor();
    await tab.getByText(/Maple Street: 1 thermostat, 1 alarm/).waitFor();
    assert.equal((await world.get(`/v3/link-sessions/${id}`, token)).body.status, "linked");
    // No refused login, code or token: a real instance may ban the address after such a refusal.
    assert.equal(simulator.tokens.failures, 0);
    const lines = world.logged.join("\n");
    for (const secret of simulator.tokens.all) assert.ok(!lines.includes(secret));
  });
});
