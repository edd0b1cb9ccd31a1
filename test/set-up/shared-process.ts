import { suite } from "node:test";
import { pathToFileURL } from "node:url";
import { openQueue } from "./file-queue.ts";
import { limitTime } from "./time-limit.ts";

/**
 * A test process that runs many test files, one after the other: the product's modules are loaded and compiled once, and
 * the files share one PostgreSQL server. Each file is a suite, so that its own hooks end with the file.
 */
const queue = openQueue();
for (let file = queue.take(); file !== undefined; file = queue.take()) {
  limitTime(file);
  const address = pathToFileURL(file).href;
  await suite(file, () => import(address));
  queue.finish();
}
limitTime("The end of a process that has run all its test files");
