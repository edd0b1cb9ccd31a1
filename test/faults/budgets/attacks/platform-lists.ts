import assert from "node:assert/strict";
import { connect } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import type { Attack, Target } from "../attack.ts";
import { attackersAddress, sendMany } from "../requests.ts";
import { counted, Tallied } from "../tally.ts";

const alertsOfDevice = 1_000;
const slowReaders = 10;

/** An unpaged list of 10,000 alerts, requested in a loop, and by clients that read it slowly. */
export const platformLists: Attack = {
  name: "unpaged lists",
  async prepare(target) {
    const { devices, accessToken: token } = target;
    const count = alertsOfDevice * devices.length;
    const made = await sendMany(target, { count, atOnce: 32, forMs: 300_000 }, (index) => ({
      path: "/v3/alerts",
      token,
      json: {
        ...{ deviceId: devices[index % devices.length], attrName: `never${index}`, operation: "equals" },
        ...{ stringThreshold: "x".repeat(200), action: "attribute" },
        targets: [{ deviceId: devices[0], attrName: "power", value: "on" }],
      },
    }));
    assert.equal(counted(made, "201"), count, JSON.stringify(made));
  },
  async run(target) {
    const got = new Tallied();
    const slow = Promise.all(Array.from({ length: slowReaders }, () => readSlowly(target)));
    const form = { secToken: target.secToken };
    const path = "/zdk/services/zamapi/getTriggerDetailListByUser";
    const looped = await sendMany(target, { count: 40, atOnce: 4, forMs: 30_000 }, () => ({ path, form }));
    for (const [answer, count] of Object.entries(looped)) got.add(answer, count);
    for (const what of await slow) got.add(`slow reader ${what}`);
    return got.tally;
  },
  judge({ got }) {
    assert.ok(counted(got, "200") > 0, "a list within the limits is answered");
  },
};

/** Reads a part of the answer, then stops. */
async function readSlowly({ url, secToken }: Target): Promise<string> {
  const { hostname, port, host } = new URL(url);
  const path = `/zdk/services/zamapi/getTriggerDetailListByUser?secToken=${secToken}`;
  const socket = connect({ host: hostname, port: Number(port), localAddress: attackersAddress });
  socket.on("error", () => undefined);
  socket.write(`GET ${path} HTTP/1.1\r\nhost: ${host}\r\n\r\n`);
  let bytes = 0;
  for (let i = 0; i < 50 && !socket.destroyed; i++) {
    socket.pause();
    await pause(200);
    bytes += socket.read(1_024)?.length ?? 0;
  }
  const wasOpen = !socket.destroyed;
  socket.destroy();
  return wasOpen ? `took ${bytes > 0 ? "a part" : "nothing"}` : "was cut off";
}
