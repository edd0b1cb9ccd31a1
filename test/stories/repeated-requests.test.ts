import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fanHouse } from "./fan-client.ts";
import { deployments, eventually, longSuiteOn } from "./world.ts";

for (const database of longSuiteOn("three nodes", deployments)) {
  describe(`a request that is repeated with its Idempotency-Key, on ${database}`, () => {
    it("runs no fan twice, and shows the secret of a webhook again, which is sealed in the store", async (t) => {
      const { story, v3, deviceId, received, receipts } = await fanHouse(t, { database, allowsPrivateWebhooks: true });
      const headers = { "content-type": "application/json", "idempotency-key": "fan 1" };
      const request = { "d.structures[1].d.thermostats[1].fan_timer_active.requestWrite": "true" };
      const startFan = () => v3.call(`/devices/${deviceId}`, { method: "PUT", headers, body: JSON.stringify(request) });
      assert.equal((await startFan()).status, 200);
      await eventually(t.signal, async () => assert.equal((await receipts())[0]?.state, "confirmed"));
      // Without the key this request would start the fan a second time.
      assert.deepEqual(await startFan(), { status: 200, body: { status: "OK" } });
      assert.equal((await receipts()).length, 1);
      assert.equal(received().length, 1);

      const body = JSON.stringify({ url: "http://127.0.0.1:9/hook" });
      const add = () => v3.call("/webhooks", { method: "POST", headers: { ...headers, "idempotency-key": "w" }, body });
      const first = await add();
      assert.equal(first.status, 201, JSON.stringify(first.body));
      assert.deepEqual(await add(), first);
      assert.equal((await v3.call("/webhooks")).body.webhooks.length, 1);
      const beforeFirst = { kind: "answer", ownerId: -(2 ** 31) as never, id: "" } as const;
      const sealed = await story.service.parts.store.read((tx) => tx.sealedValues.after(beforeFirst, 10));
      assert.equal(sealed.length, 1);
      assert.ok(sealed.every((value) => !value.sealed.includes(first.body.secret)));
    });
  });
}
