import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import pg from "pg";
import { addUsers } from "../../bench/users.ts";
import type { Account } from "../../simulator/google-device-access/account.ts";
import { addThermostat } from "../../simulator/google-device-access/house.ts";
import { type Google, startGoogle } from "../../simulator/google-device-access/simulator.ts";
import { readConfig } from "../../src/config/config.ts";
import { decodeState } from "../../src/home/thing-text.ts";
import type { UserId } from "../../src/model/ids.ts";
import { startLogging } from "../../src/runtime/process/log.ts";
import { openParts } from "../../src/service/parts.ts";
import { writeKey } from "../ecosystems/google-device-access/harness.ts";
import { rounds } from "../set-up/extent.ts";
import { missingPostgres, sharedCluster } from "../set-up/postgres.ts";
import { newDataFolder } from "../set-up/sqlite-template.ts";
import { type ChildService, startChild } from "../stories/child-service.ts";
import { eventuallySlowly } from "./fleet.ts";

/** `LINKS=200 npm test -- test/nodes/feed-over-nodes` runs the large figure; `KILLS=5` kills more often. */
const links = Number(process.env.LINKS ?? rounds({ all: 30, few: 6 }));
const kills = Number(process.env.KILLS ?? 2);
const temperature = "sdm.devices.traits.Temperature";

describe("a feed of all accounts on three nodes", { skip: missingPostgres() ?? false }, () => {
  it(`loses nothing for ${links} links when the node that pulls is killed, and keeps the limit of lists`, {
    timeout: 1_800_000,
  }, async (t) => {
    const { signal } = t;
    const google = await startGoogle();
    t.after(() => google.stop());
    google.subscription.holdMs = 2_000;
    const fleet = await startedFleet(t, google);
    const { sql, accounts } = fleet;
    for (let i = 0; i < 3; i++) await fleet.startNode();
    await eventuallySlowly(signal, () => assertAllLive(sql));
    let celsius = 10;
    const warmAll = () => {
      celsius += 1;
      for (const account of accounts) warm(account, celsius);
    };
    for (let kill = 0; kill < kills; kill++) {
      warmAll();
      await fleet.killPuller();
      // Events while no node pulls.
      warmAll();
      await fleet.startNode();
      await eventuallySlowly(signal, () => assertAllLive(sql));
      warmAll();
      await eventuallySlowly(signal, () => assertMirrored(sql, fleet.linked, google));
    }
    const { taken, refused } = google.rates;
    t.diagnostic(
      `${google.subscription.acknowledged} messages acknowledged, ${taken.list} lists, ${refused.list} refused`,
    );
    assert.equal(refused.list, 0, "a list beyond Google's limit");
  });
});

interface Linked {
  readonly userId: UserId;
  readonly account: Account;
}

async function startedFleet(t: TestContext, google: Google) {
  const databaseUrl = await (await sharedCluster()).createDatabase();
  const ecosystems = { google: google.settings(await writeKey(t, google)) };
  const environment = {
    BREEZEWAY_DATA: await newDataFolder("breezeway-feed-"),
    BREEZEWAY_PORT: "0",
    BREEZEWAY_LOG_LEVEL: "silent",
    BREEZEWAY_ECOSYSTEMS: JSON.stringify(ecosystems),
    BREEZEWAY_DATABASE_URL: databaseUrl,
    NODE_COMPILE_CACHE: new URL("../../node_modules/.cache/breezeway", import.meta.url).pathname,
  };
  const linked = await linkAll(environment, google);
  const sql = new pg.Pool({ connectionString: databaseUrl, max: 2 });
  sql.on("error", () => undefined);
  const nodes = new Map<string, ChildService>();
  t.after(async () => {
    for (const node of nodes.values()) node.process.kill("SIGKILL");
    await Promise.all([...nodes.values()].map(({ ended }) => ended));
    await sql.end();
  });
  const idsOf = async () => (await sql.query("SELECT id FROM nodes")).rows.map(({ id }) => id as string);
  return {
    sql,
    linked,
    accounts: linked.map(({ account }) => account),
    async startNode() {
      const before = await idsOf();
      const node = await startChild("serve", environment);
      const id = (await idsOf()).find((one) => !before.includes(one));
      nodes.set(id!, node);
    },
    async killPuller() {
      const { rows } = await sql.query("SELECT owner FROM feed_leases");
      const puller = nodes.get(rows[0].owner)!;
      nodes.delete(rows[0].owner);
      puller.process.kill("SIGKILL");
      await puller.ended;
    },
  };
}

/** Links so many accounts; every tenth is linked by two users. */
async function linkAll(environment: Record<string, string>, google: Google): Promise<readonly Linked[]> {
  const parts = await openParts(readConfig({ flags: {}, environment }), startLogging("silent"));
  const { identity, store, federation } = parts;
  const linked: Linked[] = [];
  try {
    const { tenantId } = await identity.addTenant({ name: "Fleet" });
    const users = await store.transaction((tx) => addUsers(tx, tenantId, links));
    for (const [i, userId] of users.entries()) {
      const isShared = i % 10 === 1 && linked.length > 0;
      const account = isShared ? linked.at(-1)!.account : furnished(google, `person ${i}`);
      const { accessToken, refreshToken } = google.tokens.consent(account);
      await federation.link(userId, "google", { accessToken, refreshToken, expiresMs: Date.now() + 3_599_000 });
      linked.push({ userId, account });
    }
  } finally {
    await federation.stop();
    await parts.close();
  }
  return linked;
}

function furnished(google: Google, person: string): Account {
  const account = google.addAccount(person, { isFurnished: false });
  addThermostat(account, account.addRoom(account.addStructure("House"), "Hall"));
  return account;
}

function warm(account: Account, celsius: number): void {
  for (const { name } of account.devices.values()) {
    account.change(name, { [temperature]: { ambientTemperatureCelsius: celsius } });
  }
}

async function assertAllLive(sql: pg.Pool): Promise<void> {
  const { rows } = await sql.query(`SELECT l.state, l.reason FROM links l LEFT JOIN nodes n ON n.id = l.owner
    WHERE l.state <> 'live' OR n.id IS NULL OR n.beat_ms < extract(epoch FROM clock_timestamp()) * 1000 - 6000`);
  assert.deepEqual(rows, []);
}

/** Every link shows what its account has, and no message waits. */
async function assertMirrored(sql: pg.Pool, linked: readonly Linked[], google: Google): Promise<void> {
  assert.equal(google.subscription.backlog, 0);
  assert.equal((await sql.query("SELECT 1 FROM feed_messages")).rowCount, 0);
  const { rows } = await sql.query("SELECT user_id, state FROM things WHERE kind = 'thermostat'");
  const shown = new Map(rows.map(({ user_id, state }) => [user_id, decodeState(state).temperature?.celsius?.[0]]));
  const expected = linked.map(({ userId, account: { devices } }) => {
    const [device] = devices.values();
    return [userId, device!.traits[temperature]!.ambientTemperatureCelsius];
  });
  assert.deepEqual(
    [...linked].map(({ userId }) => [userId, shown.get(userId)]),
    expected,
  );
}
