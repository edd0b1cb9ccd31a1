import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { request } from "node:http";
import { describe, it, type TestContext } from "node:test";
import { IdempotentWrites, keysKeptMs } from "../../src/idempotency/idempotent-writes.ts";
import { UnknownTrigger } from "../../src/model/errors.ts";
import { processRuntime } from "../../src/runtime/process/process-runtime.ts";
import { sealingWith } from "../../src/store/keys/sealing.ts";
import { type Answered, assertRefused, madeV3, type Token } from "./made-v3.ts";

/** Alice's lamp, and calls that carry a key. */
async function lamp(t: TestContext) {
  const made = await madeV3(t);
  const { alice, call, store, clock } = made;
  const lampId = await made.addDevice(alice);
  const send = async (token: Token, method: string, path: string, key: string, body?: unknown) => {
    const json = body === undefined ? {} : { body: JSON.stringify(body) };
    const headers = { "idempotency-key": key, ...(body !== undefined && { "content-type": "application/json" }) };
    const answer = await call(token, path, { method, headers, ...json });
    // Each call has another time, so that a repeated execution would show.
    clock.nowMs += 5;
    return { status: answer.status, headers: answer.headers, body: (await answer.json()) as Answered["body"] };
  };
  const write = (key: string, body: unknown, token: Token = "alice") =>
    send(token, "PUT", `/v3/devices/${lampId}`, key, body);
  const history = () => made.stored(alice, lampId);
  const alerts = () => store.read((tx) => tx.triggers.page(alice, undefined, 0, 100));
  return { ...made, lampId, send, write, history, alerts };
}

const isReplayed = ({ headers }: { readonly headers: Headers }) => headers.get("idempotency-replayed") === "true";

