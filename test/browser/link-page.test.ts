import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it, type TestContext } from "node:test";
import type { Browser, Page } from "playwright-core";
import { type LinkWorldPlan, linkWorld } from "../link-sessions/link-world.ts";
import { ada } from "../oauth/oauth-world.ts";
import { assertAccessible } from "./axe.ts";
import { browserOfFile, devices, fillIn, type Look, looksOf, signInButton, skip } from "./world.ts";

const browser = browserOfFile();
const bob = { name: "bob", password: "another word" };

/** The service, the ecosystem, and the client's site, to which link pages lead back. */
async function linkSite(t: TestContext, plan: LinkWorldPlan = {}) {
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
async function visit(
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

const heading = (tab: Page, name: string | RegExp) => tab.getByRole("heading", { level: 1, name }).waitFor();
const button = (tab: Page, name: string) => tab.getByRole("button", { name, exact: true });

async function signIn(tab: Page, url: string, person = ada): Promise<void> {
  await tab.goto(url);
  await heading(tab, "Sign in");
  await fillIn(tab, person);
  await signInButton(tab).click();
}

/** Chooses a home at the ecosystem, and decides. */
async function consent(tab: Page, home: string, decision = "Allow"): Promise<void> {
  await heading(tab, /asks to use your home/);
  await tab.getByText(home).first().click();
  await button(tab, decision).click();
}

async function connect(tab: Page, url: string, home = "Maple Street"): Promise<void> {
  await signIn(tab, url);
  await heading(tab, "Connect your home to Acme");
  await button(tab, "Continue").click();
  await consent(tab, home);
  await heading(tab, "Your home is connected");
}

/** Nothing is cut off at the side. */
async function assertFits(tab: Page): Promise<void> {
  assert.ok(await tab.evaluate<boolean>("document.documentElement.scrollWidth <= window.innerWidth"));
}

describe("a link page in a browser", { skip }, () => {
  for (const look of looksOf(1)) {
    it(`leads from sign-in to the result and back, accessibly (${look.device}, ${look.scheme})`, async (t) => {
      const site = await linkSite(t);
      const { id, url } = await site.create();
      await visit(browser(), look, async (tab) => {
        const inspect = async () => {
          await assertAccessible(tab);
          await assertFits(tab);
        };
        await tab.goto(url);
        await heading(tab, "Sign in");
        await inspect();
        await fillIn(tab);
        await signInButton(tab).click();
        await heading(tab, "Connect your home to Acme");
        await inspect();
        await button(tab, "Continue").click();
        await consent(tab, "Maple Street");
        await heading(tab, "Your home is connected");
        assert.ok(await tab.getByText("Maple Street: 2 thermostats, 3 alarms").isVisible());
        await inspect();
        await tab.getByRole("link", { name: "Back to Lantern" }).click();
        await heading(tab, "Back at Lantern");
      });
      assert.equal(await site.status(id), "linked");
      assert.deepEqual(
        [...site.arrivals[0]!],
        [
          ["linkSession", id],
          ["state", "s 1"],
        ],
      );
    });
  }

  it("needs no script", async (t) => {
    const site = await linkSite(t);
    const { id, url } = await site.create();
    await visit(browser(), { script: false, device: "phone" }, (tab) => connect(tab, url));
    assert.equal(await site.status(id), "linked");
  });

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
      await heading(tab, "Your home can’t be reached");
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

  it("stays below 15 kB", async (t) => {
    const site = await linkSite(t);
    const visitor = site.visitor();
    const { url } = await site.create();
    const pages = [await visitor.open(url)];
    pages.push(await visitor.signIn(pages[0]!));
    pages.push(await visitor.link(url, site.accounts.maple));
    for (const { body } of pages) assert.ok(Buffer.byteLength(body) < 15_000, `${Buffer.byteLength(body)} bytes`);
  });
});
