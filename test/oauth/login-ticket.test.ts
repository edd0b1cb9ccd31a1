import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { describe, it } from "node:test";
import { newLoginTicket, openTicket, sealTicket } from "../../src/oauth/authorize/login-ticket.ts";
import { sealingWith } from "../../src/store/keys/sealing.ts";

describe("a login ticket", () => {
  const request = {
    clientId: "bwc_1",
    redirectUri: "https://client.example/callback",
    isRedirectUriSent: true,
    state: "state",
    challenge: null,
  };
  const sealing = sealingWith(randomBytes(32));
  const ticket = newLoginTicket(request, "a browser's secret", 1_000);

  it("is sealed with a key of its own, not with the key of stored tokens", () => {
    const sealed = sealTicket(sealing, ticket, true);
    assert.ok(!sealed.includes(sealing.keyId));
    assert.throws(() => sealing.open(sealed, "login"));
    assert.deepEqual(openTicket(sealing, sealed, ticket.csrf), ticket);
  });

  it("that a node of the previous version sealed is still valid", () => {
    const state = Buffer.from(request.state).toString("base64url");
    const former = sealing.seal(JSON.stringify({ ...ticket, request: { ...request, state } }), "login");
    assert.deepEqual(openTicket(sealing, former, ticket.csrf), ticket);
    assert.equal(openTicket(sealing, former, "another form's token"), undefined);
  });

  it("can be opened by a node of the previous version while one is alive", () => {
    const sealed = sealTicket(sealing, ticket, false);
    assert.equal(JSON.parse(sealing.open(sealed, "login")).id, ticket.id);
    assert.deepEqual(openTicket(sealing, sealed, ticket.csrf), ticket);
  });

  it("of another deployment is refused", () => {
    assert.equal(openTicket(sealingWith(randomBytes(32)), sealTicket(sealing, ticket, true), ticket.csrf), undefined);
  });
});
