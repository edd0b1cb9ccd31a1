import assert from "node:assert/strict";
import { after, before, type TestContext } from "node:test";
import { type Browser, chromium, type Page } from "playwright-core";
import { ada, oauthWorld } from "../oauth/oauth-world.ts";
import { ensureChromium, missingChromium } from "../set-up/chromium.ts";
import { isAll } from "../set-up/extent.ts";
import { atProcessEnd } from "../set-up/process-end.ts";
import { clientSite } from "./client-site.ts";

/** How a browser is held and set. */
export interface Look {
  readonly device: "phone" | "desktop";
  readonly scheme: "light" | "dark";
}

export const looks: readonly Look[] = (["phone", "desktop"] as const).flatMap((device) =>
  (["light", "dark"] as const).map((scheme) => ({ device, scheme })),
);

/** The looks to inspect a page in: all of them with `npm run test:all`, one with `npm test`, the next page in the next. */
export function looksOf(nth: number): readonly Look[] {
  return isAll ? looks : [looks[nth % looks.length]!];
}

export const devices = {
  phone: { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
  desktop: { viewport: { width: 1280, height: 800 } },
} as const;

/** Why there is no browser to test with, or false. */
export const skip = missingChromium() ?? false;

let launched: Promise<Browser> | undefined;

/**
 * The one browser of the process, for a test file. Files share it, each with contexts of its own: a start takes a second
 * of CPU. It reaches nothing but this machine.
 */
export function browserOfFile(): () => Browser {
  let browser: Browser | undefined;
  atProcessEnd(closeBrowser);
  before(async () => {
    if (skip !== false) return;
    launched ??= launch();
    browser = await launched;
  });
  after(async () => {
    for (const context of browser?.contexts() ?? []) await context.close();
  });
  return () => browser!;
}

function launch(): Promise<Browser> {
  const args = ["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1"];
  return chromium.launch({ executablePath: ensureChromium(), args });
}

async function closeBrowser(): Promise<void> {
  await (await launched)?.close();
}

export interface BrowserWorldPlan {
  readonly clientName?: string;
  readonly kind?: "user" | "enterprise";
  readonly accent?: string;
}

/** The real service with a branded tenant, and the site of a client that redeems each code as it comes. */
export async function browserWorld(test: TestContext, plan: BrowserWorldPlan = {}) {
  const service = await oauthWorld(test);
  const site = await clientSite(test);
  const { clientName: name = "Lantern", kind = "user", accent = "#0b57d0" } = plan;
  const client = await service.addClient({ name, kind, redirectUris: [site.redirectUri] });
  const { identity } = service.service.parts;
  await identity.setBrand(service.tenantId, { accent, supportUrl: "https://help.example/", logo: Buffer.from(logo) });
  await identity.setTerms(service.tenantId, { text: termsText, version: "2.1" });
  const redeemed: { readonly status: number; readonly accessToken: string }[] = [];
  site.linkTo = service.authorizeUrl({ client_id: client.id, redirect_uri: site.redirectUri });
  site.redeem = async (code) => {
    const { status, body } = await service.exchange(code, client, { redirect_uri: site.redirectUri });
    redeemed.push({ status, accessToken: body.access_token ?? "" });
  };
  return {
    ...service,
    baseUrl: service.baseUrl,
    site,
    client,
    /** The client holds one pair of tokens, from one code, and it works. */
    async assertLinked() {
      assert.deepEqual(
        redeemed.map(({ status }) => status),
        [200],
      );
      assert.equal(await service.statusWith(redeemed[0]!.accessToken), 200);
    },
    assertNotLinked() {
      assert.deepEqual(redeemed, []);
    },
  };
}

export type BrowserWorld = Awaited<ReturnType<typeof browserWorld>>;

export interface Visit extends Partial<Look> {
  readonly javaScriptEnabled?: boolean;
}

/**
 * A visitor with a browser profile of their own. Afterwards the browser must have refused nothing that our pages asked
 * of it, and have asked nobody but the service and the client.
 */
export async function visit(browser: Browser, world: BrowserWorld, how: Visit, act: (tab: Page) => Promise<void>) {
  const { device = "desktop", scheme = "light", javaScriptEnabled = true } = how;
  const context = await browser.newContext({ ...devices[device], colorScheme: scheme, javaScriptEnabled });
  try {
    const tab = await context.newPage();
    const complaints: string[] = [];
    const hosts = new Set<string>();
    context.on("console", (message) => {
      if (/Content Security Policy|Refused to|violates/i.test(message.text())) complaints.push(message.text());
    });
    context.on("weberror", (error) => complaints.push(String(error.error())));
    context.on("request", (request) => hosts.add(new URL(request.url()).origin));
    await act(tab);
    assert.deepEqual(complaints, []);
    const strangers = [...hosts].filter((origin) => origin !== world.baseUrl && origin !== world.site.url);
    assert.deepEqual(strangers, []);
  } finally {
    await context.close();
  }
}

/** Comes from the client's site to the login page. */
export async function comeToLogin(tab: Page, { site }: BrowserWorld): Promise<void> {
  await tab.goto(site.url);
  await tab.getByRole("link", { name: "Link my account" }).click();
  await tab.getByRole("heading", { name: "Sign in" }).waitFor();
}

export async function fillIn(tab: Page, person = ada): Promise<void> {
  await tab.getByLabel("User name").fill(person.name);
  await tab.getByLabel("Password").fill(person.password);
}

export const signInButton = (tab: Page) => tab.getByRole("button", { name: "Sign in" });
export const acceptButton = (tab: Page) => tab.getByRole("button", { name: "Accept" });
export const declineButton = (tab: Page) => tab.getByRole("button", { name: "Decline" });

/** Comes to the terms, signed in. */
export async function comeToTerms(tab: Page, world: BrowserWorld, person = ada): Promise<void> {
  await comeToLogin(tab, world);
  await fillIn(tab, person);
  await signInButton(tab).click();
  await acceptButton(tab).waitFor();
}

export async function backAtClient(tab: Page): Promise<void> {
  await tab.getByRole("heading", { name: "Back at Lantern" }).waitFor();
}

const logo = `<svg xmlns="http://www.w3.org/2000/svg" width="168" height="40" viewBox="0 0 168 40"><path fill="#0b57d0" d="M4 34V16L20 4l16 12v18z"/><path fill="#333" d="M48 12h112v6H48zM48 24h72v4H48z"/></svg>`;

const termsText = Array.from(
  { length: 12 },
  (_, place) =>
    `${place + 1}. The apps that you choose see and control the devices of your home. You may end their access at any time.`,
).join("\n\n");
