import { createRequire } from "node:module";
import { describe, it } from "node:test";
import { callback } from "../oauth-world.ts";
import { type AnyJson, assertLinkLives, foreignWorld } from "./whole-flow.ts";

// The package has no types.
const { AuthorizationCode }: AnyJson = createRequire(import.meta.url)("simple-oauth2");

describe("simple-oauth2", () => {
  for (const authorizationMethod of ["header", "body"]) {
    for (const bodyFormat of ["form", "json"]) {
      it(`keeps its link with its secret in the ${authorizationMethod} and bodies as ${bodyFormat}`, async (t) => {
        const world = await foreignWorld(t);
        const library = new AuthorizationCode({
          client: { id: world.client.id, secret: world.client.secret },
          auth: {
            tokenHost: world.baseUrl,
            tokenPath: "/oauth2/access_token",
            revokePath: "/oauth2/revoke_token",
            authorizePath: "/oauth2/authorize",
          },
          options: { authorizationMethod, bodyFormat },
        });
        const address = library.authorizeURL({ redirect_uri: callback, scope: ["devices", "users"], state: "s-2" });
        const code = (await world.visit(address)).searchParams.get("code");
        let tokens = await library.getToken({ code, redirect_uri: callback });

        await assertLinkLives(world, {
          accessToken: () => tokens.token.access_token,
          async refresh() {
            tokens = await tokens.refresh({ scope: "devices" });
          },
          revoke: () => tokens.revokeAll(),
        });
      });
    }
  }
});
