import type { AssistantGrantKey, AssistantGrantRow } from "../../../src/store/tables/assistant-grants.ts";
import type {
  AlarmRise,
  AssistantFeed,
  AssistantMark,
  NewMark,
  SentOfMark,
} from "../../../src/store/tables/assistant-marks.ts";
import type { AssistantReply } from "../../../src/store/tables/assistant-replies.ts";
import { logStart } from "../../../src/store/tables/log-position.ts";
import { standIn } from "../stand-in.ts";
import type { Session, SimulatedTables } from "../store/memory-tables.ts";
import { exclusive } from "../store/row-locks.ts";
import type { Draft, Rows } from "../store/rows.ts";

/** The user's grant for the OAuth client of an outlet: without it the user's link to the assistant is not alive. */
export const access = "assistant access";
export const grants = "assistant grants";
export const marks = "assistant marks";
const replies = "assistant replies";
export const feed = "assistant feed";

export interface StoredGrant extends AssistantGrantRow {
  readonly claimedUntilMs: number;
}

export function nameOf({ userId, outletId }: AssistantGrantKey): string {
  return `${userId} ${outletId}`;
}

function isAlive(rows: Rows, key: AssistantGrantKey): boolean {
  return rows.get(access, nameOf(key)) !== undefined;
}

export function grantsIn(rows: Rows): readonly StoredGrant[] {
  const all = [...rows.all<StoredGrant>(grants).values()];
  return all.sort((a, b) => a.userId - b.userId || (a.outletId < b.outletId ? -1 : 1));
}

export function marksOf(rows: Rows, key: AssistantGrantKey): readonly AssistantMark[] {
  return [...rows.all<AssistantMark>(marks).values()].filter((mark) => nameOf(mark) === nameOf(key));
}

const dueOf = ({ stateMs, syncMs }: AssistantMark) =>
  Math.min(stateMs ?? Number.MAX_SAFE_INTEGER, syncMs ?? Number.MAX_SAFE_INTEGER);

