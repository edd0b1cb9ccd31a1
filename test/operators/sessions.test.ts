import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { operatorWorld, password } from "./operator-world.ts";

const typed = { name: "ada", password };

describe("an operator's session", () => {
  it("begins with name and password, and ends with the sign-out", async (t) => {
    const { owner, newBrowser } = await operatorWorld(t);
    await owner();
    const browser = newBrowser();
    assert.equal((await browser.send("/console/sign-in", { ...typed, password: "wrong horse" })).status, 401);
    assert.equal((await browser.send("/console/sign-in", { ...typed, name: "nobody" })).status, 401);
    const entered = await browser.send("/console/sign-in", { ...typed, to: "/console/sessions?tenant=1" });
    assert.equal(entered.headers.get("location"), "/console/sessions?tenant=1");
    const { cookie } = browser;
    const left = await browser.send("/console/sign-out", {});
    assert.match(left.headers.get("set-cookie") ?? "", /Max-Age=0/);
    browser.cookie = cookie;
    assert.equal((await browser.call("GET", "/tenants")).status, 401);
  });

  it("leads back only to pages of the console", async (t) => {
    const { owner, newBrowser } = await operatorWorld(t);
    await owner();
    for (const to of [
      "https://evil.example/",
      "//evil.example",
      "/consolex",
      "/v3/users",
      "/console/\\evil",
      "javascript:x",
    ]) {
      const entered = await newBrowser().send("/console/sign-in", { ...typed, to });
      assert.equal(entered.headers.get("location"), "/console", to);
    }
  });

  it("ends after 60 minutes without use, and 12 hours after the sign-in", async (t) => {
    const { owner, newBrowser, clock } = await operatorWorld(t);
    const idle = await owner();
    const used = newBrowser();
    await used.send("/console/sign-in", typed);
    const minutes = (count: number) => {
      clock.aheadMs += count * 60_000;
    };
    minutes(59);
    assert.equal((await used.call("GET", "/tenants")).status, 200);
    minutes(1);
    assert.equal((await idle.call("GET", "/tenants")).status, 401);
    for (let turn = 0; turn < 13; turn++) {
      minutes(50);
      assert.equal((await used.call("GET", "/tenants")).status, 200);
    }
    minutes(10);
    assert.equal((await used.call("GET", "/tenants")).status, 401);
  });

  it("is listed, and another browser can be signed out", async (t) => {
    const { owner, newBrowser } = await operatorWorld(t);
    const here = await owner();
    const there = newBrowser();
    await there.send("/console/sign-in", typed, { "user-agent": "Phone\u0080 <b>" });
    const { sessions } = (await here.call("GET", "/operators/ada/sessions")).body;
    assert.equal(sessions.length, 2);
    const page = await (await here.get("/console/sessions")).text();
    assert.match(page, /this browser/);
    assert.match(page, /Phone.*&lt;b&gt;/);
    const other = sessions.find(({ userAgent }: { userAgent: string }) => userAgent.startsWith("Phone"));
    const done = await here.send("/console/do", {
      act: "operator sessions end",
      id: other.sessionId,
      to: "/console/sessions",
    });
    assert.deepEqual([done.status, done.headers.get("location")], [303, "/console/sessions"]);
    assert.equal((await there.call("GET", "/tenants")).status, 401);
    assert.equal((await here.call("GET", "/tenants")).status, 200);
  });

  it("of another operator is not shown to those who are no owner", async (t) => {
    const { owner, invited } = await operatorWorld(t);
    const ada = await owner();
    const vera = await invited("vera", { role: "viewer" });
    assert.equal((await vera.call("GET", "/operators/ada/sessions")).status, 404);
    assert.equal((await vera.call("GET", "/operators/vera/sessions")).body.sessions.length, 1);
    const [{ sessionId }] = (await ada.call("GET", "/operators/ada/sessions")).body.sessions;
    assert.equal((await vera.call("DELETE", `/operator-sessions/${sessionId}`)).status, 404);
    assert.equal((await ada.call("GET", "/tenants")).status, 200);
  });

  it("changes nothing for a page of another site", async (t) => {
    const { owner } = await operatorWorld(t);
    const ada = await owner();
    const foreign = [
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site" },
      { "sec-fetch-site": "none" },
      { origin: "https://evil.example", "sec-fetch-site": "cross-site" },
    ];
    for (const headers of foreign) {
      const answer = await ada.call("POST", "/tenants", { name: "Third" }, headers);
      assert.deepEqual([answer.status, answer.body.error], [403, "foreign_origin"], JSON.stringify(headers));
      assert.equal((await ada.send("/console/do", { act: "tenant add", name: "Third" }, headers)).status, 403);
      assert.equal((await ada.send("/console/sign-in", typed, headers)).status, 403);
      assert.equal((await ada.send("/console/sign-out", {}, headers)).status, 403);
    }
    assert.equal((await ada.call("GET", "/tenants")).body.tenants.length, 1);
  });

  it("needs the password again for secrets, removals and keys", async (t) => {
    const { run, owner, clock } = await operatorWorld(t);
    const ada = await owner();
    const { userId } = await run("user add", { tenant: "Acme", name: "eve", password });
    clock.aheadMs += 5 * 60_000;
    const refused = await ada.call("DELETE", `/users/${userId}`);
    assert.deepEqual([refused.status, refused.body.error], [403, "password_needed"]);
    const asked = await ada.send("/console/do", { act: "user remove", user: String(userId), to: "/console" });
    assert.equal(asked.headers.get("location"), "/console/password?to=%2Fconsole");
    assert.equal((await ada.send("/console/password", { password: "wrong horse" })).status, 401);
    assert.equal((await ada.call("DELETE", `/users/${userId}`)).status, 403);
    const typedAgain = await ada.send("/console/password", { password, to: "/console" });
    assert.deepEqual([typedAgain.status, typedAgain.headers.get("location")], [303, "/console"]);
    assert.equal((await ada.call("DELETE", `/users/${userId}`)).status, 200);
  });
});

