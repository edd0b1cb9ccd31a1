import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { HomeGraph } from "../../simulator/google-home/home-graph.ts";
import type { DeviceId } from "../../src/model/ids.ts";
import { clientOfTenant } from "../stories/v3-client.ts";
import { type WorldPlan, world } from "../stories/world.ts";
import { addOutlet, GoogleAccount, isReported, type Json, syncWith } from "./google-world.ts";

const maps = {
  Lamp: {
    kind: "light",
    commandSeconds: 60,
    traits: {
      onOff: { on: { attribute: "power", words: { true: "on", false: "off" }, writable: true } },
      brightness: { percent: { attribute: "brightness", decimals: 0, writable: true } },
    },
  },
  Alarm: { kind: "alarm", traits: { smoke: { state: { attribute: "smoke" } } } },
};

/** A user with an own lamp and an own alarm, whose states Google knows. Nothing else reports about them. */
export async function ownHomeAtGoogle(t: TestContext, plan: WorldPlan = {}) {
  const story = await world(t, plan);
  const company = await clientOfTenant(() => story.service, "Story");
  const send = async (method: string, path: string, body: object): Promise<Json> => {
    const headers = { "content-type": "application/json" };
    const answer = await company.call(path, { method, headers, body: JSON.stringify(body) });
    assert.ok(answer.status < 300, JSON.stringify(answer.body));
    return answer.body;
  };
  const add = async (type: keyof typeof maps, values: object): Promise<DeviceId> => {
    await send("PUT", `/device-types/${type}`, maps[type]);
    const body = { userId: story.userId, deviceTypeName: type, deviceName: `The ${type.toLowerCase()}` };
    const { deviceId } = await send("POST", "/devices", body);
    await company.write(deviceId, values);
    return deviceId;
  };
  const [lampDevice, alarmDevice] = [
    await add("Lamp", { power: "off", brightness: "40" }),
    await add("Alarm", { smoke: "clear" }),
  ];
  const graph = await HomeGraph.start();
  t.after(() => graph.stop());
  const { administration } = story.service.parts;
  const { outlet, ...credentials } = await addOutlet(administration, graph);
  const google = await GoogleAccount.link(() => story.service.baseUrl, credentials);
  const { user, devices } = await syncWith(google, graph, t.signal);
  const idOf = (type: string): string => devices.find((one) => one.type.endsWith(type)).id;
  const run = async (command: string): Promise<Json> => administration.run(command, { outlet });
  await isReported(google, user, t.signal);
  return {
    story,
    company,
    graph,
    google,
    user,
    outlet: outlet as string,
    lamp: { id: idOf("LIGHT"), deviceId: lampDevice },
    alarm: { id: idOf("SMOKE_DETECTOR"), deviceId: alarmDevice },
    /** The newest attempts first. */
    deliveries: async (): Promise<readonly Json[]> => (await run("outlet deliveries")).deliveries,
    shown: async (): Promise<Json> => (await run("outlet show")).users[0],
    isReported: () => isReported(google, user, t.signal),
  };
}