/** The users of outlets in memory. */
export function assistantGrantRows(session: Session): SimulatedTables["assistantGrants"] {
  const living = (rows: Draft, key: AssistantGrantKey) =>
    isAlive(rows, key) ? rows.get<StoredGrant>(grants, nameOf(key)) : undefined;
  const change = <Result>(what: string, key: AssistantGrantKey, act: (rows: Draft, row?: StoredGrant) => Result) =>
    session.run(
      `${what} ${nameOf(key)}`,
      (rows) => act(rows, rows.get<StoredGrant>(grants, nameOf(key))),
      () => [exclusive(grants, nameOf(key))],
    );
  const set = (rows: Draft, row: StoredGrant, changed: Partial<StoredGrant>) =>
    rows.set(grants, nameOf(row), { ...row, ...changed });
  const removeIn = (rows: Draft, key: AssistantGrantKey) => {
    for (const { thingId } of marksOf(rows, key)) rows.set(marks, `${nameOf(key)} ${thingId}`, undefined);
    for (const [id, reply] of rows.all<AssistantReply>(replies)) {
      if (nameOf(reply) === nameOf(key)) rows.set(replies, id, undefined);
    }
    rows.set(grants, nameOf(key), undefined);
  };
  const wakeAt = (key: AssistantGrantKey, dueMs: number) =>
    change("wake assistant of", key, (rows, row) => {
      if (!row) return;
      const isLater = row.dueMs === null || (row.dueMs > dueMs && (row.attempts === 0 || dueMs === 0));
      if (isLater) set(rows, row, { dueMs });
    });
  return standIn<SimulatedTables["assistantGrants"]>("assistantGrants", {
    put: ({ userId, outletId, clientId, agentUserId, sealedCredential = null, region = null }) =>
      change("put assistant of", { userId, outletId }, (rows, known) => {
        const given = { sealedCredential, region };
        if (known) set(rows, known, { ...given, attempts: 0, problem: null });
        else {
          const blank = {
            staleDevices: [],
            omitted: null,
            dueMs: null,
            claim: 0,
            attempts: 0,
            problem: null,
            reportedMs: null,
            suspended: null,
          };
          const row = { userId, outletId, clientId, agentUserId, ...given, sinceMs: session.nowMs(), ...blank };
          rows.set(grants, nameOf(row), { ...row, claimedUntilMs: 0 });
        }
        return !known;
      }),
    find: (key) => session.run(`assistant of ${nameOf(key)}`, (rows) => living(rows, key)),
    lock: (key) => change("lock assistant of", key, (rows) => living(rows, key)),
    async lockAll(keys) {
      const locked: StoredGrant[] = [];
      for (const key of keys.toSorted((a, b) => a.userId - b.userId || (a.outletId < b.outletId ? -1 : 1))) {
        const row = await change("lock assistant of", key, (rows) => living(rows, key));
        if (row) locked.push(row);
      }
      return locked;
    },
    ofUsers: (userIds) =>
      session.run("assistants of users", (rows) =>
        grantsIn(rows).filter((row) => userIds.includes(row.userId) && isAlive(rows, row)),
      ),
    page: (after, limit) =>
      session.run("assistants", (rows) => {
        const isLater = (row: StoredGrant) =>
          !after || row.userId > after.userId || (row.userId === after.userId && row.outletId > after.outletId);
        return grantsIn(rows)
          .filter((row) => isLater(row) && isAlive(rows, row))
          .slice(0, limit);
      }),
    isAny: () => session.run("any assistant?", (rows) => rows.all(grants).size > 0),
    due: (nowMs, limit) =>
      session.run("due assistants", (rows) =>
        grantsIn(rows)
          .filter(
            (row) => row.dueMs !== null && row.dueMs <= nowMs && row.claimedUntilMs <= nowMs && isAlive(rows, row),
          )
          .map((row) => ({ ...row, isUrgent: row.dueMs === 0 || marksOf(rows, row).some((mark) => mark.isUrgent) }))
          .sort((a, b) => Number(b.isUrgent) - Number(a.isUrgent) || a.dueMs! - b.dueMs!)
          .slice(0, limit),
      ),
    claim: (key, nowMs, untilMs) =>
      change("claim assistant of", key, (rows) => {
        const row = living(rows, key);
        if (row?.dueMs == null || row.dueMs > nowMs || row.claimedUntilMs > nowMs) return undefined;
        const claimed = { ...row, claim: row.claim + 1, claimedUntilMs: untilMs };
        rows.set(grants, nameOf(key), claimed);
        return claimed;
      }),
    holds: (grant) => change("holds assistant of", grant, (rows) => living(rows, grant)?.claim === grant.claim),
    prolong: (grant, untilMs, told) =>
      change("prolong assistant of", grant, (rows) => {
        const row = living(rows, grant);
        if (row?.claim !== grant.claim) return false;
        set(rows, row, { claimedUntilMs: untilMs, ...told });
        return true;
      }),
    release: (grant, { retryMs, attempts, problem, reportedMs, staleDevices }) =>
      change("release assistant of", grant, (rows, row) => {
        if (row?.claim !== grant.claim) return false;
        const times = marksOf(rows, grant).map((mark) => (mark.isUrgent ? 0 : dueOf(mark)));
        const dueMs = retryMs ?? (times.length > 0 ? Math.min(...times) : null);
        set(rows, row, { claimedUntilMs: 0, attempts, problem, reportedMs, staleDevices, dueMs });
        return true;
      }),
    wakeAt,
    async wakeEachAt(wakes) {
      for (const { dueMs, ...key } of wakes) await wakeAt(key, dueMs);
    },
    wakeResumed: (key, dueMs) =>
      change("resume assistant of", key, (rows, row) => {
        if (row?.dueMs != null && row.dueMs > dueMs) set(rows, row, { dueMs });
      }),
    correctTimes: (nowMs) =>
      session.run(
        "shorten waits of assistants",
        (rows) => {
          const longMs = nowMs + 20 * 60_000;
          for (const [key, mark] of rows.all<AssistantMark>(marks)) {
            if (dueOf(mark) <= longMs) continue;
            const { version, stateMs, syncMs } = mark;
            const times = { stateMs: stateMs === null ? null : nowMs, syncMs: syncMs === null ? null : longMs };
            rows.set(marks, key, { ...mark, version: version + 1, ...times });
          }
          for (const row of grantsIn(rows)) {
            const dueMs = row.dueMs !== null && row.dueMs > longMs ? nowMs : row.dueMs;
            set(rows, row, { dueMs, claimedUntilMs: Math.min(row.claimedUntilMs, nowMs + 60_000) });
          }
        },
        (rows) => grantsIn(rows).map((row) => exclusive(grants, nameOf(row))),
      ),
    replaceCredential: (key, before, sealedCredential) =>
      change("credential of assistant of", key, (rows, row) => {
        if (row?.sealedCredential !== before) return false;
        set(rows, row, { sealedCredential });
        return true;
      }),
    remove: (key) =>
      change("forget assistant of", key, (rows, row) => {
        removeIn(rows, key);
        return row !== undefined;
      }),
    removeDead: (limit) =>
      session.run(
        "forget dead assistants",
        (rows) => {
          const dead = grantsIn(rows)
            .filter((row) => !isAlive(rows, row))
            .slice(0, limit);
          for (const row of dead) removeIn(rows, row);
          return dead.length;
        },
        (rows) =>
          grantsIn(rows)
            .filter((row) => !isAlive(rows, row))
            .map((row) => exclusive(grants, nameOf(row))),
      ),
  });
}

