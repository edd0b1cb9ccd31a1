import type { FileHandle } from "node:fs/promises";
import { BreezewayError } from "../../model/errors.ts";
import { type ArchivedFile, listArchive, NoArchive, readContent } from "./archive.ts";

/** The first file of a backup: what it holds, of which version, and how to see that nothing of it was touched. */
export interface Manifest {
  readonly format: typeof format;
  readonly formatVersion: 1;
  /** The Breezeway that made it. */
  readonly version: string;
  readonly schema: number;
  readonly time: string;
  /** The names of the keys without which its tokens can't be opened. */
  readonly keyIds: readonly string[];
  readonly files: Readonly<Record<string, { readonly bytes: number; readonly sha256: string }>>;
}

const format = "breezeway backup";
export const manifestName = "manifest.json";
export const databaseName = "breezeway.db";
export const keyName = "breezeway.key";
const mostBytes = 65_536;

export function manifestOf(facts: Omit<Manifest, "format" | "formatVersion">): Manifest {
  return { format, formatVersion: 1, ...facts };
}

/** A backup that has been looked into, not yet believed: its files still have to match their digests. */
export interface OpenedBackup {
  readonly manifest: Manifest;
  readonly files: ReadonlyMap<string, ArchivedFile>;
}

export async function readBackup(from: FileHandle, path: string): Promise<OpenedBackup> {
  try {
    const files = await listArchive(from);
    const described = files.get(manifestName);
    if (!described || described.bytes > mostBytes) throw new NoArchive();
    const manifest = JSON.parse((await readContent(from, described)).toString("utf8")) as Manifest;
    if (manifest.format !== format) throw new NoArchive();
    if (manifest.formatVersion !== 1) {
      throw new BadBackup(`${path} was made by a later Breezeway (${manifest.version}). Restore it with that one.`);
    }
    return { manifest, files };
  } catch (error) {
    if (error instanceof NoArchive || error instanceof SyntaxError) {
      throw new BadBackup(`${path} is no Breezeway backup, or only a part of one.`);
    }
    throw error;
  }
}

/** It can't be restored, and nothing was. */
export class BadBackup extends BreezewayError {
  readonly code = "bad_backup";
}
