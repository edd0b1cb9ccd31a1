import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ClientGone, EcosystemUnreachable, InvalidSecToken, TooManyRequests } from "../../src/model/errors.ts";
import { type LimitName, limits } from "../../src/model/limits.ts";
import { type CallCause, OutgoingCalls } from "../../src/runtime/network/outgoing-calls.ts";
import { madeFederation } from "./made-federation.ts";
import { home } from "./made-homes.ts";
import { flushPromises, manualRuntime } from "./manual-runtime.ts";

describe("the outgoing calls that callers cause", () => {
  it("run one at a time for a link session, and are refused when too many wait", async () => {
    const { start, running, reached } = madeCalls();
    const calls = Array.from({ length: 50 }, () => start({ linkSession: "ls_1", user: "ada", tenant: "a" }));
    let made = 0;
    for (; running.length > 0; made++) {
      assert.equal(running.length, 1);
      await endNext(running);
    }
    const outcomes = await Promise.all(calls);
    assert.equal(made, 1 + limits.outgoingCallsWaitingPerUser);
    assert.equal(outcomes.filter((outcome) => outcome instanceof TooManyRequests).length, 50 - made);
    assert.deepEqual(new Set(reached), new Set(["outgoingCallsPerLinkSession"]));
    assert.equal(reached.length, 50 - made);
  });

  it("run two at a time for a user, whatever sessions they belong to", async () => {
    const { start, running } = madeCalls();
    for (const linkSession of ["ls_1", "ls_2", "ls_3", "ls_3", undefined]) {
      void start({ linkSession, user: "ada", tenant: "a" });
    }
    void start({ user: "bob", tenant: "a" });
    const names = () => running.map(({ cause: { user, linkSession } }) => `${user} ${linkSession}`);
    assert.deepEqual(names(), ["ada ls_1", "ada ls_2", "bob undefined"]);
    await endNext(running);
    await endNext(running);
    assert.deepEqual(names(), ["bob undefined", "ada ls_3", "ada undefined"]);
    await endNext(running);
    await endNext(running);
    assert.deepEqual(names(), ["ada undefined", "ada ls_3"]);
  });

  it("are bounded for a tenant and for the node, and tenants take turns", async () => {
    const { start, running } = madeCalls();
    const fill = (tenant: string, calls: number) => {
      for (let user = 0; user < calls; user++) void start({ user: `${user} of ${tenant}`, tenant });
    };
    const countOf = (wanted: string) => running.filter(({ cause: { tenant } }) => tenant === wanted).length;
    fill("a", 2 * limits.outgoingCallsPerTenant);
    assert.equal(running.length, limits.outgoingCallsPerTenant);
    for (const tenant of ["b", "c", "d", "e"]) fill(tenant, limits.outgoingCallsPerTenant);
    assert.equal(running.length, limits.outgoingCallsPerNode);
    void start({ user: "own", tenant: "f" });
    assert.deepEqual([countOf("e"), countOf("f")], [0, 0]);
    // `f` waits for one call of `e`, although that tenant has 100.
    for (let turn = 0; turn < 2; turn++) await endNext(running);
    assert.deepEqual([countOf("a"), countOf("e"), countOf("f")], [98, 1, 1]);
    assert.equal(running.length, limits.outgoingCallsPerNode);
  });

  it("are refused after five seconds without a turn, and are not made later", async () => {
    const { start, running, runtime, reached } = madeCalls();
    const first = start({ linkSession: "ls_1", user: "ada", tenant: "a" });
    const second = start({ linkSession: "ls_1", user: "ada", tenant: "a" });
    await runtime.advance(4_999);
    assert.deepEqual(reached, []);
    await runtime.advance(1);
    const { retryAfterSeconds, message } = (await second) as TooManyRequests;
    assert.equal(retryAfterSeconds, 5);
    assert.equal(message, "The call before has no answer yet. Try again in 5 seconds.");
    await endNext(running);
    assert.equal(await first, "ended");
    assert.deepEqual([running.length, runtime.timers], [0, 0]);
  });

  it("end at their time limit, and free their slot", async () => {
    const { start, running, runtime } = madeCalls();
    const first = start({ linkSession: "ls_1", user: "ada", tenant: "a" });
    await runtime.advance(29_999);
    assert.equal(running[0]!.signal.aborted, false);
    await runtime.advance(1);
    assert.ok((await first) instanceof EcosystemUnreachable);
    void start({ linkSession: "ls_1", user: "ada", tenant: "a" });
    assert.equal(running.length, 1);
    await endNext(running);
    assert.equal(runtime.timers, 0);
  });

  it("free their slot a second after their time limit when they ignore it", async () => {
    const { start, running, runtime } = madeCalls({ ignoreSignals: true });
    const first = start({ user: "ada", tenant: "a" });
    await runtime.advance(30_999);
    assert.equal(running.length, 1);
    await runtime.advance(1);
    assert.ok((await first) instanceof EcosystemUnreachable);
    assert.equal(runtime.timers, 0);
  });

  it("end with their clients, also while they wait, and count until they have ended", async () => {
    const { start, running } = madeCalls();
    const client = new AbortController();
    const cause = { linkSession: "ls_1", user: "ada", tenant: "a" };
    const calls = [1, 2, 3].map(() => start({ ...cause, disconnected: client.signal }));
    client.abort();
    for (const outcome of await Promise.all(calls)) assert.ok(outcome instanceof ClientGone);
    assert.equal(running.length, 0);

    const ignoring = madeCalls({ ignoreSignals: true });
    const another = new AbortController();
    void ignoring.start({ ...cause, disconnected: another.signal });
    another.abort();
    void ignoring.start(cause);
    assert.equal(ignoring.running.length, 1);
    await endNext(ignoring.running);
    assert.equal(ignoring.running[0]!.cause.disconnected, undefined);
  });

  it("end when the node stops", async () => {
    const { start, runtime, calls } = madeCalls();
    const outcomes = [1, 2].map(() => start({ linkSession: "ls_1", user: "ada", tenant: "a" }));
    calls.stop();
    const [running, waiting] = await Promise.all(outcomes);
    assert.ok(running instanceof EcosystemUnreachable);
    assert.ok(waiting instanceof TooManyRequests);
    assert.equal(runtime.timers, 0);
  });
});

