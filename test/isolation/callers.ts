import type { AccessScope } from "../../src/model/access-scope.ts";
import type { KeyKind } from "./calls.ts";
import { type Home, owner } from "./home.ts";
import type { Keys } from "./requests.ts";

/** Somebody who tries every door, with the keys that they have. */
export interface Caller {
  readonly name: string;
  readonly keys: Partial<Keys>;
  /** Who stands behind a key; nobody when it is left out. */
  readonly is: Partial<Record<KeyKind, Standing>>;
  /** These are the owner's tokens, each in the place of the other. */
  readonly hasSwappedTokens?: true;
  /** Another secToken, for calls that end the one they come with. */
  readonly newSecToken?: () => Promise<string>;
}

export type Standing = AccessScope | { readonly kind: "client"; readonly clientId: string };

/** What a caller holds up at a door. One for which they have no key is tried with whatever else they have. */
export function keysFor({ keys }: Caller, kind: KeyKind, { world }: Home): Partial<Keys> {
  if (keys[kind] !== undefined) return keys;
  const { bearer, secToken, client, password, browser } = keys;
  const other = bearer ?? secToken ?? client?.secret ?? password?.password ?? browser;
  if (other === undefined) return {};
  return {
    bearer: other,
    secToken: other,
    client: { id: world.client.id, secret: other },
    password: { password: other, appId: String(world.tenantId) },
    browser: other,
  };
}

/** The one to whom everything belongs, with every key there is. */
export async function theOwner(home: Home): Promise<Caller> {
  const { world, userId } = home;
  const user = { kind: "user", userId } as const;
  return {
    name: "the owner",
    keys: {
      bearer: (await world.tokens(world.client, owner)).access_token,
      secToken: await home.secToken(),
      client: world.client,
      password: { password: owner.password, appId: String(world.tenantId) },
    },
    is: { bearer: user, secToken: user, client: { kind: "client", clientId: world.client.id }, password: user },
    newSecToken: home.secToken,
  };
}

/** Keys of the owner that were good once. Time passes while they are made: they come before everything else. */
export async function expiredCaller(home: Home): Promise<Caller> {
  const { world } = home;
  const bearer = (await world.tokens(world.client, owner)).access_token;
  const keys = { bearer, secToken: await home.secToken() };
  await world.timePasses(3_601_000);
  await home.renewAll();
  return { name: "the owner with expired keys", keys, is: {} };
}
