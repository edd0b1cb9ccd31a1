import { isIP } from "node:net";
import { isPublic } from "../../runtime/network/public-address.ts";

/**
 * Why no instance answers at an address. `unresolved`: the name has no address that may be called. `closed`: the connection
 * was refused. `untrusted`: the certificate. `unencrypted`: no TLS. `foreign`: another server answers.
 */
export type Obstacle = "unresolved" | "closed" | "silent" | "untrusted" | "unencrypted" | "unreachable" | "foreign";

const awayAddress =
  "Enter the address that opens your Home Assistant when you are away. With Home Assistant Cloud it ends in .ui.nabu.casa: see Settings, Home Assistant Cloud, Remote control. Otherwise it is the https address that you have set up yourself.";

/** What the account's owner reads about an address that works only at home. */
export const localAddressAdvice = `This address works only inside your home network, and we connect over the internet. ${awayAddress}`;

const advices: Readonly<Record<Obstacle, string>> = {
  unresolved: `This name leads to no address that we can reach. Check how it is written. ${awayAddress}`,
  closed:
    "Nothing accepts connections at this address. Check that your Home Assistant is running, and check the port: https uses 443 unless another port follows the name, such as :8123.",
  silent:
    "Nothing answered at this address within 10 seconds. Check the address and its port, and that your router lets requests from the internet through to your Home Assistant.",
  untrusted:
    "The certificate of this address is not trusted: it has expired, is for another name, or is signed by yourself. Renew it, for example with Let’s Encrypt, or use the address of Home Assistant Cloud.",
  unencrypted:
    "What answers at this address does not speak https. Check the port, or set up https for your Home Assistant.",
  unreachable:
    "No connection to this address succeeded. Check the address and its port, and that your Home Assistant can be opened from the internet.",
  foreign:
    "Something answers at this address, but no Home Assistant. Check the name and the port, and leave out what follows them, such as /lovelace.",
};

/** What the account's owner reads about an address at which no instance answers. */
export function adviceOn(obstacle: Obstacle, hostname: string): string {
  return obstacle === "unresolved" && isLocalHost(hostname) ? localAddressAdvice : advices[obstacle];
}

/** Endings of names that only a home network resolves (RFC 6762, RFC 8375, and those that routers use). */
const localName = /(?:^[^.]+|\.(?:local|localhost|localdomain|lan|home|internal|intranet|private|home\.arpa))\.?$/i;

/** True for a private address and for a name that only a home network resolves. */
export function isLocalHost(hostname: string): boolean {
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  return isIP(host) === 0 ? localName.test(host) : !isPublic(host);
}
