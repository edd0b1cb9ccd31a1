import { setPriority } from "node:os";
import { parentPort } from "node:worker_threads";
import { PatternCache, type PatternJob } from "../alerts/pattern-cache.ts";

// Linux has a priority for each thread. When the machine is busy, the event loop and the database go first.
if (process.platform === "linux") setPriority(10);

// Answers the jobs of pattern-thread.ts, one after the other.
const programs = new PatternCache();
parentPort?.on("message", (job: PatternJob) => parentPort?.postMessage(programs.answer(job)));
