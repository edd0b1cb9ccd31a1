import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { BreezewayError, Conflict, NotFound } from "../../model/errors.ts";
import { factsOf } from "../backup/database-copy.ts";
import { databaseName } from "../backup/manifest.ts";
import { restoreBackup } from "../backup/restore.ts";
import { type DataFolder, dataFolder } from "../disk/data-folder.ts";
import { readKeyFile } from "../keys/key-file.ts";
import { keyIdOf } from "../keys/sealing.ts";
import { WrongKey } from "../keys/used-keys.ts";
import { NewerSchema, schemaVersion } from "../migrations.ts";
import { openSqlite } from "../sqlite/store.ts";

/** The store that is copied. It is opened read-only, and locked until it is closed. */
export interface Source {
  readonly database: DatabaseSync;
  close(): void;
}

export interface SourceRequest {
  /** The folder of a stopped service. */
  readonly folder: DataFolder;
  /** A backup, which is read instead of the folder. */
  readonly backup: string | undefined;
  readonly keyFile: string;
  readonly nowMs: () => number;
}

export async function openSource(request: SourceRequest): Promise<Source> {
  return request.backup === undefined ? openFolder(request) : openBackup(request.backup, request);
}

/** Opens the folder and locks it, so that no service can start on it. Throws FolderInUse when a service runs there. */
function openFolder({ folder, keyFile }: SourceRequest): Source {
  const file = join(folder.path, databaseName);
  if (!existsSync(file)) throw new NotFound(`There is no SQLite store in ${folder.path}.`);
  const unlock = folder.lock();
  // SQLite creates these files even for a reader. If they existed before, after a kill, they hold committed data.
  const temporaryFiles = ["-shm", "-wal"].map((suffix) => `${file}${suffix}`).filter((path) => !existsSync(path));
  const database = new DatabaseSync(file, { readOnly: true });
  const close = () => {
    database.close();
    for (const path of temporaryFiles) rmSync(path, { force: true });
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

/** Restores the backup to a temporary folder, with all checks of `restore`, and migrates an older schema there. */
async function openBackup(backup: string, { keyFile, nowMs }: SourceRequest): Promise<Source> {
  const temporaryFolder = mkdtempSync(join(tmpdir(), "breezeway-migrate-"));
  const folder = dataFolder(join(temporaryFolder, "restored"));
  try {
    await restoreBackup({ from: backup, folder, keyFile });
    await (await openSqlite({ folder: folder.path, nowMs })).close();
    const { database, close } = openFolder({ folder, backup: undefined, keyFile, nowMs });
    return {
      database,
      close() {
        close();
        rmSync(temporaryFolder, { recursive: true, force: true });
      },
    };
  } catch (error) {
    rmSync(temporaryFolder, { recursive: true, force: true });
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

/** Checks the key file before the copy: without the right keys, no node could open the copied links. */
function refuseOtherKey(database: DatabaseSync, keyFile: string): void {
  const { keyIds } = factsOf(database);
  if (keyIds.length === 0) return;
  if (!existsSync(keyFile)) {
    throw new MissingKey(
      `There is no key file ${keyFile}, and the tokens in this store are sealed with key ${keyIds.join(", ")}. Name the file with --key-file.`,
    );
  }
  const inFile = readKeyFile(keyFile).map(keyIdOf);
  if (!keyIds.every((keyId) => inFile.includes(keyId))) throw new WrongKey(keyFile, inFile, keyIds);
}

class MissingKey extends BreezewayError {
  readonly code = "wrong_key";
}
