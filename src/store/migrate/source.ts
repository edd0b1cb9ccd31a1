import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { BreezewayError, Conflict, NotFound } from "../../model/errors.ts";
import { databaseName } from "../backup/manifest.ts";
import { restoreBackup } from "../backup/restore.ts";
import { factsOf } from "../backup/stored-facts.ts";
import { type DataFolder, dataFolder } from "../disk/data-folder.ts";
import { readKeyFile } from "../keys/key-file.ts";
import { keyIdOf } from "../keys/sealing.ts";
import { WrongKey } from "../keys/used-keys.ts";
import { NewerSchema, schemaVersion } from "../migrations.ts";
import { openSqlite } from "../sqlite/store.ts";

/** The store that is moved: looked at, never changed, and nobody's until it is closed. */
export interface Source {
  readonly database: DatabaseSync;
  close(): void;
}

export interface SourceRequest {
  /** The folder of a stopped service. */
  readonly folder: DataFolder;
  /** A backup in its place. */
  readonly backup: string | undefined;
  readonly keyFile: string;
  readonly nowMs: () => number;
}

export async function openSource(request: SourceRequest): Promise<Source> {
  return request.backup === undefined ? openFolder(request) : openBackup(request.backup, request);
}

/** Locked, so that no service begins to work on it meanwhile; one that runs already has the lock. */
function openFolder({ folder, keyFile }: SourceRequest): Source {
  const file = join(folder.path, databaseName);
  if (!existsSync(file)) throw new NotFound(`There is no SQLite store in ${folder.path}.`);
  const unlock = folder.lock();
  // What looking alone leaves beside the file; after a kill they were there before, and hold what is not in it yet.
  const passing = ["-shm", "-wal"].map((end) => `${file}${end}`).filter((one) => !existsSync(one));
  const database = new DatabaseSync(file, { readOnly: true });
  const close = () => {
    database.close();
    for (const one of passing) rmSync(one, { force: true });
    unlock();
  };
  try {
    database.exec("BEGIN");
    refuseOtherSchema(database, folder.path);
    refuseOtherKey(database, keyFile);
  } catch (error) {
    close();
    throw error;
  }
  return { database, close };
}

/** Restored beside, as `restore` does it, with all its checks; an older schema is brought to this one there. */
async function openBackup(backup: string, { keyFile, nowMs }: SourceRequest): Promise<Source> {
  const beside = mkdtempSync(join(tmpdir(), "breezeway-migrate-"));
  const folder = dataFolder(join(beside, "restored"));
  try {
    await restoreBackup({ from: backup, folder, keyFile });
    await (await openSqlite({ folder: folder.path, nowMs })).close();
    const { database, close } = openFolder({ folder, backup: undefined, keyFile, nowMs });
    return {
      database,
      close() {
        close();
        rmSync(beside, { recursive: true, force: true });
      },
    };
  } catch (error) {
    rmSync(beside, { recursive: true, force: true });
    throw error;
  }
}

function refuseOtherSchema(database: DatabaseSync, path: string): void {
  const { schema } = factsOf(database);
  if (schema > schemaVersion) throw new NewerSchema(schema);
  if (schema < schemaVersion) {
    throw new Conflict(
      `The store in ${path} has schema version ${schema}, this Breezeway ${schemaVersion}. Start this version on it once and stop it again, or give a backup of it with --from.`,
    );
  }
}

/** Without it PostgreSQL would hold links that nobody can open: better found now. */
function refuseOtherKey(database: DatabaseSync, keyFile: string): void {
  const { keyIds } = factsOf(database);
  if (keyIds.length === 0) return;
  if (!existsSync(keyFile)) {
    throw new MissingKey(
      `There is no key file ${keyFile}, and the tokens in this store are sealed with key ${keyIds.join(", ")}. Name the file with --key-file.`,
    );
  }
  const held = readKeyFile(keyFile).map(keyIdOf);
  if (!keyIds.every((keyId) => held.includes(keyId))) throw new WrongKey(keyFile, held, keyIds);
}

class MissingKey extends BreezewayError {
  readonly code = "wrong_key";
}
