import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { StoreUnavailable } from "../../src/model/errors.ts";
import { TokenVerifier } from "../../src/oauth/token-verification.ts";
import { manualRuntime } from "../federation/manual-runtime.ts";
import { HeldTokens, hourMs } from "./held-tokens.ts";

function useWorld() {
  const runtime = manualRuntime();
  const store = new HeldTokens({ isShared: false });
  const verification = new TokenVerifier({ store, runtime });
  return { runtime, store, verification };
}

describe("the last use of a grant", () => {
  it("is stored in the background, once an hour for each grant", async () => {
    const { runtime, store, verification } = useWorld();
    const [one, other] = ["grant 1", "grant 2"].map((id) => store.add(id, { remainingMs: 10 * hourMs }));
    for (let call = 0; call < 5; call++) await verification.verify(one!);
    await verification.verify(other!);
    assert.deepEqual(store.uses, []);
    await runtime.advance(1_000);
    assert.deepEqual(store.uses, ["grant 1", "grant 2"]);
    await verification.verify(one!);
    await runtime.advance(hourMs - 2_000);
    await verification.verify(one!);
    await runtime.advance(1_000);
    assert.deepEqual(store.uses, ["grant 1", "grant 2"]);
    await verification.verify(one!);
    await runtime.advance(1_000);
    assert.deepEqual(store.uses, ["grant 1", "grant 2", "grant 1"]);
    assert.equal(runtime.timers, 0);
  });

  it("is stored when a stream is opened, and never after the end", async () => {
    const { runtime, store, verification } = useWorld();
    await verification.watch(store.add("grant 1"), () => undefined);
    await runtime.advance(1_000);
    assert.deepEqual(store.uses, ["grant 1"]);
    await verification.verify(store.add("grant 2"));
    verification.stop();
    assert.equal(runtime.timers, 0);
    await runtime.advance(5_000);
    assert.deepEqual(store.uses, ["grant 1"]);
  });

  it("is stored for 50 grants in one transaction, so that others don't wait long", async (t) => {
    const { runtime, store, verification } = useWorld();
    const transactions = t.mock.method(store, "transaction");
    for (let n = 0; n < 101; n++) await verification.verify(store.add(`grant ${n}`));
    await runtime.advance(1_000);
    assert.deepEqual([transactions.mock.callCount(), new Set(store.uses).size], [3, 101]);
  });

  it("does not disturb a call when it can't be stored", async () => {
    const { runtime, store, verification } = useWorld();
    store.writeFailure = new StoreUnavailable("The store can't be written.");
    const token = store.add("grant 1");
    await verification.verify(token);
    await runtime.advance(1_000);
    assert.deepEqual(
      runtime.logLines.map(({ level }) => level),
      ["warn"],
    );
    assert.equal((await verification.verify(token)).kind, "user");
  });
});
