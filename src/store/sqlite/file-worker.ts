import { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import type { FileWork } from "./file-work.ts";

const { file, work } = workerData as { readonly file: string; readonly work: FileWork };

/** `rebuild` rewrites the file without free pages. Both kinds of work checkpoint and truncate the write-ahead log. */
function run(): void {
  const database = new DatabaseSync(file);
  try {
    database.exec("PRAGMA busy_timeout = 5000");
    if (work === "rebuild") {
      for (const pragma of ["synchronous = FULL", "secure_delete = ON", "auto_vacuum = INCREMENTAL"]) {
        database.exec(`PRAGMA ${pragma}`);
      }
      database.exec("VACUUM");
    }
    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  } finally {
    database.close();
  }
}

try {
  run();
  parentPort?.postMessage({});
} catch (error) {
  const { message, errcode } = error as Error & { readonly errcode?: number };
  parentPort?.postMessage({ message, errcode });
}
