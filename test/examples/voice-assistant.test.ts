import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sdkWorld } from "../sdk/sdk-world.ts";
import { eventually } from "../stories/world.ts";
import { installedExample } from "./running-example.ts";

const files = ["server.ts", "skill.ts", "endpoints.ts"];

describe("the example of a voice assistant's skill", () => {
  it("finds a home, tells its state, runs a fan, and speaks a refusal", { timeout: 120_000 }, async (t) => {
    const home = await sdkWorld(t);
    const deviceId = await home.linked();
    const example = await installedExample(t, "voice-assistant", files);
    const skill = await example.start({ BREEZEWAY_URL: home.baseUrl, PORT: "0" }, "server.ts");
    const [, url] = await skill.says(/listens on (\S+)/);
    const accessToken = home.store.tokens!.accessToken;
    const ask = async (directive: object | string, token = accessToken) => {
      const answer = await fetch(url!, {
        method: "POST",
        headers: token ? { authorization: `Bearer ${token}` } : {},
        body: typeof directive === "string" ? directive : JSON.stringify(directive),
        signal: t.signal,
      });
      // biome-ignore lint/suspicious/noExplicitAny: whatever the skill says
      return { status: answer.status, reply: (await answer.json()) as any };
    };

    const { reply: found } = await ask({ name: "Discover" });
    const kinds = found.endpoints.map(({ kind, home: where }: { kind: string; home: string }) => `${where} ${kind}`);
    assert.deepEqual(kinds.sort(), ["Mill alarm", "Mill thermostat", "Mill thermostat", "Mill thermostat"]);
    const thermostats = found.endpoints.filter(({ kind }: { kind: string }) => kind === "thermostat");
    const endpointId = `${deviceId}-1-thermostat-1`;
    assert.ok(thermostats.some((one: { endpointId: string }) => one.endpointId === endpointId));

    const { reply: told } = await ask({ name: "ReportState", endpointId });
    assert.equal(told.isFresh, true);
    assert.equal(told.state.fan_timer_active, "false");
    assert.deepEqual((await ask({ name: "TurnOnFan", endpointId })).reply, {
      name: "Done",
      speech: "The fan is running.",
    });
    assert.equal((await ask({ name: "ReportState", endpointId })).reply.state.fan_timer_active, "true");

    await home.simulator.playScene(home.accountId, { scene: "leave" });
    await eventually(t.signal, async () => {
      const { attributes } = await home.byAccessToken.getDevice(deviceId);
      assert.equal(attributes["d.structures[1].a.away"]?.value, "away");
    });
    const { reply: refused } = await ask({ name: "TurnOnFan", endpointId: `${deviceId}-1-thermostat-2` });
    assert.equal(refused.name, "Sorry");
    assert.match(refused.speech, /^That didn't work: .+\.$/);

    home.simulator.revokeToken(home.accountToken);
    await eventually(t.signal, async () => {
      const { reply: unknown } = await ask({ name: "ReportState", endpointId: `${deviceId}-1-alarm-1` });
      assert.deepEqual([unknown.name, unknown.speech], ["Unknown", "I can't see your home just now."]);
      assert.equal(new Date(unknown.asOf).toISOString(), unknown.asOf);
      assert.equal(unknown.state, undefined);
    });

    assert.equal((await ask({ name: "ReportState", endpointId: "9-1-alarm-1" })).reply.name, "Sorry");
    assert.equal((await ask({ name: "ReportState", endpointId: "the kitchen" })).reply.name, "Sorry");
    assert.equal((await ask({ name: "Sing" })).status, 400);
    assert.equal((await ask("not JSON")).status, 400);
    assert.equal((await ask({ name: "Discover" }, "")).status, 401);
    await home.oauth.revoke(accessToken);
    assert.deepEqual(await ask({ name: "Discover" }), { status: 401, reply: { name: "LinkAgain" } });
  });
});
