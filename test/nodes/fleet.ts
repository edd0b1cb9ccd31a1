import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import pg from "pg";
import { addUsers } from "../../bench/users.ts";
import { type Simulator, startSimulator } from "../../simulator/simulator.ts";
import { readConfig } from "../../src/config/config.ts";
import type { DeviceId, UserId } from "../../src/model/ids.ts";
import { startLogging } from "../../src/runtime/process/log.ts";
import { openParts, type Parts } from "../../src/service/parts.ts";
import { attributeName, structureAttribute } from "../../src/virtual-device/attribute-names.ts";
import { blankValues } from "../../src/virtual-device/attribute-values.ts";
import { largeStrings } from "../../src/virtual-device/large-strings.ts";
import { decodeIndexMap } from "../../src/virtual-device/stored-index-map.ts";
import { type FaultProxy, startFaultProxy } from "../set-up/fault-proxy.ts";
import type { Cluster } from "../set-up/postgres.ts";
import { type ChildService, startChild } from "../stories/child-service.ts";
import { assertMirrors } from "../stories/expected-attributes.ts";
import { eventually } from "../stories/world.ts";
import { OpenedStreams } from "./opened-streams.ts";

/** One process of the service, with its own proxy to the database. */
export interface FleetNode {
  readonly name: string;
  /** The id under which it owns links. */
  readonly id: string;
  readonly service: ChildService;
  readonly proxy: FaultProxy;
}

export interface NodePlan {
  /** A free port by default. */
  readonly port?: number;
  /** The folder of another version's sources. */
  readonly tree?: string | undefined;
  /** By how much its clock is ahead of the database's; negative when it is behind. */
  readonly clockMs?: number | undefined;
}

export interface LinkedHome {
  readonly accountId: string;
  readonly userId: UserId;
  readonly deviceId: DeviceId;
}

