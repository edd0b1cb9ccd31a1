import type { DeviceId, NodeId } from "../../../src/model/ids.ts";
import type { Hint } from "../../../src/store/node-bus.ts";
import type { Transaction } from "../../../src/store/seam.ts";
import type { AttributeRow } from "../../../src/store/tables/attributes.ts";
import type { BlindInterval } from "../../../src/store/tables/blind-intervals.ts";
import type { DeviceRow } from "../../../src/store/tables/devices.ts";
import { checksumOfLinks } from "../../../src/store/tables/link-checksum.ts";
import type { LinkRow } from "../../../src/store/tables/links.ts";
import type { LogPosition } from "../../../src/store/tables/log-position.ts";
import type { UserRow } from "../../../src/store/tables/users.ts";
import {
  assistantDeliveryRows,
  assistantGrantRows,
  assistantMarkRows,
  assistantOutletRows,
  assistantReplyRows,
} from "../assistants/rows.ts";
import { feedAccountRows, feedLeaseRows, feedMessageRows, removeFeedRows } from "../google/feed-rows.ts";
import { deviceTypeMapRows, deviceTypeWorkRows, mapOfType, mappedDeviceRows, tenantId } from "../own-things/rows.ts";
import { standIn } from "../stand-in.ts";
import { deliveryRows } from "./delivery-rows.ts";
import { fanRequestRows } from "./fan-request-rows.ts";
import { logRows } from "./log-rows.ts";
import { exclusive, type LockRequest } from "./row-locks.ts";
import { type Draft, removeAll } from "./rows.ts";
import { thingCommandRows } from "./thing-command-rows.ts";
import { thingRows } from "./thing-rows.ts";
import { isWatched, thingTriggerRows, triggerRows } from "./trigger-rows.ts";
import { webhookRows } from "./webhook-rows.ts";

/** The tables that the core uses in the simulation. */
export type SimulatedTables = Pick<
  Transaction,
  | "users"
  | "devices"
  | "deviceTypeMaps"
  | "mappedDevices"
  | "deviceTypeWork"
  | "attributes"
  | "attributeUsage"
  | "things"
  | "thingCommands"
  | "triggers"
  | "thingTriggers"
  | "links"
  | "fanRequests"
  | "blindIntervals"
  | "batchGroups"
  | "feedAccounts"
  | "feedMessages"
  | "feedLeases"
  | "idempotencyKeys"
  | "linkSessions"
  | "audit"
  | "log"
  | "logEpoch"
  | "nodes"
  | "clock"
  | "webhooks"
  | "deliveries"
  | "assistantOutlets"
  | "assistantGrants"
  | "assistantMarks"
  | "assistantReplies"
  | "assistantDeliveries"
>;

/** An open transaction: a statement takes its locks, then works on the rows that the transaction sees. */
export interface Session {
  run<Result>(
    what: string,
    act: (rows: Draft) => Result,
    locks?: (rows: Draft) => readonly LockRequest[],
  ): Promise<Result>;
  tryLock(wish: LockRequest): boolean;
  nowMs(): number;
  nextId(): number;
  /** The position of the next log entry. */
  nextPosition(): LogPosition;
  /** Entries of transactions from this id on may still get other entries before them. */
  seenBefore(): number;
  /** Sends the hint to all nodes after the commit. */
  hint(hint: Hint): void;
  /** Whether the node's presence lock is held. */
  isPresent(id: NodeId): boolean;
  /** The time since the store's start. */
  upMs(): number;
}

/** The simulated database is never restored or promoted. */
const simulatedEpoch = { name: "simulated", takesOldIds: false };

interface NodeRow {
  readonly beatMs: number;
}

/** The tables in memory. Each statement takes the locks of PostgreSQL and re-reads its rows after waiting. */
export function tablesOn(session: Session): SimulatedTables {
  // Created on first use, because most transactions need only a few tables.
  const created = new Map<keyof SimulatedTables, unknown>();
  const lazily = (name: keyof SimulatedTables) => {
    const table = created.get(name) ?? tables[name](session);
    created.set(name, table);
    return table;
  };
  return new Proxy({} as SimulatedTables, { get: (_, name) => lazily(name as keyof SimulatedTables) });
}

