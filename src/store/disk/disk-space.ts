import { statfs } from "node:fs/promises";

/** The file system that a folder lies on. */
export interface DiskSpace {
  /** What an account without privileges may still use. */
  readonly freeBytes: number;
  readonly totalBytes: number;
}

export async function diskSpaceOf(folder: string): Promise<DiskSpace> {
  const { bavail, blocks, bsize } = await statfs(folder);
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
}
