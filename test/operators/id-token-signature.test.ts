import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { OpenIdRefused } from "../../src/operators/openid/openid-errors.ts";
import { openIdProvider } from "../../src/operators/openid/provider.ts";
import { OutgoingCalls } from "../../src/runtime/network/outgoing-calls.ts";
import { hs256, newKeys, rs256, type Signing, startSigningProvider } from "./signing-provider.ts";

const client = { clientId: "console", clientSecret: "a secret of the console" };
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

/** Sign-ins at a provider whose ID tokens have the signatures that the test chooses. */
async function signingProvider(t: TestContext) {
  const { issuer, issue, ...signing } = await startSigningProvider(t);
  const provider = openIdProvider({
    issuer,
    ...client,
    outgoing: new OutgoingCalls({ timers: { after: () => () => undefined } }),
  });
  return {
    ...signing,
    signIn(by: Signing) {
      const checks = provider.newChecks();
      issue({ sub: "olga", aud: client.clientId, nonce: checks.nonce }, by);
      const query = new URLSearchParams({ code: "code", state: checks.state });
      return provider.claims(`https://here.example/back?${query}`, checks, { source: "192.0.2.1" });
    },
  };
}
