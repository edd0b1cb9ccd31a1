import { connect, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import type { Attack, Target } from "../attack.ts";
import { attackersAddress } from "../requests.ts";
import { Tallied } from "../tally.ts";

const idle = 1_500;
const slow = 500;
const heldMs = 15_000;

/**
 * Idle connections, and connections on which a request arrives one byte a second. A proxy would apply its own limits
 * first.
 */
export const connections: Attack = {
  name: "connections",
  only: "SQLite, direct",
  async run(target) {
    const got = new Tallied();
    const open = new Set<Socket>();
    for (let i = 0; i < idle + slow; i++) {
      const socket = openTo(target);
      const isSlow = i >= idle;
      open.add(socket);
      const drip = isSlow ? setInterval(() => socket.write("x"), 1_000) : undefined;
      if (isSlow) socket.write("GET /v3/devices HTTP/1.1\r\nx-slow: ");
      socket.on("error", () => undefined);
      socket.on("close", () => {
        clearInterval(drip);
        if (open.delete(socket)) got.add(`${isSlow ? "slow" : "idle"} connection closed by the service`);
      });
      // A burst beyond the backlog of the listening socket would measure only the backlog.
      if (i % 50 === 49) await pause(10);
    }
    await pause(heldMs);
    got.add("still open at the end", open.size);
    for (const socket of [...open]) {
      open.delete(socket);
      socket.destroy();
    }
    return got.tally;
  },
};

function openTo({ url }: Target): Socket {
  const { hostname, port } = new URL(url);
  return connect({ host: hostname, port: Number(port), localAddress: attackersAddress }).resume();
}
