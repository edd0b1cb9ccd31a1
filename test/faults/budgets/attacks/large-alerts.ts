import assert from "node:assert/strict";
import type { Attack, Target } from "../attack.ts";
import { sendMany } from "../requests.ts";
import { counted } from "../tally.ts";

const alerts = 1_000;
const writes = 30;

/** As many alerts as a device may have, each as large as a request, and writes that trigger all of them. */
export const largeAlerts: Attack = {
  name: "large alerts",
  async run(target) {
    const made = await sendMany(target, { count: alerts, atOnce: 8, forMs: 60_000 }, () => ({
      path: "/v3/alerts",
      token: target.accessToken,
      json: largeAlert(target),
    }));
    const written = await sendMany(target, { count: writes, atOnce: 4, forMs: 60_000 }, (index) => ({
      method: "PUT",
      path: `/v3/devices/${target.devices[0]}`,
      token: target.accessToken,
      json: { watched: `${index}` },
    }));
    return { ...renamed("alert", made), ...renamed("write", written) };
  },
  judge({ got }) {
    assert.equal(counted(got, "alert 409 limit_reached"), alerts, "an alert of 62 KB is refused");
    assert.equal(counted(got, "write 200"), writes);
  },
};

function largeAlert({ devices }: Target) {
  const [deviceId, target] = devices;
  const targets = ["a", "b", "c", "d", "e", "f", "g"].map((attrName) => ({
    deviceId: target,
    attrName,
    value: "x".repeat(8_000),
  }));
  return {
    deviceId,
    attrName: "watched",
    operation: "equals",
    stringThreshold: "y".repeat(6_000),
    action: "attribute",
    targets,
  };
}

function renamed(what: string, tally: Readonly<Record<string, number>>) {
  return Object.fromEntries(Object.entries(tally).map(([answer, count]) => [`${what} ${answer}`, count]));
}
