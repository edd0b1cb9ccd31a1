import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import type { Browser, Page } from "playwright-core";
import { type LinkWorldPlan, linkWorld } from "../link-sessions/link-world.ts";
import { ada } from "../oauth/oauth-world.ts";
import { devices, fillIn, type Look, signInButton } from "./world.ts";

/** The service, the ecosystem, and the client's site, to which link pages lead back. */
export async function linkSite(t: TestContext, plan: LinkWorldPlan = {}) {
  const world = await linkWorld(t, plan);
  const arrivals: URLSearchParams[] = [];
  const server = createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? "/", "http://localhost");
    if (searchParams.has("linkSession")) arrivals.push(searchParams);
    response.writeHead(200, { "content-type": "text/html; charset=utf-8" });
    response.end("<!doctype html><title>Lantern</title><h1>Back at Lantern</h1>");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const site = `http://localhost:${(server.address() as AddressInfo).port}`;
  const returnUrl = `${site}/linked`;
  const { oauth, identity } = world.service.parts;
  await oauth.editClient(world.client.id, { returnUrls: [returnUrl] });
  await identity.setBrand(world.tenantId, { accent: "#0b57d0", supportUrl: "https://help.example/" });
  const token = await world.tokenOf();
  const create = (body: object = {}) => world.create(token, { returnUrl, ...body });
  return {
    ...world,
    site,
    arrivals,
    token,
    create,
    status: async (id: string) => (await world.session(token, id)).status,
  };
}

/** A person with a browser profile of their own, which must not have refused anything that our pages asked of it. */
export async function visit(
  of: Browser,
  how: Partial<Look> & { readonly script?: boolean },
  act: (tab: Page) => Promise<void>,
) {
  const { device = "desktop", scheme = "light", script = true } = how;
  const context = await of.newContext({ ...devices[device], colorScheme: scheme, javaScriptEnabled: script });
  try {
    const tab = await context.newPage();
    const complaints: string[] = [];
    context.on("console", (message) => {
      if (/Content Security Policy|Refused to|violates/i.test(message.text())) complaints.push(message.text());
    });
    await act(tab);
    assert.deepEqual(complaints, []);
  } finally {
    await context.close();
  }
}

export const heading = (tab: Page, name: string | RegExp) => tab.getByRole("heading", { level: 1, name }).waitFor();
export const button = (tab: Page, name: string) => tab.getByRole("button", { name, exact: true });

export async function signIn(tab: Page, url: string, person = ada): Promise<void> {
  await tab.goto(url);
  await heading(tab, "Sign in");
  await fillIn(tab, person);
  await signInButton(tab).click();
}

/** Chooses a home at the ecosystem, and decides. */
export async function consent(tab: Page, home: string, decision = "Allow"): Promise<void> {
  await heading(tab, /asks to use your home/);
  await tab.getByText(home).first().click();
  await button(tab, decision).click();
}

export async function connect(tab: Page, url: string, home = "Maple Street"): Promise<void> {
  await signIn(tab, url);
  await heading(tab, "Connect your home to Acme");
  await button(tab, "Continue").click();
  await consent(tab, home);
  await heading(tab, "Your home is connected");
}

/** Nothing is cut off at the side. */
export async function assertFits(tab: Page): Promise<void> {
  assert.ok(await tab.evaluate<boolean>("document.documentElement.scrollWidth <= window.innerWidth"));
}