/** What assistants must be told, in memory. */
export function assistantMarkRows(session: Session): SimulatedTables["assistantMarks"] {
  const keyOf = (key: AssistantGrantKey, thingId: string) => `${nameOf(key)} ${thingId}`;
  const change = <Result>(what: string, key: string, act: (rows: Draft, row?: AssistantMark) => Result) =>
    session.run(
      `${what} ${key}`,
      (rows) => act(rows, rows.get<AssistantMark>(marks, key)),
      () => [exclusive(marks, key)],
    );
  const add = (mark: NewMark, nowMs: number) => {
    const { userId, outletId, thingId, isUrgent = false, rises = [] } = mark;
    const key = keyOf(mark, thingId);
    return change("mark", key, (rows, before) => {
      const syncBefore = mark.isBack || mark.isGone ? undefined : before?.syncMs;
      const added: AssistantMark = {
        userId,
        outletId,
        thingId,
        version: (before?.version ?? 0) + 1,
        sinceMs: mark.isBack && before ? 0 : Math.min(before?.sinceMs ?? nowMs, mark.sinceMs ?? nowMs),
        stateMs: earliest(before?.stateMs, mark.stateMs),
        syncMs: earliest(syncBefore, mark.syncMs),
        isUrgent: isUrgent || (before?.isUrgent ?? false),
        rises: [...(before?.rises ?? []), ...rises].slice(-10),
      };
      rows.set(marks, key, added);
      return added;
    });
  };
  const removeSent = (mark: AssistantMark, sent: SentOfMark) =>
    change("sent", keyOf(mark, mark.thingId), (rows, now) => {
      if (!now) return;
      const isChanged = now.version !== mark.version;
      const sentRises = sent.state ? mark.rises : (sent.rises ?? []);
      const left: AssistantMark = {
        ...now,
        stateMs: sent.state && !isChanged ? (sent.sync ? null : now.syncMs) : now.stateMs,
        syncMs: sent.sync && !isChanged ? null : now.syncMs,
        isUrgent: now.isUrgent && (isChanged || !sent.state),
        rises: now.rises.filter((rise) => !sentRises.some((one) => isSame(one, rise))),
      };
      const isLeft = left.stateMs !== null || left.syncMs !== null;
      rows.set(marks, keyOf(mark, mark.thingId), isLeft ? left : undefined);
    });
  return standIn<SimulatedTables["assistantMarks"]>("assistantMarks", {
    add: async (mark, nowMs) => void (await add(mark, nowMs)),
    addAll: async (added, nowMs) => {
      const marked = new Map<string, AssistantMark>();
      for (const mark of added) marked.set(keyOf(mark, mark.thingId), await add(mark, nowMs));
      return [...marked.values()];
    },
    some: (key, thingIds) =>
      session.run(`marks of ${nameOf(key)}`, (rows) =>
        marksOf(rows, key).filter(({ thingId }) => thingIds.includes(thingId)),
      ),
    find: (key, thingId) =>
      session.run(`mark ${keyOf(key, thingId)}`, (rows) => rows.get<AssistantMark>(marks, keyOf(key, thingId))),
    due: (key, nowMs, limit) =>
      session.run(`due marks of ${nameOf(key)}`, (rows) =>
        marksOf(rows, key)
          .filter((mark) => mark.isUrgent || dueOf(mark) <= nowMs)
          .sort(
            (a, b) =>
              Number(b.isUrgent) - Number(a.isUrgent) || a.sinceMs - b.sinceMs || (a.thingId < b.thingId ? -1 : 1),
          )
          .slice(0, limit),
      ),
    dueSyncs: (key, nowMs) =>
      session.run(`due lists of ${nameOf(key)}`, (rows) =>
        marksOf(rows, key)
          .filter(({ syncMs }) => syncMs !== null && syncMs <= nowMs)
          .sort((a, b) => (a.thingId < b.thingId ? -1 : 1)),
      ),
    removeAllSent: async (_, read, sentOf) => {
      for (const mark of read) await removeSent(mark, sentOf(mark));
    },
    leaving: (key, nowMs) =>
      session.run(`leaving things of ${nameOf(key)}`, (rows) =>
        marksOf(rows, key)
          .filter(({ syncMs }) => syncMs !== null && syncMs > nowMs)
          .map(({ thingId }) => thingId),
      ),
    lockFeed: () =>
      session.run(
        "lock assistants' feed",
        (rows) => rows.get<AssistantFeed>(feed, 1) ?? { ...logStart, urgent: logStart, epoch: "", sweptMs: 0 },
        () => [exclusive(feed, 1)],
      ),
    setFeed: (position) => session.run("move assistants' feed", (rows) => rows.set(feed, 1, position)),
    addToAll: (nowMs) =>
      session.run("mark all", (rows) => {
        for (const row of grantsIn(rows)) {
          const { userId, outletId } = row;
          const version = (rows.get<AssistantMark>(marks, keyOf(row, ""))?.version ?? 0) + 1;
          const mark = { userId, outletId, thingId: "", version, sinceMs: nowMs, stateMs: nowMs, syncMs: nowMs };
          rows.set(marks, keyOf(row, ""), { ...mark, isUrgent: false, rises: [] });
          rows.set(grants, nameOf(row), { ...row, dueMs: Math.min(row.dueMs ?? nowMs, nowMs) });
        }
      }),
  });
}

