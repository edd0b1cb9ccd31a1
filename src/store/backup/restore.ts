import { existsSync, readdirSync, rmSync } from "node:fs";
import { type FileHandle, open, rename } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { BreezewayError, Conflict, NotFound } from "../../model/errors.ts";
import type { DataFolder } from "../disk/data-folder.ts";
import { DiskFull, diskFullReason } from "../disk/disk-full.ts";
import { createKeyFile, keysOf, readKeyFile, syncFolder } from "../keys/key-file.ts";
import { keyIdOf } from "../keys/sealing.ts";
import { NewerSchema, schemaVersion } from "../migrations.ts";
import { type ArchivedFile, digestOfBytes, extractFile, readContent } from "./archive.ts";
import { damageOf, factsOf, markRestored } from "./database-copy.ts";
import { BadBackup, databaseName, keyName, type Manifest, type OpenedBackup, readBackup } from "./manifest.ts";

export interface RestoreRequest {
  readonly from: string;
  readonly folder: DataFolder;
  /** The path of the key file. It is written when it is missing and the backup holds the keys. */
  readonly keyFile: string;
}

export interface RestoredBackup {
  readonly manifest: Manifest;
  readonly keyFile: string;
  readonly isKeyFromBackup: boolean;
}

/** Files that the target folder may hold: a key file that the operator put there, and leftovers of a failed restore. */
const allowedFiles = /^(breezeway\.lock|breezeway\.key|lost\+found|.*\.draft(-\w+)?)$/;

/** Restores a backup to a folder, completely or not at all: the database gets its final name in the last step. */
export async function restoreBackup(request: RestoreRequest): Promise<RestoredBackup> {
  const path = resolve(request.from);
  const { folder } = request;
  const archive = await open(path, "r").catch((error) => {
    throw error.code === "ENOENT" ? new NotFound(`There is no file ${path}.`) : error;
  });
  try {
    const backup = await readBackup(archive, path);
    if (backup.manifest.schema > schemaVersion) throw new NewerSchema(backup.manifest.schema);
    const keys = await keysFor(request, backup, archive, path);
    const isNew = !existsSync(folder.path);
    refuseOtherFiles(folder.path);
    // No service can start on the folder until the restore is done.
    const unlock = folder.lock();
    const draft = join(folder.path, `${databaseName}.draft`);
    try {
      await extractDatabase(archive, backup, path, draft);
      if (keys.fromBackup) createKeyFile(request.keyFile, keys.fromBackup);
      await rename(draft, join(folder.path, databaseName));
      syncFolder(folder.path);
      syncFolder(dirname(folder.path));
      unlock();
    } catch (error) {
      for (const suffix of ["", "-wal", "-journal"]) rmSync(`${draft}${suffix}`, { force: true });
      unlock();
      if (isNew) rmSync(folder.path, { recursive: true, force: true });
      throw explainFullDisk(error, folder.path, backup);
    }
    return { manifest: backup.manifest, keyFile: request.keyFile, isKeyFromBackup: keys.fromBackup !== undefined };
  } finally {
    await archive.close();
  }
}

function refuseOtherFiles(path: string): void {
  if (!existsSync(path)) return;
  const other = readdirSync(path).find((name) => !allowedFiles.test(name));
  if (other !== undefined) {
    throw new Conflict(`${path} is not empty (it holds ${other}). Restore to a new folder with --data.`);
  }
}

/** Finds the needed keys before anything is written: a store that is restored without its keys could not start. */
async function keysFor(
  { keyFile }: RestoreRequest,
  { manifest, files }: OpenedBackup,
  archive: FileHandle,
  path: string,
): Promise<{ readonly fromBackup: readonly Uint8Array[] | undefined }> {
  const needed = manifest.keyIds;
  const archived = files.get(keyName);
  if (existsSync(keyFile)) {
    const inFile = readKeyFile(keyFile).map(keyIdOf);
    if (needed.every((keyId) => inFile.includes(keyId))) return { fromBackup: undefined };
    throw new MissingKey(
      `${keyFile} holds key ${inFile.join(", ")}, but ${path} was sealed with ${needed.join(", ")}. Name the right file with --key-file.`,
    );
  }
  if (!archived) {
    throw new MissingKey(
      `${path} was sealed with key ${needed.join(", ")}, which is not in it. Put the key file at ${keyFile}, or name it with --key-file.`,
    );
  }
  const text = await readContent(archive, archived);
  if (digestOfBytes(text) !== manifest.files[keyName]?.sha256) throw damaged(path, keyName);
  const keys = keysOf(text.toString("utf8"), keyName);
  if (!needed.every((keyId) => keys.some((key) => keyIdOf(key) === keyId))) throw damaged(path, keyName);
  return { fromBackup: keys };
}

async function extractDatabase(
  archive: FileHandle,
  { manifest, files }: OpenedBackup,
  path: string,
  draft: string,
): Promise<void> {
  const archived = files.get(databaseName);
  const described = manifest.files[databaseName];
  if (!archived || !described || archived.bytes !== described.bytes) throw damaged(path, databaseName);
  if ((await extract(archive, archived, draft)) !== described.sha256) throw damaged(path, databaseName);
  const damage = damageOf(draft);
  if (damage) throw damaged(path, databaseName, damage);
  const { schema, keyIds } = factsOf(draft);
  if (schema !== manifest.schema || keyIds.join() !== manifest.keyIds.join()) throw damaged(path, databaseName);
  markRestored(draft);
  const restored = await open(draft, "r+");
  await restored.sync().finally(() => restored.close());
}

async function extract(archive: FileHandle, archived: ArchivedFile, draft: string): Promise<string> {
  rmSync(draft, { force: true });
  const to = await open(draft, "wx", 0o600);
  try {
    return await extractFile(archive, archived, to);
  } finally {
    await to.close();
  }
}

/** Turns an error about missing disk space into a sentence for the operator; returns other errors unchanged. */
function explainFullDisk(error: unknown, folder: string, { manifest }: OpenedBackup): unknown {
  const full = diskFullReason(error);
  if (!full) return error;
  const needed = manifest.files[databaseName]?.bytes ?? 0;
  return new DiskFull(
    `The backup could not be restored to ${folder}: ${full}. It needs ${needed} bytes there, and some more to run. Nothing was restored; the backup is unchanged.`,
    { cause: error },
  );
}

function damaged(path: string, name: string, why = "its content differs from its digest"): BadBackup {
  return new BadBackup(`${path} is damaged: ${name} in it can't be trusted (${why}). Nothing was restored.`);
}

/** A key that the backup needs is neither in the key file nor in the backup. */
class MissingKey extends BreezewayError {
  readonly code = "wrong_key";
}