describe("a write with an Idempotency-Key", () => {
  it("is carried out once, and a repetition gets the first answer", async (t) => {
    const { lampId, send, write, history, alerts } = await lamp(t);
    const first = await write("k1", { power: "on" });
    const before = await history();
    const second = await write("k1", { power: "on" });
    assert.deepEqual([first.status, second.status], [200, 200]);
    assert.deepEqual([isReplayed(first), isReplayed(second)], [false, true]);
    assert.deepEqual(second.body, first.body);
    assert.equal(second.headers.get("content-type"), first.headers.get("content-type"));
    assert.deepEqual(await history(), before);

    const definition = { deviceId: lampId, attrName: "power", operation: "equals", stringThreshold: "on", action: "m" };
    const made = [];
    for (let i = 0; i < 2; i++) made.push(await send("alice", "POST", "/v3/alerts", "k2", definition));
    assert.deepEqual([made[0]!.status, made[1]!.body], [201, made[0]!.body]);
    assert.equal((await alerts()).length, 1);
    const path = `/v3/alerts/${made[0]!.body.alertId}`;
    for (const replayed of [false, true]) {
      const changed = await send("alice", "PUT", path, "k3", { ...definition, msg: "changed" });
      assert.deepEqual([changed.status, changed.body.msg, isReplayed(changed)], [200, "changed", replayed]);
    }
    // The alert is removed, and the repetition still gets the first answer.
    for (const replayed of [false, true]) {
      const removed = await send("alice", "DELETE", path, "k4");
      assert.deepEqual([removed.status, isReplayed(removed)], [200, replayed]);
    }
    assert.deepEqual(await alerts(), []);
  });

  it("is refused when its key was used for another body, path or method, and changes nothing", async (t) => {
    const { lampId, send, write, history, addDevice, alice } = await lamp(t);
    const other = await addDevice(alice);
    await write("k", { power: "on" });
    const before = await history();
    assertRefused(await write("k", { power: "off" }), 422, "idempotency_key_reused", "nothing");
    const elsewhere = await send("alice", "PUT", `/v3/devices/${other}`, "k", { power: "on" });
    assertRefused(elsewhere, 422, "idempotency_key_reused", "nothing");
    assertRefused(await send("alice", "POST", "/v3/alerts", "k", {}), 422, "idempotency_key_reused", "nothing");
    assert.deepEqual(await history(), before);
    // Quotes around the key, as in the draft standard, are not part of it.
    const spaced = await send("alice", "PUT", `/v3/devices/${lampId}`, '"k"', { power: "on" });
    assert.deepEqual([spaced.status, isReplayed(spaced)], [200, true]);
  });

  it("shares its key with no other client and no other user", async (t) => {
    const { write, send, history, addDevice, bob } = await lamp(t);
    await write("k", { power: "on" });
    const ofBob = await addDevice(bob);
    const written = await send("bob", "PUT", `/v3/devices/${ofBob}`, "k", { power: "off" });
    assert.deepEqual([written.status, isReplayed(written)], [200, false]);
    const byTenant = await write("k", { power: "off" }, "acme");
    assert.deepEqual([byTenant.status, isReplayed(byTenant)], [200, false]);
    assert.equal((await history()).log.length, 2);
  });

  it("may be repeated with its key after a refusal", async (t) => {
    const { write } = await lamp(t);
    assertRefused(await write("k", {}), 400, "invalid_request", "nothing");
    const written = await write("k", { power: "on" });
    assert.deepEqual([written.status, isReplayed(written)], [200, false]);
  });

  it("is refused with Retry-After while the first request with its key is running", async (t) => {
    const { write, history, v3, alice } = await lamp(t);
    const held = Promise.withResolvers<string>();
    const request = { ownerId: alice, clientId: "client of alice", key: "k", content: "", isSecret: false };
    const first = v3.idempotency.run(request, () => held.promise);
    const before = await history();
    const second = await write("k", { power: "on" });
    assertRefused(second, 409, "idempotency_key_in_use", "nothing");
    assert.equal(second.headers.get("retry-after"), "1");
    assert.deepEqual(await history(), before);
    held.resolve("answered");
    await first;
    assert.equal((await write("k", { power: "on" })).status, 200);
  });

  it("gets the first answer from a node that found its key free and then lost the race for it", async (t) => {
    const { store, alice } = await lamp(t);
    const runtime = processRuntime({ debug() {}, info() {}, warn() {}, error() {} });
    const sealer = sealingWith(randomBytes(32));
    const [one, other] = [0, 1].map(() => new IdempotentWrites({ store, sealer, runtime }));
    const keyedWrite = { ownerId: alice, clientId: "c", key: "k", content: "PUT", isSecret: false };
    const write = (node: IdempotentWrites, text: string) =>
      node.run(keyedWrite, async (keep) => {
        // The other node wins the race.
        if (text === "slow") await write(other!, "quick");
        const answer = { status: 200, body: text };
        await store.transaction((tx) => keep<void>(() => answer)(tx, undefined));
        return { ...answer, isFirst: true };
      });
    assert.deepEqual(await write(one!, "slow"), { status: 200, body: "quick" });
    // A refusal that follows from the other node's write does not count either.
    const late = new IdempotentWrites({ store, sealer, runtime });
    const refused = late.run({ ...keyedWrite, key: "k2" }, async () => {
      await other!.run({ ...keyedWrite, key: "k2" }, async (keep) => {
        await store.transaction((tx) => keep<void>(() => ({ status: 200, body: "removed" }))(tx, undefined));
        return {};
      });
      throw new UnknownTrigger();
    });
    assert.deepEqual(await refused, { status: 200, body: "removed" });
  });

  it("is refused when its key is malformed", async (t) => {
    const { write, history, url, lampId } = await lamp(t);
    const before = await history();
    for (const key of ["", '""', "x".repeat(256), "schl\u00fcssel"]) {
      assertRefused(await write(key, { power: "on" }), 400, "invalid_request", "schl");
    }
    assert.equal((await write("x".repeat(255), { power: "on" })).status, 200);
    const twice = await new Promise<number | undefined>((resolve, reject) => {
      const headers = {
        authorization: "Bearer alice",
        "content-type": "application/json",
        "idempotency-key": ["a", "b"],
      };
      const sent = request(`${url}/v3/devices/${lampId}`, { method: "PUT", headers }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      });
      sent.on("error", reject).end('{"power":"off"}');
    });
    assert.equal(twice, 400);
    assert.equal((await history()).log.length, before.log.length + 1);
  });

  it("is carried out again when its key has expired, and expired keys are removed", async (t) => {
    const { write, history, clock, v3, store, alice } = await lamp(t);
    await write("k", { power: "on" });
    await write("other", { power: "on" });
    clock.nowMs += keysKeptMs;
    const again = await write("k", { power: "on" });
    assert.deepEqual([again.status, isReplayed(again), (await history()).log.length], [200, false, 3]);
    assert.equal(await v3.idempotency.sweep(), 1);
    assert.equal((await store.read((tx) => tx.idempotencyKeys.usage(alice))).keys, 1);
  });
});
