import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sessionLifetime } from "../../src/account/sessions.ts";
import { scopes } from "../../src/model/scopes.ts";
import { LinkVisitor, linkWorld, titleOf } from "../link-sessions/link-world.ts";
import { ada, admin, oauthWorld } from "../oauth/oauth-world.ts";
import { formOf } from "../oauth/scripted-browser.ts";
import { longSuiteOn } from "../set-up/deployment.ts";
import { deployments, eventually } from "../stories/world.ts";
import { AccountVisitor, linkMaple } from "./account-visitor.ts";

const bob = { name: "bob", password: "another word" };

for (const database of longSuiteOn("sqlite", deployments)) {
  describe(`the account page on ${database}`, () => {
    it("shows homes and apps, and ends the access of one app at once", async (t) => {
      const world = await linkWorld(t, { database });
      await linkMaple(world);
      const other = await world.addClient({ name: "Other App" });
      const [lantern, otherToken] = [await world.tokenOf(), (await world.tokens(other)).access_token];
      const stream = await fetch(`${world.baseUrl}/v3/events`, { headers: { authorization: `Bearer ${lantern}` } });
      const visitor = new AccountVisitor(world);
      const page = await visitor.signIn();
      assert.ok(Buffer.byteLength(page.body) < 15_000, `${Buffer.byteLength(page.body)} bytes`);
      for (const words of [
        /Maple Street/,
        /As of <time datetime="[\dT:.-]+Z" title="[^"]+" data-local="minute">\d\d:\d\d UTC, \d+ \w+ \d{4}<\/time>/,
        /Connected\. Last confirmed at <time datetime="[\dT:.-]+Z" title="[^"]+" data-local="minute">\d\d:\d\d UTC, \d+ \w+ \d{4}<\/time>\./,
        /Lantern/,
        /Other App/,
        /See your user name/,
      ]) {
        assert.match(page.body, words);
      }
      assert.equal(await world.statusWith(lantern), 200);

      const question = await visitor.press({ endAccess: world.client.id });
      assert.equal(titleOf(question), "End this app’s access?");
      assert.equal(await world.statusWith(lantern), 200);
      const cancelled = await visitor.browser.submit(formOf(question), { decision: "cancel" });
      assert.deepEqual([cancelled.status, await world.statusWith(lantern)], [303, 200]);
      assert.match((await visitor.browser.get(cancelled.location)).body, /Nothing was changed/);

      const ended = await visitor.confirm({ endAccess: world.client.id });
      assert.equal(ended.location, visitor.address);
      assert.deepEqual([await world.statusWith(lantern), await world.statusWith(otherToken)], [401, 200]);
      await drained(stream);
      const after = await visitor.open();
      assert.match(after.body, /role="status">The app has no access any more/);
      assert.doesNotMatch(after.body, /Lantern/);
      const again = await visitor.browser.submit(formOf(question), { decision: "confirm" });
      assert.equal(again.location, visitor.address);
      assert.match((await visitor.open()).body, /That app has no access any more/);
    });

    it("tells once what was done: no reload, no address and no refusal shows it again", async (t) => {
      const world = await linkWorld(t, { database });
      await world.tokenOf();
      const visitor = new AccountVisitor(world);
      await visitor.signIn();
      const ended = await visitor.confirm({ endAccess: world.client.id });
      assert.match((await visitor.browser.get(ended.location)).body, /The app has no access any more/);
      const refused = await visitor.confirm({ deleteAccount: "yes" }, { password: "wrong" });
      assert.equal(refused.status, 401);
      assert.doesNotMatch(refused.body, /The app has no access/);
      for (const query of ["", "?done=access-ended"]) {
        assert.doesNotMatch((await visitor.open(query)).body, /class="done"/, query);
      }
    });

    it("renews a link in the same browser without another sign-in, and unlinks it", async (t) => {
      const world = await linkWorld(t, { database });
      await linkMaple(world);
      const visitor = new AccountVisitor(world);
      await visitor.signIn();
      const renewing = await visitor.press({ renew: "nest" });
      assert.equal(renewing.status, 303);
      const owner = new LinkVisitor(() => world.baseUrl);
      assert.equal(titleOf(await owner.open(renewing.location)), "Go on in the other browser");
      for (const [name, value] of visitor.browser.cookies) owner.browser.cookies.set(name, value);
      const connect = await owner.open(renewing.location);
      assert.equal(titleOf(connect), "Connect your home to Acme again");
      const done = await owner.arrive(await owner.consent(await owner.leave(connect), world.accounts.maple));
      assert.equal(titleOf(done), "Your home is connected");
      assert.match(done.body, new RegExp(`href="${world.baseUrl}/account/${world.tenantId}\\?linkSession=`));

      const open = await visitor.press({ renew: "nest" });
      for (const [name, value] of visitor.browser.cookies) owner.browser.cookies.set(name, value);
      await visitor.confirm({ signOutEverywhere: "yes" });
      const again = await owner.open(open.location);
      assert.equal(titleOf(again), "Sign in");
      assert.equal(titleOf(await owner.signIn(again)), "Connect your home to Acme again");

      await visitor.signIn();
      assert.equal((await visitor.confirm({ unlink: "nest" })).location, visitor.address);
      assert.match(
        (await visitor.open()).body,
        /The home is disconnected, and its data is removed.*No home is connected/s,
      );
      const devices = await world.get("/v3/devices?deviceTypeName=EcosystemAccount", await world.tokenOf());
      assert.equal(JSON.stringify(devices.body).includes("EcosystemAccount"), false);
      for (const act of [{ unlink: "nest" }, { renew: "nest" }, { unlink: "\0" }, { renew: "' OR 1=1" }]) {
        assert.equal((await visitor.press(act)).location, visitor.address);
        assert.match((await visitor.open()).body, /That home is not connected any more/);
      }
    });

    it("exports what belongs to the user, without a token, and nothing of others", async (t) => {
      const world = await linkWorld(t, { database });
      await linkMaple(world);
      await world.addDevice(world.userId, "Ada's lamp");
      await world.addDevice(world.bobId, "Bob's lamp");
      const token = await world.tokenOf();
      const visitor = new AccountVisitor(world);
      await visitor.signIn();
      const file = await visitor.browser.get(`${visitor.address}/export`);
      assert.match(file.headers.get("content-disposition") ?? "", /attachment/);
      const { user, links, apps, devices, things, alerts } = JSON.parse(file.body);
      assert.deepEqual([user.userId, user.userName, user.tenantName], [world.userId, "ada", "Acme"]);
      assert.deepEqual([links[0].ecosystem, links[0].homes], ["nest", ["Maple Street"]]);
      assert.deepEqual([apps[0].name, apps[0].scopes, alerts], ["Lantern", scopes, []]);
      const names = devices.map((device: { deviceName: string }) => device.deviceName);
      assert.ok(names.includes("Ada's lamp") && !names.includes("Bob's lamp"), String(names));
      assert.ok(things.some(({ kind }: { kind: string }) => kind === "thermostat"));
      for (const secret of [token, "sealed", "bwa_", "bwr_", "bwus_", world.client.secret]) {
        assert.ok(!file.body.includes(secret), secret);
      }
    });

    it("deletes the account with everything, after the right password", async (t) => {
      const world = await linkWorld(t, { database });
      await linkMaple(world);
      const token = await world.tokenOf();
      const visitor = new AccountVisitor(world);
      await visitor.signIn();
      const wrong = await visitor.confirm({ deleteAccount: "yes" }, { password: "guess" });
      assert.deepEqual([wrong.status, await world.statusWith(token)], [401, 200]);
      assert.match(wrong.body, /Nothing was deleted/);
      const question = formOf(await visitor.press({ deleteAccount: "yes" }));
      const cookies = [...visitor.browser.cookies];
      const click = () => visitor.browser.submit(question, { decision: "confirm", password: ada.password });
      assert.equal(titleOf(await click()), "Your account is deleted");
      for (const [name, value] of cookies) visitor.browser.cookies.set(name, value);
      const second = await visitor.browser.get((await click()).location);
      assert.match(second.body, /Your account is deleted, or you are signed out\./);
      assert.doesNotMatch(second.body, /nothing was changed/i);
      assert.equal(await world.statusWith(token), 401);
      assert.equal((await new AccountVisitor(world).sendSignIn()).status, 401);
      const { parts } = world.service;
      await assert.rejects(parts.identity.findUser(world.userId));
      const audited = await parts.identity.audit.list({ userId: world.userId, limit: 1 });
      assert.deepEqual(
        audited.map(({ act, operator, detail }) => [act, operator, detail.did]),
        [["account", null, "delete account"]],
      );
    });
  });
}