const tables: { readonly [Name in keyof SimulatedTables]: (session: Session) => SimulatedTables[Name] } = {
  users: userRows,
  devices: deviceRows,
  attributes: attributeRows,
  attributeUsage: attributeUsageRows,
  things: thingRows,
  thingCommands: thingCommandRows,
  triggers: triggerRows,
  thingTriggers: thingTriggerRows,
  links: linkRows,
  blindIntervals: blindIntervalRows,
  deviceTypeMaps: deviceTypeMapRows,
  mappedDevices: mappedDeviceRows,
  deviceTypeWork: deviceTypeWorkRows,
  batchGroups: () => standIn<SimulatedTables["batchGroups"]>("batchGroups", {}),
  feedAccounts: feedAccountRows,
  feedMessages: feedMessageRows,
  feedLeases: feedLeaseRows,
  idempotencyKeys: () => standIn<SimulatedTables["idempotencyKeys"]>("idempotencyKeys", {}),
  linkSessions: () => standIn<SimulatedTables["linkSessions"]>("linkSessions", {}),
  audit: () => standIn<SimulatedTables["audit"]>("audit", {}),
  log: logRows,
  logEpoch: () => ({ current: async () => simulatedEpoch, renew: async () => false }),
  nodes: nodeRows,
  fanRequests: fanRequestRows,
  webhooks: webhookRows,
  deliveries: deliveryRows,
  assistantOutlets: assistantOutletRows,
  assistantGrants: assistantGrantRows,
  assistantMarks: assistantMarkRows,
  assistantReplies: assistantReplyRows,
  assistantDeliveries: assistantDeliveryRows,
  clock: (session) => ({ nowMs: () => session.run("what time is it?", () => session.nowMs()) }),
};

function userRows(session: Session): SimulatedTables["users"] {
  return standIn<SimulatedTables["users"]>("users", {
    some: (ids) =>
      session.run(`users ${ids}`, (rows) =>
        ids.flatMap((id) => {
          const row = rows.get("users", id) as UserRow | undefined;
          return row ? [{ ...row, id }] : [];
        }),
      ),
    lock: (id) =>
      session.run(
        `lock user ${id}`,
        (rows) => (rows.get("users", id) ? session.nowMs() : undefined),
        () => [exclusive("users", id)],
      ),
    lockOfTenant: (_, ids) =>
      session.run(
        `lock users ${ids}`,
        (rows) => ({ ids: new Set(ids.filter((id) => rows.get("users", id))), nowMs: session.nowMs() }),
        () => [...ids].sort((a, b) => a - b).map((id) => exclusive("users", id)),
      ),
    byId: (id) => session.run(`user ${id}`, (rows) => rows.get<UserRow>("users", id)),
  });
}

