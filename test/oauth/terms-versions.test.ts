import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { BadParameter } from "../../src/model/errors.ts";
import { eventually, surfaceDatabases } from "../stories/world.ts";
import { ada, oauthWorld } from "./oauth-world.ts";
import { formOf, ScriptedBrowser } from "./scripted-browser.ts";

const dayMs = 86_400_000;
const hasEnded = "The terms have changed, and the user has not accepted the new ones.";

for (const database of surfaceDatabases) {
  describe(`new terms on ${database}`, () => {
    it("end refreshes from the chosen date on, until the user accepts them", async (t) => {
      const world = await oauthWorld(t, { database });
      const { parts, baseUrl } = world.service;
      // biome-ignore lint/suspicious/noExplicitAny: the shape of the answer is what the test examines
      const terms = (input: object): Promise<any> =>
        parts.administration.run("tenant terms", { tenant: String(world.tenantId), ...input });
      const refresh = async (token: string) => {
        const { status, body } = await world.refresh(token);
        return { status, error: body.error, text: String(body.error_description ?? ""), token: body.refresh_token };
      };
      const inDays = (days: number) => new Date(Date.now() + days * dayMs).toISOString().slice(0, 10);

      const before = await world.tokens();
      await terms({ file: "Be kind.", version: "1" });
      const first = await world.tokens();
      const second = await terms({ file: "Be kinder.", version: "2" });
      assert.deepEqual([second.terms.requireAcceptance, second.terms.refreshesEnd], [false, null]);
      const required = await terms({ "require-acceptance": true, "refreshes-end": inDays(2) });
      assert.deepEqual([required.terms.version, required.terms.refreshesEnd], ["2", `${inDays(2)}T00:00:00.000Z`]);
      assert.equal((await refresh(first.refresh_token)).status, 200, "the date has not come");
      const third = await terms({ file: "Be kindest.", version: "3" });
      assert.equal(third.terms.requireAcceptance, true, "the requirement of version 2 stays");

      const page = await new ScriptedBrowser(() => baseUrl).signIn(world.authorizeUrl(), ada);
      assert.match(page.body, /These terms are new\. You accepted version <bdi>1<\/bdi> before\./);
      assert.match(page.body, /on, apps stay connected only if you have accepted these terms with them\./);
      const anew = await world.tokens();
      const grants = await parts.store.read((tx) => tx.grants.ofUser(world.userId));
      assert.deepEqual(grants.map(({ termsVersion }) => termsVersion).toSorted(), ["1", "3", null]);

      await terms({ "require-acceptance": true, "refreshes-end": inDays(-1) });
      for (const { refresh_token, access_token } of [before, first]) {
        const refused = await refresh(refresh_token);
        assert.deepEqual([refused.status, refused.error], [400, "invalid_grant"]);
        assert.ok(refused.text.startsWith(hasEnded), refused.text);
        assert.equal(await world.statusWith(access_token), 200, "nothing else ends");
      }
      const { token } = await refresh(anew.refresh_token);
      assert.ok(token, "the new terms were accepted");
      const after = await new ScriptedBrowser(() => baseUrl).signIn(world.authorizeUrl(), ada);
      assert.doesNotMatch(after.body, /These terms are new/);

      await terms({ "require-acceptance": false });
      assert.equal((await refresh(first.refresh_token)).status, 200, "the same token works again");
      const cleared = await terms({ clear: true });
      assert.equal(cleared.terms, null);
      const entries = await parts.identity.audit.list({ limit: 100 });
      const accepted = entries.filter(({ act }) => act === "accepted").map(({ detail }) => detail.terms);
      assert.deepEqual(accepted, ["3", "1", undefined]);
    });
  });
}

