import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { browserOfFile, skip } from "../browser/world.ts";
import { administrationWorld } from "./administration-world.ts";
import { operatorTab } from "./operator-tab.ts";

const browser = browserOfFile();

describe("an operator with a browser", { skip }, () => {
  it("edits redirect addresses, rotates a secret that is shown once, and ends a grant, without a script", async (t) => {
    const made = await administrationWorld(t);
    const owner = await made.owner();
    await operatorTab(browser(), made, owner, { javaScriptEnabled: false }, async (tab) => {
      await tab.goto("/console/clients");
      await tab.getByRole("link", { name: "Voice" }).click();
      await tab.getByRole("link", { name: "Edit", exact: true }).click();
      await tab.getByLabel("Redirect addresses").fill("https://new.example/back");
      await tab.getByRole("button", { name: "Save" }).click();
      await tab.getByText("Done: client edit.").waitFor();
      assert.deepEqual((await made.run("client show", { client: made.clientId })).redirect_uris, [
        "https://new.example/back",
      ]);

      await tab.getByRole("link", { name: "Rotate the secret" }).click();
      await tab.getByRole("button", { name: "Rotate" }).click();
      const dialog = tab.getByRole("dialog", { name: "Shown only now" });
      const secret = /bwcs_[\w-]+/.exec(await dialog.innerText())?.[0];
      assert.ok(secret);
      await tab.keyboard.press("Escape");
      assert.ok(await dialog.isVisible());
      await tab.getByRole("button", { name: "I have stored it" }).click();
      await tab.getByRole("heading", { name: "Client", exact: true }).waitFor();
      assert.ok(!(await tab.content()).includes(secret));

      assert.equal(await made.statusOfToken(), 200);
      await tab.getByRole("link", { name: /^End: access/ }).click();
      await tab.getByRole("button", { name: "End the access" }).click();
      await tab.getByText("Done: grant end.").waitFor();
      assert.equal(await made.statusOfToken(), 401);
      await tab.getByText("Nobody has given it access yet.").waitFor();
    });
  });

  it("jumps to a client by Ctrl-K and a part of its name, and sees a tenant's pages in frames; a page that catches up is not live", async (t) => {
    const made = await administrationWorld(t);
    const owner = await made.owner();
    await operatorTab(browser(), made, owner, { width: 390 }, async (tab) => {
      await tab.goto(`/console/tenants/${made.world.tenantId}`);
      await tab.frameLocator('iframe[title="Sign in"]').getByRole("heading", { name: "Sign in" }).waitFor();
      assert.ok(await tab.getByRole("button", { name: "Sign out" }).isVisible(), "also on a telephone");
      await tab.keyboard.press("Control+k");
      await tab.keyboard.type("voi");
      await tab.getByRole("dialog").getByRole("link", { name: "Voice" }).waitFor();
      await tab.keyboard.press("Enter");
      await tab.getByRole("heading", { name: "Client", exact: true }).waitFor();
      await tab.keyboard.press("Control+k");
      assert.ok(await tab.getByRole("dialog").isVisible());
      await tab.keyboard.press("Escape");
      assert.ok(!(await tab.getByRole("dialog").isVisible()));
    });
    await operatorTab(browser(), made, owner, {}, async (tab) => {
      await tab.addInitScript(`
        globalThis.EventSource = class extends EventTarget {
          static CLOSED = 2;
          readyState = 1;
          constructor() {
            super();
            globalThis.tell = (name, data) => {
              this.dispatchEvent(new MessageEvent(name, { data: JSON.stringify(data) }));
              return (document.documentElement.dataset.fresh + ": " + document.getElementById("freshness-why").textContent).trim();
            };
          }
          close() {}
        };`);
      await tab.goto("/console/clients");
      await tab.waitForFunction("globalThis.tell !== undefined");
      const told = (name: string, data: object) => tab.evaluate<string>(`tell("${name}", ${JSON.stringify(data)})`);
      const behind = "as-of: This page catches up with changes that it missed.";
      assert.equal(await told("heartbeat", {}), "live:");
      assert.equal(await told("heartbeat", { catchingUp: true }), behind);
      assert.equal(await told("change", { kind: "device", tenantId: 1, userId: 1, deviceId: 1 }), behind);
      assert.equal(await told("resync", {}), behind);
      assert.equal(await told("heartbeat", {}), "live:", "when it has caught up");
    });
  });
});
