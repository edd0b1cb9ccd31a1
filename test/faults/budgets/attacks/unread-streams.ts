import { connect } from "node:net";
import type { Attack, Target } from "../attack.ts";
import { attackersAddress, sendMany } from "../requests.ts";
import { Tallied } from "../tally.ts";

const streams = 40;

/** More event streams than a client may have, all unread, and 20 MB of events for each. */
export const unreadStreams: Attack = {
  name: "unread streams",
  async run(target) {
    const got = new Tallied();
    const open = Array.from({ length: streams }, () => openUnread(target));
    const value = "x".repeat(8_000);
    const written = await sendMany(target, { count: 400, atOnce: 4, forMs: 30_000 }, (index) => ({
      method: "PUT",
      path: `/v3/devices/${target.devices[0]}`,
      token: target.accessToken,
      json: { a: value, b: value, c: value, d: value, e: value, f: value, n: `${index}` },
    }));
    for (const [answer, count] of Object.entries(written)) got.add(`write ${answer}`, count);
    got.add("streams cut off", open.filter(({ destroyed }) => destroyed).length);
    for (const socket of open) socket.destroy();
    return got.tally;
  },
};

function openUnread({ url, accessToken }: Target) {
  const { hostname, port, host } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), localAddress: attackersAddress });
  socket.on("error", () => undefined);
  socket.write(`GET /v3/events HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${accessToken}\r\n\r\n`);
  return socket.pause();
}
