import assert from "node:assert/strict";
import { connect } from "node:net";
import type { Attack, Target } from "../attack.ts";
import { attackersAddress } from "../requests.ts";
import { counted, Tallied } from "../tally.ts";

/** By default nginx answers 1,000 requests on a connection. */
const sockets = 70;
const requestsOfEach = 1_000;
const forMs = 60_000;

/** 70,000 requests on 70 connections, without waiting for answers. */
export const pipelining: Attack = {
  name: "pipelining",
  async run(target) {
    const got = new Tallied();
    const answered = await Promise.all(Array.from({ length: sockets }, () => sendAll(target)));
    got.add(
      "200",
      answered.reduce((sum, count) => sum + count, 0),
    );
    got.add(
      "unanswered",
      answered.reduce((sum, count) => sum + requestsOfEach - count, 0),
    );
    return got.tally;
  },
  judge({ got }) {
    // How many are answered in time depends on the machine.
    assert.ok(counted(got, "200") > 0, "requests that wait unread are answered in the end");
  },
};

/** Returns the number of answered requests of one connection. */
function sendAll({ url, devices, accessToken }: Target): Promise<number> {
  const { hostname, port, host } = new URL(url);
  const head = `GET /v3/devices/${devices[0]} HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${accessToken}\r\n\r\n`;
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port), localAddress: attackersAddress });
    let answered = 0;
    let unread = "";
    const finish = () => {
      clearTimeout(timer);
      socket.destroy();
      resolve(answered);
    };
    const timer = setTimeout(finish, forMs);
    socket.setEncoding("latin1");
    socket.on("connect", () => socket.write(head.repeat(requestsOfEach)));
    socket.on("data", (piece: string) => {
      // Chunks may split a status line.
      const parts = (unread + piece).split("HTTP/1.1 200");
      answered += parts.length - 1;
      unread = parts.at(-1)!.slice(-12);
      if (answered === requestsOfEach) finish();
    });
    socket.on("error", finish);
    socket.on("close", finish);
  });
}
