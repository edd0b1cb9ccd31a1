import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { operatorWorld, password } from "./operator-world.ts";

describe("the first operator", () => {
  it("opens the claim link, names the tenant, and is in the console as an owner", async (t) => {
    const { run, newBrowser } = await operatorWorld(t);
    const browser = newBrowser();
    const away = await browser.get("/console");
    assert.deepEqual([away.status, away.headers.get("location")], [303, "/console/sign-in?to=%2Fconsole"]);
    assert.match(await (await browser.get("/console/sign-in")).text(), /breezeway operator claim/);

    const { path, url } = await run("operator claim");
    assert.ok(url.endsWith(path));
    const page = await (await browser.get(path)).text();
    assert.match(page, /Name of the first tenant/);
    const entered = await browser.send(path, { name: "ada", password, tenant: "Acme" });
    assert.deepEqual([entered.status, entered.headers.get("location")], [303, "/console"]);
    assert.match(
      entered.headers.get("set-cookie") ?? "",
      /^breezeway-operator-\d+=bwos_[^;]+; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/,
    );

    const overview = await browser.get("/console");
    assert.equal(overview.status, 200);
    const shown = await overview.text();
    assert.match(shown, /Four steps to the first home/);
    assert.match(shown, /ada/);
    assert.match(overview.headers.get("content-security-policy") ?? "", /default-src 'none'.*form-action 'self'/);
    const me = await browser.call("GET", "/operators/ada");
    assert.deepEqual([me.status, me.body.role, me.body.allTenants], [200, "owner", true]);
    assert.deepEqual(
      (await browser.call("GET", "/tenants")).body.tenants.map((one: { name: string }) => one.name),
      ["Acme"],
    );
  });

  it("can't use a claim link twice, after 30 minutes, or after a newer one", async (t) => {
    const { run, newBrowser, clock } = await operatorWorld(t);
    const typed = { name: "ada", password, tenant: "Acme" };
    const first = (await run("operator claim")).path;
    const second = (await run("operator claim")).path;
    assert.equal((await newBrowser().get(first)).status, 404);
    assert.equal((await newBrowser().send(first, typed)).status, 404);
    assert.equal((await newBrowser().send(second, { ...typed, password: "short" })).status, 400);
    assert.equal((await newBrowser().send(second, typed)).status, 303);
    assert.equal((await newBrowser().send(second, typed)).status, 404);
    const late = (await run("operator claim")).path;
    clock.aheadMs += 30 * 60_000;
    assert.equal((await newBrowser().send(late, typed)).status, 404);
  });

  it("gets a new password by another claim, which ends the old sessions and tokens", async (t) => {
    const { run, owner, newBrowser, callWith } = await operatorWorld(t);
    const lost = await owner();
    const { token } = await run("operator token make", { operator: "ada", name: "deploy" });
    assert.equal((await callWith(token, "GET", "/tenants")).status, 200);
    const { path } = await run("operator claim");
    const found = newBrowser();
    assert.doesNotMatch(await (await found.get(path)).text(), /first tenant/);
    assert.equal((await found.send(path, { name: "ada", password: "battery staple" })).status, 303);
    assert.equal((await lost.call("GET", "/tenants")).status, 401);
    assert.equal((await callWith(token, "GET", "/tenants")).status, 401);
    assert.equal((await found.call("GET", "/tenants")).status, 200);
    assert.equal((await run("operator list")).operators.length, 1);
  });
});