function deviceRows(session: Session): SimulatedTables["devices"] {
  const ofUser = (rows: Draft, userId: number) =>
    [...rows.all<DeviceRow>("devices").values()].filter((row) => row.userId === userId).sort((a, b) => a.id - b.id);
  const mapped = (rows: Draft, row: DeviceRow): DeviceRow => {
    return { ...row, tenantId, mapChangedMs: mapOfType(rows, row.typeId)?.changedMs ?? null };
  };
  const locked = (ids: readonly DeviceId[], isMeant: (row: DeviceRow) => boolean) => {
    const ascending = [...ids].sort((a, b) => a - b);
    return session.run(
      `lock devices ${ids}`,
      (rows) =>
        ascending
          .map((id) => rows.get<DeviceRow>("devices", id))
          .filter((row) => row !== undefined)
          .filter(isMeant)
          .map((row) => ({
            ...mapped(rows, row),
            isWatched: isWatched(rows, "triggers", row.id),
            areThingsWatched: isWatched(rows, "thing triggers", row.id),
          })),
      () => ascending.map((id) => exclusive("devices", id)),
    );
  };
  return standIn<SimulatedTables["devices"]>("devices", {
    add: (device) =>
      session.run("add device", (rows) => {
        const id = session.nextId() as DeviceId;
        rows.set("devices", id, { ...device, id, typeId: 1, lastTimeMs: 0 });
        return id;
      }),
    ofUser: (userId) => session.run("devices of user", (rows) => ofUser(rows, userId)),
    page: (accessScope, { afterId, typeName }, limit) =>
      session.run("page of devices", (rows) => {
        const own = accessScope.kind === "user" ? ofUser(rows, accessScope.userId) : [];
        const isMeant = (row: DeviceRow) => row.id > afterId && (typeName === undefined || row.isVirtual);
        return own.filter(isMeant).slice(0, limit);
      }),
    find: (userId, id) => session.run(`find device ${id}`, (rows) => ofUser(rows, userId).find((row) => row.id === id)),
    within: (accessScope, id) =>
      session.run(`device ${id} within reach`, (rows) => {
        const row = rows.get<DeviceRow>("devices", id);
        const isWithin = row && accessScope.kind === "user" && row.userId === accessScope.userId;
        return isWithin ? mapped(rows, row) : undefined;
      }),
    someOfTenant: (_, ids) =>
      session.run(`devices ${ids} of the tenant`, (rows) =>
        ids.flatMap((id) => {
          const row = rows.get<DeviceRow>("devices", id);
          return row ? [mapped(rows, row)] : [];
        }),
      ),
    lock: (userId, ids) => locked(ids, (row) => row.userId === userId),
    lockOfTenant: (_, ids) => locked(ids, () => true),
    setLastTime: (_, id, timeMs) =>
      session.run(
        `time of device ${id}`,
        (rows) => rows.set("devices", id, { ...rows.get<DeviceRow>("devices", id), lastTimeMs: timeMs }),
        () => [exclusive("devices", id)],
      ),
    setSilent: (_, ids) =>
      session.run(
        `devices ${ids} are silent`,
        (rows) => {
          for (const id of ids) {
            const row = rows.get<DeviceRow>("devices", id)!;
            rows.set("devices", id, { ...row, silentMs: row.lastTimeMs });
          }
        },
        () => ids.map((id) => exclusive("devices", id)),
      ),
    remove: (_, id) =>
      session.run(
        `remove device ${id}`,
        (rows) => {
          rows.set("devices", id, undefined);
          removeFeedRows(rows, id);
        },
        () => [exclusive("devices", id)],
      ),
    versions: (devices) =>
      session.run(`versions of ${devices.map(({ id }) => id)}`, (rows) =>
        devices.flatMap(({ id }) => {
          const row = rows.get<DeviceRow>("devices", id);
          return row ? [{ id, lastTimeMs: row.lastTimeMs }] : [];
        }),
      ),
  });
}

function blindIntervalRows(session: Session): SimulatedTables["blindIntervals"] {
  const table = (deviceId: DeviceId) => `blind intervals/${deviceId}`;
  return standIn<SimulatedTables["blindIntervals"]>("blind intervals", {
    add: (_, id, interval) =>
      session.run("blind interval", (rows) => void rows.set(table(id), interval.fromMs, interval)),
    ofDevice: (_, id) =>
      session.run(`blind intervals of ${id}`, (rows) =>
        [...rows.all<BlindInterval>(table(id)).values()].sort((a, b) => a.fromMs - b.fromMs),
      ),
    removeEndedBefore: async () => 0,
    removeOfDevice: (_, id) => session.run(`remove blind intervals of ${id}`, (rows) => removeAll(rows, table(id))),
  });
}

function attributeRows(session: Session): SimulatedTables["attributes"] {
  return standIn<SimulatedTables["attributes"]>("attributes", {
    all: (_, deviceId) =>
      session.run(`attributes of ${deviceId}`, (rows) => [
        ...rows.all<AttributeRow>(`attributes/${deviceId}`).values(),
      ]),
    some: (_, deviceId, keys) =>
      session.run(`some attributes of ${deviceId}`, (rows) =>
        keys.flatMap((key) => rows.get<AttributeRow>(`attributes/${deviceId}`, key) ?? []),
      ),
    write: (_, deviceId, timeMs, changes) =>
      session.run(
        `write ${changes.length} attributes of ${deviceId}`,
        (rows) => {
          for (const { key, value } of changes) rows.set(`attributes/${deviceId}`, key, { key, value, timeMs });
        },
        // PostgreSQL locks each row. A writer of an attribute also writes the device's last time, so one lock is equivalent.
        () => [exclusive("attributes", deviceId)],
      ),
    removeOfDevice: (_, deviceId) =>
      session.run(
        `remove attributes of ${deviceId}`,
        (rows) => removeAll(rows, `attributes/${deviceId}`),
        () => [exclusive("attributes", deviceId)],
      ),
  });
}

