import type { FeedTables } from "../../../src/assistants/reporter/feeder.ts";
import type { ReporterParts } from "../../../src/assistants/reporter/reporter.ts";
import type { LogPosition } from "../../../src/store/tables/log-position.ts";
import { type TableChanges, withTables } from "./changed-parts.ts";
import { plant, replace } from "./plant.ts";

type Tables = ReporterParts["store"] extends { read(body: (tx: infer Tx) => never): unknown } ? Tx : never;

function reportingOn(change: (tx: Tables) => TableChanges<Tables>) {
  return replace(() => import("../../../src/assistants/reporter/reporter.ts"), {
    Reporter: (original) =>
      class extends original {
        constructor(parts: ReporterParts) {
          super({ ...parts, store: withTables(parts.store, change) });
        }
      },
  });
}

export const assistantPlants = [
  plant(
    "assistant-unclaimed",
    "every node that finds a user due reports to the assistant",
    reportingOn((tx) => ({
      assistantGrants: {
        claim: (key, nowMs) => tx.assistantGrants.claim(key, nowMs, nowMs),
        holds: async () => true,
        prolong: async () => true,
      },
    })),
  ),
  plant(
    "assistant-stale-forgotten",
    "nobody remembers what an assistant was told as unreachable",
    replace(() => import("../../../src/assistants/reporter/due-report.ts"), {
      dueReport:
        (original) =>
        async (...given) => ({ ...(await original(...given)), staleDevices: [] }),
    }),
  ),
  plant(
    "assistant-stale-untold",
    "assistants are told of stale links as if they were live",
    replace(() => import("../../../src/service/stale-links.ts"), {
      staleLinksOn:
        (original) =>
        (...given) => ({
          ...original(...given),
          staleOfEach: async (links) => new Map(links.map(({ deviceId }) => [deviceId, false])),
          staleLinks: async () => new Map(),
        }),
    }),
  ),
  plant(
    "assistant-gone-untold",
    "assistants are not told that a thing is gone",
    replace(() => import("../../../src/assistants/reporter/changes.ts"), {
      changesOf:
        (original) =>
        (...given) => {
          const changes = original(...given);
          return { ...changes, marks: changes.marks.filter(({ isGone }) => !isGone) };
        },
    }),
  ),
  plant(
    "assistant-fed-by-both",
    "two nodes may turn the same entries of the log into marks",
    replace(() => import("../../../src/assistants/reporter/feeder.ts"), {
      feedMarks: (original) => {
        const own = new WeakMap<object, LogPosition>();
        return (store, ...rest) => {
          const tail: FeedTables["log"]["tail"] = (_, limit) =>
            store.read(async (tx) => {
              const entries = await tx.log.tail(own.get(store) ?? { transaction: 0, id: 0 }, limit);
              const reached = entries.at(-1);
              if (reached) own.set(store, reached.position);
              return entries;
            });
          return original(
            withTables(store, () => ({ log: { tail } })),
            ...rest,
          );
        };
      },
    }),
  ),
];
