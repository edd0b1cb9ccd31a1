import type { FeedLease } from "../../../src/store/tables/feed-leases.ts";
import type { FeedMessageRow } from "../../../src/store/tables/feed-messages.ts";
import type { LinkRow } from "../../../src/store/tables/links.ts";
import { standIn } from "../stand-in.ts";
import type { Session, SimulatedTables } from "../store/memory-tables.ts";
import { exclusive } from "../store/row-locks.ts";
import { type Draft, type Rows, removeAll } from "../store/rows.ts";

interface AccountRow {
  readonly userId: number;
  readonly deviceId: number;
  readonly ecosystem: string;
  readonly account: string;
  readonly callsMs: readonly number[];
}

interface MessageRow extends FeedMessageRow {
  readonly receivedMs: number;
}

const accountTable = "feedAccounts";
const leaseTable = "feedLeases";
const messageTable = (deviceId: number) => `feedMessages/${deviceId}`;

/** The id of the row that stands for dropped messages. */
const droppedId = "";

/** The messages that wait for a link. */
export function feedMessagesOf(rows: Rows, deviceId: number): MessageRow[] {
  return [...rows.all<MessageRow>(messageTable(deviceId)).values()].sort((a, b) => {
    return a.receivedMs - b.receivedMs || (a.messageId < b.messageId ? -1 : 1);
  });
}

/** The rows that go with a device. */
export function removeFeedRows(rows: Draft, deviceId: number): void {
  if (rows.get(accountTable, deviceId)) rows.set(accountTable, deviceId, undefined);
  removeAll(rows, messageTable(deviceId));
}

/** Which account's messages are stored for which link, in memory. */
export function feedAccountRows(session: Session): SimulatedTables["feedAccounts"] {
  const find = (rows: Rows, deviceId: number) => rows.get<AccountRow>(accountTable, deviceId);
  const ofAccount = (rows: Rows, deviceId: number) => {
    const own = find(rows, deviceId);
    const isSame = (other: AccountRow) => other.ecosystem === own?.ecosystem && other.account === own.account;
    return [...rows.all<AccountRow>(accountTable).values()].filter(isSame).sort((a, b) => a.deviceId - b.deviceId);
  };
  return standIn<SimulatedTables["feedAccounts"]>("feedAccounts", {
    set: ({ userId, deviceId }, ecosystem, account) =>
      session.run(
        `messages of ${account} for ${deviceId}`,
        (rows) => {
          // A foreign key: the row needs its device.
          if (rows.get("devices", deviceId)) {
            const callsMs = find(rows, deviceId)?.callsMs ?? [];
            rows.set(accountTable, deviceId, { userId, deviceId, ecosystem, account, callsMs } satisfies AccountRow);
          }
        },
        () => [exclusive(accountTable, deviceId)],
      ),
    of: ({ deviceId }) => session.run(`account of ${deviceId}`, (rows) => find(rows, deviceId)?.account),
    isShared: ({ deviceId }) =>
      session.run(`is the account of ${deviceId} shared?`, (rows) => ofAccount(rows, deviceId).length > 1),
    lockCalls: ({ deviceId }) =>
      session.run(
        `calls of the account of ${deviceId}`,
        (rows) => ofAccount(rows, deviceId) as never,
        (rows) => ofAccount(rows, deviceId).map((link) => exclusive(accountTable, link.deviceId)),
      ),
    setCalls: ({ deviceId }, callsMs) =>
      session.run(
        `count calls of ${deviceId}`,
        (rows) => {
          const row = find(rows, deviceId);
          if (row) rows.set(accountTable, deviceId, { ...row, callsMs } satisfies AccountRow);
        },
        () => [exclusive(accountTable, deviceId)],
      ),
  });
}

