import pg from "pg";
import { openPostgres } from "../../../src/store/postgres/store.ts";
import type { OpenStore } from "../../../src/store/seam.ts";
import type { InstalledPostgres } from "../../set-up/installed-postgres.ts";
import { type Cluster, type ClusterOptions, sharedCluster, startCluster } from "../../set-up/postgres.ts";
import { canMount, smallDisk } from "../../set-up/small-disk.ts";
import type { Disk, StoreHarness, TestDatabase } from "./harness.ts";

export const postgresHarness: StoreHarness = harnessOn(sharedCluster, {});

/** The store on a server of another installation, which all tests of this harness share. */
export function harnessOnInstallation(installation: InstalledPostgres): StoreHarness {
  let cluster: Promise<Cluster> | undefined;
  const shared = () => (cluster ??= startCluster({ fsync: false, installation }));
  return harnessOn(shared, { installation });
}

function harnessOn(shared: () => Promise<Cluster>, options: ClusterOptions): StoreHarness {
  return {
    kind: "postgres",
    async fresh({ onSmallDisk = false, isEmpty = false } = {}) {
      if (!onSmallDisk) return databaseAt(await (await shared()).createDatabase({ hasSchema: !isEmpty }));
      if (!canMount()) return databaseAt(await (await shared()).createDatabase(), refusal);
      // A server of its own, since its disk is removed.
      const [cluster, mount] = await Promise.all([startCluster(options), smallDisk(24)]);
      const disk = async () => ({ fill: async () => mount.fill(), empty: async () => mount.empty() });
      const database = await databaseAt(await cluster.createDatabase({ onFolder: mount.path }), disk);
      const leave = async () => {
        await cluster.stop();
        await mount.unmount();
      };
      return { ...database, remove: () => database.remove().finally(leave) };
    },
  };
}

/** The database's clock plus an offset in a table, so that a test can move it. */
const movableClock = `(SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint + skew_ms FROM clock)`;

async function databaseAt(
  url: string,
  diskOf: (connection: pg.Client) => Promise<Disk> = noDisk,
): Promise<TestDatabase> {
  const opened: OpenStore[] = [];
  const connection = new pg.Client({ connectionString: url });
  // A server that is stopped first also closes this connection.
  connection.on("error", () => undefined);
  await connection.connect();
  let lastQuery: Promise<unknown> = Promise.resolve();
  await connection.query("CREATE TABLE clock (skew_ms BIGINT NOT NULL)");
  await connection.query("INSERT INTO clock VALUES (0)");
  return {
    address: url,
    disk: await diskOf(connection),
    // One connection: one statement at a time.
    async sql(text) {
      const query = lastQuery.then(() => connection.query(text));
      lastQuery = query.catch(() => undefined);
      return (await query).rows;
    },
    async open() {
      const store = await openPostgres({ url, clock: movableClock });
      opened.push(store);
      return store;
    },
    async jumpClock(byMs) {
      await connection.query(`UPDATE clock SET skew_ms = skew_ms + ${byMs}`);
    },
    async poisonCommits() {
      await connection.query(`CREATE FUNCTION poisoned() RETURNS trigger LANGUAGE plpgsql AS
                        $$ BEGIN RAISE EXCEPTION 'poisoned'; END $$`);
      await connection.query(`CREATE CONSTRAINT TRIGGER poisoned AFTER INSERT ON settings DEFERRABLE INITIALLY DEFERRED
                        FOR EACH ROW WHEN (NEW.name = 'poison') EXECUTE FUNCTION poisoned()`);
    },
    async remove() {
      for (const store of opened) await store.close();
      await connection.end();
    },
  };
}

async function noDisk(): Promise<Disk> {
  const refuse = () => Promise.reject(new Error("this database is not on a small disk"));
  return { fill: refuse, empty: refuse };
}

/** Without the right to mount a disk: a trigger refuses writes as a full disk would. */
async function refusal(connection: pg.Client): Promise<Disk> {
  await connection.query(`CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS
                    $$ BEGIN RAISE EXCEPTION 'No space left on device' USING ERRCODE = 'disk_full'; END $$`);
  return {
    async fill() {
      await connection.query("CREATE TRIGGER full_disk BEFORE INSERT ON attributes EXECUTE FUNCTION full_disk()");
    },
    async empty() {
      await connection.query("DROP TRIGGER full_disk ON attributes");
    },
  };
}
