import assert from "node:assert/strict";
import { attributeName, thermostatAttribute } from "../../../../src/virtual-device/attribute-names.ts";
import type { Attack } from "../attack.ts";
import { sendMany } from "../requests.ts";

/** Fan requests in a loop, on and off. */
export const fans: Attack = {
  name: "fan requests",
  run: (target) =>
    sendMany(target, { count: 100_000, atOnce: 8, forMs: 10_000 }, (place) => ({
      method: "PUT",
      path: `/v3/devices/${target.virtual}`,
      token: target.accessToken,
      json: { [attributeName(thermostatAttribute(1, 1, "requestWrite"))]: place % 2 === 0 ? "true" : "false" },
    })),
  judge({ rows }) {
    assert.ok(rows.commands!.after <= 110, `${rows.commands!.after} fan requests are kept of one device`);
  },
};