describe("terms", () => {
  it("that are replaced while their page is open are shown again before they are accepted", async (t) => {
    const world = await oauthWorld(t);
    const { identity } = world.service.parts;
    await identity.setTerms(world.tenantId, { text: "Be kind.", version: "1" });
    const browser = new ScriptedBrowser(() => world.service.baseUrl);
    const page = await browser.signIn(world.authorizeUrl(), ada);
    await identity.setTerms(world.tenantId, { text: "Be kinder.", version: "2" });
    const sent = await browser.submit(formOf(page), { decision: "accept" });
    assert.equal(sent.status, 303);
    const again = await browser.get(sent.location);
    assert.match(again.body, /Be kinder\./);
    const decided = await browser.submit(formOf(again), { decision: "accept" });
    assert.equal(decided.status, 302);
    const code = new URL(decided.location).searchParams.get("code")!;
    assert.equal((await world.exchange(code)).status, 200);
    // The record of requests says whose pages these were, with the user from the right password on.
    // A request is recorded when its answer was sent, which its client may see a moment earlier.
    await eventually(t.signal, async () => {
      const seen = world.service.parts.recentRequests.find({ clientId: world.client.id }, 10);
      assert.deepEqual(
        seen.map(({ method, route, status, userId }) => [method, route, status, userId]),
        [
          ["POST", "/oauth2/access_token", 200, null],
          ["POST", "/oauth2/terms", 302, world.userId],
          ["GET", "/oauth2/terms", 200, world.userId],
          ["POST", "/oauth2/terms", 303, world.userId],
          ["GET", "/oauth2/terms", 200, world.userId],
          ["POST", "/oauth2/login", 303, null],
          ["GET", "/oauth2/login", 200, null],
          ["GET", "/oauth2/authorize", 302, null],
        ],
      );
    });
    const grants = await world.service.parts.store.read((tx) => tx.grants.ofUser(world.userId));
    assert.deepEqual(
      grants.map(({ termsVersion }) => termsVersion),
      ["2"],
    );
  });

  it("that a form does not name are shown again, and nothing is accepted", async (t) => {
    const world = await oauthWorld(t);
    const { identity, store } = world.service.parts;
    const browser = new ScriptedBrowser(() => world.service.baseUrl);
    const early = await browser.signIn(world.authorizeUrl(), ada);
    await identity.setTerms(world.tenantId, { text: "Be kind.", version: "1" });
    const page = await browser.submit(formOf(early), { decision: "accept" });
    const shown = await browser.get(page.location);
    assert.match(shown.body, /Be kind\./);
    for (const terms of [undefined, "", "null", "1"]) {
      const sent = await browser.submit(formOf(shown), { decision: "accept", terms });
      assert.deepEqual([sent.status, sent.location], [303, page.location], String(terms));
    }
    await identity.setTerms(world.tenantId, null);
    assert.equal((await browser.submit(formOf(shown), { decision: "accept" })).status, 303);
    const decided = await browser.submit(formOf(await browser.get(page.location)), { decision: "accept" });
    await world.exchange(new URL(decided.location).searchParams.get("code")!);
    const [grant] = await store.read((tx) => tx.grants.ofUser(world.userId));
    assert.deepEqual([grant?.termsVersion, grant?.termsMs], [null, null]);
  });

  it("are not changed by a wrong option", async (t) => {
    const world = await oauthWorld(t);
    const { administration } = world.service.parts;
    const tenant = String(world.tenantId);
    const wrong: readonly (readonly [object, RegExp])[] = [
      [{ "refreshes-end": "2027-01-31" }, /--refreshes-end needs --require-acceptance/],
      [{ "require-acceptance": true, "refreshes-end": "soon" }, /must be a date such as 2027-01-31/],
      [{ "require-acceptance": true, "refreshes-end": "2027-02-31T25:00Z" }, /must be a date such as 2027-01-31/],
      [{ "require-acceptance": true }, /has no terms that could be accepted/],
      [{ clear: true, "require-acceptance": true }, /leave out --file and --version/],
      [{}, /--version is missing/],
    ];
    for (const [input, sentence] of wrong) {
      const isExpected = (error: unknown) => error instanceof BadParameter && sentence.test(error.message);
      await assert.rejects(administration.run("tenant terms", { tenant, ...input }), isExpected, JSON.stringify(input));
    }
  });
});
