import assert from "node:assert/strict";
import type { Cause } from "../../../src/model/cause.ts";
import type { DeviceId, NodeId, TenantId, UserId } from "../../../src/model/ids.ts";
import type { Logger } from "../../../src/runtime/runtime.ts";
import type { OpenStore, Transaction } from "../../../src/store/seam.ts";
import type { LinkRow } from "../../../src/store/tables/links.ts";

/** One user with ordinary devices, which most cases need. */
export interface Home {
  readonly tenantId: TenantId;
  readonly userId: UserId;
  readonly devices: readonly DeviceId[];
  readonly byClient: Cause;
}

export async function makeHome(store: OpenStore, { devices = 1, name = "Ada" } = {}): Promise<Home> {
  return store.transaction(async (tx) => {
    const tenantId = (await tx.tenants.byName("home"))?.id ?? (await tx.tenants.add({ name: "home" }));
    assert.ok(tenantId);
    const userId = await tx.users.add({ tenantId, name, passwordHash: "…", isAdmin: false });
    assert.ok(userId);
    const ids: DeviceId[] = [];
    for (let i = 1; i <= devices; i++) {
      ids.push(await tx.devices.add({ userId, typeName: "lamp", name: `lamp ${i}`, isVirtual: false }));
    }
    return { tenantId, userId, devices: ids, byClient: { by: "client", user: userId } };
  });
}

export const node = (name: string) => name as NodeId;

/** A link of this home's first device, as federation creates it. */
export function linkOf(home: Home, owner: NodeId): Omit<LinkRow, "epoch"> & { readonly owner: NodeId } {
  return {
    userId: home.userId,
    deviceId: home.devices[0]!,
    ecosystem: "nest",
    sealedToken: "v1.key.iv.body",
    sealedCredential: null,
    renewingMs: null,
    state: "waiting",
    reason: "never connected",
    owner,
    blindness: { sinceMs: 7, cause: "just linked" },
    confirmedMs: 0,
    indexMap: "{}",
    notices: "[]",
  };
}

/** The smallest write transaction: stores one setting. */
export const keep =
  (name: string, value = "kept") =>
  (tx: Transaction) =>
    tx.settings.getOrKeep(name, value);

export async function kept(store: OpenStore, name: string): Promise<boolean> {
  return (await store.read((tx) => tx.settings.get(name))) !== undefined;
}

/** A row as a plain object. Rows of SQLite have no prototype, which deepEqual would report. */
export const plain = <Row>(row: Row): Row => structuredClone(row);

export const silent: Logger = { debug() {}, info() {}, warn() {}, error() {} };

/** A promise with its resolver: tests wait for events, never for time. */
export function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
}
