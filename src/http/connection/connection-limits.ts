import { BlockList, isIPv6, type Server, type Socket } from "node:net";
import { sourceOf } from "../../identity/source.ts";
import type { ReachLimit } from "../../model/limits.ts";

export interface ConnectionLimits {
  /** Open connections of one source: an IPv4 address, or the /64 network of an IPv6 address. */
  readonly connectionsPerSource: number;
  /** Open connections of all sources together. */
  readonly connections: number;
}

/**
 * Closes a new connection at once when its source, or all sources together, have as many open as they may have. A
 * trusted proxy brings many clients on its connections, so it isn't counted as a source. Call it when all other
 * listeners for connections are there: they don't see what is closed here.
 */
export function limitConnections(
  server: Server,
  {
    connectionsPerSource,
    connections,
    trustedProxies,
  }: ConnectionLimits & { readonly trustedProxies: readonly string[] },
  reached: ReachLimit,
): void {
  // One source must never be able to take all of them.
  const perSource = Math.min(connectionsPerSource, Math.ceil(connections / 2));
  const proxies = networksOf(trustedProxies);
  const open = new Map<string, number>();
  let all = 0;
  const listeners = server.listeners("connection") as ((socket: Socket) => void)[];
  server.removeAllListeners("connection");
  server.on("connection", (socket) => {
    if (all >= connections) {
      reached("connections");
      socket.destroy();
      return;
    }
    const { remoteAddress } = socket;
    if (remoteAddress !== undefined && !isIn(proxies, remoteAddress)) {
      const source = sourceOf(remoteAddress);
      const count = open.get(source) ?? 0;
      if (count >= perSource) {
        reached("connectionsPerSource");
        socket.destroy();
        return;
      }
      open.set(source, count + 1);
      socket.once("close", () => {
        const left = open.get(source)! - 1;
        if (left === 0) open.delete(source);
        else open.set(source, left);
      });
    }
    all += 1;
    socket.once("close", () => {
      all -= 1;
    });
    for (const listener of listeners) listener.call(server, socket);
  });
}

/** The addresses and networks of proxies, as the settings name them. */
export function networksOf(proxies: readonly string[]): BlockList {
  const networks = new BlockList();
  for (const proxy of proxies) {
    const [address = "", prefix] = proxy.split("/");
    const family = isIPv6(address) ? "ipv6" : "ipv4";
    if (prefix === undefined) networks.addAddress(address, family);
    else networks.addSubnet(address, Number(prefix), family);
  }
  return networks;
}

export function isIn(networks: BlockList, address: string): boolean {
  return networks.check(address, isIPv6(address) ? "ipv6" : "ipv4");
}
