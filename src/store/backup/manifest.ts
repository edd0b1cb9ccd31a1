import type { FileHandle } from "node:fs/promises";
import { BreezewayError } from "../../model/errors.ts";
import { type ArchivedFile, InvalidArchive, listArchive, readContent } from "./archive.ts";

/** The first file of a backup: its contents, the version that made it, and a digest of each file. */
export interface Manifest {
  readonly format: typeof format;
  readonly formatVersion: 1;
  /** The version of Breezeway that made the backup. */
  readonly version: string;
  /** Its commit; version 0.1.0 left it out. */
  readonly commit?: string;
  readonly schema: number;
  readonly time: string;
  /** The ids of the keys that are needed to open its sealed tokens. */
  readonly keyIds: readonly string[];
  readonly files: Readonly<Record<string, { readonly bytes: number; readonly sha256: string }>>;
}

const format = "breezeway backup";
export const manifestName = "manifest.json";
export const databaseName = "breezeway.db";
export const keyName = "breezeway.key";
const longestManifestBytes = 65_536;

export function manifestOf(facts: Omit<Manifest, "format" | "formatVersion">): Manifest {
  return { format, formatVersion: 1, ...facts };
}

/** A backup whose manifest was read. Its files are not yet compared with their digests. */
export interface OpenedBackup {
  readonly manifest: Manifest;
  readonly files: ReadonlyMap<string, ArchivedFile>;
}

export async function readBackup(from: FileHandle, path: string): Promise<OpenedBackup> {
  try {
    const files = await listArchive(from);
    const described = files.get(manifestName);
    if (!described || described.bytes > longestManifestBytes) throw new InvalidArchive();
    const manifest = JSON.parse((await readContent(from, described)).toString("utf8")) as Manifest;
    if (manifest.format !== format) throw new InvalidArchive();
    if (manifest.formatVersion !== 1) {
      throw new BadBackup(`${path} was made by a later Breezeway (${manifest.version}). Restore it with that one.`);
    }
    return { manifest, files };
  } catch (error) {
    if (error instanceof InvalidArchive || error instanceof SyntaxError) {
      throw new BadBackup(`${path} is not a Breezeway backup, or a part of it is missing.`);
    }
    throw error;
  }
}

/** The backup can't be restored. Nothing was restored. */
export class BadBackup extends BreezewayError {
  readonly code = "bad_backup";
}