describe("the session of the account page", () => {
  it("needs the right name and password of the tenant, with the words of the sign-in page", async (t) => {
    const world = await oauthWorld(t);
    for (const person of [
      { ...ada, password: "guess" },
      { ...ada, name: "nobody" },
      { name: "\0", password: "\0" },
    ]) {
      const refused = await new AccountVisitor(world).sendSignIn(person);
      assert.equal(refused.status, 401);
      assert.match(refused.body, /The user name or the password is wrong/);
    }
    assert.equal((await new AccountVisitor(world).sendSignIn({ name: " ", password: "" })).status, 400);
    assert.equal((await new AccountVisitor(world, world.otherTenantId).sendSignIn(bob)).status, 401);
    assert.equal((await new AccountVisitor(world, 999).open()).status, 404);
  });

  it("counts failures with those of all other sign-ins", async (t) => {
    const world = await oauthWorld(t, { isClockStill: true });
    const visitor = new AccountVisitor(world);
    for (let failure = 0; failure < 5; failure++) await visitor.sendSignIn({ ...ada, password: "guess" });
    const limited = await visitor.sendSignIn();
    assert.equal(limited.status, 429);
    assert.ok(Number(limited.headers.get("retry-after")) > 0);
    const login = await world.browser().get(world.authorizeUrl());
    assert.equal(login.status, 200);
    const form = await visitor.browser.get(world.authorizeUrl());
    const sent = await visitor.browser.submit(formOf(form), { username: ada.name, password: ada.password });
    assert.equal(sent.status, 429);
  });

  it("refuses forms of other sites and of other browsers", async (t) => {
    const world = await oauthWorld(t);
    const [victim, attacker] = [new AccountVisitor(world), new AccountVisitor(world)];
    // An attacker who signs the victim in as the attacker has no cookie of the victim's browser.
    const foreignLogin = formOf(await attacker.open());
    await victim.open();
    const planted = await victim.browser.submit(foreignLogin, { username: bob.name, password: bob.password });
    assert.deepEqual([planted.status, titleOf(planted)], [400, "This page has expired"]);
    await victim.signIn();
    const attackersPage = await attacker.signIn(bob);
    for (const csrf of ["", "x", formOf(attackersPage).fields.csrf, undefined]) {
      const forged = await victim.press({ csrf, signOutEverywhere: "yes", decision: "confirm" });
      assert.deepEqual([forged.status, titleOf(forged)], [400, "This page has expired"]);
    }
    assert.equal(titleOf(await victim.open()), "Your account");
    assert.equal((await victim.press({ signOut: ["yes", "yes"] })).status, 400);
    assert.equal((await victim.press({})).status, 400);
  });

  it("ends when it is not used, after 12 hours, by signing out, and with a new password", async (t) => {
    const world = await oauthWorld(t, { isClockStill: true });
    const visitor = new AccountVisitor(world);
    const isIn = async (one: AccountVisitor) => titleOf(await one.open()) === "Your account";
    await visitor.signIn();
    await world.timePasses(sessionLifetime.idleMs - 1_000);
    assert.ok(await isIn(visitor));
    await world.timePasses(sessionLifetime.idleMs);
    assert.ok(!(await isIn(visitor)));

    await visitor.signIn();
    for (let passedMs = 0; passedMs < sessionLifetime.longestMs; passedMs += sessionLifetime.idleMs / 2) {
      assert.ok(await isIn(visitor));
      await world.timePasses(sessionLifetime.idleMs / 2);
    }
    assert.ok(!(await isIn(visitor)));

    const [one, two] = [new AccountVisitor(world), new AccountVisitor(world)];
    await one.signIn();
    assert.match((await two.signIn()).body, /signed in here in 2 browsers/);
    const stolen = one.cookie!;
    assert.match(stolen, /^bwus_/, "secret scanners know it by its beginning");
    assert.equal((await one.press({ signOut: "yes" })).location, `${one.address}?done=signed-out`);
    one.browser.cookies.set(`breezeway-account-${world.tenantId}`, stolen);
    assert.ok(!(await isIn(one)));
    assert.ok(await isIn(two));
    await one.signIn();
    await one.confirm({ signOutEverywhere: "yes" });
    assert.deepEqual([await isIn(one), await isIn(two)], [false, false]);
    // A form of a page that is still open changes nothing, and leads to the sign-in page.
    const page = await two.signIn();
    await world.service.parts.identity.setPassword(world.userId, "a new password");
    const late = await two.browser.submit(formOf(page), { unlink: "nest", decision: "confirm" });
    assert.equal(late.location, `${two.address}?done=session-ended`);
    assert.match((await two.open("?done=session-ended")).body, /Your session has ended\. Sign in again\./);
  });

  it("is closed while the user is suspended, and open again after that", async (t) => {
    const world = await oauthWorld(t);
    const visitor = new AccountVisitor(world);
    await visitor.signIn();
    const { identity } = world.service.parts;
    await identity.suspendUser(world.userId);
    assert.equal(titleOf(await visitor.open()), "Sign in");
    const refused = await new AccountVisitor(world).sendSignIn(ada);
    assert.equal(refused.status, 401);
    assert.match(refused.body, /suspended/);
    await identity.resumeUser(world.userId);
    assert.equal(titleOf(await visitor.signIn()), "Your account");
  });

  it("is bound to the tenant, and 20 browsers of one user can be signed in", async (t) => {
    const world = await oauthWorld(t);
    const first = new AccountVisitor(world);
    await first.signIn();
    const elsewhere = new AccountVisitor(world, world.otherTenantId);
    elsewhere.browser.cookies.set(`breezeway-account-${world.otherTenantId}`, first.cookie!);
    assert.equal(titleOf(await elsewhere.open()), "Sign in");
    for (let more = 0; more < 20; more++) await new AccountVisitor(world).signIn();
    assert.equal(titleOf(await first.open()), "Sign in");
  });

  it("tells when an app was last used, and says when that is not known", async (t) => {
    const world = await oauthWorld(t, { clockSpeed: 20 });
    const { access_token: token } = await world.tokens();
    const visitor = new AccountVisitor(world);
    assert.match((await visitor.signIn()).body, /no use is known/);
    assert.equal(await world.statusWith(token), 200);
    await eventually(t.signal, async () => assert.match((await visitor.open()).body, /used within the last 2 hours/));
  });

  it("has a cookie that only this host can set and no script can read, below the path of the base URL", async (t) => {
    const world = await oauthWorld(t, { environment: { BREEZEWAY_BASE_URL: "https://home.example/breeze" } });
    const answer = await fetch(`${world.service.parts.address.listensAt}/account/${world.tenantId}`);
    assert.match(
      answer.headers.get("set-cookie") ?? "",
      /^__Host-breezeway-account-\d+=[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Lax; Secure$/,
    );
    assert.match(await answer.text(), new RegExp(`action="/breeze/account/${world.tenantId}/sign-in"`));
  });

  it("does nothing to the apps, homes and data of others", async (t) => {
    const world = await oauthWorld(t);
    const bobs = (await world.tokens(world.client, bob)).access_token;
    const visitor = new AccountVisitor(world);
    await visitor.signIn();
    const ended = await visitor.press({ endAccess: world.client.id, decision: "confirm" });
    assert.equal(ended.location, visitor.address);
    assert.equal(await world.statusWith(bobs), 200);
    const page = (await visitor.open()).body;
    assert.match(page, /That app has no access any more/);
    assert.doesNotMatch(page, /Voice/);
  });

  it("shows hostile names as text, and what an administrator has given away", async (t) => {
    const world = await oauthWorld(t);
    const hostile = '<img src=x onerror=alert(1)>"&evil';
    const client = await world.addClient({ name: hostile, kind: "enterprise" });
    await world.tokens(client, admin);
    const visitor = new AccountVisitor(world);
    const page = await visitor.signIn(admin);
    assert.ok(!page.body.includes("<img src=x"));
    assert.match(page.body, /&lt;img src=x onerror=alert\(1\)&gt;&quot;&amp;/);
    assert.match(page.body, /See every user of/);
    const question = await visitor.press({ endAccess: client.id });
    assert.match(question.body, /You gave it access to every user of/);
    assert.ok(!question.body.includes("<img src=x"));
  });

  it("says what the company's own clients read, and offers no end of it", async (t) => {
    const world = await oauthWorld(t);
    const none = (await new AccountVisitor(world).signIn()).body;
    assert.match(none, /What <bdi>Acme<\/bdi> itself sees.*No program of the company reads them\./s);
    const client = await world.addClient({ name: "Energy reports", kind: "enterprise" });
    await world.tokens(client, admin);
    const page = (await new AccountVisitor(world).signIn()).body;
    assert.match(page, /itself sees.*Energy reports.*See every device of every user/s);
    assert.doesNotMatch(page, /End access of Energy reports/);
    const admins = (await new AccountVisitor(world).signIn(admin)).body;
    assert.match(admins, /End access of Energy reports/);
    assert.equal(admins.match(/Energy reports</g)?.length, 1, "among the apps alone");
  });
});

describe("the address /account", () => {
  it("asks for the company when there are several, and leads to the only one", async (t) => {
    const world = await oauthWorld(t);
    const browser = world.browser();
    assert.match((await browser.get("/account")).body, /With which company/);
    const wrong = await browser.get("/account?company=%3Cb%3E");
    assert.deepEqual([wrong.status, wrong.body.includes("<b>")], [404, false]);
    assert.equal((await browser.get("/account?company=%00")).status, 404);
    assert.equal((await browser.get("/account?company=Other")).location, `/account/${world.otherTenantId}`);
    const { identity } = world.service.parts;
    await identity.removeUser(world.strangerId);
    await identity.removeTenant(world.otherTenantId);
    assert.equal((await browser.get("/account")).location, `/account/${world.tenantId}`);
  });
});

/** Reads a stream to its end. */
async function drained(answer: Response): Promise<void> {
  for await (const _ of answer.body!);
}
