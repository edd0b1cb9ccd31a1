import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, it } from "node:test";
import { surfaceDatabases } from "../../set-up/deployment.ts";
import { type Answered, admin, idAndSecret, type MadeClient, type OAuthWorld, oauthWorld } from "../oauth-world.ts";
import { rawRequest } from "./raw-request.ts";
import { assertInvalidClient, assertRefused } from "./refused.ts";
import { storedFiles, storedRows } from "./stored.ts";

const endpoints = ["/oauth2/access_token", "/oauth2/revoke_token"];

describe("a client", () => {
  it("38: must POST", async (t) => {
    const world = await oauthWorld(t);
    for (const path of endpoints) {
      for (const method of ["GET", "HEAD", "PUT", "PATCH", "DELETE"]) {
        const answer = await fetch(`${world.baseUrl}${path}?${new URLSearchParams(idAndSecret(world.client))}`, {
          method,
        });
        assert.equal(answer.status, 405, `${method} ${path}`);
        assert.equal(answer.headers.get("allow"), "POST");
      }
    }
  });

  it("38: is refused when its secret is in the address, and nothing changes", async (t) => {
    const world = await oauthWorld(t);
    const code = await world.code();
    const { refresh_token, access_token } = await world.tokens();
    const credentials = idAndSecret(world.client);
    const query = new URLSearchParams(credentials);
    for (const form of [
      { grant_type: "authorization_code", code },
      { grant_type: "refresh_token", refresh_token },
    ]) {
      const path = `/oauth2/access_token?${query}`;
      for (const sent of [form, { ...form, ...credentials }]) {
        assertRefused(await world.post(path, sent), 400, "invalid_request");
      }
      assertRefused(await world.post(path, form, withBasic(world.client)), 400, "invalid_request");
      const secretOnly = `/oauth2/access_token?client_secret=${world.client.secret}`;
      assertRefused(await world.post(secretOnly, { ...form, client_id: world.client.id }), 400, "invalid_request");
    }
    assertRefused(await world.post(`/oauth2/revoke_token?${query}`, { token: access_token }), 400, "invalid_request");
    assert.equal(await world.statusWith(access_token), 200);
    assert.equal((await world.exchange(code)).status, 200);
  });

  it("38: gets no token for a code or a token in the address", async (t) => {
    const world = await oauthWorld(t);
    const code = await world.code();
    const { refresh_token, access_token } = await world.tokens();
    for (const [path, query] of [
      ["/oauth2/access_token", { grant_type: "authorization_code", code }],
      ["/oauth2/access_token", { grant_type: "refresh_token", refresh_token }],
      ["/oauth2/access_token", { grant_type: "refresh_token", code: refresh_token }],
      ["/oauth2/revoke_token", { token: access_token }],
    ] as const) {
      const address = `${path}?${new URLSearchParams({ ...query })}`;
      assertRefused(await world.post(address, {}, withBasic(world.client)), 400, "invalid_request");
      assertRefused(await world.post(address, idAndSecret(world.client)), 400, "invalid_request");
    }
    assert.equal(await world.statusWith(access_token), 200);
    assert.equal((await world.exchange(code)).status, 200);
  });

  for (const database of surfaceDatabases) {
    it(`39: is authenticated by its secret in the body or by Basic, raw or form-encoded, on ${database}`, async (t) => {
      const world = await oauthWorld(t, { database });
      const { id, secret } = world.client;
      const escaped = `${escapedWhole(id)}:${escapedWhole(secret)}`;
      for (const authorization of [
        basic(`${id}:${secret}`),
        basic(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`),
        basic(escaped),
        basic(escaped.toLowerCase()),
        basic(`${id}:${secret}`).replace("Basic", "basic"),
        basic(`${id}:${secret}`).replace("Basic", "BASIC"),
      ]) {
        assert.equal((await probe(world, {}, authorization)).status, 200, authorization.slice(0, 6));
        assert.equal((await probe(world, { client_id: id }, authorization)).status, 200);
        assert.equal((await probe(world, { client_secret: "" }, authorization)).status, 200);
      }
      assert.equal((await probe(world, idAndSecret(world.client))).status, 200);
      const body = JSON.stringify({ ...idAndSecret(world.client), token: "x" });
      const headers = { "content-type": "application/json" };
      assert.equal((await world.post("/oauth2/revoke_token", {}, { headers, body })).status, 200);
      const form = { grant_type: "authorization_code", code: await world.code() };
      assert.equal((await world.post("/oauth2/access_token", form, withBasic(world.client))).status, 200);
    });

    it(`39: is refused with anything else, and nothing breaks the service on ${database}`, async (t) => {
      const world = await oauthWorld(t, { database, environment: { BREEZEWAY_TRUSTED_PROXIES: "127.0.0.1" } });
      const { id, secret } = world.client;
      const right = basic(`${id}:${secret}`);
      for (const [name, authorization] of Object.entries({
        "no colon": basic(id + secret),
        "no secret": basic(`${id}:`),
        "no id": basic(`:${secret}`),
        nothing: "Basic",
        "an empty pair": basic(":"),
        "a colon too many": basic(`${id}:${secret}:`),
        "the halves swapped": basic(`${secret}:${id}`),
        "a secret in other letters": basic(`${id}:${secret.toUpperCase()}`),
        "an id in other letters": basic(`${id.toUpperCase()}:${secret}`),
        "a space before": basic(` ${id}:${secret}`),
        "a line's end after": basic(`${id}:${secret}\n`),
        "a NUL after the secret": basic(`${id}:${secret}\0`),
        "a NUL in the id": basic(`${id}\0:${secret}`),
        "an escaped NUL in the id": basic(`${id}%00:${secret}`),
        "half an escape": basic(`${id}:${secret}%4`),
        "an escape of no character": basic(`${id}:%ff%fe`),
        "bytes that are no text": `Basic ${Buffer.from([0xff, 0x3a, 0xfe]).toString("base64")}`,
        "no base64": `Basic ${id}:${secret}`,
        "base64 with other signs in it": right.replace(/^(.{12})/, "$1*!*"),
        "base64 twice": `Basic ${Buffer.from(right.slice(6)).toString("base64")}`,
        "a long id": basic(`${"a".repeat(8_000)}:${secret}`),
        "another scheme": right.replace("Basic", "Bearer"),
        "no scheme": right.slice(6),
      })) {
        const answer = await probe(world, {}, authorization, elsewhere());
        assert.equal(answer.status, 401, `${name}: ${answer.status} ${JSON.stringify(answer.body)}`);
        assertInvalidClient(answer);
      }
      for (const sent of [
        {},
        { client_id: id },
        { client_secret: secret },
        { client_id: "", client_secret: secret },
        { client_id: id, client_secret: "" },
        { client_id: `${id}\0`, client_secret: secret },
        { client_id: id, client_secret: `${secret}\0` },
        { client_id: "a".repeat(8_000), client_secret: secret },
        { client_id: `${id} `, client_secret: secret },
      ]) {
        assertInvalidClient(await probe(world, sent, undefined, elsewhere()));
      }
      for (const text of [
        `{"client_id": "${id}\\ud800", "client_secret": "${secret}", "token": "x"}`,
        `{"client_id": "${id}", "client_secret": "${secret}\\udc00", "token": "x"}`,
        `{"__proto__": {"client_id": "${id}", "client_secret": "${secret}"}, "token": "x"}`,
        `{"client_id": null, "client_secret": null, "token": "x"}`,
      ]) {
        const headers = { "content-type": "application/json", ...elsewhere() };
        const answer = await world.post("/oauth2/revoke_token", {}, { headers, body: text });
        assertRefused(answer, answer.status === 401 ? 401 : 400, "invalid_client", "invalid_request");
      }
    });
  }

  it("39: is refused when it sends its secret twice, or another client_id beside Basic", async (t) => {
    const world = await oauthWorld(t);
    const { id, secret } = world.client;
    const other = await world.addClient({ name: "Rules" });
    const { access_token } = await world.tokens();
    const right = basic(`${id}:${secret}`);
    const revocation = { token: access_token };
    assertRefused(await probe(world, { ...revocation, ...idAndSecret(world.client) }, right), 400, "invalid_request");
    assertRefused(await probe(world, { ...revocation, client_secret: secret }, right), 400, "invalid_request");
    for (const client_id of [other.id, id.toUpperCase(), `${id} `, "nobody"]) {
      const answer = await probe(world, { ...revocation, client_id }, right);
      assertRefused(answer, answer.status === 401 ? 401 : 400, "invalid_request", "invalid_client");
    }
    const lines = ["POST /oauth2/revoke_token HTTP/1.1", "Host: a", "Content-Type: application/x-www-form-urlencoded"];
    const twice = [`Authorization: ${right}`, `Authorization: ${basic(`${other.id}:${other.secret}`)}`];
    const body = `token=${access_token}`;
    const sent = [...lines, ...twice, `Content-Length: ${body.length}`];
    assertRefused(await rawRequest(world.baseUrl, sent, body), 400, "invalid_request");
    assert.equal(await world.statusWith(access_token), 200);
  });

  it("40: gets the same answer, byte for byte, for an unknown id and for a wrong secret", async (t) => {
    const world = await oauthWorld(t, { environment: { BREEZEWAY_TRUSTED_PROXIES: "127.0.0.1" } });
    const { access_token, refresh_token } = await world.tokens();
    const removed = await world.addClient();
    const rotated = await world.addClient();
    const pkce = await world.addClient({ requiresPkce: true });
    const foreign = await world.addClient({ tenant: "Other" });
    const enterprise = await world.addClient({ kind: "enterprise" });
    await world.service.parts.oauth.removeClient(removed.id);
    await world.service.parts.oauth.rotateSecret(rotated.id, 0);
    const wrong: readonly MadeClient[] = [
      { id: world.client.id.replace(/.{5}$/, "AAAAA"), secret: world.client.secret },
      { id: "nobody", secret: "nothing" },
      { id: "1", secret: "nothing" },
      removed,
      rotated,
      ...[world.client, pkce, foreign, enterprise].map(({ id }) => ({ id, secret: "bwcs_wrong" })),
      { id: world.client.id, secret: enterprise.secret },
    ];
    const requests: readonly (readonly [path: string, form: Record<string, string>])[] = [
      ["/oauth2/access_token", {}],
      ["/oauth2/access_token", { grant_type: "password", username: "ada", password: "correct horse" }],
      ["/oauth2/access_token", { grant_type: "authorization_code", code: await world.code() }],
      ["/oauth2/access_token", { grant_type: "refresh_token", refresh_token }],
      ["/oauth2/access_token", { grant_type: "client_credentials" }],
      ["/oauth2/revoke_token", {}],
      ["/oauth2/revoke_token", { token: access_token }],
      ["/oauth2/revoke_token", { token: "nothing" }],
    ];
    const seen = new Set<string>();
    for (const [path, form] of requests) {
      for (const client of wrong) {
        for (const init of [
          { form: idAndSecret(client), headers: {} },
          { form: {}, ...withBasic(client) },
        ]) {
          const answer = await fetch(`${world.baseUrl}${path}`, {
            method: "POST",
            body: new URLSearchParams({ ...form, ...init.form }),
            headers: { ...init.headers, ...elsewhere() },
          });
          seen.add(await withoutRequestId(answer));
        }
      }
    }
    assert.equal(seen.size, 1, [...seen].join("\n"));
    assert.match([...seen][0]!, /^401 .*"error":"invalid_client"/s);
    assert.match([...seen][0]!, /www-authenticate: Basic realm=/);
    assert.equal(await world.statusWith(access_token), 200);
    assert.equal((await world.refresh(refresh_token)).status, 200);
  });

  it("40: that sends no id or no secret gets an error that names the missing one", async (t) => {
    const world = await oauthWorld(t);
    const { id, secret } = world.client;
    for (const [missing, sent] of [
      ["client_id", {}],
      ["client_id", { client_id: "", client_secret: secret }],
      ["client_secret", { client_id: id }],
    ] as const) {
      const answer = await probe(world, sent);
      assertInvalidClient(answer);
      assert.match(answer.body.error_description, new RegExp(`^The parameter ${missing} is missing`));
    }
  });

  it("40: that is unknown is slowed down like one that is known", async (t) => {
    const world = await oauthWorld(t);
    const guess = async (id: string) => {
      const answers: unknown[] = [];
      for (let attempt = 0; attempt < 8; attempt++) {
        const { status, headers } = await probe(world, { client_id: id, client_secret: "bwcs_wrong" });
        answers.push([status, headers.get("retry-after")]);
      }
      return answers;
    };
    assert.deepEqual(await guess("bwc_nobody"), await guess(world.client.id));
  });

  it("41: gets a generated id and secret in characters that no encoding changes", async (t) => {
    const world = await oauthWorld(t);
    const clients = await Promise.all(Array.from({ length: 40 }, () => world.addClient()));
    for (const { id, secret } of clients) {
      assert.match(id, /^[A-Za-z0-9_-]+$/);
      assert.match(secret, /^[A-Za-z0-9_-]+$/);
    }
    assert.equal(new Set(clients.map(({ id }) => id)).size, 40);
    const randomParts = clients.map(({ secret }) => secret.slice(-43));
    // 43 characters of base64url are 256 bits. A position where all forty secrets agree would hold no randomness.
    for (let place = 0; place < 43; place++) {
      assert.ok(new Set(randomParts.map((part) => part[place])).size > 4, `place ${place}`);
    }
  });

  for (const database of surfaceDatabases) {
    it(`41: has its secret shown once and stored as SHA-256 only, which can't be used as a secret, on ${database}`, async (t) => {
      const world = await oauthWorld(t, { database });
      const { id, secret } = world.client;
      const rotated = await world.service.parts.oauth.rotateSecret(id, 60_000);
      const { oauth, administration } = world.service.parts;
      const shown = JSON.stringify([
        await oauth.findClient(id),
        await oauth.listClients(),
        await administration.run("client list", {}),
      ]);
      const rows = JSON.stringify((await storedRows(world)).get("clients"));
      for (const one of [secret, rotated.secret]) {
        assert.ok(!shown.includes(one.slice(-43)));
        assert.ok(!rows.includes(one.slice(-43)));
        for (const { name, bytes } of storedFiles(world)) assert.ok(!bytes.includes(one.slice(-43)), name);
        const hashes = (["base64url", "base64", "hex"] as const).map((form) =>
          createHash("sha256").update(one).digest(form),
        );
        assert.ok(
          hashes.some((hash) => rows.includes(hash)),
          "no SHA-256 of the secret is stored",
        );
        for (const hash of hashes) assertInvalidClient(await probe(world, { client_id: id, client_secret: hash }));
        assert.equal((await probe(world, { client_id: id, client_secret: one })).status, 200);
        assert.ok(!world.logged.join().includes(one.slice(-43)));
      }
    });
  }

  it("41: may use two secrets during a rotation, never three, and keeps its grants", async (t) => {
    const world = await oauthWorld(t, { isClockStill: true });
    const { id, secret: first } = world.client;
    const { refresh_token } = await world.tokens();
    const works = async (secret: string) => (await probe(world, idAndSecret({ id, secret }))).status === 200;
    const rotate = async (overlapMs: number) => (await world.service.parts.oauth.rotateSecret(id, overlapMs)).secret;

    const second = await rotate(3_600_000);
    assert.notEqual(second, first);
    assert.deepEqual([await works(first), await works(second)], [true, true]);
    await world.restart();
    await world.timePasses(3_599_999);
    assert.deepEqual([await works(first), await works(second)], [true, true]);
    await world.timePasses(1);
    assert.deepEqual([await works(first), await works(second)], [false, true]);

    const third = await rotate(3_600_000);
    const fourth = await rotate(3_600_000);
    assert.deepEqual([await works(second), await works(third), await works(fourth)], [false, true, true]);
    const fifth = await rotate(0);
    assert.deepEqual([await works(third), await works(fourth), await works(fifth)], [false, false, true]);
    assert.equal((await world.refresh(refresh_token, { id, secret: fifth })).status, 200);
  });

  it("42: is delayed more with each failure, by Basic and in the body, at both endpoints together", async (t) => {
    const world = await oauthWorld(t, { isClockStill: true });
    const wrong = { id: world.client.id, secret: "bwcs_wrong" };
    const attempts = [
      () => probe(world, idAndSecret(wrong)),
      () => probe(world, {}, basic(`${wrong.id}:${wrong.secret}`)),
      () => world.refresh("bwr_any", wrong),
    ];
    let failures = 0;
    for (; failures < 20; failures++) if ((await attempts[failures % 3]!()).status !== 401) break;
    assert.ok(failures >= 3 && failures <= 10, `${failures} failures were free`);
    const delays: number[] = [];
    for (const attempt of attempts) {
      const refused = await attempt();
      assertRefused(refused, 429, "too_many_requests");
      delays.push(Number(refused.headers.get("retry-after")));
      // During the delay an attacker must not learn that a guess was right.
      assert.equal((await probe(world, idAndSecret(world.client))).status, 429);
      await world.timePasses(delays.at(-1)! * 1_000);
      assertInvalidClient(await attempt());
    }
    assert.ok(delays[0]! >= 1 && delays[1]! > delays[0]! && delays[2]! > delays[1]!, delays.join());
    await world.timePasses(24 * 3_600_000);
    assert.equal((await probe(world, idAndSecret(world.client))).status, 200);
  });

  it("42: is never refused because of failures from other sources, nor does its success reset theirs", async (t) => {
    const world = await oauthWorld(t, { environment: { BREEZEWAY_TRUSTED_PROXIES: "127.0.0.1" } });
    const other = await world.addClient();
    const guesser = { "x-forwarded-for": "203.0.113.7" };
    const guess = () => probe(world, { client_id: world.client.id, client_secret: "wrong" }, undefined, guesser);
    await untilSlowed(guess);
    for (let call = 0; call < 20; call++) {
      const source = { "x-forwarded-for": `198.51.100.${call}` };
      assert.equal((await probe(world, idAndSecret(world.client), undefined, source)).status, 200);
    }
    assert.equal(
      (await probe(world, idAndSecret(world.client), undefined, { "x-forwarded-for": "2001:db8::1" })).status,
      200,
    );
    assert.equal((await probe(world, idAndSecret(other), undefined, guesser)).status, 200);
    // The delay may have passed meanwhile, and the next one is longer. After a reset five guesses would be free.
    const guesses = [await guess(), await guess()];
    assert.ok(guesses.some(({ status }) => status === 429));
  });

  it("42: can't forge its source by a header, not even through a trusted proxy", async (t) => {
    const untrusting = await oauthWorld(t);
    const trusting = await oauthWorld(t, { environment: { BREEZEWAY_TRUSTED_PROXIES: "127.0.0.1" } });
    const lies = [
      [untrusting, (n: number) => ({ "x-forwarded-for": `198.51.100.${n}`, forwarded: `for=198.51.100.${n}` })],
      [untrusting, (n: number) => ({ "x-real-ip": `198.51.100.${n}`, "x-client-ip": `198.51.100.${n}` })],
      // The proxy appends the address that it sees; addresses before it are only claimed by the caller.
      [trusting, (n: number) => ({ "x-forwarded-for": `198.51.100.${n}, 203.0.113.7` })],
    ] as const;
    for (const [kind, [world, headers]] of lies.entries()) {
      let guesses = 0;
      const wrong = { client_id: `bwc_any-${kind}`, client_secret: "wrong" };
      await untilSlowed(() => probe(world, wrong, undefined, headers(guesses++)));
    }
  });

  it("42: shares a configured limit with all clients of its source", async (t) => {
    const environment = { BREEZEWAY_TRUSTED_PROXIES: "127.0.0.1", BREEZEWAY_FAILURES_PER_SOURCE: "30" };
    const world = await oauthWorld(t, { environment, isClockStill: true });
    const crowd = { "x-forwarded-for": "203.0.113.7" };
    for (let failure = 0; failure < 30; failure++) {
      assert.equal((await probe(world, idAndSecret(world.client), undefined, crowd)).status, 200);
      const wrong = { client_id: `bwc_guess-${failure}`, client_secret: "wrong" };
      assertInvalidClient(await probe(world, wrong, undefined, crowd));
    }
    const refused = await probe(world, idAndSecret(world.client), undefined, crowd);
    assertRefused(refused, 429, "too_many_requests");
    assert.equal((await probe(world, idAndSecret(world.client), undefined, elsewhere())).status, 200);
    await world.timePasses(Number(refused.headers.get("retry-after")) * 1_000);
    assert.equal((await probe(world, idAndSecret(world.client), undefined, crowd)).status, 200);
  });

  it("42: can't guess faster with concurrent requests", async (t) => {
    const world = await oauthWorld(t);
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, n) => probe(world, { client_id: world.client.id, client_secret: `wrong-${n}` })),
    );
    const tried = answers.filter(({ status }) => status === 401).length;
    assert.ok(tried <= 10, `${tried} guesses were checked`);
    assert.equal(answers.filter(({ status }) => status === 429).length, 60 - tried);
  });

  it("43: has an id that can't be a user's, whatever its name is", async (t) => {
    const world = await oauthWorld(t);
    const named = await Promise.all([String(world.userId), "ada", "1"].map((name) => world.addClient({ name })));
    const enterprise = await world.addClient({ kind: "enterprise", name: String(world.userId) });
    for (const { id } of [...named, enterprise, world.client]) {
      assert.match(id, /^bwc_/);
      assert.ok(Number.isNaN(Number(id)));
    }
    const mine = await world.tokens(named[0]!);
    const whole = await world.tokens(enterprise, admin);
    const own = await world.post("/oauth2/access_token", {
      grant_type: "client_credentials",
      ...idAndSecret(enterprise),
    });
    assert.deepEqual((await world.get("/v3/users", mine.access_token)).body, [world.userId]);
    for (const { access_token } of [mine, whole, own.body]) {
      for (const { id } of [...named, enterprise]) {
        assert.equal((await world.get(`/v3/users/${id}`, access_token)).status, 404);
      }
      assert.ok(!access_token.includes(world.client.id.slice(4)));
    }
    const everyone = [world.userId, world.bobId, world.adminId].sort((a, b) => a - b);
    assert.deepEqual((await world.get("/v3/users", own.body.access_token)).body, everyone);
  });

  it("43: is distinguished from users in the audit log", async (t) => {
    const world = await oauthWorld(t);
    await world.tokens();
    const { entries } = (await world.service.parts.administration.run("audit list", {})) as {
      entries: { userId?: unknown; clientId?: unknown }[];
    };
    assert.ok(entries.some(({ clientId }) => clientId === world.client.id));
    for (const { userId, clientId } of entries) {
      assert.ok(userId === undefined || userId === null || Number.isSafeInteger(userId));
      assert.ok(clientId === undefined || clientId === null || /^bwc_/.test(String(clientId)));
    }
  });
});

