import { closeSync, existsSync, openSync, rmSync, statSync } from "node:fs";
import { open, readFile, rename } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { backup, DatabaseSync } from "node:sqlite";
import { BadParameter, Conflict } from "../../model/errors.ts";
import { DiskFull, noSpace } from "../disk/disk-full.ts";
import { syncFolder } from "../keys/key-file.ts";
import { digestOf, digestOfBytes, writeContent, writeEnd, writeFile } from "./archive.ts";
import { BadBackup, databaseName, keyName, type Manifest, manifestName, manifestOf, readBackup } from "./manifest.ts";
import { factsOf } from "./stored-facts.ts";

export interface BackupRequest {
  /** The database of the running service. */
  readonly database: string;
  /** A file, or a folder in which it gets a name of its own. */
  readonly to: string;
  /** The key file, when it is to be in the backup. */
  readonly keyFile: string | undefined;
  readonly version: string;
  readonly nowMs: number;
  readonly tell: (done: number, total: number) => void;
  readonly signal: AbortSignal;
}

export interface TakenBackup {
  readonly file: string;
  readonly bytes: number;
  readonly manifest: Manifest;
}

/** 4 MB at a time: between two of them others get their turn. */
const pagesAtOnce = 1_024;

/**
 * Copies the store as it stands at this moment, while it is written on, into one file. Writers never wait: they go on
 * in the write-ahead log, which is only not emptied as long as the copy reads behind it. The file is whole and synced
 * before it gets its name, so what had that name before is there until then.
 */
export async function takeBackup(request: BackupRequest): Promise<TakenBackup> {
  const { to, keyFile, version, nowMs, tell } = request;
  const time = new Date(nowMs).toISOString();
  const file = await target(to, time);
  const [draft, copy] = [`${file}.draft`, `${file}.draft.db`];
  const discard = () => {
    for (const one of [draft, copy, `${copy}-journal`, `${copy}-wal`]) rmSync(one, { force: true });
  };
  try {
    discard();
    await copyDatabase(request, copy);
    const { schema, keyIds } = factsOf(copy);
    const database = { path: copy, bytes: statSync(copy).size, sha256: await digestOf(copy) };
    const keys = keyFile === undefined ? undefined : await readFile(keyFile);
    const manifest = manifestOf({
      version,
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
        tell(database.bytes + bytes, 2 * database.bytes);
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
    throw inWords(error, file);
  } finally {
    discard();
  }
}

/**
 * One look at the database that is held until all is copied: without it, each commit of the service would make the copy
 * begin anew.
 */
async function copyDatabase({ database, tell, signal }: BackupRequest, copy: string): Promise<void> {
  closeSync(openSync(copy, "wx", 0o600));
  const source = new DatabaseSync(database, { readOnly: true });
  try {
    source.exec("BEGIN");
    source.prepare("SELECT COUNT(*) FROM settings").get();
    await backup(source, copy, {
      rate: pagesAtOnce,
      progress({ totalPages, remainingPages }) {
        signal.throwIfAborted();
        tell(totalPages - remainingPages, 2 * totalPages);
      },
    });
  } finally {
    source.close();
  }
}

/** Where it goes. What is there already is replaced only if it is a backup: a slip must not cost somebody a file. */
async function target(to: string, time: string): Promise<string> {
  const given = resolve(to);
  const found = statSync(given, { throwIfNoEntry: false });
  if (found?.isDirectory()) return join(given, `breezeway-${time.replaceAll(":", "-")}.tar`);
  if (/[/\\]$/.test(to) || !existsSync(dirname(given))) {
    throw new BadParameter("to", `--to: there is no folder ${/[/\\]$/.test(to) ? given : dirname(given)}.`);
  }
  if (found) {
    const old = await open(given, "r");
    try {
      await readBackup(old, given);
    } catch (error) {
      if (!(error instanceof BadBackup)) throw error;
      throw new Conflict(`${given} is there already and is no Breezeway backup. Choose another name.`);
    } finally {
      await old.close();
    }
  }
  return given;
}

function inWords(error: unknown, file: string): unknown {
  const full = noSpace(error);
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
