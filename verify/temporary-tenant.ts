import { randomBytes } from "node:crypto";
import type { Json } from "./client/deployment.ts";
import type { VerifyInput } from "./verify-input.ts";

/** Runs a command of the command line as administrator, for example `user add` with its options by name. */
export type Administer = (command: string, input: object) => Promise<Json>;

export interface TemporaryTenant {
  readonly input: Pick<VerifyInput, "client" | "person" | "appId" | "deviceId" | "foreignDeviceId">;
  /** Removes everything that was added. Returns what could not be removed. */
  remove(): Promise<readonly string[]>;
}

/** One more than a page of the device list holds. */
const deviceCount = 101;
const concurrency = 20;
/** The name of a temporary tenant. An operator may well have a tenant "Verify 1" or "Verify 2024". */
const namePattern = /^Verify (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) [0-9a-f]{6}$/;
const clientName = "Verify";
const userNames = { person: "verify", other: "other" };
/** No run takes this long: an older tenant was left by a run that was killed. */
const abandonedAfterMs = 60 * 60_000;

export interface TemporaryTenantOptions {
  readonly isInterrupted: () => boolean;
  /** Each command opens the store again, so only one device is added and paging is not checked. */
  readonly isCostly?: boolean;
}

/** Adds a tenant with two users, a client and more devices than a page holds. Other tenants are not changed. */
export async function addTemporaryTenant(
  administer: Administer,
  { isInterrupted, isCostly = false }: TemporaryTenantOptions,
): Promise<TemporaryTenant> {
  const undo: (readonly [label: string, removal: () => Promise<unknown>])[] = [];
  const remove = async () => {
    const remaining: string[] = [];
    for (const [label, removal] of undo.splice(0).reverse()) {
      await removal().catch((error) => remaining.push(`${label} (${error instanceof Error ? error.message : error})`));
    }
    return remaining;
  };
  try {
    const name = `Verify ${new Date().toISOString()} ${randomBytes(3).toString("hex")}`;
    const { tenantId } = await administer("tenant add", { name });
    const tenant = String(tenantId);
    undo.push([`tenant ${name}`, () => administer("tenant remove", { tenant })]);
    const person = { name: userNames.person, password: random() };
    const redirectUri = "http://127.0.0.1:9/verify";
    const added = await administer("client add", {
      tenant,
      name: clientName,
      kind: "user",
      "redirect-uri": [redirectUri],
    });
    undo.push(["its client", () => administer("client remove", { client: added.client_id })]);
    const user = await addUser(administer, tenant, person, undo);
    const other = await addUser(administer, tenant, { name: userNames.other, password: random() }, undo);
    await removeAbandoned(administer, tenant);
    const add = async (owner: string) =>
      (await administer("device add", { user: owner, name: "Lamp", type: "Lamp" })).deviceId as number;
    const devices: number[] = [];
    const total = isCostly ? 1 : deviceCount;
    while (devices.length < total && !isInterrupted()) {
      const batch = Math.min(concurrency, total - devices.length);
      devices.push(...(await Promise.all(Array.from({ length: batch }, () => add(user)))));
    }
    return {
      input: {
        client: { id: added.client_id, secret: added.client_secret, redirectUri },
        person,
        appId: tenant,
        deviceId: devices[0],
        foreignDeviceId: await add(other),
      },
      remove,
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function addUser(
  administer: Administer,
  tenant: string,
  person: { readonly name: string; readonly password: string },
  undo: (readonly [string, () => Promise<unknown>])[],
): Promise<string> {
  const { userId } = await administer("user add", { tenant, ...person });
  const user = String(userId);
  undo.push([`user ${person.name}`, () => administer("user remove", { user })]);
  return user;
}

/**
 * Removes tenants of earlier runs that were killed. Times are compared on the store's clock, because another machine may
 * verify right now: the users of our own tenant were added a moment ago.
 */
async function removeAbandoned(administer: Administer, ownTenant: string): Promise<void> {
  const { tenants } = await administer("tenant list", {});
  const others = (tenants as Listed[]).filter(({ tenantId }) => String(tenantId) !== ownTenant);
  const candidates = others.filter(({ name }) => namePattern.test(name));
  if (candidates.length === 0) return;
  const nowMs = lastAddedMs((await administer("user list", { tenant: ownTenant })).users);
  for (const { tenantId, name } of candidates) {
    const tenant = String(tenantId);
    const { users } = await administer("user list", { tenant });
    const { clients } = await administer("client list", { tenant });
    const isForeign = hasOther(users, Object.values(userNames)) || hasOther(clients, [clientName]);
    // A run that was killed at once has added no user. Then the time in the name is the only one.
    const addedMs = users.length > 0 ? lastAddedMs(users) : Date.parse(namePattern.exec(name)![1]!);
    if (isForeign || nowMs - addedMs <= abandonedAfterMs) continue;
    for (const { userId } of users) await administer("user remove", { user: String(userId) });
    for (const { client_id } of clients) await administer("client remove", { client: client_id });
    await administer("tenant remove", { tenant });
  }
}

interface Listed {
  readonly tenantId: number;
  readonly name: string;
}

function lastAddedMs(users: readonly { readonly created: string }[]): number {
  return Math.max(...users.map(({ created }) => Date.parse(created)));
}

/** Whether one of them has a name that verify does not give. */
function hasOther(found: readonly { readonly name: string }[], ours: readonly string[]): boolean {
  return found.some(({ name }) => !ours.includes(name));
}

const random = () => randomBytes(24).toString("base64url");
