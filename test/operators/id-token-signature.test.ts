import assert from "node:assert/strict";
import { createHmac, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it, type TestContext } from "node:test";
import { OpenIdRefused } from "../../src/operators/openid/openid-errors.ts";
import { openIdProvider } from "../../src/operators/openid/provider.ts";
import { OutgoingCalls } from "../../src/runtime/network/outgoing-calls.ts";

const client = { clientId: "console", clientSecret: "a secret of the console" };
const newKeys = () => generateKeyPairSync("rsa", { modulusLength: 2_048 });

/** The header of an ID token, and what signs its text. */
interface Signing {
  readonly header: object;
  readonly sign: (text: string) => string;
}

const rs256 = (kid: string, key: KeyObject): Signing => ({
  header: { alg: "RS256", kid },
  sign: (text) => sign("sha256", Buffer.from(text), key).toString("base64url"),
});

const hs256 = (secret: string | Buffer): Signing => ({
  header: { alg: "HS256", kid: "one" },
  sign: (text) => createHmac("sha256", secret).update(text).digest("base64url"),
});

describe("the ID token of an OpenID provider", () => {
  it("is accepted with a signature by a key of the provider, whose keys are read once", async (t) => {
    const { keys, signIn, reads } = await signingProvider(t);
    for (let count = 0; count < 3; count++) {
      assert.equal((await signIn(rs256("one", keys.privateKey))).sub, "olga");
    }
    assert.equal(reads(), 1);
  });

  it("is refused with another signature, with none, and with one by the secret of the client", async (t) => {
    const { keys, signIn } = await signingProvider(t);
    const publicKey = keys.publicKey.export({ type: "spki", format: "pem" });
    const cases: Readonly<Record<string, Signing>> = {
      "a wrong key": rs256("one", newKeys().privateKey),
      "no signature": { ...rs256("one", keys.privateKey), sign: () => "" },
      "alg none": { header: { alg: "none" }, sign: () => "" },
      "the client's secret": hs256(client.clientSecret),
      "the public key as a secret": hs256(publicKey as string),
    };
    for (const [name, signing] of Object.entries(cases)) await assert.rejects(signIn(signing), OpenIdRefused, name);
  });

  it("with an unknown key makes the service read the keys again, at most once a minute", async (t) => {
    const { keys, signIn, publish, reads } = await signingProvider(t);
    const next = newKeys();
    const [old, rotated] = [rs256("one", keys.privateKey), rs256("two", next.privateKey)];
    const startMs = Date.now();
    let passedMs = 0;
    t.mock.method(Date, "now", () => startMs + passedMs);
    await signIn(old);
    publish("two", next.publicKey);
    for (let count = 0; count < 5; count++) await assert.rejects(signIn(rotated), OpenIdRefused);
    assert.equal(reads(), 1);
    passedMs = 61_000;
    assert.equal((await signIn(rotated)).sub, "olga");
    for (let count = 0; count < 5; count++) await assert.rejects(signIn(old), OpenIdRefused);
    assert.equal(reads(), 2);
  });
});

/** A provider whose ID tokens have the signatures that the test chooses, also those that its metadata allows wrongly. */
async function signingProvider(t: TestContext) {
  const keys = newKeys();
  let published = { kid: "one", key: keys.publicKey };
  let [reads, idToken] = [0, ""];
  const server = createServer((request, response) => {
    response.setHeader("content-type", "application/json");
    const answers: Readonly<Record<string, () => object>> = {
      "/.well-known/openid-configuration": () => ({
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/keys`,
        id_token_signing_alg_values_supported: ["RS256", "HS256", "none"],
      }),
      "/keys": () => {
        reads++;
        return { keys: [{ ...published.key.export({ format: "jwk" }), kid: published.kid, use: "sig" }] };
      },
      "/token": () => ({ access_token: "access", token_type: "bearer", id_token: idToken }),
    };
    response.end(JSON.stringify(answers[request.url!]!()));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = openIdProvider({
    issuer,
    ...client,
    outgoing: new OutgoingCalls({ timers: { after: () => () => undefined } }),
  });
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString("base64url");
  return {
    keys,
    reads: () => reads,
    publish: (kid: string, key: KeyObject) => {
      published = { kid, key };
    },
    signIn({ header, sign }: Signing) {
      const checks = provider.newChecks();
      const iat = Math.floor(Date.now() / 1_000);
      const claims = { iss: issuer, sub: "olga", aud: client.clientId, iat, exp: iat + 60, nonce: checks.nonce };
      const text = `${encode(header)}.${encode(claims)}`;
      idToken = `${text}.${sign(text)}`;
      const query = new URLSearchParams({ code: "code", state: checks.state });
      return provider.claims(`https://here.example/back?${query}`, checks, { source: "192.0.2.1" });
    },
  };
}
