import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sdkWorld } from "../../sdk/sdk-world.ts";

const thermostat = "d.structures[1].d.thermostats[1]";
const request = `${thermostat}.fan_timer_active.requestWrite`;
const otherSpelling = request.replace("thermostats", "thermostat");

describe("settled: requestWrite that was never written is null", () => {
  it("on /v3, by the SDK with both kinds of token, and in platform calls, with one time", async (t) => {
    const { linked, bySecToken, byAccessToken, story, baseUrl, store } = await sdkWorld(t);
    const deviceId = await linked();
    const { attributes: all } = await byAccessToken.getDevice(deviceId);
    assert.equal(all[request], undefined, "blank attributes are left out");
    const { updateTime } = all[`${thermostat}.device_id`]!;
    const blank = { value: null, updateTime };
    for (const sdk of [bySecToken, byAccessToken]) {
      for (const name of [request, otherSpelling]) {
        const { attributes } = await sdk.getDevice(deviceId, { attributes: [name] });
        assert.deepEqual(attributes, { [name]: blank });
      }
    }
    const get = async (query: string) => {
      const headers = { authorization: `Bearer ${store.tokens!.accessToken}` };
      const answer = await fetch(`${baseUrl}/v3/devices/${deviceId}?${query}`, { headers });
      return ((await answer.json()) as { readonly attributes: object }).attributes;
    };
    const named = `attribute=${encodeURIComponent(request)}`;
    assert.deepEqual(await get(named), { [request]: blank });
    assert.deepEqual(await get(`${named},${encodeURIComponent("o.totalStructures")}&since=0`), {
      [request]: blank,
      "o.totalStructures": all["o.totalStructures"],
    });
    assert.deepEqual(await get(`${named}&since=${updateTime}`), {}, "nothing changed since then");
    const { secToken } = story.client;
    const parameters = { secToken, devId: String(deviceId), name: request };
    const { getDeviceAttributeResponse: answer } = await story.client.call("getDeviceAttribute", parameters);
    assert.deepEqual([answer.value, Number(answer.updTime)], ["", updateTime]);
  });
});
