import assert from "node:assert/strict";
import { createHook } from "node:async_hooks";
import type { TestContext } from "node:test";
import { verify } from "@node-rs/argon2";

/** The number of password hashes since the last call, and the most that ran concurrently. */
export interface HashRuns {
  counted(): { readonly runs: number; readonly mostAtOnce: number };
}

/** Counts all runs of the password hash in this process. */
export async function hashRuns(test: TestContext): Promise<HashRuns> {
  const running = new Set<number>();
  let kind: string | undefined;
  let runs = 0;
  let mostAtOnce = 0;
  let started: string[] = [];
  const hook = createHook({
    init(id, type) {
      started.push(type);
      if (type !== kind) return;
      running.add(id);
      runs++;
      mostAtOnce = Math.max(mostAtOnce, running.size);
    },
    before(id) {
      running.delete(id);
    },
  }).enable();
  test.after(() => void hook.disable());
  // The library chooses the type name of its asynchronous work: one run of our own finds it out.
  started = [];
  const ownRun = verify(`$argon2id$v=19$m=8,t=1,p=1$${"A".repeat(22)}$${"A".repeat(43)}`, "any");
  const kinds = started.filter((type) => type !== "PROMISE");
  assert.equal(kinds.length, 1, "a hash run is one asynchronous work of its own kind");
  await ownRun;
  kind = kinds[0];
  return {
    counted() {
      const result = { runs, mostAtOnce };
      runs = 0;
      mostAtOnce = 0;
      return result;
    },
  };
}
