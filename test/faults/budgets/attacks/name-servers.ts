import assert from "node:assert/strict";
import type { Attack } from "../attack.ts";
import { sendMany } from "../requests.ts";
import { total } from "../tally.ts";

const registrations = 24;

/** Webhooks at names whose name servers never answer, while a neighbour's link has to reconnect. */
export const nameServers: Attack = {
  name: "silent name servers",
  hasSilentNameServer: true,
  breaksStream: true,
  run: (target) =>
    sendMany(target, { count: registrations, atOnce: registrations, forMs: 90_000 }, (place) => ({
      path: "/v3/webhooks",
      token: target.accessToken,
      json: { url: `https://silent-${place}.example/hook` },
    })),
  judge({ got, rows }) {
    assert.equal(total(got), registrations);
    assert.equal(rows.webhooks!.after, rows.webhooks!.before, "a name that can't be resolved gets no webhook");
  },
};
