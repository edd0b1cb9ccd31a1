import { statfs } from "node:fs/promises";

/** The space of the file system that holds a folder. */
export interface DiskSpace {
  /** The space that a process without root privileges may still use. */
  readonly freeBytes: number;
  readonly totalBytes: number;
}

export async function diskSpaceOf(folder: string): Promise<DiskSpace> {
  const { bavail, blocks, bsize } = await statfs(folder);
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
}
