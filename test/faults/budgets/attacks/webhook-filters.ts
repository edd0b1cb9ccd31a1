import assert from "node:assert/strict";
import type { Attack } from "../attack.ts";
import { sendMany, sendRequest } from "../requests.ts";
import { Tallied } from "../tally.ts";

const filterCharacters = 60_000;

/** Webhooks whose filters name one device up to 30,000 times, and writes that match all of them. */
export const webhookFilters: Attack = {
  name: "webhook filters",
  async run(target) {
    const { url, devices, accessToken: token } = target;
    const got = new Tallied();
    const copies = Math.floor(filterCharacters / (String(devices[0]).length + 1));
    const deviceIds = new Array(copies).fill(devices[0]).join(",");
    const made = await sendMany(target, { count: 10, atOnce: 2, forMs: 60_000 }, (index) => ({
      path: "/v3/webhooks",
      token,
      // No server listens on this port.
      text: `{"url":"http://127.0.0.1:9/${index}","deviceIds":[${deviceIds}]}`,
    }));
    for (const [answer, count] of Object.entries(made)) got.add(`webhook ${answer}`, count);
    const written = await sendMany(target, { count: 50, atOnce: 4, forMs: 60_000 }, (index) => ({
      method: "PUT",
      path: `/v3/devices/${devices[0]}`,
      token,
      json: { power: `${index}` },
    }));
    for (const [answer, count] of Object.entries(written)) got.add(`write ${answer}`, count);
    const { webhooks } = JSON.parse((await sendRequest(url, { path: "/v3/webhooks", token })).text);
    const longest = Math.max(0, ...webhooks.map((one: { deviceIds: readonly number[] }) => one.deviceIds.length));
    got.add(`devices in the longest filter`, longest);
    return got.tally;
  },
  judge({ got }) {
    const longest = got["devices in the longest filter"] ?? 0;
    assert.ok(longest <= 100, `a filter holds ${longest} devices`);
  },
};
