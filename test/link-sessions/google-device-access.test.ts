import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import type { Account } from "../../simulator/google-device-access/account.ts";
import { namedFaults } from "../../simulator/google-device-access/faults.ts";
import { startedGoogle, writeKey } from "../ecosystems/google-device-access/harness.ts";
import { ada, type OAuthWorldPlan, oauthWorld } from "../oauth/oauth-world.ts";
import { type FilledIn, formOf } from "../oauth/scripted-browser.ts";
import { eventually } from "../stories/world.ts";
import { LinkVisitor, titleOf } from "./link-world.ts";

const bob = { name: "bob", password: "another word" };

describe("a link page for Google accounts", () => {
  it("leads over Google's page to the thermostats that the owner has ticked, and renews the consent", async (t) => {
    const world = await googleWorld(t);
    const { google, maple } = world;
    const [, hall, attic] = maple.devices.keys();
    const first = await world.create();
    const visitor = world.visitor();
    const connect = await visitor.signIn(await visitor.open(first.url));
    assert.match(connect.body, /sign in to your Google account/);
    const consent = await visitor.leave(connect);
    assert.match(consent.body, /Share devices with/);
    const callback = await visitor.consent(consent, maple.userId, "allow", { device: [hall!] });
    const done = await visitor.arrive(callback);
    assert.equal(titleOf(done), "Your home is connected");
    assert.match(done.body, /Maple Street: 1 thermostat</);
    assert.equal((await world.session(first.id)).status, "linked");
    assert.equal(google.rates.refused.list, 0);

    const renewal = await world.create({ mode: "renew" });
    const renewed = await world.link(renewal.url, maple, { device: [hall!, attic!] });
    assert.match(renewed.body, /Maple Street: 2 thermostats</);
    const lines = world.logged.join("\n");
    for (const secret of google.tokens.all) assert.ok(!lines.includes(secret));
  });

  it("ends as declined when the owner declines, and as refused when no permission was granted", async (t) => {
    const world = await googleWorld(t);
    const { maple } = world;
    const declined = await world.create();
    const visitor = world.visitor();
    const consent = await visitor.leave(await visitor.signIn(await visitor.open(declined.url)));
    const page = await visitor.arrive(await visitor.consent(consent, maple.userId, "deny"));
    assert.equal(titleOf(page), "Nothing was connected");
    assert.equal((await world.session(declined.id)).status, "declined");

    const withheld = await world.create();
    const refused = await world.link(withheld.url, maple, { withheld: "on" });
    assert.equal(titleOf(refused), "Your home was not connected");
    assert.match(refused.body, /not granted/);
    const { status, problem } = await world.session(withheld.id);
    assert.deepEqual([status, problem.side, problem.code], ["failed", "ecosystem", "ecosystem_refused"]);
  });

  it("says that nothing is shared when the owner has chosen no home", async (t) => {
    const world = await googleWorld(t);
    const nobody = world.google.addAccount("Grace", { isFurnished: false });
    const { id, url } = await world.create();
    const done = await world.link(url, nobody);
    assert.equal(titleOf(done), "Your account is connected");
    assert.match(done.body, /shares no devices yet/);
    assert.equal((await world.session(id)).status, "linked");
  });

  it("takes an account that another user has linked, and asks before it switches to another account", async (t) => {
    const world = await googleWorld(t);
    const { google, maple } = world;
    await world.link((await world.create()).url, maple);
    const second = await world.create({}, bob);
    const shared = await world.link(second.url, maple, {}, bob);
    assert.match(shared.body, /Maple Street: 2 thermostats</);

    const cabin = google.addAccount("Cabin");
    const renewal = await world.create({ mode: "renew" });
    const visitor = world.visitor();
    const asked = await world.link(renewal.url, cabin, {}, ada, visitor);
    assert.equal(titleOf(asked), "This is another home");
    const kept = await visitor.follow(await visitor.browser.submit(formOf(asked), { decision: "keep" }));
    assert.equal(titleOf(kept), "Nothing was connected");
  });

  it("asks before it switches to an account that shares nothing, unless it is the linked one", async (t) => {
    const world = await googleWorld(t);
    const { google, maple } = world;
    await world.link((await world.create()).url, maple);
    await eventually(t.signal, async () => {
      assert.equal((await world.service.parts.federation.status(world.userId, "google")).state, "live");
    });
    const nobody = google.addAccount("Grace", { isFurnished: false });
    const visitor = world.visitor();
    const asked = await world.link((await world.create({ mode: "renew" })).url, nobody, {}, ada, visitor);
    assert.equal(titleOf(asked), "This is another home");
    assert.match(asked.body, /shares no devices/);
    await visitor.follow(await visitor.browser.submit(formOf(asked), { decision: "keep" }));

    maple.structures.clear();
    const emptied = await world.link((await world.create({ mode: "renew" })).url, maple, { device: [] });
    assert.equal(titleOf(emptied), "Your account is connected");
  });

  it("says that Google can't be reached when it does not answer a code, and goes on with the next consent", {
    timeout: 60_000,
  }, async (t) => {
    const world = await googleWorld(t, { clockSpeed: 20 });
    const { google, maple } = world;
    const { id, url } = await world.create();
    const visitor = world.visitor();
    google.faults.set("tokens", { kind: "hangs" });
    const unanswered = await world.link(url, maple, {}, ada, visitor);
    assert.equal(titleOf(unanswered), "Your home can’t be read now");
    const { status, problem } = await world.session(id);
    assert.deepEqual([status, problem.code], ["pending", "ecosystem_unreachable"]);
    google.faults.set("tokens", undefined);
    const consent = await visitor.leave(unanswered);
    const done = await visitor.arrive(
      await visitor.consent(consent, maple.userId, "allow", { device: [...maple.devices.keys()] }),
    );
    assert.equal(titleOf(done), "Your home is connected");
  });

  it("leaves the link of another user alone when a session for the same account is cancelled", async (t) => {
    const world = await googleWorld(t);
    const { google, maple } = world;
    await world.link((await world.create()).url, maple);
    const second = await world.create({}, bob);
    const visitor = world.visitor();
    const consent = await visitor.leave(await visitor.signIn(await visitor.open(second.url), bob));
    const callback = await visitor.consent(consent, maple.userId, "allow", { device: [...maple.devices.keys()] });
    const before = google.tokens.all.length;
    google.faults.set("devices", namedFaults.unavailable);
    const unread = await visitor.arrive(callback);
    assert.equal(titleOf(unread), "Your home can’t be read now");
    google.faults.set("devices", undefined);
    await visitor.follow(await visitor.browser.submit(formOf(unread), { decision: "cancel" }));
    await world.service.parts.linkSessions.stop();
    assert.equal(google.tokens.all.length, before + 2, "a revocation ends all consents of the account");
  });
});