/** Nothing in the simulation reads the attempts, and no late answers are asked for. */
export function assistantDeliveryRows(): SimulatedTables["assistantDeliveries"] {
  return standIn<SimulatedTables["assistantDeliveries"]>("assistantDeliveries", {
    add: async () => undefined,
    removeOlder: async () => 0,
  });
}

export function assistantReplyRows(session: Session): SimulatedTables["assistantReplies"] {
  return standIn<SimulatedTables["assistantReplies"]>("assistantReplies", {
    ofThings: (key, thingIds) =>
      session.run(`replies of ${nameOf(key)}`, (rows) =>
        [...rows.all<AssistantReply>(replies).values()].filter(
          (reply) => nameOf(reply) === nameOf(key) && thingIds.includes(reply.thingId),
        ),
      ),
    removeExpired: async () => 0,
  });
}

export function assistantOutletRows(): SimulatedTables["assistantOutlets"] {
  return standIn<SimulatedTables["assistantOutlets"]>("assistantOutlets", { removeDead: async () => 0 });
}

function earliest(one: number | null | undefined, other: number | undefined): number | null {
  if (one == null) return other ?? null;
  return other === undefined ? one : Math.min(one, other);
}

function isSame(one: AlarmRise, other: AlarmRise): boolean {
  return one.trait === other.trait && one.state === other.state && one.timeMs === other.timeMs;
}
