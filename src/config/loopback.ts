import { isLoopbackHost } from "../model/loopback-host.ts";

interface Addresses {
  readonly host: string;
  readonly baseUrl: string | undefined;
}

/** Whether only this machine can reach the service: both the address to listen on and the base URL are loopback. */
export function isOnLoopback({ host, baseUrl }: Addresses): boolean {
  return isLoopbackHost(host) && (baseUrl === undefined || isLoopbackHost(new URL(baseUrl).hostname));
}

/** Whether clients reach the service at an address of this machine. Without a base URL it is the one to listen on. */
export function hasLoopbackAddress({ host, baseUrl }: Addresses): boolean {
  return isLoopbackHost(baseUrl === undefined ? host : new URL(baseUrl).hostname);
}
