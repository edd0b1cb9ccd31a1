import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { dataFolder } from "../../../src/store/disk/data-folder.ts";
import type { OpenStore } from "../../../src/store/seam.ts";
import { openSqlite } from "../../../src/store/sqlite/store.ts";
import { canMount, smallDisk } from "../../set-up/small-disk.ts";
import { newDataFolder } from "../../set-up/sqlite-template.ts";
import type { Disk, StoreHarness, TestDatabase } from "./harness.ts";

export const sqliteHarness: StoreHarness = {
  kind: "sqlite",
  async fresh({ onSmallDisk = false, isEmpty = false } = {}) {
    if (isEmpty) return databaseIn(mkdtempSync(join(tmpdir(), "breezeway-sqlite-")));
    if (!onSmallDisk) return databaseIn(await newDataFolder("breezeway-sqlite-"));
    if (!canMount()) return databaseIn(await newDataFolder("breezeway-sqlite-"), pageLimit());
    const mount = await smallDisk(8);
    const disk = { fill: async () => mount.fill(), empty: async () => mount.empty() };
    const database = databaseIn(join(mount.path, "data"), disk);
    return { ...database, remove: () => database.remove().finally(() => mount.unmount()) };
  },
};

function databaseIn(folder: string, disk: Disk = noDisk): TestDatabase {
  const file = join(folder, "breezeway.db");
  const opened: OpenStore[] = [];
  let skewMs = 0;
  const sql = async <Row>(text: string): Promise<Row[]> => {
    const connection = new DatabaseSync(file);
    try {
      return connection
        .prepare(text)
        .all()
        .map((row) => ({ ...row })) as Row[];
    } finally {
      connection.close();
    }
  };
  return {
    address: folder,
    disk,
    sql,
    async open() {
      const store = await openLocked(folder, () => Date.now() + skewMs);
      opened.push(store);
      return store;
    },
    async jumpClock(byMs) {
      skewMs += byMs;
    },
    async poisonCommits() {
      // A deferred constraint is checked at COMMIT only.
      await sql("CREATE TABLE poison (id INTEGER REFERENCES tenants (id) DEFERRABLE INITIALLY DEFERRED)");
      await sql(`CREATE TRIGGER poisoned AFTER INSERT ON settings WHEN NEW.name = 'poison'
                 BEGIN INSERT INTO poison (id) VALUES (-1); END`);
    },
    async remove() {
      for (const store of opened) await store.close();
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

/** Opens the store as the service does: it holds the folder's lock until the store is closed. */
export async function openLocked(folder: string, nowMs: () => number): Promise<OpenStore> {
  const unlock = dataFolder(folder).lock();
  try {
    const store = await openSqlite({ folder, nowMs });
    const close = store.close.bind(store);
    let isLocked = true;
    store.close = async () => {
      await close();
      if (isLocked) unlock();
      isLocked = false;
    };
    return store;
  } catch (error) {
    unlock();
    throw error;
  }
}

const noDisk: Disk = {
  fill: () => Promise.reject(new Error("this database is not on a small disk")),
  empty: () => Promise.reject(new Error("this database is not on a small disk")),
};

/** Without the right to mount a disk: a pragma limits the size of the store's file. */
function pageLimit(): Disk {
  const connections = new Set<DatabaseSync>();
  const exec = DatabaseSync.prototype.exec;
  // The store does not expose its connection: it is intercepted while the store configures it.
  DatabaseSync.prototype.exec = function (this: DatabaseSync, text: string) {
    if (text === "PRAGMA synchronous = FULL") connections.add(this);
    return exec.call(this, text);
  };
  const limit = async (pragma: (pages: number) => number) => {
    DatabaseSync.prototype.exec = exec;
    for (const connection of [...connections].filter(({ isOpen }) => isOpen)) {
      const { page_count } = connection.prepare("PRAGMA page_count").get() as { page_count: number };
      connection.exec(`PRAGMA max_page_count = ${pragma(page_count)}`);
    }
  };
  return { fill: () => limit((pages) => pages), empty: () => limit(() => 2 ** 31 - 2) };
}
