import { BlockList, isIP, type LookupFunction } from "node:net";

/** All present addresses of a name; empty when it can't be resolved before the signal aborts. */
export type Resolve = (host: string, signal: AbortSignal) => Promise<readonly ResolvedAddress[]>;

export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

/**
 * Networks that are not part of the public internet (RFC 6890), or that may lead anywhere (translation and tunnels).
 */
const notPublic = new BlockList();
for (const [network, prefix] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3],
] as const) {
  notPublic.addSubnet(network, prefix, "ipv4");
}

/** Of IPv6, only global unicast addresses are public. */
const publicV6 = new BlockList();
publicV6.addSubnet("2000::", 3, "ipv6");
for (const [network, prefix] of [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
] as const) {
  notPublic.addSubnet(network, prefix, "ipv6");
}

export function isPublic(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !notPublic.check(address, "ipv4");
  return family === 6 && publicV6.check(address, "ipv6") && !notPublic.check(address, "ipv6");
}

/**
 * The host has no address, or one that isn't public. Both cases have the same message, so that it does not reveal names
 * of a private network.
 */
export class NotReachable extends Error {
  constructor() {
    super("the host could not be resolved to an address that may be called");
    this.name = "NotReachable";
  }
}

export interface AddressRules {
  readonly resolve: Resolve;
  /** Also allow private addresses: for operators that run receivers beside the service. */
  readonly allowsPrivate: boolean;
}

/** The addresses of a host; throws NotReachable when it has none, or if one of them isn't allowed. */
export async function reachableAddresses(
  host: string,
  { resolve, allowsPrivate }: AddressRules,
  signal: AbortSignal,
): Promise<readonly ResolvedAddress[]> {
  const bare = host.replace(/^\[(.*)\]$/, "$1");
  const family = isIP(bare);
  const addresses = family === 0 ? await resolve(bare, signal) : [{ address: bare, family }];
  const areAllowed = allowsPrivate || addresses.every(({ address }) => isPublic(address));
  if (addresses.length === 0 || !areAllowed) throw new NotReachable();
  return addresses;
}

/**
 * A look-up function that returns the checked addresses, so that a name which changes between check and connection (DNS
 * rebinding) gains nothing.
 */
export function lookupAmong(addresses: readonly ResolvedAddress[]): LookupFunction {
  return (_host, options, callback) => {
    const [only] = addresses;
    if (options.all) callback(null, [...addresses]);
    else callback(null, only!.address, only!.family);
  };
}
