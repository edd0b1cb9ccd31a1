import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { startSimulator } from "../../../simulator/simulator.ts";
import type { Json } from "../../assistants/google-world.ts";

describe("settled: the simulated ecosystem refuses the fan unless away is home", () => {
  for (const away of ["home", "away", "auto-away", "unknown", "vacation", undefined]) {
    it(`with away ${away}`, async (t) => {
      const simulator = await startSimulator({ port: 0 });
      t.after(() => simulator.stop());
      const { accountId, token } = simulator.addAccount({ structures: [{ thermostats: 1 }] });
      const documentUrl = `${simulator.url}/simulator/accounts/${accountId}/document`;
      const document: Json = await (await fetch(documentUrl)).json();
      const [thermostat] = Object.keys(document.devices.thermostats);
      Object.assign(Object.values<object>(document.structures)[0]!, { away });
      await fetch(documentUrl, { method: "PUT", body: JSON.stringify(document) });
      const answer = await fetch(`${simulator.url}/devices/thermostats/${thermostat}`, {
        method: "PUT",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify({ fan_timer_active: true }),
      });
      const { message } = (await answer.json()) as Json;
      const refused = [400, "Cannot change fan_timer_active while structure is away"];
      assert.deepEqual([answer.status, message], away === "home" ? [200, undefined] : refused);
    });
  }
});