/** No simulated device comes near the attribute limits. */
function attributeUsageRows(session: Session): SimulatedTables["attributeUsage"] {
  return standIn<SimulatedTables["attributeUsage"]>("attribute usage", {
    ofDevice: (_, deviceId) =>
      session.run(`usage of ${deviceId}`, (rows) => ({
        names: rows.all<AttributeRow>(`attributes/${deviceId}`).size,
        bytes: 0,
      })),
    bytesOfUser: async () => 0,
  });
}

function linkRows(session: Session): SimulatedTables["links"] {
  const link = (rows: Draft, id: number) => rows.get<LinkRow>("links", id);
  const all = (rows: Draft) => [...rows.all<LinkRow>("links").values()].sort((a, b) => a.deviceId - b.deviceId);
  const where = (what: string, isMeant: (row: LinkRow) => boolean) =>
    session.run(what, (rows) => all(rows).filter(isMeant));
  const update = (what: string, deviceId: DeviceId, change: (row: LinkRow) => Partial<LinkRow>) =>
    session.run(
      `${what} of link ${deviceId}`,
      (rows) => {
        const row = link(rows, deviceId);
        if (!row) return undefined;
        const changed: LinkRow = { ...row, ...change(row) };
        rows.set("links", deviceId, changed);
        return changed;
      },
      () => [exclusive("links", deviceId)],
    );
  const updateAll = (what: string, isMeant: (row: LinkRow) => boolean, change: (row: LinkRow) => Partial<LinkRow>) =>
    session.run(
      what,
      (rows) => {
        for (const row of all(rows).filter(isMeant)) rows.set("links", row.deviceId, { ...row, ...change(row) });
      },
      (rows) =>
        all(rows)
          .filter(isMeant)
          .map((row) => exclusive("links", row.deviceId)),
    );
  return standIn<SimulatedTables["links"]>("links", {
    add: (row) =>
      session.run(
        "add link",
        (rows) => {
          if (all(rows).some(({ userId, ecosystem }) => userId === row.userId && ecosystem === row.ecosystem)) return;
          rows.set("links", row.deviceId, { sealedCredential: null, ...row, renewingMs: null, epoch: 1 });
          return { owner: row.owner, epoch: 1 };
        },
        () => [exclusive("new link", `${row.userId} ${row.ecosystem}`)],
      ),
    find: async (userId, ecosystem) =>
      (await where("find link", (row) => row.userId === userId && row.ecosystem === ecosystem))[0],
    ofDevice: async (userId, id) =>
      (await where(`link ${id}`, (row) => row.userId === userId && row.deviceId === id))[0],
    ofUser: (userId) => where("links of user", (row) => row.userId === userId),
    standings: (devices) => where("standings", (row) => devices.some(({ id }) => id === row.deviceId)),
    holds: (_, id, { owner, epoch }) => {
      const isHeld = (rows: Draft) => link(rows, id)?.owner === owner && link(rows, id)?.epoch === epoch;
      // FOR SHARE: rows that do not match are not locked; matching rows are checked again under the lock.
      const locks = (rows: Draft): LockRequest[] => (isHeld(rows) ? [{ key: `links/${id}`, mode: "share" }] : []);
      return session.run(`holds link ${id} at ${epoch}?`, isHeld, locks);
    },
    setToken: async (_, id, sealedToken, sealedCredential = null) =>
      void (await update("token", id, () => ({ sealedToken, sealedCredential, renewingMs: null }))),
    setRenewing: async (_, id, renewingMs) => void (await update("renewing", id, () => ({ renewingMs }))),
    setState: async (_, id, { state, reason, blindness }) =>
      void (await update(`${state}`, id, () => ({ state, reason, blindness }))),
    setIndexMap: async (_, id, indexMap, notices) => void (await update("map", id, () => ({ indexMap, notices }))),
    confirm: (owner, times) => {
      const timeOf = (row: LinkRow) =>
        times.find(({ deviceId, epoch }) => row.owner === owner && row.deviceId === deviceId && row.epoch === epoch);
      return updateAll(
        "confirm",
        (row) => timeOf(row) !== undefined,
        (row) => ({ confirmedMs: timeOf(row)!.confirmedMs }),
      );
    },
    claimOrphans: (owner, dead, limit) =>
      session.run("claim links", (rows) => {
        const claimed: LinkRow[] = [];
        for (const row of all(rows)) {
          if (claimed.length === limit) break;
          if (row.owner !== null && !dead.includes(row.owner)) continue;
          if (!session.tryLock(exclusive("links", row.deviceId))) continue;
          claimed.push({ ...row, owner, epoch: row.epoch + 1 });
        }
        for (const row of claimed) rows.set("links", row.deviceId, row);
        if (claimed.length > 0) session.hint("links");
        return claimed;
      }),
    takeOver(_, id, owner) {
      session.hint("links");
      return update(`take for ${owner}`, id, ({ epoch }) => ({ owner, epoch: epoch + 1 }));
    },
    ownedBy: (owner) => where("links of node", (row) => row.owner === owner),
    epochsOf: (owner) => where("epochs of node", (row) => row.owner === owner),
    async checksumOf(owner) {
      return checksumOfLinks(await where("checksum of node", (row) => row.owner === owner));
    },
    owners: () => session.run("owners of links", (rows) => [...new Set(all(rows).map(({ owner }) => owner))]),
    countsByOwner: () =>
      session.run("shares of nodes", (rows) =>
        [...Map.groupBy(all(rows), ({ owner }) => owner)].map(([owner, { length: count }]) => ({ owner, count })),
      ),
    releaseAll(owner) {
      session.hint("links");
      return updateAll(
        "release",
        (row) => row.owner === owner,
        () => ({ owner: null }),
      );
    },
    releaseSome(owner, links) {
      session.hint("links");
      const isGiven = (row: LinkRow) =>
        row.owner === owner && links.some(({ deviceId, epoch }) => row.deviceId === deviceId && row.epoch === epoch);
      return updateAll("hand back", isGiven, () => ({ owner: null }));
    },
    remove(_, id) {
      session.hint("links");
      return session.run(
        `remove link ${id}`,
        (rows) => {
          const isThere = link(rows, id) !== undefined;
          if (isThere) rows.set("links", id, undefined);
          return isThere;
        },
        () => [exclusive("links", id)],
      );
    },
  });
}

