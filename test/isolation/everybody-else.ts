import type { TestContext } from "node:test";
import { newOwnedSecret, newSecret } from "../../src/identity/secrets.ts";
import type { Caller } from "./callers.ts";
import { callersOfAnotherEnvironment, keysOf, usersAndClients } from "./callers-with-keys.ts";
import { accountSession, type Home, owner, storedFormOf } from "./home.ts";
import { callersWithOutlets } from "./outlets.ts";
import type { Keys } from "./requests.ts";

/** All kinds of callers except the owner. */
export async function everybodyElse(test: TestContext, home: Home): Promise<readonly Caller[]> {
  return [
    ...unknownCallers(home),
    ...(await callersWithEndedKeys(home)),
    ...(await callersWithKeysOfOtherKinds(home)),
    ...(await usersAndClients(home)),
    ...(await callersWithOutlets(home.world)),
    ...(await callersOfAnotherEnvironment(test)),
  ];
}

function unknownCallers(home: Home): readonly Caller[] {
  const { world } = home;
  const everywhere = (text: string, clientId = text): Partial<Keys> => ({
    bearer: text,
    secToken: text,
    client: { id: clientId, secret: text },
    password: { password: text, appId: String(world.tenantId) },
    browser: text,
    account: text,
  });
  return [
    { name: "nobody", keys: {}, is: {} },
    { name: "nobody with a malformed key", keys: everywhere("x"), is: {} },
    {
      name: "nobody with a key that is too short",
      keys: { ...everywhere("bwcs_short", world.client.id), bearer: "bwa_short", secToken: "bws_short" },
      is: {},
    },
    {
      name: "nobody with a key of the right form",
      keys: {
        bearer: newSecret("bwa_"),
        secToken: newSecret("bws_"),
        client: { id: `bwc_${newSecret("").slice(0, 22)}`, secret: newSecret("bwcs_") },
        password: { password: "any other words", appId: String(world.tenantId) },
        browser: newSecret(""),
        account: newOwnedSecret("bwus_", home.userId),
      },
      is: {},
    },
    {
      name: "nobody who knows the client's id",
      keys: { client: { id: world.client.id, secret: newSecret("bwcs_") } },
      is: {},
    },
  ];
}

async function callersWithEndedKeys(home: Home): Promise<readonly Caller[]> {
  const { world } = home;
  const { identity, oauth, account } = world.service.parts;

  const revoked = await world.tokens(world.client, owner);
  await world.revoke(revoked.refresh_token);
  const loggedOut = await home.secToken();
  await identity.logout(loggedOut);
  const signedOut = await accountSession(world, owner);
  const ofOwner = await account.bySession(world.tenantId, signedOut);
  await account.signOut(ofOwner!, signedOut, "192.0.2.1");
  const removedClient = await world.addClient();
  const ofRemovedClient = await world.tokens(removedClient, owner);
  await oauth.removeClient(removedClient.id);

  const removed = { name: "removed", password: "words of who is gone" };
  const removedId = await identity.addUser({ tenant: "Acme", ...removed, isAdmin: false });
  const ofRemoved = await keysOf(world, removed);
  await identity.removeUser(removedId);

  const renewed = { name: "renewed", password: "words of yesterday" };
  const renewedId = await identity.addUser({ tenant: "Acme", ...renewed, isAdmin: false });
  const ofYesterday = await keysOf(world, renewed);
  await identity.setPassword(renewedId, "words of today");

  const formerAdmin = { name: "former", password: "words of who was in charge" };
  const formerId = await identity.addUser({ tenant: "Acme", ...formerAdmin, isAdmin: true });
  const enterprise = await world.addClient({ kind: "enterprise" });
  const ofFormer = { bearer: (await world.tokens(enterprise, formerAdmin)).access_token };
  await identity.removeUser(formerId);

  return [
    {
      name: "the owner with revoked keys",
      keys: { bearer: revoked.access_token, secToken: loggedOut, client: removedClient, account: signedOut },
      is: {},
    },
    {
      name: "the owner's token of a client that was removed",
      keys: { bearer: ofRemovedClient.access_token },
      is: {},
    },
    { name: "a removed user", keys: ofRemoved, is: {} },
    { name: "a user with keys from before a new password", keys: ofYesterday, is: {} },
    { name: "an enterprise client whose administrator was removed", keys: ofFormer, is: {} },
  ];
}

/** Callers with the owner's keys, each of the wrong kind. */
async function callersWithKeysOfOtherKinds(home: Home): Promise<readonly Caller[]> {
  const { world } = home;
  const { access_token, refresh_token } = await world.tokens(world.client, owner);
  const secToken = await home.secToken();
  const { id, secret } = world.client;
  const password = { password: access_token, appId: String(world.tenantId) };
  return [
    {
      name: "the owner with an access token for a secToken, and the other way round",
      hasSwappedTokens: true,
      keys: { bearer: secToken, secToken: access_token, client: { id, secret: access_token }, password },
      is: {},
    },
    {
      name: "the owner with the same random bits under another prefix",
      keys: {
        bearer: `bwa_${secToken.slice(4)}`,
        secToken: `bws_${access_token.slice(4)}`,
        client: { id, secret: `bwcs_${access_token.slice(4)}` },
      },
      is: {},
    },
    {
      name: "the owner with a refresh token",
      keys: { bearer: refresh_token, secToken: refresh_token, client: { id, secret: refresh_token } },
      is: {},
    },
    {
      name: "the owner with a code",
      keys: { bearer: home.code(), secToken: home.code(), client: { id, secret: home.code() } },
      is: {},
    },
    {
      name: "the owner's client with its secret for a token, and id and secret exchanged",
      keys: { bearer: secret, secToken: secret, client: { id: secret, secret: id } },
      is: {},
    },
    {
      name: "a thief of the store",
      keys: {
        bearer: storedFormOf(access_token),
        secToken: storedFormOf(secToken),
        client: { id, secret: storedFormOf(secret) },
        browser: storedFormOf(home.cookie()),
        account: storedFormOf(await accountSession(world, owner)),
      },
      is: {},
    },
  ];
}
