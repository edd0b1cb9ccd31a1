import { rmSync } from "node:fs";
import { describe, it } from "node:test";
import { startSimulator } from "../../simulator/simulator.ts";
import { startLogging } from "../../src/runtime/process/log.ts";
import { startService } from "../../src/service/service.ts";
import { consent, heading, signIn } from "../browser/link-site.ts";
import { browserOfFile, skip } from "../browser/world.ts";
import { cheapPasswords } from "../set-up/cheap-passwords.ts";
import { newDataFolder } from "../set-up/sqlite-template.ts";
import { storyConfig } from "../stories/world.ts";

const browser = browserOfFile();
const password = "correct horse";

describe("an operator who begins with nothing", { skip }, () => {
  it("comes by clicking alone to a linked home, sees smoke as a band, and runs a fan that was refused before", async (t) => {
    const folder = await newDataFolder("breezeway-first-home-");
    const simulator = await startSimulator({ port: 0 });
    const structures = [{ name: "Maple Street", thermostats: 1, alarms: 1 }];
    const { accountId } = simulator.addAccount({ seed: 1, structures } as never);
    const silent = startLogging("silent");
    const service = await startService(storyConfig(folder, simulator.url), silent, undefined, cheapPasswords);
    const context = await browser().newContext({ baseURL: service.baseUrl });
    t.after(async () => {
      await context.close();
      await service.stop();
      await simulator.stop();
      rmSync(folder, { recursive: true, force: true });
    });
    const { baseUrl, parts } = service;
    const { path } = (await parts.administration.run("operator claim", {}, { service: { baseUrl } })) as {
      readonly path: string;
    };
    const tab = await context.newPage();
    const link = (name: string) => tab.getByRole("link", { name, exact: true });
    const button = (name: string) => tab.getByRole("button", { name, exact: true });

    await tab.goto(path);
    await tab.getByLabel("Your name").fill("olga");
    await tab.getByLabel("Password").fill(password);
    await tab.getByLabel("tenant").fill("Acme");
    await button("Go to the console").click();
    await tab.getByRole("heading", { name: "Overview" }).waitFor();

    await link("Clients").click();
    await link("Register a client").click();
    await tab.getByLabel("Name", { exact: true }).fill("Lantern");
    await tab.getByLabel("Redirect addresses").fill("https://lantern.example/back");
    await button("Register").click();
    await button("I have stored it").click();
    await link("Lantern").waitFor();

    await link("Users").click();
    await link("Add a user").click();
    await tab.getByLabel("Name", { exact: true }).fill("ada");
    await tab.getByLabel("Password").fill(password);
    await button("Add").click();
    await link("ada").click();
    await link("Connect a home").click();
    await button("Make the page").click();
    const pageUrl = await tab.getByRole("dialog").getByRole("link").textContent();

    const atHome = await (await browser().newContext()).newPage();
    t.after(() => atHome.context().close());
    await signIn(atHome, pageUrl!, { name: "ada", password });
    await heading(atHome, "Connect your home to Acme");
    await atHome.getByRole("button", { name: "Continue", exact: true }).click();
    await consent(atHome, "Maple Street");
    await heading(atHome, "Your home is connected");

    await button("I have stored it").click();
    await link("nest").click();
    await tab.locator("#freshness", { hasText: "Live" }).waitFor();
    await tab.locator(".alarm.green").waitFor();

    const smokeMs = performance.now();
    await simulator.playScene(accountId, { scene: "smoke" });
    await tab.getByRole("alert").getByText("Smoke emergency").waitFor();
    t.diagnostic(`the band was there ${Math.round(performance.now() - smokeMs)} ms after the smoke`);
    await simulator.playScene(accountId, { scene: "clear" });
    await tab.getByRole("alert").waitFor({ state: "detached" });

    await simulator.playScene(accountId, { scene: "leave" });
    await tab.getByText(/^Nobody is home: the ecosystem refuses/).waitFor();
    await button("Run fan").click();
    await tab
      .locator(".outcome")
      .getByText(/only while somebody is home, and nobody is\./)
      .waitFor();
    await simulator.playScene(accountId, { scene: "come-home" });
    await tab.getByText(/^Nobody is home: the ecosystem refuses/).waitFor({ state: "detached" });
    await button("Run fan").click();
    await tab.locator(".outcome .is-reached", { hasText: "Confirmed" }).waitFor();
    await tab.getByText(/^Fan runs/).waitFor();
  });
});
