import assert from "node:assert/strict";
import type { Attack } from "../attack.ts";
import { sendMany, sendRequest } from "../requests.ts";
import { counted, total } from "../tally.ts";
import { attackersQuota } from "../template.ts";

const forMs = 10_000;

/** A client goes on reading and commanding far beyond its quota. */
export const quotas: Attack = {
  name: "beyond a quota",
  async run(target) {
    const form = { grant_type: "client_credentials", ...target.enterprise };
    const { text } = await sendRequest(target.url, { path: "/oauth2/access_token", form });
    const { access_token: token } = JSON.parse(text) as { readonly access_token: string };
    const command = { trait: "onOff", command: "set", params: { on: true } };
    const requests = [
      { path: `/v3/devices/${target.devices[0]}`, token },
      { path: "/v3/devices", token },
      { path: "/v3/users", token },
      { path: "/v3/things/t_unknown/commands", token, json: command },
    ];
    return sendMany(target, { count: 1_000_000, atOnce: 32, forMs }, (index) => requests[index % requests.length]!);
  },
  judge({ got, reached }) {
    const refused = counted(got, "429 quota_exceeded");
    const admitted = total(got) - refused;
    // What is left of the minute's quota, and what comes back while the attack runs.
    const most = attackersQuota["requests-per-minute"] * (1 + (2 * forMs) / 60_000);
    assert.ok(admitted <= most, `${admitted} requests were admitted, ${most} at most`);
    assert.ok(refused > admitted, `only ${refused} requests were refused`);
    assert.equal(counted(got, "429 quota_exceeded without Retry-After"), 0);
    assert.ok((reached.requestsPerMinutePerClient ?? 0) > 0, "the limit was not counted");
  },
};
