import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { namedFaults } from "../../../simulator/google-device-access/faults.ts";
import type { StreamListener } from "../../../src/ecosystems/connector.ts";
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

  it("count together for all links of an account", async (t) => {
    const google = await startedGoogle(t);
    const account = google.addAccount("Ada");
    const [, hall, attic] = account.devices.keys();
    const tokens = [google.tokens.consent(account).accessToken, google.tokens.consent(account).accessToken];
    const { feed } = await startedConnector(t, google, { limits: { ...googleLimits, lists: generous.lists } });
    const connector = feed.connector();
    for (const token of tokens) {
      const { promise: followed, resolve } = Promise.withResolvers<void>();
      const listener: StreamListener = {
        ...{ home: () => resolve(), unchanged: () => resolve(), partial: () => undefined, stored: async () => true },
      };
      void connector.follow(token, listener, t.signal);
      await followed;
    }
    const commands = tokens.flatMap((token, nth) => Array.from({ length: 6 }, () => [token, [hall!, attic!][nth]!]));
    const states: string[] = [];
    for (const [index, [token, device]] of commands.entries()) {
      const step = { trait: "thermostat", set: { heatCelsius: 18 + index / 2 } } as const;
      states.push((await connector.act(token!, { key: thermostatKey(device!), step }, t.signal)).state);
    }
    const five = Array<string>(5).fill("accepted");
    assert.deepEqual(states, [...five, "rejected", ...five, "rejected"]);
    assert.equal(new Set(tokens).size, 2);
    const step = { trait: "fanTimer", set: { active: true } } as const;
    const third = [...account.devices.keys()].at(-1)!;
    const beyond = await connector.act(tokens[1]!, { key: thermostatKey(third), step }, t.signal);
    assert.equal(beyond.state, "rejected", "the account has made ten, five with each token");
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
    google.faults.set("devices", namedFaults.rateLimited);
    const limited = { state: "rejected", message: "Rate limited.", retryAfterMs: 60_000 };
    assert.deepEqual(await act({ trait: "fanTimer", set: { active: true } }), limited);
    google.faults.set("devices", { ...namedFaults.rateLimited, retryAfterSeconds: 7 });
    assert.deepEqual(await act({ trait: "fanTimer", set: { active: true } }), { ...limited, retryAfterMs: 7_000 });
  });
});
