import { createServer } from "node:http";
import type { TestContext } from "node:test";
import Provider from "oidc-provider";
import { freePort } from "../set-up/free-port.ts";
import { operatorWorld } from "./operator-world.ts";

const client = { id: "breezeway", secret: "a secret of the console" };

/** People at the provider, by the name with which they sign in. */
const people: Readonly<Record<string, object>> = {
  olga: { groups: ["staff", "ops"], email: "olga@works.example", email_verified: true },
  tina: { groups: ["acme-admins"], preferred_username: "tina" },
  nobody: { groups: ["staff"], email: "nobody@works.example" },
};

const rules = [
  { claim: "groups", value: "ops", role: "owner", tenants: [] },
  { claim: "groups", value: "acme-admins", role: "tenantAdmin", tenants: ["Acme"] },
];

/** A service whose operators sign in at a real OpenID provider on this machine. */
export async function openIdWorld(t: TestContext) {
  const port = await freePort();
  const provider = await startProvider(t, `http://127.0.0.1:${port}`);
  const world = await operatorWorld(t, undefined, {
    port,
    oidcIssuer: provider.issuer,
    oidcClientId: client.id,
    oidcClientSecret: client.secret,
    oidcRoles: rules,
  });
  return { ...world, provider };
}

async function startProvider(t: TestContext, serviceUrl: string) {
  const port = await freePort();
  const issuer = `http://127.0.0.1:${port}`;
  const claims = new Map(Object.entries(people));
  // The provider advises what to change for a real deployment.
  for (const level of ["info", "warn"] as const) t.mock.method(console, level, () => undefined);
  const provider = new Provider(issuer, {
    clients: [
      { client_id: client.id, client_secret: client.secret, redirect_uris: [`${serviceUrl}/console/openid/callback`] },
    ],
    cookies: { keys: ["a key of the test's provider"] },
    claims: { openid: ["sub"], profile: ["groups", "preferred_username"], email: ["email", "email_verified"] },
    findAccount: (_context: unknown, sub: string) => ({
      accountId: sub,
      claims: async () => ({ sub, ...claims.get(sub) }),
    }),
  });
  const server = createServer(provider.callback());
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const stop = () =>
    new Promise<void>((resolve) => {
      server.closeAllConnections();
      server.close(() => resolve());
    });
  t.after(stop);
  return {
    issuer,
    stop,
    /** The provider tells something else about a person from now on. */
    tells: (person: string, told: object) => void claims.set(person, told),
  };
}