describe("a call to link", () => {
  it("waits beyond the user's bound, and is refused when too many wait, as one to replace the token is", async (t) => {
    const { federation, connector, linkLive, runtime, userId } = await madeFederation(t);
    await linkLive();
    const reads = connector.reads.length;
    const calls = Array.from({ length: 50 }, () =>
      federation.relink(userId, "nest", "c.token").catch((error: unknown) => error),
    );
    while (connector.reads.length < reads + limits.outgoingCallsPerUser) await flushPromises();
    await runtime.advance(1_000);
    assert.equal(connector.reads.length, reads + limits.outgoingCallsPerUser);
    // Those that wait are refused after 5 seconds.
    await runtime.advance(4_000);
    for (const read of connector.reads.slice(reads)) read.resolve(home());
    const outcomes = await Promise.all(calls);
    assert.equal(connector.reads.length, reads + limits.outgoingCallsPerUser);
    assert.equal(
      outcomes.filter((outcome) => outcome instanceof TooManyRequests).length,
      50 - limits.outgoingCallsPerUser,
    );
  });

  it("is stored though the client disconnects after the read", async (t) => {
    const { federation, connector, userId } = await madeFederation(t);
    const client = new AbortController();
    const linked = federation.link(userId, "nest", "c.token", undefined, { disconnected: client.signal });
    while (connector.reads.length === 0) await flushPromises();
    connector.lastRead.resolve(home());
    await Promise.resolve();
    client.abort();
    const deviceId = await linked;
    assert.equal((await federation.status(userId, "nest")).deviceId, deviceId);
  });

  it("of a user who is removed during the read has an invalid security token", async (t) => {
    const { federation, connector, store, userId } = await madeFederation(t);
    const linked = federation.link(userId, "nest", "c.token");
    while (connector.reads.length === 0) await flushPromises();
    await store.transaction(async (tx) => {
      for (const { id } of await tx.devices.ofUser(userId)) await tx.devices.remove(userId, id);
      await tx.users.remove(userId);
    });
    connector.lastRead.resolve(home());
    await assert.rejects(linked, InvalidSecToken);
    await assert.rejects(federation.link(userId, "nest", "c.token"), InvalidSecToken);
  });
});

interface MadeCall {
  readonly cause: CallCause;
  readonly signal: AbortSignal;
  readonly end: (outcome: string | Error) => void;
}

/** An admission whose calls end when the test says so. */
function madeCalls({ ignoreSignals = false } = {}) {
  const runtime = manualRuntime();
  const reached: LimitName[] = [];
  const calls = new OutgoingCalls({ timers: runtime, onLimitReached: (limit) => void reached.push(limit) });
  const running: MadeCall[] = [];
  /** Resolves with the outcome or the error. */
  const start = (cause: CallCause): Promise<unknown> =>
    calls
      .run(cause, (signal) => {
        const { promise, resolve, reject } = Promise.withResolvers<string>();
        const call: MadeCall = {
          cause,
          signal,
          end(outcome) {
            running.splice(running.indexOf(call), 1);
            if (typeof outcome === "string") resolve(outcome);
            else reject(outcome);
          },
        };
        running.push(call);
        if (!ignoreSignals) signal.addEventListener("abort", () => call.end(new EcosystemUnreachable("Aborted.")));
        return promise;
      })
      .catch((error: unknown) => error);
  return { runtime, reached, calls, running, start };
}

/** Ends the oldest call, and lets the next one begin. */
async function endNext(running: readonly MadeCall[]): Promise<void> {
  running[0]!.end("ended");
  await flushPromises();
}
