import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Locator, Page } from "playwright-core";
import { sampleOf } from "../set-up/sample.ts";
import {
  acceptButton,
  backAtClient,
  browserOfFile,
  browserWorld,
  comeToLogin,
  comeToTerms,
  declineButton,
  fillIn,
  signInButton,
  skip,
  visit,
} from "./world.ts";

const browser = browserOfFile();
const heading = (tab: Page, name: string) => tab.getByRole("heading", { name });

describe("the Back button", { skip }, () => {
  it("leads from the terms to a login page that works again", async (t) => {
    const world = await browserWorld(t);
    await visit(browser(), world, {}, async (tab) => {
      await comeToTerms(tab, world);
      await tab.goBack();
      await heading(tab, "Sign in").waitFor();
      await fillIn(tab);
      await signInButton(tab).click();
      await acceptButton(tab).click();
      await backAtClient(tab);
    });
    await world.assertLinked();
  });

  it("after Accept shows that linking is done, and the client keeps its access", async (t) => {
    const world = await browserWorld(t);
    await visit(browser(), world, {}, async (tab) => {
      await comeToTerms(tab, world);
      await acceptButton(tab).click();
      await backAtClient(tab);
      await tab.goBack();
      await heading(tab, "You accepted").waitFor();
      assert.ok(await tab.getByText("Go on in Lantern.").isVisible());
      assert.equal(await acceptButton(tab).count(), 0);
    });
    assert.equal(world.site.arrivals.length, 1);
    await world.assertLinked();
  });

  it("after Decline shows that nothing was shared", async (t) => {
    const world = await browserWorld(t);
    await visit(browser(), world, { device: "phone" }, async (tab) => {
      await comeToTerms(tab, world);
      await declineButton(tab).click();
      await backAtClient(tab);
      await tab.goBack();
      await heading(tab, "Nothing was shared").waitFor();
      assert.equal(await acceptButton(tab).count(), 0);
    });
    world.assertNotLinked();
  });

  it("twice after Accept leads to a login page, from which the user can link once more", async (t) => {
    const world = await browserWorld(t);
    await visit(browser(), world, {}, async (tab) => {
      await comeToTerms(tab, world);
      await acceptButton(tab).click();
      await backAtClient(tab);
      await world.assertLinked();
      await tab.goBack();
      await tab.goBack();
      await heading(tab, "Sign in").waitFor();
      await fillIn(tab);
      await signInButton(tab).click();
      await acceptButton(tab).click();
      await backAtClient(tab);
    });
    assert.equal(new Set(world.site.arrivals.map((arrival) => arrival.get("code"))).size, 2);
  });
});

describe("an impatient user", { skip }, () => {
  for (const device of sampleOf(["phone", "desktop"] as const, { everyNth: 2 })) {
    it(`may click every button twice and ends at the client with one working code (${device})`, async (t) => {
      const world = await browserWorld(t);
      await visit(browser(), world, { device }, async (tab) => {
        await comeToLogin(tab, world);
        await fillIn(tab);
        await signInButton(tab).dblclick();
        await acceptButton(tab).dblclick();
        await backAtClient(tab);
      });
      assert.equal(new Set(world.site.arrivals.map((arrival) => arrival.get("code"))).size, 1);
      await world.assertLinked();
    });
  }

  it("may click Sign in again while the terms are on their way", async (t) => {
    const world = await browserWorld(t);
    await visit(browser(), world, {}, async (tab) => {
      await comeToLogin(tab, world);
      await fillIn(tab);
      // The browser has the redirect to the terms and its cookie, but still shows the login page.
      const first = await holdNext(tab, "*/oauth2/terms?*");
      const clickSignIn = await clickerOf(tab, signInButton(tab));
      await clickSignIn();
      await first.held;
      await clickSignIn();
      await first.cancelled;
      await acceptButton(tab).click();
      await backAtClient(tab);
    });
    await world.assertLinked();
  });

  it("may click Accept again on the way to the client, and arrives with the same code", async (t) => {
    const world = await browserWorld(t);
    await visit(browser(), world, {}, async (tab) => {
      await comeToTerms(tab, world);
      const first = await holdNext(tab, `${world.site.redirectUri}?*`);
      const clickAccept = await clickerOf(tab, acceptButton(tab));
      await clickAccept();
      const firstAddress = await first.held;
      await clickAccept();
      await first.cancelled;
      await backAtClient(tab);
      assert.equal(tab.url(), firstAddress);
    });
    await world.assertLinked();
  });

  it("may click Accept again while the client is slow to answer, and the client keeps its access", async (t) => {
    const world = await browserWorld(t);
    const { redeem } = world.site;
    const [redeemed, answering] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    world.site.redeem = async (code) => {
      await redeem(code);
      redeemed.resolve();
      await answering.promise;
    };
    await visit(browser(), world, {}, async (tab) => {
      await comeToTerms(tab, world);
      const clickAccept = await clickerOf(tab, acceptButton(tab));
      await clickAccept();
      await redeemed.promise;
      // The browser stops waiting for the client when the button is clicked again.
      await clickAccept();
      await heading(tab, "You accepted").waitFor();
    });
    answering.resolve();
    await world.assertLinked();
  });

  it("may click Decline after Accept, and sees that linking is done", async (t) => {
    const world = await browserWorld(t);
    await visit(browser(), world, {}, async (tab) => {
      await comeToTerms(tab, world);
      const address = tab.url();
      const second = await tab.context().newPage();
      await second.goto(address);
      await acceptButton(tab).click();
      await backAtClient(tab);
      await declineButton(second).click();
      await heading(second, "You accepted").waitFor();
    });
    await world.assertLinked();
  });
});

