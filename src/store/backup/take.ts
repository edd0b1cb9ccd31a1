import { closeSync, existsSync, openSync, rmSync, statSync } from "node:fs";
import { open, readFile, rename } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { backup, DatabaseSync } from "node:sqlite";
import type { Build } from "../../model/build.ts";
import { BadParameter, Conflict } from "../../model/errors.ts";
import { DiskFull, diskFullReason } from "../disk/disk-full.ts";
import { syncFolder } from "../keys/key-file.ts";
import { digestOf, digestOfBytes, writeContent, writeEnd, writeFile } from "./archive.ts";
import { factsOf } from "./database-copy.ts";
import { BadBackup, databaseName, keyName, type Manifest, manifestName, manifestOf, readBackup } from "./manifest.ts";

export interface BackupRequest {
  /** The database of the running service. */
  readonly database: string;
  /** A file, or a folder in which the backup gets a name with its time. */
  readonly to: string;
  /** Set when the backup shall include the key file. */
  readonly keyFile: string | undefined;
  readonly build: Build;
  readonly nowMs: number;
  readonly onProgress: (done: number, total: number) => void;
  readonly signal: AbortSignal;
}

export interface TakenBackup {
  readonly file: string;
  readonly bytes: number;
  readonly manifest: Manifest;
}

/** 4 MB in one step. Requests are served between two steps. */
const pagesAtOnce = 1_024;

/**
 * Copies a snapshot of the running store into one file. Writers never wait: they append to the write-ahead log, which
 * can't be truncated until the copy is done. The file is complete and synced before it gets its final name, so an older
 * backup of the same name exists until then.
 */
export async function takeBackup(request: BackupRequest): Promise<TakenBackup> {
  const { to, keyFile, build, nowMs, onProgress } = request;
  const time = new Date(nowMs).toISOString();
  const file = await targetFile(to, time);
  const [draft, copy] = [`${file}.draft`, `${file}.draft.db`];
  const discard = () => {
    for (const file of [draft, copy, `${copy}-journal`, `${copy}-wal`]) rmSync(file, { force: true });
  };
  try {
    discard();
    await copyDatabase(request, copy);
    const { schema, keyIds } = factsOf(copy);
    const database = { path: copy, bytes: statSync(copy).size, sha256: await digestOf(copy, request.signal) };
    const keys = keyFile === undefined ? undefined : await readFile(keyFile);
    const manifest = manifestOf({
      version: build.version,
      commit: build.commit,
      schema,
      time,
      keyIds,
      files: {
        [databaseName]: { bytes: database.bytes, sha256: database.sha256 },
        ...(keys && { [keyName]: { bytes: keys.length, sha256: digestOfBytes(keys) } }),
      },
    });
    const archive = await open(draft, "wx", 0o600);
    try {
      await writeContent(archive, manifestName, Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`), nowMs);
      if (keys) await writeContent(archive, keyName, keys, nowMs);
      await writeFile(archive, databaseName, database, nowMs, (bytes) => {
        request.signal.throwIfAborted();
        onProgress(database.bytes + bytes, 2 * database.bytes);
      });
      await writeEnd(archive);
      await archive.sync();
    } finally {
      await archive.close();
    }
    await rename(draft, file);
    syncFolder(dirname(file));
    return { file, bytes: statSync(file).size, manifest };
  } catch (error) {
    throw explainFailure(error, file);
  } finally {
    discard();
  }
}

/**
 * Copies the database inside one read transaction. Without it, SQLite would restart the copy after each commit of the
 * service.
 */
async function copyDatabase({ database, onProgress, signal }: BackupRequest, copy: string): Promise<void> {
  closeSync(openSync(copy, "wx", 0o600));
  const source = new DatabaseSync(database, { readOnly: true });
  try {
    source.exec("BEGIN");
    source.prepare("SELECT COUNT(*) FROM settings").get();
    await backup(source, copy, {
      rate: pagesAtOnce,
      progress({ totalPages, remainingPages }) {
        signal.throwIfAborted();
        onProgress(totalPages - remainingPages, 2 * totalPages);
      },
    });
  } finally {
    source.close();
  }
}

/** The path of the backup. An existing file is replaced only if it is a backup: a typing error must not destroy a file. */
async function targetFile(to: string, time: string): Promise<string> {
  const path = resolve(to);
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory()) return join(path, `breezeway-${time.replaceAll(":", "-")}.tar`);
  if (/[/\\]$/.test(to) || !existsSync(dirname(path))) {
    throw new BadParameter("to", `--to: there is no folder ${/[/\\]$/.test(to) ? path : dirname(path)}.`);
  }
  if (found) {
    const old = await open(path, "r");
    try {
      await readBackup(old, path);
    } catch (error) {
      if (!(error instanceof BadBackup)) throw error;
      throw new Conflict(`${path} already exists and is not a Breezeway backup. Choose another name.`);
    } finally {
      await old.close();
    }
  }
  return path;
}

function explainFailure(error: unknown, file: string): unknown {
  const full = diskFullReason(error);
  if (full) {
    const before = existsSync(file) ? ` ${file} is still the backup from before.` : "";
    return new DiskFull(
      `The backup could not be written to ${dirname(file)}: ${full}.${before} A backup needs about twice the size of the store while it is taken. Free space there, or choose another folder with --to.`,
      { cause: error },
    );
  }
  switch ((error as NodeJS.ErrnoException).code) {
    case "EACCES":
    case "EPERM":
    case "EROFS":
      return new BadParameter("to", `--to: the service may not write ${file}.`);
    default:
      return error;
  }
}
