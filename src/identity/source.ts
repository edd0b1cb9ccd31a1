import { isIPv6 } from "node:net";

/** The source that an address is counted under. A whole IPv6 /64 network is one source: its owner has 2^64 addresses. */
export function sourceOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  if (mapped) return mapped[1]!;
  if (!isIPv6(address)) return address;
  const [head = "", tail] = address.replace(/%.*$/, "").split("::");
  const groupsOf = (part: string) => (part === "" ? [] : part.split(":"));
  const first = groupsOf(head);
  const missing = tail === undefined ? 0 : 8 - first.length - groupsOf(tail).length;
  const groups = [...first, ...new Array<string>(Math.max(missing, 0)).fill("0"), ...groupsOf(tail ?? "")];
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(":")}::/64`;
}
