import type { UserId } from "../../model/ids.ts";
import { type Transaction, tableNames, transactionOn } from "../seam.ts";
import type { Sql } from "../sql.ts";
import type { GroupTables, GroupWrites } from "./group-tables.ts";
import type { SharedReads } from "./shared-reads.ts";

/** The member can't go on in the group. Its body runs again in a transaction of its own; no caller sees this error. */
export class LeavesGroup extends Error {
  constructor(reason: string) {
    super(`a transaction leaves its group: ${reason}`);
    this.name = "LeavesGroup";
  }
}

/**
 * One transaction of a group, while its body runs: its reads are sent with those of the other members, and its writes
 * are collected. A member leaves the group when it does anything else: when it reads rows that it may have written,
 * writes a row twice, or calls a function that groups don't have. Then nothing of it was written.
 */
export class Member {
  readonly userId: UserId;
  readonly #reads: SharedReads;
  readonly #tables: GroupTables;
  readonly #writes = {
    attributes: [] as GroupWrites["attributes"][number][],
    things: [] as GroupWrites["things"][number][],
    states: [] as GroupWrites["states"][number][],
    times: [] as GroupWrites["times"][number][],
    log: [] as GroupWrites["log"][number][],
  };
  readonly #written = new Set<string>();
  #isLocked = false;
  #hasWritten = false;
  #hasLeft = false;

  constructor(userId: UserId, reads: SharedReads, tables: GroupTables) {
    this.userId = userId;
    this.#reads = reads;
    this.#tables = tables;
  }

  /** Undefined when the member has left the group, even if its body caught the LeavesGroup error. */
  get writes(): GroupWrites | undefined {
    return this.#hasLeft ? undefined : this.#writes;
  }

  transaction(): Transaction {
    return new MemberTransaction(this) as unknown as Transaction;
  }

  leave(reason: string): LeavesGroup {
    this.#hasLeft = true;
    return new LeavesGroup(reason);
  }

  async lockUser(userId: UserId): Promise<number> {
    this.#expectOwn(userId);
    const nowMs = await this.#reads.lockUser(userId);
    // The member runs again in its own transaction, which waits for the lock and finds out whether the user exists.
    // The same holds for links and devices below.
    if (nowMs === undefined) throw this.leave("the user's lock is not free");
    this.#isLocked = true;
    return nowMs;
  }

  readonly holdsLink: Transaction["links"]["holds"] = async (userId, deviceId, ownership) => {
    this.#expectReading(userId);
    if (!(await this.#reads.holdLink({ userId, deviceId, ...ownership })))
      throw this.leave("the link's lock is not free");
    return true;
  };

  readonly lockDevices: Transaction["devices"]["lock"] = async (userId, ids) => {
    this.#expectReading(userId);
    const found = await this.#reads.lockDevices(userId, ids);
    if (found.length < ids.length) throw this.leave("a device's lock is not free");
    return found;
  };

  readonly readAttributes: Transaction["attributes"]["some"] = async (userId, deviceId, keys) => {
    this.#expectReading(userId);
    return this.#reads.attributes(userId, deviceId, keys);
  };

  readonly readThings: Transaction["things"]["some"] = async (userId, thingIds) => {
    this.#expectReading(userId);
    return this.#reads.things(userId, thingIds);
  };

  readonly writeAttributes: Transaction["attributes"]["write"] = async (userId, deviceId, timeMs, changes) => {
    this.#expectNew(userId, `attributes of ${deviceId}`);
    const last = new Map(changes.map(({ key, value }) => [key, value]));
    for (const [key, value] of last) this.#writes.attributes.push({ userId, deviceId, key, value, timeMs });
  };

  readonly putThing: Transaction["things"]["put"] = async (row) => {
    this.#expectNew(row.userId, `thing ${row.thingId}`);
    this.#writes.things.push(row);
  };

  readonly setThingState: Transaction["things"]["setState"] = async (thing) => {
    this.#expectNew(thing.userId, `thing ${thing.thingId}`);
    this.#writes.states.push(thing);
  };

  readonly setLastTime: Transaction["devices"]["setLastTime"] = async (userId, deviceId, timeMs, growth) => {
    if (growth) throw this.leave("the attributes of an own device grow");
    this.#expectNew(userId, `device ${deviceId}`);
    this.#writes.times.push({ userId, deviceId, timeMs });
  };

  readonly appendToLog: Transaction["log"]["append"] = async (entry) => {
    if (entry.userId === null || entry.kind === "revocation")
      throw this.leave("the log entry has no user or is a revocation");
    this.#expectWriting(entry.userId);
    this.#writes.log.push(entry);
  };

  /** A read of tables that no member of a group writes. */
  readAlone<Found>(userId: UserId, read: (tables: GroupTables["single"]) => Promise<Found>): Promise<Found> {
    this.#expectOwn(userId);
    return read(this.#tables.single);
  }

  #expectOwn(userId: UserId): void {
    if (userId !== this.userId) throw this.leave("it uses rows of another user");
  }

  #expectReading(userId: UserId): void {
    this.#expectOwn(userId);
    if (this.#hasWritten) throw this.leave("it reads after it has written");
  }

  #expectWriting(userId: UserId): void {
    this.#expectOwn(userId);
    if (!this.#isLocked) throw this.leave("it writes without the user's lock");
    this.#hasWritten = true;
  }

  #expectNew(userId: UserId, row: string): void {
    this.#expectWriting(userId);
    if (this.#written.has(row)) throw this.leave("it writes a row twice");
    this.#written.add(row);
  }
}

/** The tables of a member. The functions that groups don't have make it leave. */
class MemberTransaction {
  readonly member: Member;
  readonly refusing: Transaction;
  readonly created: Partial<Record<keyof Transaction, unknown>> = {};

  constructor(member: Member) {
    this.member = member;
    this.refusing = transactionOn(refusingSql(member));
  }
}

const grouped: {
  readonly [Name in keyof Transaction]?: (member: Member, refusing: Transaction[Name]) => Transaction[Name];
} = {
  users: (member, refusing) => ({ ...refusing, lock: (id) => member.lockUser(id) }),
  links: (member, refusing) => ({ ...refusing, holds: member.holdsLink }),
  devices: (member, refusing) => ({ ...refusing, lock: member.lockDevices, setLastTime: member.setLastTime }),
  attributes: (member, refusing) => ({ ...refusing, some: member.readAttributes, write: member.writeAttributes }),
  things: (member, refusing) => ({
    ...refusing,
    some: member.readThings,
    put: member.putThing,
    setState: member.setThingState,
  }),
  log: (member, refusing) => ({ ...refusing, append: member.appendToLog }),
  triggers: (member, refusing) => ({
    ...refusing,
    watching: async (userId, ...rest) => member.readAlone(userId, ({ triggers }) => triggers.watching(userId, ...rest)),
  }),
  thingTriggers: (member, refusing) => ({
    ...refusing,
    watching: async (userId, ...rest) =>
      member.readAlone(userId, ({ thingTriggers }) => thingTriggers.watching(userId, ...rest)),
  }),
  fanRequests: (member, refusing) => ({
    ...refusing,
    latest: async (userId, ...rest) =>
      member.readAlone(userId, ({ fanRequests }) => fanRequests.latest(userId, ...rest)),
  }),
  thingCommands: (member, refusing) => ({
    ...refusing,
    awaitingEcho: async (userId, ...rest) =>
      member.readAlone(userId, ({ thingCommands }) => thingCommands.awaitingEcho(userId, ...rest)),
  }),
};

// A getter for each table: a member creates only the tables that it uses.
for (const name of tableNames) {
  const make = grouped[name] as ((member: Member, refusing: unknown) => unknown) | undefined;
  Object.defineProperty(MemberTransaction.prototype, name, {
    enumerable: true,
    get(this: MemberTransaction) {
      this.created[name] ??= make ? make(this.member, this.refusing[name]) : this.refusing[name];
      return this.created[name];
    },
  });
}

function refusingSql(member: Member): Sql {
  const refuse = () => {
    throw member.leave("it calls a function that groups don't have");
  };
  return {
    dialect: "postgres",
    all: refuse,
    run: refuse,
    post: refuse,
    runEach: refuse,
    nowMs: refuse,
    hint: refuse,
  };
}
