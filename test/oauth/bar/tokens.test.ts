import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ConfigurationError, readConfig } from "../../../src/config/config.ts";
import { statementsOn } from "../../set-up/sample.ts";
import { databases } from "../../stories/world.ts";
import { ada, admin, callback, idAndSecret, type OAuthWorld, oauthWorld, type Tokens } from "../oauth-world.ts";
import { formOf } from "../scripted-browser.ts";
import { assertRefused } from "./refused.ts";
import { storedFiles, storedRows } from "./stored.ts";

const dayMs = 24 * 3_600_000;
const json = { "content-type": "application/json" };
const bob = { name: "bob", password: "another word" };

for (const database of databases) {
  // PostgreSQL's own clock can't be stopped.
  const isClockStill = database === "sqlite";
  describe(`tokens on ${database}`, () => {
    const statements = statementsOn(database, { everyNth: 24 });
    statements.it("44: are opaque, have a prefix for their kind, and hold 256 bits", async (t) => {
      const world = await oauthWorld(t, { database });
      const all = [await world.tokens()];
      for (let refresh = 0; refresh < 30; refresh++) all.push(await refreshed(world, all.at(-1)!.refresh_token));
      for (const { access_token, refresh_token } of all) {
        assert.match(access_token, /^bwa_[A-Za-z0-9_-]{43,}$/);
        assert.match(refresh_token, /^bwr_[A-Za-z0-9_-]{43,}$/);
      }
      const parts = all.flatMap(({ access_token, refresh_token }) => [access_token.slice(4), refresh_token.slice(4)]);
      assert.equal(new Set(parts).size, parts.length);
      for (let place = 0; place < 43; place++) {
        assert.ok(new Set(parts.map((part) => part[place])).size > 4, `place ${place} hardly varies`);
      }
    });

    statements.it(
      "44: and codes, secrets, cookies and passwords are in no row, no file and no line of the log",
      async (t) => {
        const world = await oauthWorld(t, { database });
        const spentCode = await world.code();
        const first: Tokens = (await world.exchange(spentCode)).body;
        const second = await refreshed(world, first.refresh_token);
        const secToken = (await world.service.parts.identity.login(platformLogin(world))).secToken;
        const browser = world.browser();
        const atLogin = formOf(await browser.get(world.authorizeUrl()));
        // Users also type their password into the name field by mistake.
        const mistyped = "typed in the wrong field";
        await browser.submit(atLogin, { username: mistyped, password: mistyped });
        const cookiesAtLogin = [...browser.cookies.values()];
        const terms = await browser.signIn(world.authorizeUrl(), ada);
        const credentials = [
          ...[first, second].flatMap(({ access_token, refresh_token }) => [access_token, refresh_token]),
          spentCode,
          await world.code(),
          world.client.secret,
          secToken,
          ...[...cookiesAtLogin, ...browser.cookies.values()].filter((value) => value.length >= 20),
          ...[atLogin, formOf(terms)]
            .flatMap(({ fields }) => Object.values(fields))
            .filter((text) => text.length >= 20),
          ada.password,
          admin.password,
          mistyped,
        ];
        const rows = JSON.stringify([...(await storedRows(world))]);
        await world.service.stop();
        const places = [
          { name: "the rows", bytes: Buffer.from(rows) },
          { name: "the log", bytes: Buffer.from(world.logged.join("\n")) },
          ...storedFiles(world),
        ];
        for (const credential of credentials) {
          for (const { name, bytes } of places) {
            for (const form of formsOf(credential))
              assert.ok(!bytes.includes(form), `${credential.slice(0, 4)} in ${name}`);
          }
        }
      },
    );

    statements.it("44: can't be computed from a stolen store", async (t) => {
      const world = await oauthWorld(t, { database, environment: { BREEZEWAY_TRUSTED_PROXIES: "127.0.0.1" } });
      await refreshed(world, (await world.tokens()).refresh_token);
      const [codePrefix] = /^bw[a-z]+_|^/.exec(await world.code())!;
      const values = [...(await storedRows(world)).values()].flatMap((rows) =>
        rows.flatMap((row) => Object.values(row)),
      );
      const words = values.flatMap((value) => (typeof value === "string" ? value.split(/[^A-Za-z0-9_-]+/) : []));
      const stolen = [...new Set(words)].filter((word) => word.length >= 16);
      assert.ok(stolen.length >= 6, "the store holds nothing to steal");
      const { id } = world.client;
      for (const [n, word] of stolen.entries()) {
        for (const token of [word, `bwa_${word}`]) assert.equal(await world.statusWith(token), 401);
        for (const token of [word, `bwr_${word}`]) assert.equal((await world.refresh(token)).status, 400);
        for (const code of [word, codePrefix + word]) assert.equal((await world.exchange(code)).status, 400);
        for (const [m, client_secret] of [word, `bwcs_${word}`].entries()) {
          const headers = { "x-forwarded-for": `10.${m}.${n >> 8}.${n & 255}` };
          const form = { token: "x", client_id: id, client_secret };
          assert.equal((await world.post("/oauth2/revoke_token", form, { headers })).status, 401);
        }
      }
    });

    statements.it(
      "45: come in an uncacheable answer of four members, by form and by JSON, first and refreshed",
      async (t) => {
        const world = await oauthWorld(t, { database });
        const credentials = { client_id: world.client.id, client_secret: world.client.secret };
        const byJson = (members: object) =>
          world.post(
            "/oauth2/access_token",
            {},
            { headers: json, body: JSON.stringify({ ...credentials, ...members }) },
          );
        const first = await world.exchange(await world.code());
        const second = await byJson({ grant_type: "authorization_code", code: await world.code() });
        const answers = [
          first,
          second,
          await world.refresh(first.body.refresh_token),
          await byJson({ grant_type: "refresh_token", refresh_token: second.body.refresh_token }),
          // The interface's own table names only the field code for the refresh token.
          await byJson({ grant_type: "refresh_token", code: second.body.refresh_token }),
        ];
        for (const { status, headers, body } of answers) {
          assert.equal(status, 200);
          assert.deepEqual(Object.keys(body).sort(), ["access_token", "expires_in", "refresh_token", "token_type"]);
          assert.equal(body.token_type, "Bearer");
          assert.equal(body.expires_in, 3600);
          assert.equal(headers.get("cache-control"), "no-store");
          assert.match(headers.get("content-type") ?? "", /^application\/json\b/);
          assert.equal(await world.statusWith(body.access_token), 200);
        }
      },
    );

    statements.it("45: are issued for refresh_token when code is sent too", async (t) => {
      const world = await oauthWorld(t, { database });
      const { refresh_token } = await world.tokens();
      const form = { grant_type: "refresh_token", client_id: world.client.id, client_secret: world.client.secret };
      const code = await world.code();
      assert.equal((await world.post("/oauth2/access_token", { ...form, refresh_token, code })).status, 200);
      assert.equal((await world.exchange(code)).status, 200, "the code was spent by a refresh");
      const wrong = { ...form, refresh_token: "bwr_wrong", code: refresh_token };
      assertRefused(await world.post("/oauth2/access_token", wrong), 400, "invalid_grant");
      assertRefused(await world.post("/oauth2/access_token", { ...form, code }), 400, "invalid_grant");
      assertRefused(await world.post("/oauth2/access_token", form), 400, "invalid_request");
    });

    statements.it("46: give access for an hour, also across a restart", async (t) => {
      const world = await oauthWorld(t, { database, isClockStill });
      const { access_token } = await world.tokens();
      assert.equal(await world.statusWith(access_token), 200);
      await world.timePasses(3_590_000);
      assert.equal(await world.statusWith(access_token), 200);
      await world.restart();
      assert.equal(await world.statusWith(access_token), 200);
      await world.timePasses(11_000);
      assertRefused(await world.get("/v3/users", access_token), 401, "invalid_token");
    });

    statements.it("46: give access for as long as is configured", async (t) => {
      const world = await oauthWorld(t, {
        database,
        isClockStill,
        environment: { BREEZEWAY_ACCESS_TOKEN_SECONDS: "360" },
      });
      const { access_token, expires_in, refresh_token } = await world.tokens();
      assert.equal(expires_in, 360);
      assert.equal(await world.statusWith(access_token), 200);
      await world.timePasses(350_000);
      assert.equal(await world.statusWith(access_token), 200);
      await world.timePasses(11_000);
      assert.equal(await world.statusWith(access_token), 401);
      const renewed = await refreshed(world, refresh_token);
      assert.equal(renewed.expires_in, 360);
      assert.equal(await world.statusWith(renewed.access_token), 200);
    });

    statements.it(
      "47: are bound to their client; with a refresh token another client gets invalid_grant and nothing is revoked",
      async (t) => {
        const world = await oauthWorld(t, { database });
        const first = await world.tokens();
        const second = await refreshed(world, first.refresh_token);
        const third = await refreshed(world, second.refresh_token);
        await world.timePasses(61_000);
        const others = [
          await world.addClient({ name: "Rules" }),
          await world.addClient({ tenant: "Other" }),
          await world.addClient({ kind: "enterprise" }),
        ];
        for (const other of others) {
          const unknown = await world.refresh(`bwr_${"A".repeat(43)}`, other);
          // The first token is retired: its own client would end the whole grant by using it.
          for (const { refresh_token } of [first, second, third]) {
            const refused = await world.refresh(refresh_token, other);
            assertRefused(refused, 400, "invalid_grant");
            assert.deepEqual({ ...refused.body, request_id: "" }, { ...unknown.body, request_id: "" });
            const literal = { grant_type: "refresh_token", code: refresh_token, ...idAndSecret(other) };
            assertRefused(await world.post("/oauth2/access_token", literal), 400, "invalid_grant");
          }
        }
        for (const { access_token } of [first, second, third]) assert.equal(await world.statusWith(access_token), 200);
        assert.equal((await world.refresh(third.refresh_token)).status, 200);
      },
    );

    statements.it("47: end with their client, also those that are issued during its removal", async (t) => {
      const world = await oauthWorld(t, { database });
      for (let round = 0; round < 6; round++) {
        const client = await world.addClient();
        const tokens = await world.tokens(client);
        const codes = [await world.code({ client_id: client.id }), await world.code({ client_id: client.id })];
        const requests = [
          world.exchange(codes[0]!, client),
          world.refresh(tokens.refresh_token, client),
          world.exchange(codes[1]!, client),
          world.refresh(tokens.refresh_token, client),
        ];
        if (round < 4) await requests[round];
        await world.service.parts.oauth.removeClient(client.id);
        const answers = await Promise.all(requests);
        const issued = answers.filter(({ status }) => status === 200).map(({ body }) => body);
        for (const { access_token } of [tokens, ...issued]) assert.equal(await world.statusWith(access_token), 401);
      }
    });

    statements.it("48: give no further access for an unknown scope in the request", async (t) => {
      const world = await oauthWorld(t, { database });
      const bobs = await world.addDevice(world.bobId, "Bob's lamp");
      const scope = "admin tenant openid offline_access devices:write *";
      let { body } = await world.exchange(await world.code({ scope }), world.client, { scope });
      assert.equal(body.scope, "devices:read");
      for (const requestedScope of [undefined, "", scope, 'é\u{1f525} \\ "quoted"', "a".repeat(2_000)]) {
        const form = { grant_type: "refresh_token", refresh_token: body.refresh_token, ...idAndSecret(world.client) };
        const answer = await world.post("/oauth2/access_token", { ...form, scope: requestedScope });
        assert.equal(answer.status, 200, JSON.stringify(answer.body));
        body = answer.body;
        const members = ["access_token", "expires_in", "refresh_token", "scope", "token_type"];
        assert.deepEqual([Object.keys(body).sort(), body.scope], [members, "devices:read"]);
        assert.deepEqual((await world.get("/v3/users", body.access_token)).body, [world.userId]);
        assert.equal((await world.get(`/v3/devices/${bobs}`, body.access_token)).status, 404);
      }
      const form = new URLSearchParams({
        grant_type: "refresh_token",
        refresh_token: body.refresh_token,
        ...idAndSecret(world.client),
      });
      form.append("scope", "a");
      form.append("scope", "b");
      assertRefused(await world.post("/oauth2/access_token", {}, { body: form }), 400, "invalid_request");
    });

    statements.it("49: can be refreshed again after a lost answer, and both answers are valid", async (t) => {
      const world = await oauthWorld(t, { database });
      const first = await world.tokens();
      const lost = await refreshed(world, first.refresh_token);
      await world.timePasses(10 * dayMs);
      const retried = await refreshed(world, first.refresh_token);
      assert.notEqual(retried.refresh_token, lost.refresh_token);
      for (const { refresh_token } of [retried, lost]) {
        const next = await refreshed(world, refresh_token);
        assert.equal(await world.statusWith(next.access_token), 200);
      }
    });

    statements.it("49: stay valid when only the successor's access token was used", async (t) => {
      const world = await oauthWorld(t, { database });
      const first = await world.tokens();
      const second = await refreshed(world, first.refresh_token);
      assert.equal(await world.statusWith(second.access_token), 200);
      assert.equal(await world.statusWith(first.access_token), 200, "the old access token lives to its expiry");
      await world.timePasses(30 * dayMs);
      await refreshed(world, first.refresh_token);
      await refreshed(world, second.refresh_token);
    });

    statements.it(
      "49: end 60 seconds after the successor's refresh token was used, even if they are used meanwhile",
      async (t) => {
        const world = await oauthWorld(t, { database, isClockStill });
        const first = await world.tokens();
        const second = await refreshed(world, first.refresh_token);
        await refreshed(world, second.refresh_token);
        await world.timePasses(30_000);
        const again = await refreshed(world, first.refresh_token);
        await refreshed(world, again.refresh_token);
        await world.timePasses(20_000);
        await refreshed(world, first.refresh_token);
        await world.timePasses(11_000);
        assertRefused(await world.refresh(first.refresh_token), 400, "invalid_grant");
      },
    );

    statements.it("49: survive a client that always refreshes with its first refresh token, for years", async (t) => {
      const world = await oauthWorld(t, { database });
      const { refresh_token } = await world.tokens();
      let last = refresh_token;
      for (let time = 0; time < 24; time++) {
        await world.timePasses(300 * dayMs);
        const next = await refreshed(world, refresh_token);
        assert.equal(await world.statusWith(next.access_token), 200);
        last = next.refresh_token;
      }
      await refreshed(world, last);
    });

    statements.it("49: survive concurrent refreshes", async (t) => {
      const world = await oauthWorld(t, { database });
      const { refresh_token } = await world.tokens();
      const all = await Promise.all(Array.from({ length: 8 }, () => refreshed(world, refresh_token)));
      for (const { access_token } of all) assert.equal(await world.statusWith(access_token), 200);
      assert.equal(new Set(all.map((one) => one.refresh_token)).size, 8);
      await Promise.all(all.map((one) => refreshed(world, one.refresh_token)));
    });

    it("49: have at most eight successors; the ninth ends only the oldest unused one", async (t) => {
      const world = await oauthWorld(t, { database });
      const first = await world.tokens();
      const siblings: Tokens[] = [];
      for (let sibling = 0; sibling < 9; sibling++) {
        await world.timePasses(1_000);
        siblings.push(await refreshed(world, first.refresh_token));
      }
      for (const { access_token } of siblings) assert.equal(await world.statusWith(access_token), 200);
      assertRefused(await world.refresh(siblings[0]!.refresh_token), 400, "invalid_grant");
      await refreshed(world, first.refresh_token);
      for (const { refresh_token } of siblings.slice(-7)) await refreshed(world, refresh_token);
      for (const { access_token } of siblings) assert.equal(await world.statusWith(access_token), 200);
    });

    statements.it("50: end with their whole grant when a retired refresh token is used; this is audited", async (t) => {
      const world = await oauthWorld(t, { database });
      const untouched = await world.tokens();
      const first = await world.tokens();
      const second = await refreshed(world, first.refresh_token);
      const third = await refreshed(world, second.refresh_token);
      const fourth = await refreshed(world, third.refresh_token);
      await world.timePasses(61_000);
      for (const { access_token } of [first, second, third, fourth]) {
        assert.equal(await world.statusWith(access_token), 200);
      }
      const before = await reuses(world);
      assertRefused(await world.refresh(first.refresh_token), 400, "invalid_grant");
      for (const { access_token, refresh_token } of [fourth, third, second, first]) {
        assert.equal(await world.statusWith(access_token), 401);
        assertRefused(await world.refresh(refresh_token), 400, "invalid_grant");
      }
      assert.equal(await world.statusWith(untouched.access_token), 200);
      await refreshed(world, untouched.refresh_token);

      const entries = (await reuses(world)).slice(0, -before.length || undefined);
      assert.equal(entries.length, 1, JSON.stringify(entries));
      assert.equal(entries[0]!.clientId, world.client.id);
      assert.equal(entries[0]!.userId, world.userId);
      for (const { refresh_token } of [first, second, third, fourth]) {
        assert.ok(!JSON.stringify(entries).includes(refresh_token.slice(4)));
      }
    });

    it("50: end with one audit entry when a retired refresh token is used concurrently a week later", async (t) => {
      const world = await oauthWorld(t, { database });
      const first = await world.tokens();
      const second = await refreshed(world, first.refresh_token);
      const third = await refreshed(world, second.refresh_token);
      await world.timePasses(7 * dayMs);
      const answers = await Promise.all([
        ...Array.from({ length: 6 }, () => world.refresh(first.refresh_token)),
        world.refresh(second.refresh_token),
        world.refresh(third.refresh_token),
      ]);
      for (const answer of answers.slice(0, 6)) assertRefused(answer, 400, "invalid_grant");
      for (const { status, body } of answers.slice(6)) {
        assert.ok(status === 400 || status === 200, `${status}`);
        if (status === 200) assert.equal(await world.statusWith(body.access_token), 401);
      }
      assertRefused(await world.refresh(third.refresh_token), 400, "invalid_grant");
      assert.equal((await reuses(world)).length, 1);
    });

    statements.it("51: expire after a year without use, or after the configured days", async (t) => {
      for (const [environment, days] of [
        [{}, 365],
        [{ BREEZEWAY_REFRESH_TOKEN_DAYS: "30" }, 30],
      ] as const) {
        const world = await oauthWorld(t, { database, environment });
        let last = await world.tokens();
        const idle = await world.tokens();
        for (let use = 0; use < 3; use++) {
          await world.timePasses((days - 1) * dayMs);
          last = await refreshed(world, last.refresh_token);
        }
        assertRefused(await world.refresh(idle.refresh_token), 400, "invalid_grant");
        await world.timePasses(days * dayMs + 1_000);
        assertRefused(await world.refresh(last.refresh_token), 400, "invalid_grant");
      }
    });

    statements.it("51: end with a new password, with codes and unfinished sign-ins, for that user only", async (t) => {
      const world = await oauthWorld(t, { database });
      const hers = [await world.tokens(), await world.tokens(await world.addClient())];
      const his = await world.tokens(world.client, bob);
      const code = await world.code();
      const browser = world.browser();
      const terms = await browser.signIn(world.authorizeUrl(), ada);
      for (const { access_token } of [...hers, his]) assert.equal(await world.statusWith(access_token), 200);

      await world.service.parts.identity.setPassword(world.userId, "a new password");
      for (const { access_token, refresh_token } of hers) {
        assert.equal(await world.statusWith(access_token), 401);
        assertRefused(await world.refresh(refresh_token), 400, "invalid_grant");
      }
      assertRefused(await world.exchange(code), 400, "invalid_grant");
      const decided = await browser.submit(formOf(terms), { decision: "accept" });
      assert.ok(!decided.location.includes("code="), decided.location);
      assert.equal(await world.statusWith(his.access_token), 200);
      await refreshed(world, his.refresh_token);
      const again = await world.tokens(world.client, { ...ada, password: "a new password" });
      assert.equal(await world.statusWith(again.access_token), 200);
    });

    statements.it("51: end with a new password even while they are being exchanged and refreshed", async (t) => {
      const world = await oauthWorld(t, { database });
      let person = ada;
      for (let round = 0; round < 6; round++) {
        const tokens = await world.tokens(world.client, person);
        const codes = [await world.code({}, person), await world.code({}, person)];
        const next = { ...ada, password: `new password ${round}` };
        const setting = world.service.parts.identity.setPassword(world.userId, next.password);
        const answers = await Promise.all([
          ...codes.map((code) => world.exchange(code)),
          ...Array.from({ length: 4 }, () => world.refresh(tokens.refresh_token)),
        ]);
        await setting;
        const issued = [tokens, ...answers.filter(({ status }) => status === 200).map(({ body }) => body)];
        for (const { access_token, refresh_token } of issued) {
          assert.equal(await world.statusWith(access_token), 401);
          assertRefused(await world.refresh(refresh_token), 400, "invalid_grant");
        }
        person = next;
      }
    });

    statements.it("51: of an enterprise client end with a new password of their administrator", async (t) => {
      const world = await oauthWorld(t, { database });
      const enterprise = await world.addClient({ kind: "enterprise" });
      const whole = await world.tokens(enterprise, admin);
      assert.equal(await world.statusWith(whole.access_token), 200);
      await world.service.parts.identity.setPassword(world.adminId, "a new password");
      assert.equal(await world.statusWith(whole.access_token), 401);
      assertRefused(await world.refresh(whole.refresh_token, enterprise), 400, "invalid_grant");
    });

    statements.it("51: end with their user", async (t) => {
      const world = await oauthWorld(t, { database });
      const enterprise = await world.addClient({ kind: "enterprise" });
      const hers = await world.tokens();
      const his = await world.tokens(world.client, bob);
      const whole = await world.tokens(enterprise, admin);
      const code = await world.code();
      for (const { access_token } of [hers, his, whole]) assert.equal(await world.statusWith(access_token), 200);
      const { administration } = world.service.parts;

      await administration.run("user remove", { user: String(world.userId) });
      assert.equal(await world.statusWith(hers.access_token), 401);
      assertRefused(await world.refresh(hers.refresh_token), 400, "invalid_grant");
      assertRefused(await world.exchange(code), 400, "invalid_grant");
      for (const { access_token } of [his, whole]) assert.equal(await world.statusWith(access_token), 200);

      await administration.run("user remove", { user: String(world.adminId) });
      assert.equal(await world.statusWith(whole.access_token), 401);
      assertRefused(await world.refresh(whole.refresh_token, enterprise), 400, "invalid_grant");
      await refreshed(world, his.refresh_token);
    });

    statements.it("52: of a user read and write only that user's devices", async (t) => {
      const world = await oauthWorld(t, { database });
      const hers = await world.addDevice(world.userId, "Hers");
      const foreign = [
        await world.addDevice(world.bobId, "Bob's"),
        await world.addDevice(world.adminId, "The administrator's"),
        await world.addDevice(world.strangerId, "Another tenant's"),
      ];
      const { access_token } = await world.tokens();
      const { body } = await world.get("/v3/devices", access_token);
      assert.deepEqual(body.devices.map(deviceIdOf), [hers]);
      assert.equal((await put(world, hers, access_token)).status, 200);
      const absent = await world.get("/v3/devices/2147483647", access_token);
      assert.equal(absent.status, 404);
      for (const deviceId of foreign) {
        const seen = await world.get(`/v3/devices/${deviceId}`, access_token);
        assert.equal(seen.status, 404);
        assert.deepEqual({ ...seen.body, request_id: "" }, { ...absent.body, request_id: "" });
        assert.equal((await put(world, deviceId, access_token)).status, 404);
      }
      assert.deepEqual((await world.get("/v3/users", access_token)).body, [world.userId]);
      for (const userId of [world.bobId, world.adminId, world.strangerId]) {
        assert.equal((await world.get(`/v3/users/${userId}`, access_token)).status, 404);
      }
      // With an ordinary client, an administrator's token covers only the administrator.
      const personal = await world.tokens(world.client, admin);
      assert.deepEqual((await world.get("/v3/users", personal.access_token)).body, [world.adminId]);
      assert.equal((await world.get(`/v3/devices/${hers}`, personal.access_token)).status, 404);
    });

    statements.it(
      "52: of an enterprise client read and write its whole tenant and no other, also after a refresh",
      async (t) => {
        const world = await oauthWorld(t, { database });
        const ours = [await world.addDevice(world.userId, "Hers"), await world.addDevice(world.bobId, "His")];
        const theirs = await world.addDevice(world.strangerId, "Another tenant's");
        const enterprise = await world.addClient({ kind: "enterprise" });
        const first = await world.tokens(enterprise, admin);
        const own = await world.post("/oauth2/access_token", {
          grant_type: "client_credentials",
          ...idAndSecret(enterprise),
        });
        const next = await world.refresh(first.refresh_token, enterprise);
        for (const access_token of [first.access_token, next.body.access_token, own.body.access_token]) {
          const everyone = [world.userId, world.bobId, world.adminId].sort((a, b) => a - b);
          assert.deepEqual((await world.get("/v3/users", access_token)).body, everyone);
          const { body } = await world.get("/v3/devices?deviceTypeName=Lamp", access_token);
          assert.deepEqual(body.devices.map(deviceIdOf), ours);
          assertRefused(await world.get("/v3/devices", access_token), 400, "invalid_request");
          for (const deviceId of ours) assert.equal((await put(world, deviceId, access_token)).status, 200);
          const absent = await world.get("/v3/devices/2147483647", access_token);
          const foreign = await world.get(`/v3/devices/${theirs}`, access_token);
          assert.equal(foreign.status, 404);
          assert.deepEqual({ ...foreign.body, request_id: "" }, { ...absent.body, request_id: "" });
          assert.equal((await put(world, theirs, access_token)).status, 404);
          assert.equal((await world.get(`/v3/users/${world.strangerId}`, access_token)).status, 404);
        }
        const other = await world.addClient({ kind: "enterprise", tenant: "Other" });
        const others = await world.post("/oauth2/access_token", {
          grant_type: "client_credentials",
          ...idAndSecret(other),
        });
        assert.deepEqual((await world.get("/v3/users", others.body.access_token)).body, [world.strangerId]);
      },
    );

    statements.it(
      "52: of an enterprise client are granted only by an administrator; others get access_denied",
      async (t) => {
        const world = await oauthWorld(t, { database });
        const enterprise = await world.addClient({ kind: "enterprise" });
        for (const person of [ada, bob]) {
          const browser = world.browser();
          const address = world.authorizeUrl({ client_id: enterprise.id });
          const shown = await browser.signIn(address, person);
          const ended = shown.form ? await browser.submit(shown.form, { decision: "accept" }) : shown;
          assert.equal(ended.status === 302 || ended.status === 303, true, `${ended.status} ${ended.body}`);
          const location = new URL(ended.location);
          assert.equal(location.origin + location.pathname, callback);
          const { error, state, iss, code } = Object.fromEntries(location.searchParams);
          assert.deepEqual([error, state, iss, code], ["access_denied", "s-1", world.baseUrl, undefined]);
        }
      },
    );
  });
}

