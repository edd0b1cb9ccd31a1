import assert from "node:assert/strict";
import type { Attack, Target } from "../attack.ts";
import { sendMany, sendRequest } from "../requests.ts";
import { counted } from "../tally.ts";

const commits = 400;

/** Dry runs, explanations and history over 20 MB of changes, in a loop. */
export const questions: Attack = {
  name: "dry runs, explanations, history",
  async prepare(target) {
    const value = "x".repeat(8_000);
    const written = await sendMany(target, { count: commits, atOnce: 4, forMs: 120_000 }, (index) => ({
      method: "PUT",
      path: `/v3/devices/${target.devices[0]}`,
      token: target.accessToken,
      json: { a: value, b: value, c: value, d: value, e: value, f: value, n: `${index}` },
    }));
    assert.equal(counted(written, "200"), commits, JSON.stringify(written));
  },
  async run(target) {
    const { url, devices, accessToken: token } = target;
    const json = definition(target);
    const made = JSON.parse((await sendRequest(url, { path: "/v3/alerts", token, json })).text);
    const requests = [
      { path: "/v3/alerts/dry-run", token, json: { ...json, from: 0 } },
      { path: `/v3/alerts/${made.alertId ?? made.id}/explain`, token },
      { path: `/v3/devices/${devices[0]}/history`, token },
      { path: `/v3/devices/${devices[0]}/history?attribute=n`, token },
    ];
    return sendMany(
      target,
      { count: 100_000, atOnce: 16, forMs: 10_000 },
      (index) => requests[index % requests.length]!,
    );
  },
};

function definition({ devices }: Target) {
  const targets = [{ deviceId: devices[1], attrName: "power", value: "on" }];
  return {
    ...{ deviceId: devices[0], attrName: "a", operation: "regex", stringThreshold: "(x*y)*z" },
    ...{ action: "attribute", targets },
  };
}
