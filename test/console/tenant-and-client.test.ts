import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { send } from "../events/made-home.ts";
import type { OperatorBrowser } from "../operators/operator-browser.ts";
import { administrationWorld, pageText } from "./administration-world.ts";

/** Sends the form of an action, as a page does. */
const act = (browser: OperatorBrowser, command: string, input: Readonly<Record<string, string>>) =>
  browser.send("/console/do", { act: command, to: "/console", ...input });

describe("the console's pages of a tenant and a client", () => {
  it("show the quotas of a tenant and a client with their use, set them and reset them", async (t) => {
    const made = await administrationWorld(t);
    const { clientId, run, world } = made;
    const authorization = `Bearer ${made.token}`;
    const stream = await fetch(`${world.baseUrl}/v3/events`, { headers: { authorization } });
    t.after(() => stream.body?.cancel());
    const owner = await made.owner();
    const pages = { client: `/clients/${clientId}`, tenant: `/tenants/${world.tenantId}` };
    const owners = { client: { client: clientId }, tenant: { tenant: String(world.tenantId) } };
    for (const kind of ["client", "tenant"] as const) {
      const before = await pageText(owner, pages[kind]);
      assert.match(before, /<h2>Quotas<\/h2>(?:.|\n)*Requests a minute(?:.|\n)*default/);
      assert.ok(!before.includes("do=quota-reset"));
      assert.match(await pageText(owner, `${pages[kind]}?do=quota-set`), /breezeway quota set --(client|tenant) /);
      const set = await act(owner, "quota set", { ...owners[kind], "requests-per-minute": "4321", "open-streams": "" });
      assert.equal(set.status, 303, await set.text());
      const after = await pageText(owner, pages[kind]);
      assert.match(after, /4,321 <span class="soft">set, on all nodes together<\/span>/);
      const row = /<tr><td data-label="Quota"><div>Open streams.*?<\/tr>/s.exec(after)?.[0] ?? "no row";
      assert.match(row, /data-label="Used now"><div>1</);
      assert.match(await pageText(owner, `${pages[kind]}?do=quota-reset`), /breezeway quota reset --(client|tenant) /);
      const reset = await act(owner, "quota reset", owners[kind]);
      assert.equal(reset.status, 303, await reset.text());
      assert.equal((await run("quota show", owners[kind])).quotas.requestsPerMinute.isDefault, true);
    }
    const admin = await made.invited("adam", { role: "tenantAdmin", tenant: ["Acme"] });
    const text = await pageText(admin, pages.client);
    assert.ok(text.includes("<h2>Quotas</h2>") && !text.includes("do=quota"));
  });

  it("set whether users are asked again for other terms, and until when older ones count", async (t) => {
    const made = await administrationWorld(t);
    const owner = await made.owner();
    const here = `/tenants/${made.world.tenantId}`;
    const tenant = String(made.world.tenantId);
    const form = await pageText(owner, `${here}?do=terms`);
    assert.ok(form.includes('name="require-acceptance"') && form.includes('name="refreshes-end"'));
    const terms = {
      tenant,
      version: "4",
      file: "Be kind.",
      "require-acceptance": "true",
      "refreshes-end": "2099-01-31",
    };
    const set = await act(owner, "tenant terms", terms);
    assert.equal(set.status, 303, await set.text());
    const shown = (await made.run("tenant show", { tenant })).terms;
    assert.deepEqual([shown.requireAcceptance, shown.refreshesEnd], [true, "2099-01-31T00:00:00.000Z"]);
    assert.ok((await pageText(owner, `${here}?do=acceptance`)).includes('value="2099-01-31"'));
    const ended = await act(owner, "tenant terms", { tenant, "require-acceptance": "false", "refreshes-end": "" });
    assert.equal(ended.status, 303, await ended.text());
    const after = (await made.run("tenant show", { tenant })).terms;
    assert.deepEqual([after.version, after.requireAcceptance, after.refreshesEnd], ["4", false, null]);
  });

  it("show a client's calls, its last error with its request, and its sign-in page", async (t) => {
    const made = await administrationWorld(t);
    const { clientId, world, token } = made;
    const owner = await made.owner();
    const before = await pageText(owner, `/clients/${clientId}`);
    assert.ok(before.includes("none that the nodes remember"));
    const failed = await send(`${world.baseUrl}/v3/devices/999999`, token, "GET");
    assert.equal(failed.status, 404);
    const page = await pageText(owner, `/clients/${clientId}`);
    const request =
      /Last error<\/dt><dd><a class="code" href="\/console(\/requests\/[^"]+)">GET \/v3\/devices\/:deviceId/.exec(page);
    assert.ok(request, page);
    await pageText(owner, request[1]!);
    assert.match(page, /Calls in the last minute<\/dt><dd>[1-9]/);
    assert.ok(page.includes(`href="/console/requests?client=${clientId}"`));
    const flow = /href="([^"]*\/oauth2\/authorize\?[^"]*)" target="_blank"/.exec(page)?.[1]?.replaceAll("&amp;", "&");
    assert.ok(flow, page);
    const signIn = await fetch(flow);
    assert.equal(signIn.status, 200);
    assert.match(await signIn.text(), /<h1[^>]*>Sign in/);
    const { client_id: machine } = await made.run("client add", { tenant: "Acme", name: "Cron", kind: "enterprise" });
    assert.ok(!(await pageText(owner, `/clients/${machine}`)).includes("Try the flow"));
  });
});
