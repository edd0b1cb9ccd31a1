import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { MatchTurns } from "../../src/alerts/match-turns.ts";
import { Matching } from "../../src/alerts/matching.ts";
import { PatternCache, type PatternJob, type PatternWork } from "../../src/alerts/pattern-cache.ts";
import { Patterns } from "../../src/alerts/patterns.ts";
import { attemptsIn, type TransactionRetries } from "../../src/devices/attempts.ts";
import type { DeviceCommit, Reaction } from "../../src/devices/commit.ts";
import type { TenantId } from "../../src/model/ids.ts";

/** The jobs that were given away, and their answers. */
export function watchedWork() {
  const programs = new PatternCache();
  const jobs: PatternJob[] = [];
  const patternWork: PatternWork = {
    async run(job) {
      jobs.push(job);
      return programs.answer(job);
    },
  };
  return { patternWork, jobs };
}

/** Matching with nothing in memory, which makes all matches in place. */
export function madeMatching(): Matching {
  const turns = new MatchTurns(watchedWork().patternWork);
  return new Matching({ patterns: new Patterns(), turns, isDeferring: false, tenantOf: async () => 1 as TenantId });
}

/** A reaction that needs the thread for some commits. The thread answers only when the test says so. */
export function heldPatterns(isCostly: (commit: DeviceCommit) => boolean) {
  const held = Promise.withResolvers<void>();
  const turns = new MatchTurns({
    run: async () => {
      await held.promise;
      return [];
    },
  });
  const answered = new WeakSet<TransactionRetries>();
  let waiting = 0;
  const react: Reaction = async (tx, commit) => {
    const attempts = attemptsIn(tx)!;
    if (!isCostly(commit) || answered.has(attempts)) return [];
    attempts.runAgainAfter(async () => {
      waiting += 1;
      const caller = { tenantId: 1 as TenantId, name: "held", disconnected: attempts.options.abandoned };
      await turns.run(caller, (work) => work.run({ values: [], questions: [] }));
      answered.add(attempts);
    });
    return [];
  };
  return { react, waiting: () => waiting, release: held.resolve };
}

/** A function that collects garbage, so that memory can be compared. */
export function collector(): () => void {
  setFlagsFromString("--expose_gc");
  return runInNewContext("gc") as () => void;
}
