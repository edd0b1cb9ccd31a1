import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { describe, it } from "node:test";
import { receivedBy } from "../http/fast-path-and-fastify.ts";
import { databases } from "../set-up/deployment.ts";
import { provisioningWorld } from "./world.ts";

for (const database of databases) {
  describe(`states of many devices on ${database}`, () => {
    it("are written device by device; a refused one leaves the others alone", async (t) => {
      const { world, send, lamp, enterpriseToken, logOf } = await provisioningWorld(t, { database });
      const add = async (change: object = {}) =>
        (await send("POST", "/v3/devices", { json: lamp(change) })).body.deviceId as number;
      const [one, two, ofBob] = [await add(), await add(), await add({ userId: world.bobId })];
      const other = await enterpriseToken("Other");
      const foreignLamp = { json: lamp({ userId: world.strangerId }), token: other };
      const foreign = (await send("POST", "/v3/devices", foreignLamp)).body.deviceId;
      const json = {
        [one]: { power: "on", level: 7 },
        [two]: { power: "x".repeat(9_000) },
        [ofBob]: { power: "off" },
        [foreign]: { power: "on" },
        nonsense: { power: "on" },
      };
      const write = () => send("PUT", "/v3/devices:states", { json, key: "states" });
      const answer = await write();
      assert.deepEqual([answer.status, answer.body.written], [200, [one, ofBob]]);
      assert.deepEqual(
        answer.body.failed.map(({ deviceId, status, error }: Readonly<Record<string, unknown>>) => [
          deviceId,
          status,
          error,
        ]),
        [
          [two, 413, "value_too_large"],
          [foreign, 404, "unknown_device"],
          ["nonsense", 404, "unknown_device"],
        ],
      );
      const shown = (await send("GET", `/v3/devices/${one}`)).body.attributes;
      assert.deepEqual([shown.power.value, shown.level.value], ["on", "7"]);
      assert.equal(shown.power.updateTime, shown.level.updateTime);
      const again = await write();
      assert.deepEqual(again.body, answer.body);
      assert.equal(again.headers.get("idempotency-replayed"), "true");
      assert.equal((await logOf(one)).filter(([kind]) => kind === "attribute").length, 1);
    });

    it("are refused when another body is sent with the key", async (t) => {
      const { send, lamp } = await provisioningWorld(t, { database });
      const add = async () => (await send("POST", "/v3/devices", { json: lamp() })).body.deviceId as number;
      const [one, two] = [await add(), await add()];
      const write = (json: object) => send("PUT", "/v3/devices:states", { json, key: "states" });
      const first = await write({ [one]: { power: "on" } });
      for (const json of [
        { [one]: { power: "on" }, [two]: { power: "on" } },
        { [one]: { power: "off" } },
        { [two]: { power: "on" } },
      ]) {
        const other = await write(json);
        assert.deepEqual([other.status, other.body.error], [422, "idempotency_key_reused"]);
      }
      assert.deepEqual((await send("GET", `/v3/devices/${two}`)).body.attributes, {});
      assert.deepEqual((await write({ [one]: { power: "on" } })).body, first.body);
    });

    it("are refused without a token before a large body arrives, and the connection can be used again", {
      timeout: 60_000,
    }, async (t) => {
      const { world } = await provisioningWorld(t, { database });
      const { hostname, port } = new URL(world.baseUrl);
      const socket = connect(Number(port), hostname);
      t.after(() => socket.destroy());
      const received = receivedBy(socket);
      const head = "Host: a\r\nContent-Type: application/json\r\nContent-Length: 4194304\r\n\r\n";
      socket.write(`PUT /v3/devices:states HTTP/1.1\r\n${head}{`);
      while (!received.text().includes("request_id")) await once(socket, "data");
      assert.match(received.text(), /^HTTP\/1.1 401 .*www-authenticate: Bearer\r\n.*"missing_token"/s);
      socket.write(`${" ".repeat(4_194_303)}GET /livez HTTP/1.1\r\nHost: a\r\n\r\n`);
      while (!received.text().includes("HTTP/1.1 200 ")) await once(socket, "data");
    });
  });
}
