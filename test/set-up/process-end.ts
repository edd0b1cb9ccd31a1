import { after } from "node:test";

/** Whether this process takes test files from a queue. Otherwise it runs one file. */
const isShared = process.argv[1]?.endsWith("shared-process.ts") === true;

const ends = new Set<() => unknown>();

/** Calls `end`, once, when all test files of this process have run. To be called while a file declares its tests. */
export function atProcessEnd(end: () => unknown): void {
  if (isShared) ends.add(end);
  else after(end);
}

/** Called by `shared-process.ts` behind the last file. */
export async function endProcess(): Promise<void> {
  for (const end of ends) await end();
}
