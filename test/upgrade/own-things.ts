import assert from "node:assert/strict";
import type { DeviceId } from "../../src/model/ids.ts";
import { send } from "../events/made-home.ts";
import type { KeptHome } from "./kept-home.ts";
import type { TwoVersions } from "./mixed-versions.ts";
import { create, type FilledHome, type OlderHome, put } from "./older-home.ts";
import type { StoreRows } from "./store-rows.ts";

/** A valve of the company: its silence is logged only by versions that know how. */
const valveMap = {
  kind: "switch",
  commandSeconds: 5,
  online: { silentAfterSeconds: 10 },
  traits: { onOff: { on: { attribute: "open", words: { true: "yes", false: "no" }, writable: true } } },
};

export interface OwnValve {
  readonly deviceId: DeviceId;
  readonly thingId: string;
}

/** An own thing whose map the older version has set; undefined when that version knows no maps. */
export async function addOwnValve(
  url: string,
  home: KeptHome,
  { userId }: OlderHome,
  { enterpriseToken, tokens }: FilledHome,
  typeName = "Valve",
): Promise<OwnValve | undefined> {
  const set = await send(`${url}/v3/device-types/${typeName}`, enterpriseToken, "PUT", valveMap);
  if (set.status === 404) return undefined;
  assert.equal(set.status, 200, JSON.stringify(set.body));
  const device = { userId, deviceTypeName: typeName, deviceName: "Valve", attributes: { open: "no" } };
  const { deviceId } = await create(`${url}/v3/devices`, enterpriseToken, device);
  home.addedDevices += 1;
  const { things } = (await send(`${url}/v3/things?source=own`, tokens.access_token, "GET")).body;
  const { thingId } = things.find((one: OwnValve) => one.deviceId === deviceId);
  return { deviceId, thingId };
}

/** A command that one version accepts is answered at the other; one without an answer expires. */
export async function assertOwnCommandsAreShared(
  home: KeptHome,
  filled: FilledHome,
  { deviceId, thingId }: OwnValve,
  [one, other]: TwoVersions,
): Promise<void> {
  const { enterpriseToken: token } = filled;
  const receiptOf = async (url: string, id: string) =>
    (await send(`${url}/v3/things/${thingId}/commands/${id}`, token, "GET")).body;
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    const command = async (on: boolean) => {
      // A silent device is unavailable and accepts no command.
      assert.equal((await put(to, token, deviceId, { open: on ? "no" : "yes" })).status, 200);
      const asked = { trait: "onOff", command: "set", params: { on } };
      const { status, body } = await send(`${from}/v3/things/${thingId}/commands`, token, "POST", asked);
      assert.deepEqual([status, body.state], [202, "sending"], JSON.stringify(body));
      return body.commandId as string;
    };
    const answered = await command(true);
    assert.equal((await receiptOf(to, answered)).state, "sending");
    assert.equal((await put(to, token, deviceId, { open: "yes" })).status, 200);
    for (const url of [from, to]) assert.equal((await receiptOf(url, answered)).state, "confirmed");
    const unanswered = await command(false);
    await home.eventually(async () => assert.equal((await receiptOf(to, unanswered)).state, "expired"));
  }
}

/** This version logs the silence of a device whose map the older version has set, once. */
export async function untilSilenceIsLogged(home: KeptHome, rows: StoreRows, { deviceId }: OwnValve): Promise<void> {
  const silences = async () =>
    (await rows.all(`SELECT body FROM log WHERE kind = 'thing' AND device_id = ${deviceId} ORDER BY id`)).filter(
      ({ body }) => JSON.parse(body).things[0].fields?.["onOff.available"] === false,
    ).length;
  await home.eventually(async () => assert.equal(await silences(), 1));
}
