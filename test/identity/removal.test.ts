import assert from "node:assert/strict";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { describe, it } from "node:test";
import { accountOn } from "../../src/account/account.ts";
import { identityOn } from "../../src/identity/identity.ts";
import { removeInSlices } from "../../src/identity/removal.ts";
import { InvalidLogin, NotFound, OutcomeUnknown, StoreUnavailable } from "../../src/model/errors.ts";
import type { DeviceId, UserId } from "../../src/model/ids.ts";
import { type OpenStore, type Transaction, tableNames } from "../../src/store/seam.ts";
import { onStore, type StoreHarness, type TestDatabase } from "../contracts/store/harness.ts";
import { addMessages, makeTenant, makeWebhook, range } from "../contracts/store/made-webhook.ts";
import { postgresHarness } from "../contracts/store/postgres-harness.ts";
import { sqliteHarness } from "../contracts/store/sqlite-harness.ts";
import { cheapPasswords } from "../set-up/cheap-passwords.ts";
import { missingPostgres } from "../set-up/postgres.ts";

const atOnce = 2_000;
const much = { entries: 4_100, deliveries: 2_100, keys: 2_100, devices: 1, attributes: 2 };
/** Just enough for several transactions. */
const enough = { ...much, entries: 2_100, deliveries: 3, keys: 2 };
const little = { ...enough, entries: 20 };
const manyDevices = { ...little, devices: 2_100, attributes: 0 };
const manyAttributes = { ...little, devices: 3, attributes: 1_500 };

