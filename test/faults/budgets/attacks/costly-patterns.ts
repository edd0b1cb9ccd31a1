import assert from "node:assert/strict";
import { limits } from "../../../../src/model/limits.ts";
import type { Attack, Target } from "../attack.ts";
import { sendMany, sendRequest } from "../requests.ts";
import { counted } from "../tally.ts";

/** Random values of two letters make each of these patterns take all steps that it may. */
const costly = "(?:[ab]*a[ab]{20}|[ab]*b[ab]{20})";
const patterns = [`${costly}{4}x`, `${costly}x`];
const atOnce = 2 * limits.changesWaiting;

/** Writes that make alerts take as many pattern steps as one change may, with dry runs and explanations of them. */
export const costlyPatterns: Attack = {
  name: "costly patterns",
  async run(target) {
    const { url, devices, accessToken: token } = target;
    const alertIds: string[] = [];
    for (const pattern of patterns) {
      const made = await sendRequest(url, { path: "/v3/alerts", token, json: definition(target, pattern) });
      assert.equal(made.status, 201, made.text);
      alertIds.push(String(JSON.parse(made.text).alertId));
    }
    return sendMany(target, { count: 100_000, atOnce, forMs: 10_000 }, (index) => {
      const pattern = patterns[index % patterns.length]!;
      if (index % 40 === 10) {
        return { path: "/v3/alerts/dry-run", token, json: { ...definition(target, pattern), from: 0 } };
      }
      if (index % 20 === 5) return { path: `/v3/alerts/${alertIds[index % patterns.length]}/explain`, token };
      return { method: "PUT", path: `/v3/devices/${devices[0]}`, token, json: { report: randomLetters() } };
    });
  },
  judge({ got }) {
    assert.ok(counted(got, "200") > 0, JSON.stringify(got));
    assert.ok(counted(got, "409 limit_reached") > 0, "changes beyond the limit of those that wait are refused");
  },
};

function randomLetters(): string {
  return Array.from({ length: 8_192 }, () => (Math.random() < 0.5 ? "a" : "b")).join("");
}

function definition({ devices }: Target, stringThreshold: string) {
  return { deviceId: devices[0], attrName: "report", operation: "regex", stringThreshold, action: "note" };
}
