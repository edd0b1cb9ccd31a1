import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import type { Service } from "../../src/service/service.ts";
import { rounds } from "../set-up/extent.ts";
import { sampleOf } from "../set-up/sample.ts";
import { eventually } from "../stories/world.ts";
import { nodeBehindProxy } from "./node-behind-proxy.ts";
import { oauthWorld, type Tokens } from "./oauth-world.ts";

/** The documented limit: this long after a revocation was answered, no node accepts its tokens any more. */
const promisedMs = 1_000;

describe("a token that was revoked on one node", () => {
  it("is refused by another node after one second", async (t) => {
    const world = await oauthWorld(t, { database: "postgres" });
    const other = await world.secondNode();
    for (let round = 1; round <= rounds({ all: 8, few: 2 }); round++) {
      const tokens = await world.tokens();
      const callers = startCallers(t, other, tokens);
      await callers.untilVerdict("yes");
      // Either token of the pair ends the whole grant.
      const revoked = round % 2 === 0 ? tokens.refresh_token : tokens.access_token;
      assert.equal((await world.revoke(revoked)).status, 200);
      const revokedMs = performance.now();
      assert.equal(await world.statusWith(tokens.access_token), 401, "at once on the node that answered");
      await callers.untilVerdict("no");
      await callers.moreCalls();
      const calls = await callers.stop();
      assertNoLateYes(calls, revokedMs);
      assert.deepEqual(
        calls.filter(({ verdict }) => verdict === "can't say"),
        [],
      );
    }
  });

  it("is refused by a node that was started afterwards", async (t) => {
    const world = await oauthWorld(t, { database: "postgres" });
    const [gone, alive] = [await world.tokens(), await world.tokens()];
    await world.revoke(gone.refresh_token);
    const other = await world.secondNode();
    assert.equal(await verdictOn(other, gone), "no");
    assert.equal(await verdictOn(other, alive), "yes");
  });
});

for (const mood of sampleOf(["closed", "half-open"] as const, { everyNth: 2 })) {
  describe(`a node whose connection to the database is ${mood}`, () => {
    it("accepts no token, not even from its cache, and recovers automatically", { timeout: 60_000 }, async (t) => {
      const world = await oauthWorld(t, { database: "postgres" });
      const { node, proxy } = await nodeBehindProxy(t, world);
      const [gone, good] = [await world.tokens(), await world.tokens()];
      const [ofGone, ofGood] = [startCallers(t, node, gone), startCallers(t, node, good)];
      await Promise.all([ofGone.untilVerdict("yes"), ofGood.untilVerdict("yes")]);

      proxy.mood = mood;
      if (mood === "closed") proxy.drop();
      assert.equal((await world.revoke(gone.refresh_token)).status, 200);
      const revokedMs = performance.now();
      // Two cached tokens and an unknown one: all need the store now, which can't be reached.
      const unseen = await world.tokens();
      await Promise.all([ofGone.untilVerdict("can't say"), ofGood.untilVerdict("can't say")]);
      // From then on its cache is invalid too.
      const outageMs = performance.now() + promisedMs;
      const outage = await Promise.all([
        verdictOn(node, unseen),
        ofGone.startAfter(outageMs),
        ofGood.startAfter(outageMs),
      ]);
      assert.equal(outage[0], "can't say");
      assert.equal(await world.statusWith(good.access_token), 200, "other nodes go on");
      const recoveredMs = performance.now();

      proxy.mood = "open";
      await Promise.all([ofGone.untilVerdict("no"), ofGood.untilVerdict("yes")]);
      await Promise.all([ofGone.moreCalls(), ofGood.moreCalls()]);
      assertNoLateYes(await ofGone.stop(), revokedMs);
      const duringOutage = (await ofGood.stop()).filter(
        ({ startedMs, endedMs }) => startedMs > outageMs && endedMs < recoveredMs,
      );
      assert.deepEqual([...new Set(duringOutage.map(({ verdict }) => verdict))], ["can't say"]);
      // A dead connection may still be in the pool. Its next use detects it.
      await eventually(t.signal, async () => assert.equal(await verdictOn(node, unseen), "yes"));
    });
  });
}

/** A node's answer about a token. */
type Verdict = "yes" | "no" | "can't say";

const verdicts: Readonly<Record<number, Verdict>> = { 200: "yes", 404: "yes", 401: "no", 503: "can't say" };

/** One path that needs the store, and one that needs only the token: the user does not exist. */
const paths = ["/v3/users", "/v3/users/nobody"];

interface Call {
  readonly startedMs: number;
  readonly endedMs: number;
  readonly verdict: Verdict;
}

/** Calls the node continuously from several callers, so that look-ups and reads of revocations interleave. */
function startCallers(test: TestContext, node: Service, tokens: Tokens) {
  const calls: Call[] = [];
  let isStopped = false;
  let waiting: { readonly when: (last: Call) => boolean; readonly go: () => void }[] = [];
  const call = async (path: string) => {
    while (!isStopped) {
      const startedMs = performance.now();
      const verdict = await verdictOn(node, tokens, path);
      const last = { startedMs, endedMs: performance.now(), verdict };
      calls.push(last);
      const due = waiting.filter(({ when }) => when(last));
      waiting = waiting.filter((one) => !due.includes(one));
      for (const { go } of due) go();
    }
  };
  const callers = Promise.all([...paths, paths[1]!].map(call));
  // When the test has failed, their errors are ignored.
  callers.catch(() => undefined);
  test.after(() => {
    isStopped = true;
  });
  const until = (when: (last: Call) => boolean) => new Promise<void>((go) => waiting.push({ when, go }));
  return {
    /** Resolves when a call that starts from now on gets this verdict. */
    untilVerdict(verdict: Verdict): Promise<void> {
      const fromMs = performance.now();
      return until((last) => last.verdict === verdict && last.startedMs > fromMs);
    },
    /** Resolves when a call that started after that is answered. */
    startAfter: (fromMs: number): Promise<void> => until((last) => last.startedMs > fromMs),
    /** Resolves after this many more calls. */
    moreCalls(count = 30): Promise<void> {
      const enough = calls.length + count;
      return until(() => calls.length >= enough);
    },
    async stop(): Promise<readonly Call[]> {
      isStopped = true;
      await callers;
      return calls;
    },
  };
}

function assertNoLateYes(calls: readonly Call[], revokedMs: number): void {
  const late = calls.filter(({ startedMs, verdict }) => verdict === "yes" && startedMs > revokedMs + promisedMs);
  assert.deepEqual(
    late.map(({ startedMs }) => `yes, ${Math.round(startedMs - revokedMs)} ms after the revocation`),
    [],
  );
}

async function verdictOn(node: Service, { access_token }: Tokens, path = paths[0]): Promise<Verdict> {
  const answer = await fetch(`${node.baseUrl}${path}`, { headers: { authorization: `Bearer ${access_token}` } });
  await answer.arrayBuffer();
  const verdict = verdicts[answer.status];
  assert.ok(verdict, `${path} was answered with ${answer.status}`);
  return verdict;
}