for (const harness of [sqliteHarness, postgresHarness]) {
  const skip = harness.kind === "postgres" ? (missingPostgres() ?? false) : false;
  describe(`the removal of a user on ${harness.kind}`, { skip }, () => {
    it("takes short transactions, however much the user has", (t) =>
      onHome(harness, much, async ({ store, userId, login, database }) => {
        const { secToken } = await login();
        const { counted, rows } = countingRows(store);
        const delay = monitorEventLoopDelay({ resolution: 5 });
        delay.enable();
        const removed = await madeIdentity(counted).removeUser(userId);
        delay.disable();
        t.diagnostic(`longest delay of the event loop: ${Math.round(delay.max / 1e6)} ms`);
        assert.equal(removed.history, much.entries);
        assert.ok(Math.max(...rows) <= atOnce, `rows of each transaction: ${rows.join()}`);
        assert.deepEqual(await rowsOf(database, userId), { log: 0, webhook_deliveries: 0, idempotency_keys: 0 });
        assert.deepEqual(await rowsOfOthers(database, userId), { log: 1, webhook_deliveries: 1, idempotency_keys: 1 });
        const revocations = await database.sql("SELECT 1 FROM log WHERE user_id = 0 AND kind = 'revocation'");
        assert.equal(revocations.length, 1, "other nodes may not have read it yet");
        await assert.rejects(madeIdentity(store).authenticate(secToken), /Invalid security token/);
        await assert.rejects(madeIdentity(store).removeUser(userId), NotFound);
      }));

    for (const [what, sizes] of Object.entries({ devices: manyDevices, attributes: manyAttributes })) {
      it(`takes short transactions also for many ${what}`, () =>
        onHome(harness, sizes, async ({ store, userId, database }) => {
          await store.transaction(async (tx) => {
            const { id: deviceId } = (await tx.devices.ofUser(userId))[0]!;
            await tx.thingTriggers.add({ ...alert, userId, deviceId, thingId: "lamp", field: "power.on" });
            await tx.triggers.add({ ...alert, userId, deviceId, key: "power", attributeName: "power" });
          });
          const { counted, rows } = countingRows(store);
          const removed = await madeIdentity(counted).removeUser(userId);
          assert.equal(removed.alerts, 2);
          assert.equal(removed.devices.length, sizes.devices);
          assert.equal(removed.attributes, sizes.devices * sizes.attributes);
          assert.ok(Math.max(...rows) <= atOnce, `rows of each transaction: ${rows.join()}`);
          for (const table of ["devices", "attributes"]) {
            const left = await database.sql<{ userId: UserId }>(`SELECT user_id AS "userId" FROM ${table}`);
            assert.ok(left.length > 0 && left.every((row) => row.userId !== userId), `others keep their ${table}`);
          }
        }));
    }

    it("takes short transactions also for many commands or alerts, and counts them", () =>
      onHome(harness, little, async ({ store, database }) => {
        const identity = madeIdentity(store);
        for (const [table, { add, counts }] of Object.entries(manyRows)) {
          const userId = await identity.addUser({ tenant: "Acme", name: table, password, isAdmin: false });
          await store.transaction(async (tx) => {
            const lamp = { userId, typeName: "Lamp", name: "Hall lamp", isVirtual: false };
            await add(tx, { userId, deviceId: await tx.devices.add(lamp) });
          });
          await copyRow(database, table, atOnce + 99);
          const { counted, rows } = countingRows(store);
          const removed = await madeIdentity(counted).removeUser(userId);
          assert.deepEqual([removed[counts], removed.devices.length], [atOnce + 100, 1], table);
          assert.ok(Math.max(...rows) <= atOnce, `rows of each transaction: ${rows.join()}`);
          assert.equal((await database.sql(`SELECT 1 FROM ${table}`)).length, 0, table);
        }
      }));

    it("that was begun before the clock was set back is finished, but not one of a user who was resumed", () =>
      onHome(harness, little, async ({ store, userId, database }) => {
        const identity = madeIdentity(store);
        await identity.suspendUser(userId);
        const nowMs = await store.read((tx) => tx.clock.nowMs());
        await store.transaction((tx) => tx.users.noteRemoval(userId, nowMs + 30_000));
        assert.equal(await identity.takeAbandonedRemoval(), undefined, "its lease has not ended");
        const markFar = () => store.transaction((tx) => tx.users.noteRemoval(userId, nowMs + 3_600_000));
        await markFar();
        // A node of a version before the mark resumes the user.
        await database.sql(`UPDATE users SET suspended_ms = NULL WHERE id = ${userId}`);
        assert.equal(await identity.takeAbandonedRemoval(), undefined);
        const lease = { nowMs, leaseMs: 60_000 };
        assert.equal(await store.transaction((tx) => tx.users.claimRemoval(userId, lease)), false);
        await identity.suspendUser(userId);
        assert.equal(await identity.takeAbandonedRemoval(), undefined, "the mark is of before the resume");
        await markFar();
        assert.equal((await identity.takeAbandonedRemoval())?.userId, userId);
        assert.equal(await identity.takeAbandonedRemoval(), undefined);
      }));

    it("leaves nothing alive when it is interrupted, and continues the next time", () =>
      onHome(harness, much, async ({ store, userId, login, database }) => {
        const { secToken } = await login();
        await assert.rejects(madeIdentity(endingAfter(store, 5)).removeUser(userId, { begun }), OutcomeUnknown);
        const left = await rowsOf(database, userId);
        assert.ok(left.log! > 0 && left.webhook_deliveries === 0, JSON.stringify(left));
        await assert.rejects(login(), InvalidLogin);
        await assert.rejects(madeIdentity(store).authenticate(secToken), /Invalid security token/);
        assert.equal((await madeIdentity(store).findUser(userId)).isSuspended, true);
        await assert.rejects(madeIdentity(store).resumeUser(userId), /removal of user \d+ has begun/);
        const details = (await accountEntries(store)).map(({ detail }) => detail);
        assert.deepEqual(details, [begun.detail], "it was stored with the suspension");
        await madeIdentity(store).removeUser(userId);
        await assert.rejects(madeIdentity(store).findUser(userId), NotFound);
        assert.equal((await rowsOf(database, userId)).log, 0);
      }));

    it("is finished by one node when it was interrupted and nobody repeats it", () =>
      onHome(harness, enough, async ({ store, userId, login, database }) => {
        for (const transactions of [1, 3]) {
          await assert.rejects(madeIdentity(endingAfter(store, transactions)).removeUser(userId), OutcomeUnknown);
          assert.equal(await store.read((tx) => tx.users.isBeingRemoved(userId)), true);
        }
        const { tenantId } = await madeIdentity(store).findUser(userId);
        const unlinked: UserId[] = [];
        const account = madeAccount(store, (of) => void unlinked.push(of));
        assert.equal(await account.finishRemovals(), 0, "a node may still be at it");
        await store.transaction((tx) => tx.users.noteRemoval(userId, 1));
        await assert.rejects(removeInSlices(endingAfter(store, 1), userId), StoreUnavailable);
        assert.equal(await account.finishRemovals(), 0, "each slice tells that it goes on");
        await store.transaction((tx) => tx.users.noteRemoval(userId, 1));
        const [first, second] = [madeIdentity(store), madeIdentity(store)];
        const taken = await Promise.all([first.takeAbandonedRemoval(), second.takeAbandonedRemoval()]);
        assert.deepEqual(
          taken.filter((one) => one !== undefined),
          [{ userId, tenantId }],
        );
        assert.equal(await second.takeAbandonedRemoval(), undefined);

        // The node that took it is gone too.
        await store.transaction((tx) => tx.users.noteRemoval(userId, 1));
        assert.equal(await account.finishRemovals(), 1);
        assert.deepEqual(unlinked, [userId]);
        assert.deepEqual(await rowsOf(database, userId), { log: 0, webhook_deliveries: 0, idempotency_keys: 0 });
        assert.deepEqual(await rowsOfOthers(database, userId), { log: 1, webhook_deliveries: 1, idempotency_keys: 1 });
        await assert.rejects(first.findUser(userId), NotFound);
        await assert.rejects(login(), InvalidLogin);
        const [entry] = await accountEntries(store);
        assert.deepEqual([entry?.userId, entry?.source], [userId, "service"]);
        assert.deepEqual(entry?.detail, { did: "finish removal", links: 0, devices: 1, grants: 0 });
        assert.equal(await account.finishRemovals(), 0);
      }));

    it("of one who has little is one transaction: it happens as a whole or not at all", () =>
      onHome(harness, little, async ({ store, userId, login, database }) => {
        const { secToken } = await login();
        const isKnown = (error: unknown) => error instanceof StoreUnavailable && !(error instanceof OutcomeUnknown);
        await assert.rejects(madeIdentity(endingAfter(store, 0)).removeUser(userId, { begun }), isKnown);
        await madeIdentity(store).authenticate(secToken);
        const { counted, rows } = countingRows(store);
        await madeIdentity(counted).removeUser(userId);
        assert.equal(rows.filter((count) => count > 0).length, 1);
        assert.deepEqual(await rowsOf(database, userId), { log: 0, webhook_deliveries: 0, idempotency_keys: 0 });
      }));
  });
}

