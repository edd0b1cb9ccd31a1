import type { UserId } from "../../../src/model/ids.ts";
import type {
  AttributeRef,
  DeviceRef,
  GroupTables,
  LinkRef,
  ThingRef,
} from "../../../src/store/groups/group-tables.ts";
import type { LinkRow } from "../../../src/store/tables/links.ts";
import type { Claim } from "../checks/history.ts";
import { type Session, tablesOn } from "./memory-tables.ts";
import { exclusive, type LockRequest } from "./row-locks.ts";
import { Draft, type Rows } from "./rows.ts";

/** What one member of a group has written, and the right by which it wrote. */
export interface MemberDraft {
  readonly draft: Draft;
  readonly claim: Claim | null;
}

/**
 * The statements of a group on the tables in memory. They take only locks that are free (SKIP LOCKED). Each member's
 * writes go into a draft of its own, so that the record shows by which right each was written.
 */
export function groupTablesOn(session: Session, below: Rows, written: (member: MemberDraft) => void): GroupTables {
  const tables = tablesOn(session);
  const claims = new Map<UserId, Claim>();
  /** Takes the locks of those rows whose locks are free. */
  const lockFree = async <Row>(
    what: string,
    asked: readonly Row[],
    lockOf: (row: Row, rows: Draft) => LockRequest[],
  ) => {
    const free = new Set<Row>();
    const locks = (rows: Draft) =>
      asked.flatMap((row) => {
        const wishes = lockOf(row, rows);
        if (wishes.length === 0 || !wishes.every((wish) => session.tryLock(wish))) return [];
        free.add(row);
        return wishes;
      });
    return session.run(`lock ${what} of a group`, () => ({ free, nowMs: session.nowMs() }), locks);
  };
  const heldLinks = async (links: readonly LinkRef[]) => {
    const { free } = await lockFree("links", links, ({ deviceId, owner, epoch }, rows) => {
      const row = rows.get<LinkRow>("links", deviceId);
      return row?.owner === owner && row.epoch === epoch ? [{ key: `links/${deviceId}`, mode: "share" }] : [];
    });
    for (const { userId, deviceId, owner, epoch } of free) claims.set(userId, { deviceId, owner, epoch });
    return new Set([...free].map(({ deviceId }) => deviceId));
  };
  const lockDevices = async (devices: readonly DeviceRef[]) => {
    const lockOf = ({ deviceId }: DeviceRef) => [exclusive("devices", deviceId)];
    const { free } = await lockFree("devices", devices, lockOf);
    const found = [...free].map(({ userId, deviceId }) => tables.devices.lock(userId, [deviceId]));
    return (await Promise.all(found)).flat();
  };
  const attributesOf = async (asked: readonly AttributeRef[]) => {
    const found = asked.map(async ({ userId, deviceId, key }) =>
      (await tables.attributes.some(userId, deviceId, [key])).map((row) => ({ ...row, deviceId })),
    );
    return (await Promise.all(found)).flat();
  };
  const thingsOf = async (asked: readonly ThingRef[]) => {
    const found = asked.map(({ userId, thingId }) => tables.things.some(userId, [thingId]));
    return (await Promise.all(found)).flat();
  };
  return {
    single: tables as unknown as GroupTables["single"],
    async lockUsers(ids) {
      const { free, nowMs } = await lockFree("users", ids, (id, rows) =>
        rows.get("users", id) ? [exclusive("users", id)] : [],
      );
      return { ids: free, nowMs };
    },
    async read(asked) {
      // All at once, as in one statement: the group may end while the answer is on its way.
      const [links, devices, attributes, things] = await Promise.all([
        heldLinks(asked.links),
        lockDevices(asked.devices),
        attributesOf(asked.attributes),
        thingsOf(asked.things),
      ]);
      return { links, devices, attributes, things };
    },
    async write({ attributes, things, states, times, log }) {
      const users = new Set(log.map(({ userId }) => userId!));
      const writes = [...users].map(async (user) => {
        const draft = new Draft(below);
        const own = tablesOn({
          ...boundTo(session),
          run: (what, act, locks) => session.run(what, () => act(draft), locks && (() => locks(draft))),
        });
        const isOwn = ({ userId }: { readonly userId: UserId | null }) => userId === user;
        await Promise.all([
          ...attributes
            .filter(isOwn)
            .map(({ userId, deviceId, timeMs, key, value }) =>
              own.attributes.write(userId, deviceId, timeMs, [{ key, value }]),
            ),
          ...things.filter(isOwn).map((thing) => own.things.put(thing)),
          ...states.filter(isOwn).map((state) => own.things.setState(state)),
          ...times
            .filter(isOwn)
            .map(({ userId, deviceId, timeMs }) => own.devices.setLastTime(userId, deviceId, timeMs)),
          ...log.filter(isOwn).map((entry) => own.log.append(entry)),
        ]);
        written({ draft, claim: claims.get(user) ?? null });
      });
      await Promise.all(writes);
    },
  };
}

function boundTo(session: Session): Omit<Session, "run"> {
  return {
    tryLock: (wish) => session.tryLock(wish),
    nowMs: () => session.nowMs(),
    nextId: () => session.nextId(),
    nextPosition: () => session.nextPosition(),
    seenBefore: () => session.seenBefore(),
    hint: (hint) => session.hint(hint),
    isPresent: (id) => session.isPresent(id),
    upMs: () => session.upMs(),
  };
}
