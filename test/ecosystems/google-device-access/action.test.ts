import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { namedFaults } from "../../../simulator/google-device-access/faults.ts";
import { googleLimits } from "../../../src/ecosystems/google-device-access/limits.ts";
import { thermostatKey } from "../../../src/home/reported-things.ts";
import { generous, startedConnector, startedGoogle } from "./harness.ts";

describe("commands to thermostats of Google", () => {
  it("keep the limits of a thermostat and of an account: a command beyond them is not sent, and says when", async (t) => {
    const google = await startedGoogle(t);
    const account = google.addAccount("Ada");
    const [, hall, attic] = account.devices.keys();
    const { accessToken } = google.tokens.consent(account);
    const { connector } = await startedConnector(t, google, { limits: { ...googleLimits, lists: generous.lists } });
    const heat = (device: string, heatCelsius: number) => {
      const step = { trait: "thermostat", set: { heatCelsius } } as const;
      return connector.act(accessToken, { key: thermostatKey(device), step }, t.signal);
    };
    const warmFive = async (device: string) => {
      for (const celsius of [18, 19, 20, 21, 22]) assert.deepEqual(await heat(device, celsius), { state: "accepted" });
    };
    await warmFive(hall!);
    const sixth = await heat(hall!, 23);
    assert.ok(sixth.state === "rejected" && sixth.retryAfterMs !== undefined);
    assert.ok(sixth.retryAfterMs > 0 && sixth.retryAfterMs <= 61_000, String(sixth.retryAfterMs));
    assert.match(sixth.message, /5 commands a minute/);
    await warmFive(attic!);
    assert.equal((await heat(attic!, 23)).state, "rejected", "the account has made ten");
    assert.deepEqual([google.rates.taken.execute, google.rates.refused.execute], [10, 0]);
  });

  it("keep Google's words of a refusal, and its time to wait", async (t) => {
    const google = await startedGoogle(t);
    const account = google.addAccount("Ada");
    const [, hall] = account.devices.keys();
    const { accessToken } = google.tokens.consent(account);
    const { connector } = await startedConnector(t, google);
    const act = (step: Parameters<typeof connector.act>[1]["step"]) =>
      connector.act(accessToken, { key: thermostatKey(hall!), step }, t.signal);
    assert.deepEqual(await act({ trait: "thermostat", set: { coolCelsius: 24 } }), {
      state: "rejected",
      message: "Command not allowed in current thermostat mode.",
    });
    google.faults.set("devices", namedFaults.tooMany);
    const limited = { state: "rejected", message: "Rate limited.", retryAfterMs: 60_000 };
    assert.deepEqual(await act({ trait: "fanTimer", set: { active: true } }), limited);
    google.faults.set("devices", { ...namedFaults.tooMany, retryAfterSeconds: 7 });
    assert.deepEqual(await act({ trait: "fanTimer", set: { active: true } }), { ...limited, retryAfterMs: 7_000 });
  });
});