interface Home {
  readonly store: OpenStore;
  readonly database: TestDatabase;
  readonly userId: UserId;
  login(): Promise<{ readonly secToken: string }>;
}

/** A user with that many rows, beside another user with one of each. */
async function onHome(harness: StoreHarness, sizes: typeof much, test: (home: Home) => Promise<void>): Promise<void> {
  await onStore(harness, async (store, database) => {
    const tenant = { id: await makeTenant(store, "Acme"), name: "Acme" };
    const identity = madeIdentity(store);
    const webhook = await makeWebhook(store, tenant, "hook");
    const fill = async (name: string, { entries, deliveries, keys, devices, attributes }: typeof much) => {
      const userId = await identity.addUser({ tenant: "Acme", name, password, isAdmin: false });
      const lamp = { userId, typeName: "Lamp", name: "Hall lamp", isVirtual: false };
      const deviceId = await store.transaction(async (tx) => {
        const values = range(attributes).map((i) => ({ key: `name ${i}`, value: "on" }));
        const ids = await Promise.all(range(devices).map(() => tx.devices.add(lamp)));
        await tx.attributes.writeFirst(ids.map((id) => ({ userId, deviceId: id, timeMs: 1, values })));
        return ids[0]!;
      });
      const entry = { userId, kind: "attribute", timeMs: 1, body: "{}" } as const;
      await store.transaction(async (tx) => {
        await tx.log.appendAll(range(entries).map((i) => ({ ...entry, deviceId: i % 3 === 0 ? null : deviceId })));
        const answer = { isSealed: false, text: "{}" } as const;
        await Promise.all(
          range(keys).map((i) => tx.idempotencyKeys.add({ ownerId: userId, hash: `hash ${i}` }, answer, 1e6)),
        );
      });
      await addMessages(
        store,
        webhook,
        Array.from({ length: deliveries }, () => deviceId),
        { userId },
      );
      return userId;
    };
    const userId = await fill("alice", sizes);
    await fill("bob", { entries: 1, deliveries: 1, keys: 1, devices: 1, attributes: 1 });
    const login = () => identity.login({ name: "alice", password, appId: String(tenant.id), source: "192.0.2.1" });
    await test({ store, database, userId, login });
  });
}

const password = "correct horse";
const alert = {
  condition: { operation: "equals", text: "on" },
  ...{ action: "none", targets: [], address: "", message: "" },
  ...{ autoDisarm: false, autoDelete: false, autoDisable: false, isEnabled: true, isArmed: true },
  ...{ reason: null, createdMs: 1 },
} as const;
const command = { state: "confirmed", requestedMs: 1, settledMs: 2 } as const;
const fanRequest = { ...command, attribute: 1, thermostatId: "hall", value: "on", text: null } as const;
const thingCommand = {
  ...command,
  ...{ thingId: "t_lamp", key: "lamp", command: "{}", plan: null, error: null, clientId: null },
} as const;
type Add = (tx: Transaction, of: { userId: UserId; deviceId: DeviceId }) => Promise<unknown>;
/** Tables in which a user with few devices can have many rows, and where their removal is counted. */
const manyRows: Record<string, { readonly add: Add; readonly counts: "commands" | "alerts" }> = {
  commands: { add: (tx, of) => tx.fanRequests.add({ ...fanRequest, ...of }), counts: "commands" },
  thing_commands: { add: (tx, of) => tx.thingCommands.add({ ...thingCommand, ...of }), counts: "commands" },
  triggers: {
    add: (tx, of) => tx.triggers.add({ ...alert, ...of, key: "power", attributeName: "power" }),
    counts: "alerts",
  },
  thing_triggers: {
    add: (tx, of) => tx.thingTriggers.add({ ...alert, ...of, thingId: "lamp", field: "power.on" }),
    counts: "alerts",
  },
};

