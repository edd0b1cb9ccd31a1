import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { startHomeAssistant } from "../../../simulator/home-assistant/simulator.ts";
import { homeAssistantConnector } from "../../../src/ecosystems/home-assistant/connector.ts";
import { InstanceHome } from "../../../src/ecosystems/home-assistant/instance-home.ts";
import { thermostatKey } from "../../../src/home/reported-things.ts";
import { flushPromises } from "../../federation/manual-runtime.ts";

describe("a defect of Breezeway that an instance causes", () => {
  for (const method of ["load", "list"] as const) {
    it(`is not taken for an unreachable instance (${method})`, { timeout: 60_000 }, async (t) => {
      const simulator = await startHomeAssistant();
      t.after(() => simulator.stop());
      const connector = homeAssistantConnector({ name: "home", allowPrivateNetworks: true });
      const access = `${simulator.url} ${simulator.tokens.addLongLived()}`;
      const { signal } = new AbortController();
      const mistake = new TypeError("oh");
      t.mock.method(InstanceHome.prototype, method, () => {
        throw mistake;
      });
      await assert.rejects(connector.read(access, signal), mistake);
      while (simulator.connections.size > 0) await flushPromises();
      const step = { trait: "fanTimer", set: { active: true } } as const;
      await assert.rejects(connector.act(access, { key: thermostatKey("t1"), step }, signal), mistake);
      while (simulator.connections.size > 0) await flushPromises();
    });
  }
});