describe("a page that was left open too long", { skip }, () => {
  const pastExpiryMs = 11 * 60_000;

  it("says that it has expired and where to start again, when the user signs in", async (t) => {
    const world = await browserWorld(t);
    await visit(browser(), world, {}, async (tab) => {
      await comeToLogin(tab, world);
      await fillIn(tab);
      await world.timePasses(pastExpiryMs);
      // Only the service's clock has moved: remove the cookie as the browser would.
      await tab.context().clearCookies();
      await signInButton(tab).click();
      await heading(tab, "This page has expired").waitFor();
      assert.ok(await tab.getByText("Start again from Lantern.").isVisible());
    });
  });

  it("says that it has expired and where to start again, when the user accepts", async (t) => {
    const world = await browserWorld(t);
    await visit(browser(), world, {}, async (tab) => {
      await comeToTerms(tab, world);
      await world.timePasses(pastExpiryMs);
      await acceptButton(tab).click();
      await heading(tab, "This page has expired").waitFor();
      assert.ok(await tab.getByText("Start again from Lantern.").isVisible());
    });
    world.assertNotLinked();
  });
});

describe("two login pages in one browser", { skip }, () => {
  it("the first still works after the second was opened", async (t) => {
    const world = await browserWorld(t);
    await visit(browser(), world, {}, async (tab) => {
      const second = await tab.context().newPage();
      await comeToLogin(tab, world);
      await comeToLogin(second, world);
      await fillIn(tab);
      await signInButton(tab).click();
      await acceptButton(tab).click();
      await backAtClient(tab);
    });
    await world.assertLinked();
  });
});

/** Returns a click at the element's place that does not wait for the page that an earlier click requested. */
async function clickerOf(tab: Page, element: Locator): Promise<() => Promise<void>> {
  await element.scrollIntoViewIfNeeded();
  const box = await element.boundingBox();
  assert.ok(box);
  return () => tab.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
}

/** Delays the next request to such an address until the browser cancels it; later requests pass. */
async function holdNext(tab: Page, addresses: string) {
  const session = await tab.context().newCDPSession(tab);
  await session.send("Network.enable");
  await session.send("Fetch.enable", { patterns: [{ urlPattern: addresses }] });
  let heldId: string | undefined;
  const held = new Promise<string>((resolve) => {
    session.on("Fetch.requestPaused", ({ requestId, networkId, request }) => {
      if (heldId !== undefined) return void session.send("Fetch.continueRequest", { requestId });
      heldId = networkId ?? "";
      resolve(request.url);
    });
  });
  const cancelled = new Promise<void>((resolve) => {
    session.on("Network.loadingFailed", ({ requestId }) => {
      if (requestId === heldId) resolve();
    });
  });
  return { held, cancelled };
}
