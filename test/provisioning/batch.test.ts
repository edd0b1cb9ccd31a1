import assert from "node:assert/strict";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { connect, type Socket } from "node:net";
import { describe, it } from "node:test";
import { databases } from "../set-up/deployment.ts";
import { eventually } from "../stories/world.ts";
import { provisioningWorld } from "./world.ts";

const headers = { "content-type": "application/x-ndjson" };
const linesOf = (text: string) =>
  text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
const bodyOf = (lines: readonly unknown[]) =>
  lines.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join("");

for (const database of databases) {
  describe(`a batch of devices on ${database}`, () => {
    it("adds all devices or none with mode=all, once for each key", async (t) => {
      const { world, send, lamp, devicesOf } = await provisioningWorld(t, { database });
      const lamps = [1, 2, 3].map((n) => lamp({ deviceName: `lamp ${n}`, attributes: { power: "on" } }));
      const bad = [...lamps, lamp({ userId: world.strangerId })];
      const refused = await send("POST", "/v3/devices:batch", { body: bodyOf(bad), headers, key: "all" });
      assert.deepEqual([refused.status, refused.body.error], [404, "not_found"]);
      assert.equal(refused.body.error_description, "Line 4: User does not exist. No device was added.");
      assert.equal((await devicesOf()).length, 0);
      const add = () => send("POST", "/v3/devices:batch", { body: bodyOf(lamps), headers, key: "all" });
      const [first, again] = [await add(), await add()];
      const ids = (await devicesOf()).map(({ id }) => id);
      assert.deepEqual(
        linesOf(first.text),
        ids.map((deviceId, index) => ({ line: index + 1, status: 201, deviceId })),
      );
      assert.deepEqual([again.status, again.text], [200, first.text]);
      assert.deepEqual([ids.length, again.headers.get("content-type")], [3, "application/x-ndjson; charset=utf-8"]);
      const malformed = await send("POST", "/v3/devices:batch", { body: bodyOf([lamp(), "{"]), headers });
      assert.deepEqual(
        [malformed.status, malformed.body.error_description],
        [400, "Line 2: The line isn't JSON. No device was added."],
      );
      const many = bodyOf(Array(1_001).fill("{}"));
      assert.equal((await send("POST", "/v3/devices:batch", { body: many, headers })).body.error, "limit_reached");
    });

    it("refuses only the lines that are wrong with mode=each, and answers each line in order", async (t) => {
      const { world, send, lamp, devicesOf, logOf } = await provisioningWorld(t, { database });
      const lines = [
        lamp({ room: "Hall" }),
        "{",
        lamp({ userId: world.strangerId }),
        "",
        lamp({ attributes: { power: "x".repeat(9_000) } }),
        `{"pad":"${"x".repeat(70_000)}"}`,
        lamp({ userId: world.bobId, attributes: { power: "on" } }),
      ];
      const answer = await send("POST", "/v3/devices:batch?mode=each", { body: bodyOf(lines), headers });
      const shown = linesOf(answer.text).map(({ line, status, error }) => [line, status, error]);
      assert.deepEqual(shown, [
        [1, 201, undefined],
        [2, 400, "invalid_request"],
        [3, 404, "not_found"],
        [4, 413, "value_too_large"],
        [5, 400, "invalid_request"],
        [6, 201, undefined],
      ]);
      assert.deepEqual([(await devicesOf()).length, (await devicesOf(world.bobId)).length], [1, 1]);
      const log = await logOf(linesOf(answer.text)[5].deviceId, world.bobId);
      assert.deepEqual(
        log.map(([kind]) => kind),
        ["device", "attribute"],
      );
    });

    it("is answered from the store and continued when it is repeated with its key", async (t) => {
      const { send, lamp, devicesOf } = await provisioningWorld(t, { database });
      const lines = Array.from({ length: 250 }, (_, n) => (n % 100 === 7 ? "{" : lamp({ deviceName: `lamp ${n}` })));
      const batch = (some: readonly unknown[], key = "batch") =>
        send("POST", "/v3/devices:batch?mode=each", { body: bodyOf(some), headers, key });
      const part = await batch(lines.slice(0, 130));
      const whole = await batch(lines);
      assert.deepEqual(linesOf(whole.text).slice(0, 130), linesOf(part.text));
      assert.equal(linesOf(whole.text).length, 250);
      assert.equal((await devicesOf()).length, 247);
      assert.equal((await batch(lines)).text, whole.text);
      assert.equal((await devicesOf()).length, 247);
      const other = await batch([lamp({ deviceName: "another" }), ...lines.slice(1)]);
      assert.deepEqual([other.status, other.body?.error], [422, "idempotency_key_reused"]);
      const elsewhere = await send("POST", "/v3/devices", { json: lamp(), key: "batch" });
      assert.deepEqual([elsewhere.status, elsewhere.body.error], [422, "idempotency_key_reused"]);
    });
  });
}

