import assert from "node:assert/strict";
import type { V3Client } from "./v3-client.ts";
import { eventually } from "./world.ts";

export const json = (method: string, body: object) => ({
  method,
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body),
});

/** Creates an alert on the smoke of a thing that notes each firing on a lamp. */
export async function watchSmoke(v3: V3Client, thingId: string, lamp: number): Promise<number> {
  const targets = [{ deviceId: lamp, attrName: "smoke", value: thingId }];
  const rule = { operation: "equals", stringThreshold: "alarm", action: "attribute", targets, autoDisarm: true };
  const { status, body } = await v3.call("/alerts", json("POST", { thingId, field: "smoke.state", ...rule }));
  assert.equal(status, 201, JSON.stringify(body));
  return body.alertId;
}

export async function smokeOf(v3: V3Client, thingId: string): Promise<string> {
  const { status, body } = await v3.call(`/things/${thingId}`);
  assert.equal(status, 200, JSON.stringify(body));
  return body.traits.smoke.state.state.value;
}

/** How often the alert has fired by its own count, by the writes to its lamp, and by its thing's history. */
export async function firingsOf(
  v3: V3Client,
  alertId: number,
  thingId: string,
  lamp: number,
): Promise<readonly number[]> {
  const { body: alert } = await v3.call(`/alerts/${alertId}`);
  const { body: writes } = await v3.call(`/devices/${lamp}/history`);
  const { body: states } = await v3.call(`/things/${thingId}/history?field=smoke.state&from=${alert.createdTime}`);
  const isAlarm = ({ fields }: { fields: Record<string, { value: string }> }) =>
    fields["smoke.state"]?.value === "alarm";
  return [alert.firings, writes.changes.length, states.changes.filter(isAlarm).length];
}

export async function alarmsOf(v3: V3Client, signal: AbortSignal, count: number): Promise<readonly string[]> {
  return eventually(signal, async () => {
    const { body } = await v3.call("/things?kind=alarm");
    assert.equal(body.things?.length, count, JSON.stringify(body));
    return body.things.map(({ thingId }: { thingId: string }) => thingId);
  });
}
