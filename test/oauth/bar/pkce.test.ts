import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { describe, it } from "node:test";
import { type OAuthWorld, oauthWorld } from "../oauth-world.ts";
import { assertErrorRedirect, assertInvalidClient, assertRefused } from "./refused.ts";

describe("PKCE", () => {
  it("33: accepts an S256 challenge and issues tokens for its verifier, by form and by JSON", async (t) => {
    const world = await oauthWorld(t);
    const verifier = newVerifier();
    const first = await exchange(world, await codeFor(world, challengeOf(verifier)), verifier);
    assert.equal(first.status, 200);
    assert.equal(await world.statusWith(first.body.access_token), 200);
    const body = JSON.stringify({
      grant_type: "authorization_code",
      code: await codeFor(world, challengeOf(verifier)),
      code_verifier: verifier,
      client_id: world.client.id,
      client_secret: world.client.secret,
    });
    const json = { "content-type": "application/json" };
    assert.equal((await world.post("/oauth2/access_token", {}, { headers: json, body })).status, 200);
  });

  it("33: advertises S256 and nothing else", async (t) => {
    const world = await oauthWorld(t);
    const { body } = await world.get("/.well-known/oauth-authorization-server");
    assert.deepEqual(body.code_challenge_methods_supported, ["S256"]);
  });

  it("33: refuses plain, a missing and any other method with invalid_request, before the sign-in", async (t) => {
    const world = await oauthWorld(t);
    const code_challenge = challengeOf(newVerifier());
    for (const method of ["plain", "PLAIN", undefined, "", "s256", "S256 ", "S512", "none", "S256,plain"]) {
      await assertErrorRedirect(
        world,
        world.authorizeUrl({ code_challenge, code_challenge_method: method }),
        "invalid_request",
      );
    }
    const twice = `${world.authorizeUrl({ code_challenge, code_challenge_method: "S256" })}&code_challenge_method=plain`;
    await assertErrorRedirect(world, twice, "invalid_request");
  });

  it("33: never compares a plain verifier", async (t) => {
    const world = await oauthWorld(t);
    const challenge = challengeOf(newVerifier());
    assertRefused(await exchange(world, await codeFor(world, challenge), challenge), 400, "invalid_grant");
  });

  it("34: requires the verifier when there was a challenge", async (t) => {
    const world = await oauthWorld(t);
    for (const verifier of [undefined, ""]) {
      const code = await codeFor(world, challengeOf(newVerifier()));
      assertRefused(await exchange(world, code, verifier), 400, "invalid_grant", "invalid_request");
    }
  });

  it("34: refuses a verifier when there was no challenge, and treats an empty one as missing", async (t) => {
    const world = await oauthWorld(t);
    assertRefused(await exchange(world, await world.code(), newVerifier()), 400, "invalid_grant");
    const emptyChallenge = await world.code({ code_challenge: "" });
    assertRefused(await exchange(world, emptyChallenge, newVerifier()), 400, "invalid_grant");
    assert.equal((await exchange(world, await world.code({ code_challenge: "" }), "")).status, 200);
  });

  it("34: refuses another request's verifier, which invalidates the code", async (t) => {
    const world = await oauthWorld(t);
    const [mine, theirs] = [newVerifier(), newVerifier()];
    const code = await codeFor(world, challengeOf(mine));
    const other = await codeFor(world, challengeOf(theirs));
    assertRefused(await exchange(world, code, theirs), 400, "invalid_grant");
    assertRefused(await exchange(world, code, mine), 400, "invalid_grant");
    assert.equal((await exchange(world, other, theirs)).status, 200);
  });

  it("34: refuses a verifier that was sent twice, and the code stays valid", async (t) => {
    const world = await oauthWorld(t);
    const verifier = newVerifier();
    const code = await codeFor(world, challengeOf(verifier));
    const form = new URLSearchParams({
      grant_type: "authorization_code",
      code,
      client_id: world.client.id,
      client_secret: world.client.secret,
    });
    form.append("code_verifier", newVerifier());
    form.append("code_verifier", verifier);
    assertRefused(await world.post("/oauth2/access_token", {}, { body: form }), 400, "invalid_request");
    assert.equal((await exchange(world, code, verifier)).status, 200);
  });

  it("35: accepts verifiers of 43 to 128 unreserved characters", async (t) => {
    const world = await oauthWorld(t);
    for (const verifier of [newVerifier(43), newVerifier(128), `${"-._~".repeat(10)}aZ9`]) {
      const code = await codeFor(world, challengeOf(verifier));
      assert.equal((await exchange(world, code, verifier)).status, 200, verifier);
    }
  });

  it("35: refuses shorter, longer and other verifiers, even when their hash is right", async (t) => {
    const world = await oauthWorld(t);
    const odd = [" ", "+", "/", "=", "%", "é", "\0", "\n", "'"].map((character) => newVerifier(43) + character);
    for (const verifier of ["a", newVerifier(42), newVerifier(129), newVerifier(128).repeat(20), ...odd]) {
      const code = await codeFor(world, challengeOf(verifier));
      const answer = await exchange(world, code, verifier);
      assertRefused(answer, 400, "invalid_grant", "invalid_request");
    }
  });

  it("35: refuses a challenge that isn't 43 characters, or was sent twice, with invalid_request", async (t) => {
    const world = await oauthWorld(t);
    const good = challengeOf(newVerifier());
    const odd = ["+", "/", "=", " ", "\n", "é", "\0"].map((character) => good.slice(0, 42) + character);
    for (const challenge of ["a", good.slice(0, 42), `${good}a`, `${good}=`, `${good}\n`, good.repeat(3), ...odd]) {
      const address = world.authorizeUrl({ code_challenge: challenge, code_challenge_method: "S256" });
      await assertErrorRedirect(world, address, "invalid_request");
    }
    const once = world.authorizeUrl({ code_challenge: good, code_challenge_method: "S256" });
    await assertErrorRedirect(world, `${once}&code_challenge=${good}`, "invalid_request");
  });

  it("36: issues nothing for a verifier without the client's secret, and the code stays valid", async (t) => {
    const world = await oauthWorld(t);
    const verifier = newVerifier();
    const code = await codeFor(world, challengeOf(verifier));
    for (const secret of [undefined, "", `${world.client.secret}x`, verifier]) {
      const change = { client_secret: secret, code_verifier: verifier };
      assertInvalidClient(await world.exchange(code, world.client, change));
    }
    assertInvalidClient(await world.exchange(code, world.client, { client_id: undefined, code_verifier: verifier }));
    assert.equal((await exchange(world, code, verifier)).status, 200);
  });

  it("37: is required only of a client that is registered so", async (t) => {
    const world = await oauthWorld(t);
    const strict = await world.addClient({ requiresPkce: true });
    for (const code_challenge of [undefined, ""]) {
      await assertErrorRedirect(world, world.authorizeUrl({ client_id: strict.id, code_challenge }), "invalid_request");
    }
    const verifier = newVerifier();
    const requested = { client_id: strict.id, code_challenge: challengeOf(verifier), code_challenge_method: "S256" };
    assertRefused(
      await world.exchange(await world.code(requested), strict, {}),
      400,
      "invalid_grant",
      "invalid_request",
    );
    const issued = await world.exchange(await world.code(requested), strict, { code_verifier: verifier });
    assert.equal(issued.status, 200);
    assert.equal((await world.exchange(await world.code())).status, 200);
  });
});

function newVerifier(length = 43): string {
  return randomBytes(97).toString("base64url").slice(0, length);
}

function challengeOf(verifier: string): string {
  return createHash("sha256").update(verifier).digest("base64url");
}

function codeFor(world: OAuthWorld, challenge: string): Promise<string> {
  return world.code({ code_challenge: challenge, code_challenge_method: "S256" });
}

function exchange(world: OAuthWorld, code: string, verifier: string | undefined) {
  return world.exchange(code, world.client, { code_verifier: verifier });
}