describe("a batch that is still being sent", () => {
  it("is answered line by line, and a second one of the tenant is refused", async (t) => {
    const { world, acme, send, lamp, enterpriseToken } = await provisioningWorld(t);
    let sendLine = (_: string) => {};
    let endBody = () => {};
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        sendLine = (line) => controller.enqueue(new TextEncoder().encode(line));
        endBody = () => controller.close();
      },
    });
    sendLine(bodyOf([lamp()]));
    const init = { method: "POST", body, duplex: "half" } as RequestInit;
    const answer = await fetch(`${world.baseUrl}/v3/devices:batch?mode=each`, {
      ...init,
      headers: { ...headers, authorization: `Bearer ${acme}`, "idempotency-key": "slow" },
    });
    const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
    assert.equal(JSON.parse((await reader.read()).value!).line, 1);
    const second = await send("POST", "/v3/devices:batch?mode=each", { body: bodyOf([lamp()]), headers });
    assert.deepEqual([second.status, second.body.error], [409, "limit_reached"]);
    const ofOther = await enterpriseToken("Other");
    const foreign = bodyOf([lamp({ userId: world.strangerId })]);
    assert.equal(
      (await send("POST", "/v3/devices:batch?mode=each", { body: foreign, headers, token: ofOther })).status,
      200,
    );
    sendLine(bodyOf([lamp()]));
    assert.equal(JSON.parse((await reader.read()).value!).line, 2);
    endBody();
    assert.equal((await reader.read()).done, true);
    const third = await send("POST", "/v3/devices:batch?mode=each", { body: bodyOf([lamp()]), headers });
    assert.equal(third.status, 200);
  });

  it("leaves its place to the next one when its client vanishes", async (t) => {
    const { world, acme, send, lamp, devicesOf } = await provisioningWorld(t);
    const vanishing = new AbortController();
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode(bodyOf([lamp()]))),
    });
    const init = { method: "POST", body, duplex: "half", signal: vanishing.signal } as RequestInit;
    const answer = await fetch(`${world.baseUrl}/v3/devices:batch?mode=each`, {
      ...init,
      headers: { ...headers, authorization: `Bearer ${acme}` },
    });
    await answer.body!.getReader().read();
    vanishing.abort();
    await eventually(t.signal, async () => {
      const next = await send("POST", "/v3/devices:batch?mode=each", { body: bodyOf([lamp()]), headers });
      assert.equal(next.status, 200, next.text);
    });
    assert.equal((await devicesOf()).length, 2, "what was answered stays");
  });

  it("leaves its place and its key when its client vanishes while the first group is stored", async (t) => {
    const { world, acme, send, lamp, devicesOf } = await provisioningWorld(t);
    const accepted: Socket[] = [];
    const onSocket = (message: unknown) => void accepted.push((message as { readonly socket: Socket }).socket);
    subscribe("net.server.socket", onSocket);
    t.after(() => unsubscribe("net.server.socket", onSocket));
    const { provisioning } = world.service.parts;
    const { addSome } = provisioning;
    const isStored = Promise.withResolvers<void>();
    const isGone = Promise.withResolvers<void>();
    const mocked = t.mock.method(provisioning, "addSome", async (...call: Parameters<typeof addSome>) => {
      const outcomes = await addSome(...call);
      isStored.resolve();
      await isGone.promise;
      return outcomes;
    });
    const { hostname, port } = new URL(world.baseUrl);
    const client = connect(Number(port), hostname);
    const lines = bodyOf([lamp(), lamp()]);
    client.write(
      `POST /v3/devices:batch?mode=each HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: Bearer ${acme}\r\n` +
        `Content-Type: application/x-ndjson\r\nIdempotency-Key: vanished\r\nContent-Length: ${lines.length}\r\n\r\n${lines}`,
    );
    await isStored.promise;
    const served = accepted.find(({ remotePort }) => remotePort === client.localPort)!;
    const closed = new Promise((resolve) => served.once("close", resolve));
    client.resetAndDestroy();
    await closed;
    mocked.mock.restore();
    isGone.resolve();
    await eventually(t.signal, async () => {
      const again = await send("POST", "/v3/devices:batch?mode=each", { body: lines, headers, key: "vanished" });
      assert.equal(again.status, 200, again.text);
    });
    assert.equal((await devicesOf()).length, 2);
  });
});