function basic(pair: string): string {
  return `Basic ${Buffer.from(pair).toString("base64")}`;
}

function withBasic({ id, secret }: MadeClient) {
  return { headers: { authorization: basic(`${id}:${secret}`) } };
}

function escapedWhole(text: string): string {
  return [...Buffer.from(text)].map((byte) => `%${byte.toString(16).toUpperCase()}`).join("");
}

let sources = 0;

/** A new source for each attempt, so that no failure limit hides the answer. */
function elsewhere(): Readonly<Record<string, string>> {
  sources++;
  return { "x-forwarded-for": `10.${(sources >> 16) & 255}.${(sources >> 8) & 255}.${sources & 255}` };
}

/** The cheapest call with client authentication: revoking an unknown token gives 200. */
function probe(
  world: OAuthWorld,
  form: Readonly<Record<string, string>>,
  authorization?: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answered> {
  const all = { ...headers, ...(authorization !== undefined && { authorization }) };
  return world.post("/oauth2/revoke_token", { token: "nobodys", ...form }, { headers: all });
}

async function untilSlowed(guess: () => Promise<Answered>): Promise<void> {
  for (let guesses = 0; guesses < 20; guesses++) {
    const { status } = await guess();
    if (status === 429) return;
    assert.equal(status, 401);
  }
  assert.fail("20 wrong guesses were answered");
}

async function withoutRequestId(answer: Response): Promise<string> {
  const requestId = answer.headers.get("x-request-id") ?? "none";
  const headers = [...answer.headers].filter(([name]) => name !== "date").map(([name, value]) => `${name}: ${value}`);
  return `${answer.status} ${await answer.text()}\n${headers.join("\n")}`.replaceAll(requestId, "-");
}
