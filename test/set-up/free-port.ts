import { createServer } from "node:net";

/**
 * Below the ranges from which systems take ports for outgoing connections and for `listen(0)`: no other test is given
 * the port between this look and its use. Above 10080, to which `fetch` does not connect.
 */
const lowest = 10_100;
const highest = 32_000;

const given = new Set<number>();

/** A port on loopback that nobody listens on just now, another one at each call. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = lowest + Math.floor(Math.random() * (highest - lowest));
    if (given.has(port) || !(await isFree(port))) continue;
    given.add(port);
    return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer().once("error", () => resolve(false));
    probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
  });
}
