import assert from "node:assert/strict";
import { type Commit, type CommitParts, commitOn, type DeviceCommit } from "../../../src/devices/commit.ts";
import type { DeviceId, UserId } from "../../../src/model/ids.ts";
import type { OpenStore } from "../../../src/store/seam.ts";
import { gate, linkOf, node, silent } from "./home.ts";

/** A user with a linked account, whose changes are committed as those of a lane. */
export interface LinkedHome {
  readonly userId: UserId;
  readonly deviceId: DeviceId;
}

export const owner = node("owner");

export async function linkedHomes(store: OpenStore, count: number): Promise<readonly LinkedHome[]> {
  return store.transaction(async (tx) => {
    const tenantId = await tx.tenants.add({ name: "linked homes" });
    assert.ok(tenantId);
    const homes: LinkedHome[] = [];
    for (let i = 1; i <= count; i++) {
      const userId = (await tx.users.add({ tenantId, name: `user ${i}`, passwordHash: "…", isAdmin: false }))!;
      const deviceId = await tx.devices.add({ userId, typeName: "account", name: `home ${i}`, isVirtual: true });
      await tx.links.add(
        linkOf({ tenantId, userId, devices: [deviceId], byClient: { by: "client", user: userId } }, owner),
      );
      homes.push({ userId, deviceId });
    }
    return homes;
  });
}

export type Mirror = (home: LinkedHome, value: string | null, how?: MirrorOptions) => Promise<readonly DeviceCommit[]>;

export interface MirrorOptions {
  readonly epoch?: number;
  readonly deviceId?: DeviceId;
  readonly urgent?: boolean;
  readonly becomesUrgent?: AbortSignal;
}

/** Commits a value of the first attribute, as the owner of the link. */
export function mirrorOn(store: OpenStore, parts: Partial<CommitParts> = {}): Mirror {
  const commit: Commit = commitOn({ store, reactions: [], committed: () => undefined, report: silent, ...parts });
  return ({ userId, deviceId }, value, { epoch = 1, deviceId: written = deviceId, ...how } = {}) =>
    commit({
      userId,
      cause: { by: "ecosystem" },
      updates: [{ deviceId: written, changes: [{ key: 1, value }] }],
      ownership: { owner, epoch, deviceId },
      ...how,
    });
}

/** Runs a group that lasts until `work` has returned, so that what `work` starts is the next group. */
export async function whileAGroupRuns<Result>(
  store: OpenStore,
  { userId }: LinkedHome,
  work: () => Result,
): Promise<Result> {
  const [begun, end] = [gate(), gate()];
  const held = store.transaction(
    async (tx) => {
      await tx.users.lock(userId);
      begun.open();
      await end.opened;
    },
    { background: true, groupedBy: userId },
  );
  await begun.opened;
  try {
    return work();
  } finally {
    end.open();
    await held;
  }
}

export async function storedValue(
  store: OpenStore,
  { userId, deviceId }: LinkedHome,
): Promise<string | null | undefined> {
  const [row] = await store.read((tx) => tx.attributes.some(userId, deviceId, [1]));
  return row?.value;
}
