import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { startedGoogle, writeKey } from "../ecosystems/google-device-access/harness.ts";
import { ada, oauthWorld } from "../oauth/oauth-world.ts";
import { assertAccessible } from "./axe.ts";
import { assertFits, button, heading, signIn, visit } from "./link-site.ts";
import { browserOfFile, looksOf, skip } from "./world.ts";

const browser = browserOfFile();

describe("the link page with a Google account in Chromium", { skip, timeout: 120_000 }, () => {
  for (const look of looksOf(2)) {
    it(`links the thermostats that the owner ticks at Google (${look.device}, ${look.scheme})`, async (t) => {
      const google = await startedGoogle(t);
      google.addAccount("Ada");
      const ecosystems = { google: google.settings(await writeKey(t, google)) };
      const world = await oauthWorld(t, { environment: { BREEZEWAY_ECOSYSTEMS: JSON.stringify(ecosystems) } });
      const { access_token: token } = await world.tokens(world.client, ada);
      const created = await fetch(`${world.baseUrl}/v3/link-sessions`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify({ ecosystem: "google" }),
      });
      const { id, url } = (await created.json()) as { id: string; url: string };
      await visit(browser(), look, async (tab) => {
        const inspect = async () => {
          await assertAccessible(tab);
          await assertFits(tab);
        };
        await signIn(tab, url);
        await heading(tab, "Connect your home to Acme");
        assert.ok(await tab.getByText("sign in to your Google account").isVisible());
        await inspect();
        await button(tab, "Continue").click();
        await heading(tab, /Share devices with/);
        await inspect();
        await tab.getByRole("checkbox", { name: /Attic/ }).uncheck();
        await button(tab, "Allow").click();
        await heading(tab, "Your home is connected");
        assert.ok(await tab.getByText("Maple Street: 1 thermostat").isVisible());
        await inspect();
      });
      assert.equal((await world.get(`/v3/link-sessions/${id}`, token)).body.status, "linked");
    });
  }
});
