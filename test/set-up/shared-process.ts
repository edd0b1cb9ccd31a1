import { createRequire } from "node:module";
import { resolve } from "node:path";
import { suite } from "node:test";
import { openQueue, queueVariable } from "./file-queue.ts";
import { endProcess } from "./process-end.ts";
import { endWithin, limitTime } from "./time-limit.ts";

/**
 * A test process that runs many test files, one after the other: the product's modules are loaded and compiled once, and
 * the files share one PostgreSQL server. Each file is a suite, so that its own hooks end with the file.
 */
/** How long a process may live on when all its test files have ended. */
const leftOverMs = 30_000;
const queue = openQueue(process.env[queueVariable]!);
const load = createRequire(import.meta.url);
for (let file = queue.take(); file !== undefined; file = queue.take()) {
  limitTime(file);
  const path = resolve(file);
  // Synchronously: what the file declares belongs to the suite that is being declared.
  await suite(file, () => {
    load(path);
  });
  queue.finish();
}
endWithin(leftOverMs);
await endProcess();