describe("the lifetimes of tokens", () => {
  it("46: are refused at the start when they are invalid or too short for an assistant", () => {
    const complaint = (variable: string, value: string) => {
      try {
        readConfig({ flags: {}, environment: { [variable]: value } });
        return undefined;
      } catch (error) {
        assert.ok(error instanceof ConfigurationError);
        return error.problems;
      }
    };
    for (const [variable, wrong, right] of [
      ["BREEZEWAY_ACCESS_TOKEN_SECONDS", ["359", "0", "-1", "3600.5", "an hour", "1e4", "0x999"], ["360", "86400", ""]],
      ["BREEZEWAY_REFRESH_TOKEN_DAYS", ["0", "-1", "1.5", "a year", "1e2"], ["1", "365", ""]],
    ] as const) {
      for (const value of wrong) {
        const problems = complaint(variable, value);
        assert.equal(problems?.length, 1, `${variable}=${value}`);
        assert.match(problems![0]!, new RegExp(`^${variable} `));
      }
      for (const value of right) assert.equal(complaint(variable, value), undefined, `${variable}=${value}`);
    }
  });
});

async function refreshed(world: OAuthWorld, refreshToken: string): Promise<Tokens> {
  const answer = await world.refresh(refreshToken);
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return answer.body;
}

function platformLogin(world: OAuthWorld) {
  return { ...ada, appId: String(world.tenantId), source: "192.0.2.1" };
}

