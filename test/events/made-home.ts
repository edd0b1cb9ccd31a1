import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { DeviceId } from "../../src/model/ids.ts";
import { type Answered, type OAuthWorldPlan, oauthWorld } from "../oauth/oauth-world.ts";
import { EventStream, type StreamPlan } from "./event-stream.ts";

/** Ada with a lamp and a token, and streams of its events. */
export async function home(t: TestContext, plan: OAuthWorldPlan) {
  const world = await oauthWorld(t, plan);
  const token = (await world.tokens()).access_token;
  const lamp = await world.addDevice(world.userId, "Lamp");
  const open = (given: StreamPlan = {}, by = token, at = world.baseUrl) => EventStream.open(at, by, given);
  return { world, token, lamp, open };
}

export async function write(
  { baseUrl }: { readonly baseUrl: string },
  token: string,
  deviceId: DeviceId,
  values: object,
): Promise<void> {
  const answer = await fetch(`${baseUrl}/v3/devices/${deviceId}`, {
    method: "PUT",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(values),
  });
  assert.equal(answer.status, 200, await answer.text());
}

/** A call of /v3 with a token, and its answer in JSON. */
export async function send(url: string, token: string, method: string, body?: object): Promise<Answered> {
  const answer = await fetch(url, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body && { "content-type": "application/json" }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: answer.status, headers: answer.headers, body: await answer.json() };
}
