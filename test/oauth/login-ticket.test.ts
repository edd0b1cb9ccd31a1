import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { describe, it } from "node:test";
import { newLoginTicket, openRequest, openTicket, sealTicket } from "../../src/oauth/authorize/login-ticket.ts";
import { requestStep } from "../../src/oauth/authorize/request-step.ts";
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

  it("asks for everything while a node of the previous version could turn it into a grant of everything", async () => {
    const client = {
      ...{ id: "bwc_1", tenantId: 1, name: "Voice", kind: "user", redirectUris: [request.redirectUri] },
      ...{ requiresPkce: false, suspendedMs: null },
    };
    const askedFor = async (isShared: boolean, areAllNew: boolean, scope: string) => {
      const nodes = { doAllShowLoginPage: async () => areAllNew, doAllEnforceScopes: async () => areAllNew };
      const tables = { clock: { nowMs: async () => 1 }, nodes };
      const parts = {
        store: { isShared, read: (body: (tx: object) => unknown) => body(tables) },
        clients: { findClient: async () => client },
        identity: { brandOf: async () => ({ tenantName: "Acme" }) },
        ...{ sealer: sealing, areOlderNodesGone: () => true, issuer: () => "https://here.example", codeSeconds: 60 },
      };
      const query = new URLSearchParams({ client_id: "bwc_1", response_type: "code", state: "s" });
      query.set("redirect_uri", request.redirectUri);
      if (scope !== "") query.set("scope", scope);
      const answer = await requestStep(parts as never).answer([...query], {
        browserSecret: undefined,
        source: "192.0.2.1",
      });
      if (answer.kind === "redirect") {
        assert.match(answer.location, /^\/oauth2\/login\?request=/);
        return openRequest(sealing, answer.location.split("=")[1]!)?.request.scope;
      }
      assert.equal(answer.status, 200, "the login page itself: a node of the previous version has no address for it");
      const fieldOf = (name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(answer.page.html)![1]!;
      return openTicket(sealing, fieldOf("transaction"), fieldOf("csrf"))?.request.scope;
    };
    assert.equal(await askedFor(false, false, "alerts"), "alerts");
    assert.equal(await askedFor(true, true, "alerts"), "alerts");
    assert.equal(await askedFor(true, false, "alerts"), "devices:read devices:control alerts webhooks links");
    assert.equal(await askedFor(true, false, ""), null);
  });
});
