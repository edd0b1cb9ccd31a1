import { setPriority } from "node:os";
import { parentPort } from "node:worker_threads";
import type { JsonJob } from "./json-thread.ts";
import { project } from "./projection.ts";
import { largeBounds, parseUntrusted } from "./untrusted-json.ts";

// Linux has a priority for each thread. When the machine is busy, the event loop and the database go first.
if (process.platform === "linux") setPriority(10);

// Answers the jobs of json-thread.ts, one after the other.
parentPort?.on("message", ({ content, projection }: JsonJob) => {
  const text = typeof content === "string" ? content : Buffer.from(content.buffer).toString("utf8");
  parentPort?.postMessage(project(parseUntrusted(text, largeBounds), projection));
});