describe("a suspended operator", () => {
  it("is out at once, with every session and token, and comes back by resume", async (t) => {
    const { run, owner, invited, newBrowser, callWith } = await operatorWorld(t);
    await owner();
    const grace = await invited("grace", { role: "tenantAdmin", tenant: ["Acme"] });
    const { token } = await run("operator token make", { operator: "grace", name: "ci", days: "1" });
    assert.equal((await callWith(token, "GET", "/tenants")).status, 200);
    await run("operator suspend", { operator: "grace" });
    assert.equal((await grace.call("GET", "/tenants")).status, 401);
    assert.equal((await callWith(token, "GET", "/tenants")).status, 401);
    assert.equal((await newBrowser().send("/console/sign-in", { name: "grace", password })).status, 401);
    await run("operator resume", { operator: "grace" });
    assert.equal((await callWith(token, "GET", "/tenants")).status, 401);
    assert.equal((await newBrowser().send("/console/sign-in", { name: "grace", password })).status, 303);
  });

  it("can't be the last owner", async (t) => {
    const { run, owner } = await operatorWorld(t);
    await owner();
    for (const [command, input] of [
      ["operator suspend", {}],
      ["operator remove", {}],
      ["operator role", { role: "viewer" }],
    ] as const) {
      await assert.rejects(run(command, { operator: "ada", ...input }), /the only owner/);
    }
    assert.equal((await run("operator show", { operator: "ada" })).role, "owner");
  });
});

describe("what operators do", () => {
  it("is audited with the operator's name and address, and commands on the machine as local", async (t) => {
    const { run, owner } = await operatorWorld(t);
    const ada = await owner();
    assert.equal((await ada.call("POST", "/users", { tenant: "Acme", name: "eve", password })).status, 201);
    const { entries } = await run("audit list");
    const acts = entries.map(
      ({ act, operator, source, detail }: Record<string, string> & { detail: { command?: string } }) => [
        detail.command ?? act,
        operator,
        source,
      ],
    );
    assert.deepEqual(acts, [
      ["user add", "ada", "127.0.0.1"],
      ["tenant add", "ada", "127.0.0.1"],
      ["operator_claimed", "ada", "127.0.0.1"],
      ["operator claim", "local", "command"],
    ]);
    assert.ok(!JSON.stringify(entries).includes(password));
  });
});
