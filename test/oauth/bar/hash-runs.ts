import assert from "node:assert/strict";
import { createHook } from "node:async_hooks";
import type { TestContext } from "node:test";
import { verify } from "@node-rs/argon2";

/** How often a password was hashed since it was last asked, and how many of those ran at the same time at most. */
export interface HashRuns {
  counted(): { readonly runs: number; readonly mostAtOnce: number };
}

/** Counts the runs of the slow hash in this process, whoever starts them. */
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
  // What a run is called among asynchronous works is the library's choice: one run of our own tells.
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
