import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/**
 * Preloaded into the service under test. It answers `resources` with the active resources of its event loop, by kind, and
 * `heap` with the bytes that live objects take: after a full garbage collection.
 */
setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

process.on("message", (question) => process.send?.(question === "heap" ? liveBytes() : resources()));
process.on("disconnect", () => process.exit());

function resources(): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const kind of process.getActiveResourcesInfo()) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

function liveBytes(): Record<string, number> {
  collectGarbage();
  const { heapUsed, external, rss } = process.memoryUsage();
  return { heapBytes: heapUsed + external, rssBytes: rss };
}