export interface FleetPlan {
  readonly links: number;
  readonly nodes?: number;
  /** For each node. */
  readonly clocksMs?: readonly number[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Puts something between the nodes and the database; returns the address that the nodes use. */
  readonly reachThrough?: (databaseUrl: string) => Promise<string>;
}

const linkedAtOnce = 20;
const movedClock = new URL("../set-up/moved-clock.ts", import.meta.url);
const emergency = "o.structures[1].emergencies.smoke";
const away = structureAttribute(1, "away");

/**
 * Several nodes, each a process, on one database, with so many linked accounts in one simulator, each with an
 * alert on smoke. A trigger in the database records, for each mirrored value, its writer and the owner of the link.
 */
export async function startFleet(
  test: TestContext,
  cluster: Pick<Cluster, "createDatabase">,
  { links, nodes = 3, clocksMs = [], environment: special = {}, reachThrough = async (url) => url }: FleetPlan,
) {
  const folder = mkdtempSync(join(tmpdir(), "breezeway-nodes-"));
  const simulator = await startSimulator({ port: 0 });
  const databaseUrl = await cluster.createDatabase();
  const environment = {
    BREEZEWAY_DATA: folder,
    BREEZEWAY_PORT: "0",
    BREEZEWAY_LOG_LEVEL: "silent",
    // As the launcher does: many processes run the same sources.
    NODE_COMPILE_CACHE: new URL("../../node_modules/.cache/breezeway", import.meta.url).pathname,
    BREEZEWAY_ECOSYSTEMS: JSON.stringify({ nest: { protocol: "nest", apiUrl: simulator.url } }),
    ...special,
  };
  const preparing = { ...environment, BREEZEWAY_DATABASE_URL: databaseUrl };
  const parts = await openParts(readConfig({ flags: {}, environment: preparing }), startLogging("silent"));
  const homes = await linkHomes(preparing, simulator, links);
  const sql = new pg.Pool({ connectionString: databaseUrl, max: 2 });
  sql.on("error", () => undefined);
  await sql.query(witness);
  const streams = new OpenedStreams(simulator);
  const nodesUrl = await reachThrough(databaseUrl);
  const fleet = new Fleet({ simulator, streams, parts, sql, homes, databaseUrl, nodesUrl, environment });
  test.after(async () => {
    streams.stop();
    await fleet.stop();
    await parts.close();
    await sql.end();
    await simulator.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  await Promise.all(
    Array.from({ length: nodes }, (_, i) => fleet.startNode(`node ${i + 1}`, { clockMs: clocksMs[i] })),
  );
  return fleet;
}

interface FleetParts {
  readonly simulator: Simulator;
  readonly streams: OpenedStreams;
  readonly parts: Parts;
  readonly sql: pg.Pool;
  readonly homes: readonly LinkedHome[];
  readonly databaseUrl: string;
  /** The address of the database that the nodes use. */
  readonly nodesUrl: string;
  readonly environment: Record<string, string>;
}

export class Fleet {
  readonly simulator: Simulator;
  readonly streams: OpenedStreams;
  /** Parts on the same database that belong to no node, for the test's own reads. */
  readonly parts: Parts;
  readonly sql: pg.Pool;
  readonly homes: readonly LinkedHome[];
  readonly databaseUrl: string;
  readonly nodes: FleetNode[] = [];
  /** Nodes that were stopped or killed. */
  readonly gone: FleetNode[] = [];
  readonly #parts: FleetParts;
  readonly #burning = new Set<string>();
  readonly #away = new Set<string>();

  constructor(parts: FleetParts) {
    this.#parts = parts;
    this.simulator = parts.simulator;
    this.streams = parts.streams;
    this.parts = parts.parts;
    this.sql = parts.sql;
    this.homes = parts.homes;
    this.databaseUrl = parts.databaseUrl;
  }

  async startNode(name: string, { port = 0, tree, clockMs = 0 }: NodePlan = {}): Promise<FleetNode> {
    const { nodesUrl, environment, sql } = this.#parts;
    const proxy = await startFaultProxy(nodesUrl);
    const url = new URL(nodesUrl);
    url.port = new URL(proxy.url).port;
    // Identifies the writer in the database.
    url.searchParams.set("application_name", name);
    const its = {
      BREEZEWAY_DATABASE_URL: String(url),
      BREEZEWAY_PORT: String(port),
      CLOCK_MOVED_MS: String(clockMs),
    };
    const preload = clockMs === 0 ? undefined : movedClock;
    const service = await startChild("serve", { ...environment, ...its }, { tree, preload });
    const { rows } = await sql.query(idOfNode, [name]);
    const node = { name, id: rows[0].id as string, service, proxy };
    this.nodes.push(node);
    return node;
  }

  /** The accounts whose links a node owns now. */
  async accountsOf({ id }: FleetNode): Promise<readonly string[]> {
    const { rows } = await this.#parts.sql.query("SELECT device_id FROM links WHERE owner = $1", [id]);
    const owned = new Set(rows.map(({ device_id }) => device_id as number));
    return this.homes.filter(({ deviceId }) => owned.has(deviceId)).map(({ accountId }) => accountId);
  }

  /** The sum of all epochs: it rises each time that a link gets an owner. */
  async epochs(): Promise<number> {
    return (await this.#parts.sql.query("SELECT SUM(epoch)::int AS sum FROM links")).rows[0].sum;
  }

  /** Each account has one stream, and no live node has more links than its share. */
  async untilShared(signal: AbortSignal, living: readonly FleetNode[] = this.nodes): Promise<void> {
    const share = Math.ceil(this.homes.length / living.length);
    await eventuallySlowly(signal, async () => {
      const { rows } = await this.#parts.sql.query("SELECT owner, COUNT(*)::int AS count FROM links GROUP BY owner");
      assert.equal(rows.filter(({ owner }) => !living.some(({ id }) => id === owner)).length, 0, JSON.stringify(rows));
      for (const { count } of rows) assert.ok(count <= share, `${JSON.stringify(rows)}, ${share} each`);
      this.streams.assertOneEach(this.homes.map(({ accountId }) => accountId));
    });
  }

  /** Toggles home and away in these homes; with `smoke`, every second home has smoke from now on. */
  async change(accounts: readonly string[], { smoke = false } = {}): Promise<void> {
    for (const [i, accountId] of accounts.entries()) {
      const isAway = this.#away.delete(accountId);
      if (!isAway) this.#away.add(accountId);
      await this.simulator.playScene(accountId, { scene: isAway ? "come-home" : "leave" });
      if (!smoke || i % 2 > 0) continue;
      await this.simulator.playScene(accountId, { scene: "smoke" });
      this.#burning.add(accountId);
    }
  }

  /** The store has the present home or away of all homes, which shows that the last change has arrived. */
  async untilReceived(signal: AbortSignal, accounts: readonly string[]): Promise<void> {
    const wanted = new Set(accounts);
    await eventuallySlowly(signal, async () => {
      const behind = (await this.behind()).filter((accountId) => wanted.has(accountId));
      assert.equal(behind.length, 0, `${behind.length} accounts are behind`);
    });
  }

  /** The accounts whose present home or away the store does not have. */
  async behind(): Promise<readonly string[]> {
    const { rows } = await this.#parts.sql.query("SELECT device_id, value FROM attributes WHERE number = $1", [away]);
    const values = new Map(rows.map(({ device_id, value }) => [device_id as DeviceId, value as string]));
    return this.homes
      .filter(({ accountId, deviceId }) => values.get(deviceId) !== this.whereabouts(accountId))
      .map(({ accountId }) => accountId);
  }

  /** Home or away at the ecosystem. */
  whereabouts(accountId: string): string {
    const { structures } = this.simulator.document(accountId) as { structures: Record<string, { away: string }> };
    return Object.values(structures)[0]!.away;
  }

  /** The mirrored values equal the simulator's documents. */
  async untilMirrored(signal: AbortSignal, accounts?: readonly string[]): Promise<void> {
    const wanted = accounts && new Set(accounts);
    for (const home of this.homes) {
      if (!wanted || wanted.has(home.accountId)) await eventuallySlowly(signal, () => this.#assertMirrored(home));
    }
  }

  /** The number of mirrored writes by nodes that did not own the link, and of all mirrored writes. */
  async witnessed(): Promise<{ readonly foreign: number; readonly writes: number }> {
    const { rows } = await this.#parts.sql.query<{ writer: string; owner: string; count: number }>(
      "SELECT writer, owner, COUNT(*)::int AS count FROM witnessed GROUP BY writer, owner",
    );
    const idOf = new Map([...this.nodes, ...this.gone].map(({ name, id }) => [name, id]));
    const foreign = rows.filter(({ writer, owner }) => idOf.get(writer) !== owner);
    const sum = (some: typeof rows) => some.reduce((total, { count }) => total + count, 0);
    return { foreign: sum(foreign), writes: sum(rows) };
  }

  /** The alert of each home with smoke has fired once, and no other alert has fired. */
  async assertFiredOnce(): Promise<void> {
    const { rows } = await this.#parts.sql.query(
      "SELECT device_id, COUNT(*)::int AS count FROM log WHERE kind = 'alert' GROUP BY device_id",
    );
    const fired = new Map(rows.map(({ device_id, count }) => [device_id as number, count as number]));
    const wrong = this.homes.filter(({ accountId, deviceId }) => {
      return (fired.get(deviceId) ?? 0) !== (this.#burning.has(accountId) ? 1 : 0);
    });
    assert.deepEqual(
      wrong.map(({ deviceId }) => `device ${deviceId} fired ${fired.get(deviceId) ?? 0} times`),
      [],
    );
    assert.ok(fired.size > 0);
  }

  async stop(): Promise<void> {
    for (const { service, proxy } of [...this.nodes, ...this.gone]) {
      service.process.kill("SIGKILL");
      await service.ended;
      await proxy.stop();
    }
  }

  async #assertMirrored({ accountId, userId, deviceId }: LinkedHome): Promise<void> {
    const { rows, map } = await this.parts.store.read(async (tx) => ({
      rows: await tx.attributes.all(userId, deviceId),
      map: decodeIndexMap((await tx.links.ofDevice(userId, deviceId))!.indexMap),
    }));
    const values = [...blankValues];
    for (const { key, value } of rows) values[key as number] = value;
    const attributes = new Map(
      rows.flatMap(({ key, value, timeMs }) =>
        value === null ? [] : [[attributeName(key as number), { value, updTime: timeMs }] as const],
      ),
    );
    const shown = { presenceInfo: "", typeName: "", attributes };
    assertMirrors(shown, this.simulator.document(accountId), largeStrings(map, values));
  }
}

/** Repeats the check until it succeeds or the test's signal aborts, seldom enough not to load the machine. */
export async function eventuallySlowly(ofTest: AbortSignal, check: () => Promise<void> | void): Promise<void> {
  await eventually(ofTest, check, { firstPauseMs: 100 });
}

/** Links the homes with a node that has ended when the others start. */
async function linkHomes(
  environment: Record<string, string>,
  simulator: Simulator,
  count: number,
): Promise<readonly LinkedHome[]> {
  const parts = await openParts(readConfig({ flags: {}, environment }), startLogging("silent"));
  const { identity, store, federation, alerts } = parts;
  try {
    const { tenantId } = await identity.addTenant({ name: "Fleet" });
    const users = await store.transaction((tx) => addUsers(tx, tenantId, count));
    const homes: LinkedHome[] = [];
    const waiting = users.values();
    const linkSome = async () => {
      for (const userId of waiting) {
        const structures = [{ thermostats: 1, alarms: 1 }];
        const { accountId, token } = simulator.addAccount({ seed: userId, structures });
        const deviceId = await federation.link(userId, "nest", token);
        await alerts.add({ kind: "user", userId }, { ...onSmoke, deviceId });
        homes.push({ accountId, userId, deviceId });
      }
    };
    await Promise.all(Array.from({ length: linkedAtOnce }, linkSome));
    return homes;
  } finally {
    await federation.stop();
    await parts.close();
  }
}

const onSmoke = {
  attributeName: emergency,
  action: "note",
  operation: "equals",
  threshold: "",
  stringThreshold: "true",
  address: "",
  message: "",
  autoDisarm: true,
  autoDelete: false,
  autoDisable: false,
  isEnabled: true,
  targets: [],
};

const witness = `
  CREATE TABLE witnessed (writer TEXT NOT NULL, owner TEXT);
  CREATE FUNCTION witness() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO witnessed SELECT current_setting('application_name'), owner FROM links WHERE device_id = NEW.device_id;
      RETURN NULL;
    END $$;
  CREATE TRIGGER witness AFTER INSERT OR UPDATE ON attributes FOR EACH ROW EXECUTE FUNCTION witness();`;

const idOfNode = `SELECT n.id FROM nodes n
  JOIN pg_locks l ON l.locktype = 'advisory' AND (l.classid::bigint << 32) | l.objid::bigint = hashtextextended(n.id, 0)
  JOIN pg_stat_activity a ON a.pid = l.pid AND a.application_name = $1`;
