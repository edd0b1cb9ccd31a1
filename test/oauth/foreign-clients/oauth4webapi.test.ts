import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as oauth from "oauth4webapi";
import { callback } from "../oauth-world.ts";
import { assertLinkLives, type ForeignWorld, foreignWorld } from "./whole-flow.ts";

// Loopback has no TLS.
const loopback = { [oauth.allowInsecureRequests]: true };

const ways = [
  { where: "body", authentication: oauth.ClientSecretPost, hasPkce: false },
  { where: "header", authentication: oauth.ClientSecretBasic, hasPkce: true },
];

describe("oauth4webapi", () => {
  for (const { where, authentication, hasPkce } of ways) {
    it(`checks each answer and keeps its link, ${hasPkce ? "with" : "without"} PKCE, its secret in the ${where}`, async (t) => {
      const world = await foreignWorld(t);
      const server = await discovered(world);
      const client: oauth.Client = { client_id: world.client.id };
      const bySecret = authentication(world.client.secret);
      const verifier = hasPkce ? oauth.generateRandomCodeVerifier() : oauth.nopkce;
      const state = oauth.generateRandomState();
      const address = new URL(server.authorization_endpoint!);
      address.searchParams.set("client_id", world.client.id);
      address.searchParams.set("response_type", "code");
      address.searchParams.set("redirect_uri", callback);
      address.searchParams.set("state", state);
      if (typeof verifier === "string") {
        address.searchParams.set("code_challenge", await oauth.calculatePKCECodeChallenge(verifier));
        address.searchParams.set("code_challenge_method", "S256");
      }

      const answer = oauth.validateAuthResponse(server, client, await world.visit(address), state);
      let tokens = await oauth.processAuthorizationCodeResponse(
        server,
        client,
        await oauth.authorizationCodeGrantRequest(server, client, bySecret, answer, callback, verifier, loopback),
      );

      await assertLinkLives(world, {
        accessToken: () => tokens.access_token,
        async refresh() {
          const refreshToken = tokens.refresh_token!;
          const refreshed = await oauth.refreshTokenGrantRequest(server, client, bySecret, refreshToken, loopback);
          tokens = await oauth.processRefreshTokenResponse(server, client, refreshed);
        },
        async revoke() {
          const revoked = await oauth.revocationRequest(server, client, bySecret, tokens.access_token, loopback);
          await oauth.processRevocationResponse(revoked);
        },
        async get(path) {
          const url = new URL(path, world.baseUrl);
          try {
            const { status, body } = await readJson(
              oauth.protectedResourceRequest(tokens.access_token, "GET", url, undefined, undefined, loopback),
            );
            return { status, body };
          } catch (error) {
            if (!(error instanceof oauth.WWWAuthenticateChallengeError)) throw error;
            return { status: error.status, body: undefined };
          }
        },
      });
    });
  }

  it("would notice an answer from another issuer, or from none", async (t) => {
    const world = await foreignWorld(t);
    const server = await discovered(world);
    assert.equal(server.authorization_response_iss_parameter_supported, true);
    const back = await world.visit(world.authorizeUrl());
    const client = { client_id: world.client.id };
    const checked = (change: (answer: URL) => void) => {
      const answer = new URL(back);
      change(answer);
      return () => oauth.validateAuthResponse(server, client, answer, "s-1");
    };
    assert.doesNotThrow(checked(() => undefined));
    assert.throws(
      checked((answer) => answer.searchParams.set("iss", "https://elsewhere.example")),
      /iss/,
    );
    assert.throws(
      checked((answer) => answer.searchParams.delete("iss")),
      /iss/,
    );
    assert.throws(
      checked((answer) => answer.searchParams.set("state", "another")),
      /state/,
    );
  });
});

async function discovered(world: ForeignWorld): Promise<oauth.AuthorizationServer> {
  const issuer = new URL(world.baseUrl);
  const answer = await oauth.discoveryRequest(issuer, { algorithm: "oauth2", ...loopback });
  return oauth.processDiscoveryResponse(issuer, answer);
}

async function readJson(answering: Promise<Response>) {
  const answer = await answering;
  return { status: answer.status, body: await answer.json() };
}
