import type { Config } from "./config.ts";

/** Whether only this machine can reach the service: both the address to listen on and the base URL are loopback. */
export function isOnLoopback({ host, baseUrl }: Pick<Config, "host" | "baseUrl">): boolean {
  const isLoopback = (name: string) => name === "localhost" || /^(\[?::1\]?|127(\.\d+){3})$/.test(name);
  return isLoopback(host) && (baseUrl === undefined || isLoopback(new URL(baseUrl).hostname));
}
