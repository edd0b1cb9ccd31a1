import assert from "node:assert/strict";
import { connect, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import type { Attack, Target } from "../attack.ts";
import { attackersAddress, sendMany } from "../requests.ts";
import { Tallied } from "../tally.ts";

/** With those behind them as many streams as a client may have: none ends another. */
const sockets = 2;
const streamsBehind = 7;
const forMs = 15_000;
const rssGrowthAtMost = 100_000_000;

/** An id before the events that `prepare` makes. */
let oldEventId = "";

/** Streams that resume 20 MB back, each behind a stream on the same connection that never ends. */
export const pipelinedStreams: Attack = {
  name: "pipelined streams",
  // nginx passes each request on when the one before is answered.
  only: "SQLite, direct",
  async prepare(target) {
    oldEventId = await newestEventId(target);
    const value = "x".repeat(8_000);
    await sendMany(target, { count: 400, atOnce: 4, forMs: 60_000 }, (index) => ({
      method: "PUT",
      path: `/v3/devices/${target.devices[0]}`,
      token: target.accessToken,
      json: { a: value, b: value, c: value, d: value, e: value, f: value, n: `${index}` },
    }));
  },
  async run(target) {
    const got = new Tallied();
    const open = Array.from({ length: sockets }, () => openStreams(target, streamsBehind));
    let answers = 0;
    for (const socket of open) {
      socket.setEncoding("latin1").on("data", (piece: string) => {
        answers += piece.split("HTTP/1.1 ").length - 1;
      });
    }
    await pause(forMs);
    got.add("streams that began", answers);
    got.add("connections closed", open.filter(({ destroyed }) => destroyed).length);
    for (const socket of open) socket.destroy();
    return got.tally;
  },
  judge({ rssGrown }) {
    assert.ok(rssGrown < rssGrowthAtMost, `the memory has grown by ${rssGrown} bytes`);
  },
};

function openStreams(target: Target, behind: number): Socket {
  const { hostname, port } = new URL(target.url);
  const socket = connect({ host: hostname, port: Number(port), localAddress: attackersAddress });
  socket.on("error", () => undefined);
  socket.write(streamRequest(target) + streamRequest(target, `last-event-id: ${oldEventId}\r\n`).repeat(behind));
  return socket;
}

function streamRequest({ url, accessToken }: Target, header = ""): string {
  const { host } = new URL(url);
  return `GET /v3/events HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${accessToken}\r\n${header}\r\n`;
}

/** The id of the heartbeat with which a stream begins. */
async function newestEventId(target: Target): Promise<string> {
  const socket = openStreams(target, 0);
  let text = "";
  for await (const piece of socket) {
    text += piece;
    const [, id] = /^id: (\S+)\nevent: heartbeat$/m.exec(text) ?? [];
    if (id !== undefined) return id;
  }
  throw new Error(`the stream has ended: ${text}`);
}
