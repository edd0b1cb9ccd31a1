import assert from "node:assert/strict";
import type { Attack } from "../attack.ts";
import { sendMany } from "../requests.ts";
import { counted } from "../tally.ts";

const largest = 65_536;

/** Bodies at and beyond the limit: one long value, deeply nested JSON, thousands of members. */
export const bodies: Attack = {
  name: "large and deep bodies",
  run(target) {
    const deep = `{"a":${"[".repeat(largest / 2 - 4)}${"]".repeat(largest / 2 - 4)}}`;
    const objects = `{"a":${'{"a":'.repeat(10_000)}1${"}".repeat(10_001)}`;
    const wide = `[${new Array(largest / 2 - 1).fill("1").join(",")}]`;
    const long = JSON.stringify({ a: "x".repeat(largest - 8) });
    const tooLong = JSON.stringify({ a: "x".repeat(largest) });
    const texts = [deep, objects, wide, long, tooLong];
    return sendMany(target, { count: 2_000, atOnce: 16, forMs: 10_000 }, (place) => ({
      method: "PUT",
      path: `/v3/devices/${target.devices[0]}`,
      token: target.accessToken,
      text: texts[place % texts.length]!,
    }));
  },
  judge({ got }) {
    assert.equal(counted(got, "5"), 0, "a body made the service fail");
  },
};
