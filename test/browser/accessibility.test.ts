import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Page } from "playwright-core";
import { TooManyRequests } from "../../src/model/errors.ts";
import { ada, admin } from "../oauth/oauth-world.ts";
import { sampleOf } from "../set-up/sample.ts";
import { assertAccessible, assertReadable, type LookedAt } from "./axe.ts";
import {
  type BrowserWorld,
  backAtClient,
  browserOfFile,
  browserWorld,
  comeToLogin,
  comeToTerms,
  declineButton,
  devices,
  fillIn,
  type Look,
  looksOf,
  signInButton,
  skip,
  visit,
} from "./world.ts";

const browser = browserOfFile();

/** Each page that a user can meet, and the way there. */
const pages: Readonly<Record<string, (tab: Page, world: BrowserWorld) => Promise<void>>> = {
  login: comeToLogin,
  async "login with a wrong password"(tab, world) {
    await comeToLogin(tab, world);
    await fillIn(tab, { ...ada, password: "wrong" });
    await signInButton(tab).click();
    await tab.getByText("The user name or the password is wrong.").waitFor();
  },
  async "login after too many attempts"(tab, world) {
    const { identity } = world.service.parts;
    const wrong = { ...ada, password: "wrong" };
    // Most of the attempts without the browser, which costs far more CPU time.
    const login = { ...wrong, appId: String(world.tenantId), source: "127.0.0.1" };
    const refusal = (): Promise<unknown> => identity.login(login).catch((error) => error);
    while (!((await refusal()) instanceof TooManyRequests));
    await comeToLogin(tab, world);
    const refused = tab.getByText("Too many attempts");
    while ((await refused.count()) === 0) {
      await fillIn(tab, wrong);
      await signInButton(tab).click();
      await tab.getByRole("alert").waitFor();
    }
  },
  terms: (tab, world) => comeToTerms(tab, world),
  async error(tab, world) {
    await tab.goto(world.authorizeUrl({ client_id: "nobody" }));
    await tab.getByRole("heading", { name: "Something isn’t right" }).waitFor();
  },
  async declined(tab, world) {
    await comeToTerms(tab, world);
    await declineButton(tab).click();
    await backAtClient(tab);
    await tab.goBack();
    await tab.getByRole("heading", { name: "Nothing was shared" }).waitFor();
  },
  async expired(tab, world) {
    await comeToLogin(tab, world);
    await fillIn(tab);
    await tab.context().clearCookies();
    await signInButton(tab).click();
    await tab.getByRole("heading", { name: "This page has expired" }).waitFor();
  },
};

/** What axe leaves open on a page, looked at and found good; at present it can decide everything. */
const lookedAt: Readonly<Record<string, readonly LookedAt[]>> = {};

describe("every page", { skip }, () => {
  for (const [nth, [name, open]] of Object.entries(pages).entries()) {
    it(`is accessible, fits and can be touched, on a phone and a desktop, light and dark: ${name}`, async (t) => {
      const world = await browserWorld(t);
      await visit(browser(), world, {}, async (tab) => {
        await open(tab, world);
        for (const look of looksOf(nth)) {
          await lookAt(tab, look);
          await assertAccessible(tab, lookedAt[name]);
          await assertFits(tab);
          await assertTouchable(tab);
        }
      });
    });
  }

  it("can be read with any accent that is let in", async (t) => {
    const world = await browserWorld(t, { kind: "enterprise" });
    const accents = sampleOf(["#ffffff", "#12205a", "#c2410c"], { everyNth: 3 });
    for (const accent of accents) {
      await world.service.parts.identity.setBrand(world.tenantId, { accent });
      await visit(browser(), world, {}, async (tab) => {
        await comeToLogin(tab, world);
        await inBothSchemes(tab, () => assertReadable(tab));
        await fillIn(tab, admin);
        await signInButton(tab).click();
        await declineButton(tab).waitFor();
        await inBothSchemes(tab, () => assertReadable(tab));
        await declineButton(tab).hover();
        await inBothSchemes(tab, () => assertReadable(tab));
      });
    }
  });

  it("fits a phone and stays accessible with names of any kind", async (t) => {
    const names = ["W".repeat(60), "فانوس ١٢٣ 🏮👩‍👩‍👧‍👦"];
    for (const name of sampleOf(names, { everyNth: 2, from: 1 })) {
      const world = await browserWorld(t, { clientName: name, kind: "enterprise" });
      const person = { name, password: "correct horse" };
      await world.service.parts.identity.addUser({ tenant: "Acme", ...person, isAdmin: true });
      await visit(browser(), world, { device: "phone" }, async (tab) => {
        await comeToLogin(tab, world);
        await assertFits(tab);
        await assertAccessible(tab);
        await fillIn(tab, person);
        await signInButton(tab).click();
        await declineButton(tab).waitFor();
        await assertFits(tab);
        await assertAccessible(tab);
      });
    }
  });
});

async function lookAt(tab: Page, { device, scheme }: Look): Promise<void> {
  await tab.setViewportSize(devices[device].viewport);
  await tab.emulateMedia({ colorScheme: scheme });
}

async function inBothSchemes(tab: Page, check: () => Promise<void>): Promise<void> {
  for (const scheme of ["light", "dark"] as const) {
    await tab.emulateMedia({ colorScheme: scheme });
    await check();
  }
}

async function assertFits(tab: Page): Promise<void> {
  const width = await tab.evaluate<number>("document.documentElement.scrollWidth");
  assert.ok(width <= tab.viewportSize()!.width, `the page is ${width} wide`);
}

/** A finger needs 44 pixels. A link inside a sentence is as high as its line (WCAG 2.5.8 allows it). */
async function assertTouchable(tab: Page): Promise<void> {
  for (const target of await tab.locator("button, a:not(.lead a), input:not([type=hidden])").all()) {
    const { width, height } = (await target.boundingBox()) ?? { width: 0, height: 0 };
    assert.ok(height >= 44 && width >= 44, `${await target.textContent()} is ${width} by ${height}`);
  }
}
