import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Page } from "playwright-core";
import { browserOfFile, skip } from "../browser/world.ts";
import { openIdWorld } from "./openid-world.ts";

const browser = browserOfFile();

describe("an operator who signs in at an OpenID provider", { skip }, () => {
  it("gets the role of the provider's claims, and confirms a secret by signing in again", async (t) => {
    const { service, run, owner } = await openIdWorld(t);
    await owner();
    const context = await browser().newContext();
    t.after(() => context.close());
    const tab = await context.newPage();
    await signIn(tab, service.baseUrl, "olga");
    await tab.waitForURL(`${service.baseUrl}/console`);
    assert.ok(await tab.getByText("olga@works.example").first().isVisible());
    const { operators } = await run("operator list");
    const olga = operators.find(({ name }: { readonly name: string }) => name === "olga@works.example");
    assert.equal(olga.role, "owner");

    // The page of a secret asks for a new sign-in: the operator has no password.
    await tab.goto(`${service.baseUrl}/console/password?to=/console/sessions`);
    await tab.getByRole("link", { name: /Sign in with .* again/ }).click();
    // The last sign-in at the provider is seconds old, which is enough.
    await tab.waitForURL(`${service.baseUrl}/console/sessions`);
    const [cookie] = (await context.cookies()).filter(({ name }) => name.startsWith("breezeway-operator-"));
    const { by } = await service.parts.operators.bySession(cookie!.value);
    assert.ok(by.kind === "session" && by.isConfirmed);
    const { entries } = await run("audit list", {});
    assert.ok(JSON.stringify(entries).includes("olga@works.example"));
  });

  it("loses a role that the provider no longer tells, and reads why", async (t) => {
    const { service, owner, provider } = await openIdWorld(t);
    await owner();
    const context = await browser().newContext();
    t.after(() => context.close());
    const tab = await context.newPage();
    await signIn(tab, service.baseUrl, "tina");
    await tab.waitForURL(`${service.baseUrl}/console`);
    assert.equal((await service.parts.operators.find("tina")).role, "tenantAdmin");
    provider.tells("tina", { groups: [] });
    await tab.getByRole("button", { name: "Sign out" }).click();
    await tab.waitForURL(/sign-in/);
    // The provider still has its own session, and asks nothing.
    await tab.getByRole("link", { name: /^Sign in with/ }).click();
    await tab.getByText("no rule makes you an operator").waitFor();
    assert.equal((await context.cookies()).find(({ name }) => name.startsWith("breezeway-operator-"))?.value ?? "", "");
  });
});

describe("the way back from an OpenID provider", () => {
  it("needs the browser that began, and an answer that belongs to it", async (t) => {
    const { service, newBrowser, owner } = await openIdWorld(t);
    await owner();
    const stranger = newBrowser();
    const without = await stranger.get("/console/openid/callback?code=stolen&state=guessed");
    assert.equal(without.status, 403);
    const visitor = newBrowser();
    const begun = await visitor.get("/console/openid?to=/console");
    assert.equal(begun.status, 303);
    const asked = new URL(begun.headers.get("location")!);
    assert.equal(asked.searchParams.get("redirect_uri"), `${service.baseUrl}/console/openid/callback`);
    assert.equal(asked.searchParams.get("code_challenge_method"), "S256");
    const foreign = await visitor.get("/console/openid/callback?code=stolen&state=another");
    assert.equal(foreign.status, 403);
    assert.match(await foreign.text(), /not valid/);
  });

  it("says that the provider can't be reached", async (t) => {
    const { newBrowser, owner, provider } = await openIdWorld(t);
    await owner();
    await provider.stop();
    const answer = await newBrowser().get("/console/openid");
    assert.equal(answer.status, 503);
    assert.match(await answer.text(), /can&#39;t be reached|can't be reached/);
  });
});

async function signIn(tab: Page, baseUrl: string, person: string): Promise<void> {
  await tab.goto(`${baseUrl}/console/sign-in`);
  await tab.getByRole("link", { name: /^Sign in with/ }).click();
  await atProvider(tab, person);
}

/** The provider's own pages: a login, and at the first time a consent. */
async function atProvider(tab: Page, person: string): Promise<void> {
  const button = tab.locator("button[type=submit]");
  await tab.locator("input[name=login]").fill(person);
  await tab.locator("input[name=password]").fill("anything");
  await button.click();
  const isConsent = tab.getByText("Authorize").first();
  const isBack = tab.waitForURL(/\/console/).then(() => "back");
  if ((await Promise.race([isBack, isConsent.waitFor().then(() => "consent")])) === "consent") await button.click();
  await isBack;
}
