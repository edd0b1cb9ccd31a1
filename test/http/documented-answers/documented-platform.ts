import type { DeviceId } from "../../../src/model/ids.ts";
import { limits } from "../../../src/model/limits.ts";
import { person } from "../../stories/world.ts";
import { names } from "./documented-devices.ts";
import type { Devices } from "./documented-events.ts";
import type { DocumentedWorld } from "./documented-world.ts";

export async function useTriggers(
  world: DocumentedWorld,
  { deviceId, lampId, crowdedId }: Devices & { readonly crowdedId: string },
): Promise<void> {
  const { call, platform, parts, userId } = world;
  const { secToken } = platform;
  const fullId = String(await world.addLamp("Porch lamp"));
  const all = Object.entries(names(limits.attributesPerDevice)).map(([name, value]) => ({ name, value }));
  await parts.devices.write({ kind: "user", userId }, Number(fullId) as DeviceId, all);
  const away = "d.structures[1].a.away";
  for (const [suffix, place] of [["", "query"] as const, ["ByPost", "form"] as const]) {
    const ask = (operation: string, status: number, parameters: Readonly<Record<string, string>>) =>
      call(`${operation}${suffix}`, status, { [place]: { secToken, ...parameters } });
    const idempotent = { devId: lampId, name: "power" };
    await ask("getDeviceAttribute", 200, idempotent);
    await ask("setDeviceAttribute", 200, { ...idempotent, value: "on" });
    for (const operation of ["getDeviceAttribute", "setDeviceAttribute"]) {
      await ask(operation, 500, { devId: lampId });
      await ask(operation, 500, { ...idempotent, devId: "999", value: "on" });
      await ask(operation, 500, { devId: deviceId, name: "d.structures[1].a.roof", value: "on" });
    }
    const setMulti = (status: number, devId: string, name1: string, value1: string) =>
      ask("setMultiDeviceAttributes2", status, { devId, name1, value1 });
    await setMulti(200, lampId, "power", "on");
    await setMulti(500, lampId, "", "on");
    await setMulti(500, "999", "power", "on");
    await setMulti(500, deviceId, "d.structures[1].a.roof", "on");
    for (const [devId, name, value] of [
      [deviceId, away, "home"],
      [lampId, "power", "x".repeat(9_000)],
      [fullId, "one more", "on"],
    ] as const) {
      await ask("setDeviceAttribute", 500, { devId, name, value });
      await setMulti(500, devId, name, value);
    }

    const condition = { attrName: "power", operation: "equals", stringThreshold: "on" };
    const writing = (target: string) => ({
      devId: lampId,
      ...condition,
      action: "attribute",
      targetDeviceAttributes: target,
    });
    const added: string = await ask("addTrigger", 200, writing(`${lampId},scene:"evening"`));
    const [, triggerId = ""] = /<triggerId>(\d+)</.exec(added) ?? [];
    await ask("addTrigger", 500, { ...writing(`${lampId},scene:"evening"`), operation: "nearly" });
    await ask("addTrigger", 500, writing('999,scene:"evening"'));
    await ask("addTrigger", 500, writing(`${deviceId},d.structures[1].a.roof:"on"`));
    await ask("addTrigger", 500, writing(`${deviceId},${away}:"home"`));
    await ask("addTrigger", 500, writing(`${lampId},scene:"${"x".repeat(8_300)}"`));
    await ask("addTrigger", 500, { devId: crowdedId, ...condition, action: "email" });
    const many = Array.from({ length: 100 }, (_, i) => `${lampId},a${i}:"1"`).join(";");
    const texts = { stringThreshold: "x".repeat(8_000), msg: "x".repeat(2_000), address: "x".repeat(2_000) };
    await ask("addTrigger", 500, { ...writing(many), ...texts });
    await ask("getTriggerDetailListByUser", 200, {});
    for (const operation of ["getTriggerDetailListByDevice", "updateTriggersEnableStateByDevice"]) {
      await ask(operation, 200, { devId: lampId, enable: "0" });
      await ask(operation, 500, {});
      await ask(operation, 500, { devId: "999", enable: "0" });
    }
    for (const operation of ["getTrigger", "updateTriggerEnableState", "removeTrigger"]) {
      await ask(operation, 200, { triggerId, enable: "true" });
      await ask(operation, 500, {});
      await ask(operation, 500, { triggerId: "999999", enable: "true" });
    }
  }
}

export async function usePlatform(world: DocumentedWorld, deviceId: string): Promise<void> {
  const { baseUrl, call, check, parts, platform } = world;
  const { secToken } = platform;
  const { tenantId } = await parts.identity.findTenant("Story");
  const login = { ...person, appId: String(tenantId) };
  const at = String(tenantId);
  const session = { username: person.name, password: person.password };
  await call("openSession", 200, { at, json: session });
  await call("openSession", 400, { at, json: {} });
  await call("openSession", 403, { at, json: { ...session, password: "wrong" } });
  const tryNobody = async () => {
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ ...session, username: "nobody by JSON" });
    const answer = await fetch(`${baseUrl}/acc/applications/${at}/sessions`, { method: "POST", headers, body });
    return { status: answer.status, headers: answer.headers, body: await answer.text() };
  };
  let refused = await tryNobody();
  while (refused.status === 403) refused = await tryNobody();
  check("openSession", 429, refused);
  for (const [suffix, place] of [["", "query"] as const, ["ByPost", "form"] as const]) {
    const ask = (operation: string, status: number, parameters: Readonly<Record<string, string>>) =>
      call(`${operation}${suffix}`, status, { [place]: parameters });
    const signedIn: string = await ask("userLogin", 200, login);
    await ask("userLogin", 500, { ...login, appId: "" });
    const stranger = { ...login, name: `stranger${suffix}` };
    while (!/<errorCode>107</.test(await ask("userLogin", 500, stranger)));
    await ask("getUserValueList", 200, { secToken });
    await ask("getDeviceList", 200, { secToken });
    await ask("getDeviceAttributesWithValues", 200, { secToken, devId: deviceId });
    await ask("getDeviceAttributesWithValues", 500, { secToken });
    await ask("getDeviceAttributesWithValues", 500, { secToken, devId: "999" });
    const [, fresh = ""] = /<securityToken>(.*)<\/securityToken>/.exec(signedIn) ?? [];
    await ask("userLogout", 200, { secToken: fresh });
  }
}