/** Adds so many copies of the only row of the table. */
async function copyRow(database: TestDatabase, table: string, copies: number): Promise<void> {
  const [row] = await database.sql<object>(`SELECT * FROM ${table}`);
  const names = Object.keys(row!).filter((name) => name !== "id");
  // The ids of alerts on things come from the table of all alerts.
  const [column, value] = table === "thing_triggers" ? ["id, ", "id + n, "] : ["", ""];
  await database.sql(`INSERT INTO ${table} (${column}${names.join(", ")})
    WITH RECURSIVE copies (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM copies WHERE n < ${copies})
    SELECT ${value}${names.join(", ")} FROM ${table}, copies`);
}
const begun = { act: "account", source: "192.0.2.1", detail: { did: "delete account", unfinished: true } } as const;

async function accountEntries(store: OpenStore) {
  return (await madeIdentity(store).audit.list({ limit: 10 })).filter(({ act }) => act === "account");
}

/** The account page of a node. It tells whose links it removes. */
function madeAccount(store: OpenStore, unlinks: (userId: UserId) => void) {
  const federation = {
    async unlinkAll(userId: UserId) {
      unlinks(userId);
      return [];
    },
    shownLinksOf: async () => [],
  };
  return accountOn({ store, identity: madeIdentity(store), federation } as never);
}

function madeIdentity(store: OpenStore) {
  return identityOn({
    store,
    elapsedMs: () => performance.now(),
    report: { debug() {}, info() {}, warn() {}, error() {} },
    grantsEnded: () => undefined,
    devicesRemoved: () => undefined,
    suspended: () => undefined,
    ...cheapPasswords,
  });
}

/** The store, and the rows of growing tables that each of its transactions removes. */
function countingRows(store: OpenStore): { readonly counted: OpenStore; readonly rows: readonly number[] } {
  const rows: number[] = [];
  const counted = withTransactions(store, (body, priority) =>
    store.transaction(async (tx) => {
      const at = rows.push(0) - 1;
      const counting = <Table extends object>(table: Table): Table =>
        new Proxy(table, {
          get(target, name) {
            const member: unknown = Reflect.get(target, name);
            if (typeof member !== "function" || !String(name).startsWith("remove")) return member;
            return async (...given: unknown[]) => {
              const removed: number | readonly unknown[] = await member(...given);
              rows[at]! += typeof removed === "number" ? removed : removed.length;
              return removed;
            };
          },
        });
      const { log, idempotencyKeys, attributes, devices, triggers, thingTriggers, fanRequests, thingCommands } = tx;
      const overlaid = {
        ...{ log: counting(log), idempotencyKeys: counting(idempotencyKeys) },
        ...{ attributes: counting(attributes), devices: counting(devices) },
        ...{ triggers: counting(triggers), thingTriggers: counting(thingTriggers) },
        ...{ fanRequests: counting(fanRequests), thingCommands: counting(thingCommands) },
      };
      return body(Object.assign(Object.create(null), tablesOf(tx), overlaid));
    }, priority),
  );
  return { counted, rows };
}

/** The store of a process that ends before its next transaction after `count`. */
function endingAfter(store: OpenStore, count: number): OpenStore {
  let left = count;
  return withTransactions(store, async (body, priority) => {
    if (left-- <= 0) throw new StoreUnavailable("the process has ended");
    return store.transaction(body, priority);
  });
}

function withTransactions(store: OpenStore, transaction: OpenStore["transaction"]): OpenStore {
  return new Proxy(store, {
    get(target, name) {
      const member = name === "transaction" ? transaction : Reflect.get(target, name, target);
      return typeof member === "function" && name !== "transaction" ? member.bind(target) : member;
    },
  });
}

function tablesOf(tx: Transaction): Partial<Transaction> {
  return Object.fromEntries(tableNames.map((name) => [name, tx[name]]));
}

const growing = { log: "user_id", webhook_deliveries: "user_id", idempotency_keys: "owner_id" } as const;

function rowsOf(database: TestDatabase, userId: UserId): Promise<Record<string, number>> {
  return counts(database, `= ${userId}`);
}

function rowsOfOthers(database: TestDatabase, userId: UserId): Promise<Record<string, number>> {
  return counts(database, `NOT IN (0, ${userId})`);
}

async function counts(database: TestDatabase, condition: string): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  for (const [table, column] of Object.entries(growing)) {
    found[table] = (await database.sql(`SELECT 1 FROM ${table} WHERE ${column} ${condition}`)).length;
  }
  return found;
}