/** The stored messages in memory. */
export function feedMessageRows(session: Session): SimulatedTables["feedMessages"] {
  return standIn<SimulatedTables["feedMessages"]>("feedMessages", {
    add: (ecosystem, messages, nowMs) =>
      session.run(`store ${messages.length} messages`, (rows) => {
        const links = [...rows.all<AccountRow>(accountTable).values()].filter((link) => {
          return link.ecosystem === ecosystem && messages.some(({ account }) => account === link.account);
        });
        for (const { deviceId, account } of links) {
          for (const { id, content } of messages.filter((message) => message.account === account)) {
            if (rows.get(messageTable(deviceId), id)) continue;
            rows.set(messageTable(deviceId), id, { messageId: id, content, receivedMs: nowMs } satisfies MessageRow);
          }
        }
        if (links.length > 0) session.hint("feed");
        return links as never;
      }),
    drop: (links, most, nowMs) =>
      session.run("drop messages", (rows) => {
        const full = links.filter(({ deviceId }) => feedMessagesOf(rows, deviceId).length > most);
        for (const { deviceId } of full) {
          removeAll(rows, messageTable(deviceId));
          const row: MessageRow = { messageId: droppedId, content: null, receivedMs: nowMs };
          rows.set(messageTable(deviceId), droppedId, row);
        }
        return [...full];
      }),
    waiting: (owner) =>
      session.run("links with messages", (rows) =>
        [...rows.all<LinkRow>("links").values()].filter(
          (link) => link.owner === owner && rows.all(messageTable(link.deviceId)).size > 0,
        ),
      ),
    of: ({ deviceId }, limit) =>
      session.run(`messages of ${deviceId}`, (rows) => feedMessagesOf(rows, deviceId).slice(0, limit)),
    remove: ({ deviceId }, owner, messageIds) =>
      session.run(`remove ${messageIds.length} messages of ${deviceId}`, (rows) => {
        if (rows.get<LinkRow>("links", deviceId)?.owner !== owner) return;
        for (const id of messageIds) {
          if (rows.get(messageTable(deviceId), id)) rows.set(messageTable(deviceId), id, undefined);
        }
      }),
    // Simulated time is too short for a message to be removed for its age.
    removeBefore: async () => 0,
  });
}

/** The leases of feeds in memory. */
export function feedLeaseRows(session: Session): SimulatedTables["feedLeases"] {
  const find = (rows: Rows, ecosystem: string) => rows.get<FeedLease>(leaseTable, ecosystem);
  const change = <Result>(
    what: string,
    ecosystem: string,
    act: (rows: Draft, lease: FeedLease | undefined) => Result,
  ) =>
    session.run(
      `${what} the lease of ${ecosystem}`,
      (rows) => act(rows, find(rows, ecosystem)),
      () => [exclusive(leaseTable, ecosystem)],
    );
  return standIn<SimulatedTables["feedLeases"]>("feedLeases", {
    find: (ecosystem) => session.run(`lease of ${ecosystem}`, (rows) => find(rows, ecosystem)),
    all: () => session.run("leases", (rows) => [...rows.all<FeedLease>(leaseTable).values()]),
    renew: (ecosystem, owner, { answeredMs, fault }) =>
      change("renew", ecosystem, (rows, lease) => {
        if (lease?.owner !== owner) return false;
        rows.set(leaseTable, ecosystem, { ...lease, answeredMs, fault });
        return true;
      }),
    take: (ecosystem, owner, living, nowMs) =>
      change("take", ecosystem, (rows, lease) => {
        const isFree = !lease || lease.owner === null || (living && !living.includes(lease.owner));
        if (!isFree) return false;
        rows.set(leaseTable, ecosystem, { ecosystem, owner, answeredMs: nowMs, fault: null } satisfies FeedLease);
        return true;
      }),
    release: (ecosystem, owner) =>
      change("release", ecosystem, (rows, lease) => {
        if (lease?.owner === owner) rows.set(leaseTable, ecosystem, { ...lease, owner: null });
      }),
  });
}
