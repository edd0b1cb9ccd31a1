import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { describe, it } from "node:test";
import { type Received, receiver } from "../events/receiver.ts";
import { longSuiteOn } from "../set-up/deployment.ts";
import { rounds } from "../set-up/extent.ts";
import { ThingClient } from "./thing-client.ts";
import { clientOfTenant, clientOfUser, type V3Client } from "./v3-client.ts";
import { eventually, person, world } from "./world.ts";

const lampMap = {
  kind: "light",
  commandSeconds: 5,
  traits: { onOff: { on: { attribute: "power", words: { true: "on", false: "off" }, writable: true } } },
};
const alarmMap = {
  kind: "alarm",
  traits: { smoke: { state: { attribute: "smoke", words: { clear: "ok", alarm: "fire" } } } },
};
const switchOn = { trait: "onOff", command: "set", params: { on: true } };

const lampCount = rounds({ all: 1_000, few: 250 });

/** Adds lamps of one user in one batch, all or none. */
async function provision(company: V3Client, userId: number, count: number): Promise<readonly number[]> {
  const line = (n: number) => JSON.stringify({ userId, deviceTypeName: "Lamp", deviceName: `Lamp ${n}` });
  const { status, text } = await company.text("/devices:batch?mode=all", {
    method: "POST",
    headers: { "content-type": "application/x-ndjson" },
    body: Array.from({ length: count }, (_, n) => `${line(n)}\n`).join(""),
  });
  assert.equal(status, 200, text.slice(0, 300));
  return text
    .trim()
    .split("\n")
    .map((answer) => JSON.parse(answer).deviceId);
}

const send = (v3: V3Client, method: string, path: string, body: object) =>
  v3.call(path, { method, headers: { "content-type": "application/json" }, body: JSON.stringify(body) });

for (const database of longSuiteOn("sqlite")) {
  describe(`a company's own lamps on ${database}`, () => {
    it("are switched by a client and by an alert, and the company's webhook hears what to do", {
      timeout: 120_000,
    }, async (t) => {
      const story = await world(t, { database, allowsPrivateWebhooks: true });
      const company = await clientOfTenant(() => story.service, "Story");
      const scope = "devices:read devices:control alerts";
      const v3 = await clientOfUser(() => story.service, "Story", person, scope);
      const client = new ThingClient(v3);
      const { userId } = story;
      for (const [name, map] of Object.entries({ Lamp: lampMap, Alarm: alarmMap })) {
        const { status, body } = await send(company, "PUT", `/device-types/${name}`, map);
        assert.equal(status, 200, JSON.stringify(body));
      }
      const add = async (deviceTypeName: string, deviceName: string): Promise<number> => {
        const { status, body } = await send(company, "POST", "/devices", { userId, deviceTypeName, deviceName });
        assert.equal(status, 201, JSON.stringify(body));
        return body.deviceId;
      };
      const lamps = await provision(company, userId, lampCount);
      assert.equal(new Set(lamps).size, lampCount);
      const alarmDevice = await add("Alarm", "Cellar");
      const hook = await receiver(t);
      const created = await send(company, "POST", "/webhooks", { url: hook.url, things: true });
      assert.equal(created.status, 201, JSON.stringify(created.body));
      const orders = () =>
        hook.received.filter(({ message: { type, data } }) => type === "thingCommand" && data.state === "sending");
      const [first] = await client.ofKind("light");

      const sent = await client.send(first.thingId, "onOff", "set", { on: true });
      assert.equal(sent.state, "sending");
      const [order] = await eventually(t.signal, async () => {
        assert.equal(orders().length, 1);
        return orders();
      });
      assertSigned(created.body.secret, order!);
      const { deviceId, writes, thingId } = order!.message.data;
      assert.deepEqual([deviceId, thingId, writes], [first.deviceId, first.thingId, { power: "on" }]);
      await company.write(deviceId, writes);
      assert.equal((await client.receipt(sent)).state, "confirmed");

      const reader = new ThingClient(await clientOfUser(() => story.service, "Story", person, "devices:read"));
      assert.equal((await reader.post(first.thingId, switchOn)).status, 403);

      const silent = await client.send(first.thingId, "onOff", "set", { on: false });
      const { error } = await client.until(t.signal, silent, "expired");
      assert.equal(error.code, "noAnswer");

      const [alarm] = await client.ofKind("alarm");
      const alert = await send(v3, "POST", "/alerts", {
        ...{ thingId: alarm.thingId, field: "smoke.state", operation: "equals", stringThreshold: "alarm" },
        ...{ action: "note", autoDisarm: true, commands: [{ kind: "light", ...switchOn }] },
      });
      assert.equal(alert.status, 201, JSON.stringify(alert.body));
      await company.write(alarmDevice as never, { smoke: "fire" });
      await eventually(t.signal, async () => assert.equal(orders().length, 2 + lamps.length));
      const byAlert = orders()
        .slice(2)
        .map(({ message: { data } }) => data);
      assert.deepEqual(new Set(byAlert.map((one) => one.deviceId)), new Set(lamps));
      for (const { cause, writes: asked } of byAlert) {
        assert.deepEqual([cause, asked], [{ by: "alert", alert: alert.body.alertId }, { power: "on" }]);
      }
    });
  });
}

/** Checks the signature as Standard Webhooks defines it, without code of the product. */
function assertSigned(secret: string, { headers, body }: Received): void {
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const signed = `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${body}`;
  const expected = `v1,${createHmac("sha256", key).update(signed).digest("base64")}`;
  const signatures = (headers["webhook-signature"] ?? "").split(" ");
  assert.ok(signatures.includes(expected), signatures.join(" "));
}
