import { Resolver } from "node:dns/promises";
import { readFile } from "node:fs/promises";
import { isIP } from "node:net";
import type { Resolve, ResolvedAddress } from "./public-address.ts";

export interface LookupOptions {
  /** Also resolve local names: those of the hosts file, and those below the search domains. */
  readonly resolvesLocalNames: boolean;
  /** Name servers; those of the system when left out. */
  readonly servers?: readonly string[];
  /** The hosts file; that of the system when left out. */
  readonly hostsFile?: string;
  /** The resolver configuration with the search domains; /etc/resolv.conf when left out. */
  readonly resolverFile?: string;
  /** How long one look-up may take in all; 2 s when left out. */
  readonly timeoutMs?: number;
}

const defaultTimeoutMs = 2_000;
const systemHosts = process.platform === "win32" ? "C:\\Windows\\System32\\drivers\\etc\\hosts" : "/etc/hosts";

/**
 * Resolves names with its own sockets. The system's look-up (`dns.lookup`) would block one of the four threads that
 * password hashing, files and all other look-ups share, as long as a name server stays silent.
 */
export function dnsLookup(options: LookupOptions): Resolve {
  const { resolvesLocalNames, servers, hostsFile = systemHosts, resolverFile = "/etc/resolv.conf" } = options;
  const { timeoutMs = defaultTimeoutMs } = options;
  return async (host, signal) => {
    const name = host.toLowerCase();
    const known = resolvesLocalNames ? await addressesIn(hostsFile, name) : [];
    if (known.length > 0) return known;
    const resolver = new Resolver({ timeout: timeoutMs, tries: 1 });
    if (servers) resolver.setServers(servers);
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    const cancel = () => resolver.cancel();
    deadline.addEventListener("abort", cancel, { once: true });
    try {
      for (const candidate of resolvesLocalNames ? await candidatesFor(name, resolverFile) : [name]) {
        if (deadline.aborted) break;
        const addresses = await ask(resolver, candidate);
        if (addresses.length > 0) return addresses;
      }
      return [];
    } finally {
      deadline.removeEventListener("abort", cancel);
    }
  };
}

/** Queries IPv4 and IPv6 addresses at once. A family without an answer counts as empty. */
async function ask(resolver: Resolver, name: string): Promise<readonly ResolvedAddress[]> {
  const found = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  return found.flatMap((family, at) =>
    family.status === "fulfilled" ? family.value.map((address) => ({ address, family: at === 0 ? 4 : 6 })) : [],
  );
}

/** The addresses of a name in the hosts file. */
async function addressesIn(file: string, name: string): Promise<readonly ResolvedAddress[]> {
  const found = (await linesOf(file)).flatMap(([address = "", ...names]) => {
    const family = isIP(address);
    return family !== 0 && names.some((one) => one.toLowerCase() === name) ? [{ address, family }] : [];
  });
  if (found.length > 0 || name !== "localhost") return found;
  return [
    { address: "127.0.0.1", family: 4 },
    { address: "::1", family: 6 },
  ];
}

/** The name itself, and below each search domain; a name without a dot is tried below these first. */
async function candidatesFor(name: string, file: string): Promise<readonly string[]> {
  const last = (await linesOf(file)).findLast(([word]) => word === "search" || word === "domain");
  const below = (last?.slice(1) ?? []).map((domain) => `${name}.${domain}`);
  if (name.endsWith(".")) return [name];
  return name.includes(".") ? [name, ...below] : [...below, name];
}

/** The words of each line, without comments; empty for a missing file. */
async function linesOf(file: string): Promise<readonly (readonly string[])[]> {
  const text = await readFile(file, "utf8").catch(() => "");
  return text.split("\n").map((line) =>
    line
      .replace(/[#;].*/, "")
      .split(/\s+/)
      .filter((word) => word !== ""),
  );
}
