import { BlockList, isIPv6, type Server, type Socket } from "node:net";
import { sourceOf } from "../../identity/source.ts";
import type { OnLimitReached } from "../../model/limits.ts";

export interface ConnectionLimits {
  /** Open connections of one source: an IPv4 address, or the /64 network of an IPv6 address. */
  readonly connectionsPerSource: number;
  /** Open connections of all sources together. */
  readonly connections: number;
}

/**
 * Closes a new connection at once when its source, or all sources together, have reached the limit of open connections.
 * A trusted proxy carries many clients, so it isn't counted as a source. Call this after all other listeners for
 * connections were added: they don't see connections that are closed here.
 */
export function limitConnections(
  server: Server,
  {
    connectionsPerSource,
    connections,
    trustedProxies,
  }: ConnectionLimits & { readonly trustedProxies: readonly string[] },
  onLimitReached: OnLimitReached,
): void {
  // One source must never be able to use all connections.
  const perSource = Math.min(connectionsPerSource, Math.ceil(connections / 2));
  const proxies = networksOf(trustedProxies);
  const open = new Map<string, number>();
  let total = 0;
  const listeners = server.listeners("connection") as ((socket: Socket) => void)[];
  server.removeAllListeners("connection");
  server.on("connection", (socket) => {
    if (total >= connections) {
      onLimitReached("connections");
      socket.destroy();
      return;
    }
    const { remoteAddress } = socket;
    if (remoteAddress !== undefined && !isInNetworks(proxies, remoteAddress)) {
      const source = sourceOf(remoteAddress);
      const count = open.get(source) ?? 0;
      if (count >= perSource) {
        onLimitReached("connectionsPerSource");
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
    total += 1;
    socket.once("close", () => {
      total -= 1;
    });
    for (const listener of listeners) listener.call(server, socket);
  });
}

/** The addresses and networks of proxies, from the settings. */
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

export function isInNetworks(networks: BlockList, address: string): boolean {
  return networks.check(address, isIPv6(address) ? "ipv6" : "ipv4");
}
