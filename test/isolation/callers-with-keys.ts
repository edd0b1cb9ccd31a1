import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { AccessScope } from "../../src/model/access-scope.ts";
import type { TenantId } from "../../src/model/ids.ts";
import { scopes } from "../../src/model/scopes.ts";
import { ada, admin, type MadeClient, type OAuthWorld, oauthWorld } from "../oauth/oauth-world.ts";
import type { Caller } from "./callers.ts";
import { accountSession, type Home, owner, secTokenOf, useLargeIds } from "./home.ts";

/** Users and clients with valid credentials of their own. */
export async function usersAndClients({ world }: Home): Promise<readonly Caller[]> {
  const { tenantId, otherTenantId } = world;
  const bob = { name: "bob", password: "another word" };
  const otherAdmin = { name: "root", password: "in charge elsewhere" };
  await world.service.parts.identity.addUser({ tenant: "Other", ...otherAdmin, isAdmin: true });
  const otherClient = await world.addClient({ tenant: "Other" });
  const neighbour = await world.addClient({ name: "Neighbour" });
  const enterprise = await world.addClient({ kind: "enterprise" });
  const otherEnterprise = await world.addClient({ kind: "enterprise", tenant: "Other" });
  await world.addDevice(world.bobId, "Lamp of bob");
  await world.addDevice(world.strangerId, "Lamp of a stranger");
  const user = async (
    name: string,
    userId: typeof world.bobId,
    tenant: TenantId,
    person: typeof bob,
    by: MadeClient,
  ) => {
    const keys = { ...(await keysOf(world, person, tenant, by)), client: by };
    const accessScope = { kind: "user", userId } as const;
    const ofUser = { bearer: accessScope, secToken: accessScope, account: accessScope };
    const is = { ...ofUser, client: { kind: "client", clientId: by.id } as const };
    return { name, keys, is, newSecToken: () => secTokenOf(world, person, tenant) };
  };
  const wholeTenant = (name: string, bearer: string, tenant: TenantId, by: MadeClient): Caller => {
    const is = {
      bearer: { kind: "enterprise", tenantId: tenant },
      client: { kind: "client", clientId: by.id },
    } as const;
    return { name, keys: { bearer, client: by }, is };
  };
  const credentials = await world.post("/oauth2/access_token", {
    grant_type: "client_credentials",
    client_id: enterprise.id,
    client_secret: enterprise.secret,
  });
  const ofBob = { kind: "user", userId: world.bobId } as const;
  const ofStranger = { kind: "user", userId: world.strangerId } as const;
  const ofOtherTenant = { kind: "enterprise", tenantId: otherTenantId } as const;
  return [
    ...(await withOneScope(world, "another user of the same tenant", ofBob, bob, neighbour)),
    ...(await withOneScope(world, "a user of another tenant", ofStranger, ada, otherClient)),
    ...(await withOneScope(
      world,
      "an enterprise client of another tenant",
      ofOtherTenant,
      otherAdmin,
      otherEnterprise,
    )),
    await user("another user of the same tenant", world.bobId, tenantId, bob, neighbour),
    await user("an administrator with a user's keys", world.adminId, tenantId, admin, neighbour),
    await user("a user of another tenant", world.strangerId, otherTenantId, ada, otherClient),
    wholeTenant(
      "an enterprise client of the same tenant",
      (await world.tokens(enterprise, admin)).access_token,
      tenantId,
      enterprise,
    ),
    wholeTenant("the same by its own secret alone", credentials.body.access_token, tenantId, enterprise),
    wholeTenant(
      "an enterprise client of another tenant",
      (await world.tokens(otherEnterprise, otherAdmin)).access_token,
      otherTenantId,
      otherEnterprise,
    ),
  ];
}

/** The same caller once for each scope, with a token that has this scope alone. */
async function withOneScope(
  world: OAuthWorld,
  name: string,
  bearer: AccessScope,
  person: { readonly name: string; readonly password: string },
  by: MadeClient,
): Promise<readonly Caller[]> {
  const callers: Caller[] = [];
  for (const scope of scopes) {
    const { status, body } = await world.exchange(await world.code({ client_id: by.id, scope }, person), by);
    assert.equal(status, 200, JSON.stringify(body));
    callers.push({ name: `${name}, with ${scope} alone`, keys: { bearer: body.access_token }, is: { bearer } });
  }
  return callers;
}

/** A second deployment, which has a user with the owner's name, password and id. */
export async function callersOfAnotherEnvironment(test: TestContext): Promise<readonly Caller[]> {
  const world = await oauthWorld(test);
  await useLargeIds(world);
  await world.service.parts.identity.addUser({ tenant: "Acme", ...owner, isAdmin: false });
  const enterprise = await world.addClient({ kind: "enterprise" });
  const browser = world.browser();
  await browser.signIn(world.authorizeUrl(), owner);
  const { password: _, ...keys } = await keysOf(world, owner);
  return [
    {
      name: "the owner's namesake of another environment",
      keys: { ...keys, client: world.client, browser: [...browser.cookies.values()].join() },
      is: {},
    },
    {
      name: "an enterprise client of another environment",
      keys: { bearer: (await world.tokens(enterprise, admin)).access_token, client: enterprise },
      is: {},
    },
  ];
}

/** All credentials that a person gets by signing in. */
export async function keysOf(
  world: OAuthWorld,
  person: { readonly name: string; readonly password: string },
  tenantId = world.tenantId,
  by = world.client,
) {
  const browser = world.browser();
  await browser.signIn(world.authorizeUrl({ client_id: by.id }), person);
  return {
    bearer: (await world.tokens(by, person)).access_token,
    secToken: await secTokenOf(world, person, tenantId),
    password: { password: person.password, appId: String(tenantId) },
    browser: [...browser.cookies.values()].join(),
    account: await accountSession(world, person, tenantId),
  };
}
