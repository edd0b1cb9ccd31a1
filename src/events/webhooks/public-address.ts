import { BlockList, isIP, type LookupFunction } from "node:net";

/** All addresses that a name has now; none when it can't be resolved, or not before the signal. */
export type Resolve = (host: string, signal: AbortSignal) => Promise<readonly ResolvedAddress[]>;

export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

/** What doesn't lead to the public internet (RFC 6890), or may lead anywhere (translation and tunnels). */
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

/** Of the newer addresses only those that are given out to the public are public. */
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
 * The host can't be called: it has no address, or one that isn't public. Both read the same, so that nobody learns from
 * outside which names a private network has.
 */
export class NotReachable extends Error {
  constructor() {
    super("the host could not be resolved to an address that may be called");
    this.name = "NotReachable";
  }
}

export interface AddressRules {
  readonly resolve: Resolve;
  /** Also addresses that aren't public: for operators that run receivers of their own beside the service. */
  readonly allowsPrivate: boolean;
}

/** The addresses of a host that may be called; rejects when it has none, or one that isn't public among them. */
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
 * Resolves for a connection, which then goes to an address that was checked: a name that changes its mind between the
 * check and the call gains nothing.
 */
export function lookupAmong(addresses: readonly ResolvedAddress[]): LookupFunction {
  return (_host, options, found) => {
    const [only] = addresses;
    if (options.all) found(null, [...addresses]);
    else found(null, only!.address, only!.family);
  };
}
