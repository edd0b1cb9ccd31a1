import type { AccessScope } from "../../src/model/access-scope.ts";
import type { KeyKind } from "./calls.ts";
import { accountSession, type Home, owner } from "./home.ts";
import type { Keys } from "./requests.ts";

/** A caller who tries every address with their credentials (keys). */
export interface Caller {
  readonly name: string;
  readonly keys: Partial<Keys>;
  /** What each key gives access to; nothing when left out. */
  readonly is: Partial<Record<KeyKind, Standing>>;
  /** The owner's tokens, each in the place of the other. */
  readonly hasSwappedTokens?: true;
  /** Another secToken, for calls that end the one they come with. */
  readonly newSecToken?: () => Promise<string>;
}

export type Standing = AccessScope | { readonly kind: "client"; readonly clientId: string };

/** The keys that a caller sends to an address. Without a key of its kind, the caller tries the others. */
export function keysFor({ keys }: Caller, kind: KeyKind, { world }: Home): Partial<Keys> {
  if (keys[kind] !== undefined) return keys;
  const { bearer, secToken, client, password, browser, account } = keys;
  const other = bearer ?? secToken ?? client?.secret ?? password?.password ?? browser ?? account;
  if (other === undefined) return {};
  return {
    bearer: other,
    secToken: other,
    client: { id: world.client.id, secret: other },
    password: { password: other, appId: String(world.tenantId) },
    browser: other,
    account: other,
  };
}

/** The owner of everything, with every kind of key. */
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
      account: await accountSession(world, owner),
    },
    is: {
      bearer: user,
      secToken: user,
      client: { kind: "client", clientId: world.client.id },
      password: user,
      account: user,
    },
    newSecToken: home.secToken,
  };
}

/** Expired keys of the owner. Time passes while they are made, so they are made first. */
export async function expiredCaller(home: Home): Promise<Caller> {
  const { world } = home;
  const bearer = (await world.tokens(world.client, owner)).access_token;
  const keys = { bearer, secToken: await home.secToken(), account: await accountSession(world, owner) };
  await world.timePasses(3_601_000);
  await home.renewAll();
  return { name: "the owner with expired keys", keys, is: {} };
}