function nodeRows(session: Session): SimulatedTables["nodes"] {
  return standIn<SimulatedTables["nodes"]>("nodes", {
    beat: (id) =>
      session.run(
        "beat",
        (rows) => {
          const beatMs = session.nowMs();
          rows.set("nodes", id, { beatMs });
          return beatMs;
        },
        () => [exclusive("nodes", id)],
      ),
    leave(id) {
      session.hint("links");
      return session.run(
        "leave",
        (rows) => rows.set("nodes", id, undefined),
        () => [exclusive("nodes", id)],
      );
    },
    alive: (leaseMs, inPlace = false) =>
      session.run("alive?", (rows) => {
        const nowMs = session.nowMs();
        const living = [...rows.all<NodeRow>("nodes")].filter(([, { beatMs }]) => Math.abs(nowMs - beatMs) < leaseMs);
        const ids = living.map(([id]) => id as NodeId).sort();
        return inPlace ? ids.filter((id) => session.isPresent(id)) : ids;
      }),
    withoutThings: async () => [],
    isSettled: (leaseMs) => session.run("settled?", () => session.upMs() > leaseMs),
    forget: (silentForMs) =>
      session.run("forget", (rows) => {
        const before = session.nowMs() - silentForMs;
        const expired = [...rows.all<NodeRow>("nodes")].filter(([, { beatMs }]) => beatMs < before);
        for (const [id] of expired) rows.set("nodes", id, undefined);
        return expired.length;
      }),
  });
}