/** Forms in which a secret could be stored: without its prefix, as bytes, hex and base64; a short one as it is. */
function formsOf(credential: string): readonly (string | Buffer)[] {
  const random = credential.replace(/^bw[a-z]+_/, "");
  if (random.length < 43) return [credential];
  // The last letters name the owner. The secret itself are the first 43, which are 32 bytes.
  return [random, random.slice(0, 43)].flatMap((text) => {
    const bytes = Buffer.from(text, "base64url");
    return [text, bytes, bytes.toString("hex"), bytes.toString("base64")];
  });
}

interface AuditEntry {
  readonly act: string;
  readonly clientId?: unknown;
  readonly userId?: unknown;
}

/** The audit entries about reused refresh tokens, newest first. */
async function reuses(world: OAuthWorld): Promise<readonly AuditEntry[]> {
  const { entries } = (await world.service.parts.administration.run("audit list", {})) as { entries: AuditEntry[] };
  return entries.filter(({ act }) => /reuse/i.test(act));
}

async function put(world: OAuthWorld, deviceId: number, token: string) {
  const init = { method: "PUT", body: JSON.stringify({ power: "on" }) };
  return fetch(`${world.baseUrl}/v3/devices/${deviceId}`, {
    ...init,
    headers: { ...json, authorization: `Bearer ${token}` },
  });
}

function deviceIdOf({ deviceId }: { readonly deviceId: number }): number {
  return deviceId;
}