async function googleWorld(t: TestContext, plan: Pick<OAuthWorldPlan, "clockSpeed"> = {}) {
  const google = await startedGoogle(t);
  const maple = google.addAccount("Ada");
  const ecosystems = { google: google.settings(await writeKey(t, google)) };
  const world = await oauthWorld(t, { ...plan, environment: { BREEZEWAY_ECOSYSTEMS: JSON.stringify(ecosystems) } });
  const tokens = new Map<string, string>();
  const tokenOf = async (person: typeof ada) => {
    const token = tokens.get(person.name) ?? (await world.tokens(world.client, person)).access_token;
    tokens.set(person.name, token);
    return token;
  };
  const visitor = () => new LinkVisitor(() => world.baseUrl);
  return {
    ...world,
    google,
    maple,
    visitor,
    async create(body: object = {}, person = ada): Promise<{ readonly id: string; readonly url: string }> {
      const answer = await fetch(`${world.baseUrl}/v3/link-sessions`, {
        method: "POST",
        headers: { authorization: `Bearer ${await tokenOf(person)}`, "content-type": "application/json" },
        body: JSON.stringify({ ecosystem: "google", ...body }),
      });
      return (await answer.json()) as { readonly id: string; readonly url: string };
    },
    session: async (id: string) => (await world.get(`/v3/link-sessions/${id}`, await tokenOf(ada))).body,
    /** All the way to the last page. All devices are ticked unless told otherwise. */
    async link(url: string, account: Account, more: FilledIn = {}, person = ada, owner = visitor()) {
      const consent = await owner.leave(await owner.signIn(await owner.open(url), person));
      const ticked = { device: [...account.devices.keys()], ...more };
      return owner.arrive(await owner.consent(consent, account.userId, "allow", ticked));
    },
  };
}
