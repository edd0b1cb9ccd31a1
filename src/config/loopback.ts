import type { Config } from "./config.ts";

/** Whether nobody but this machine reaches the service: by its own address, and by the one that it gives to others. */
export function isOnLoopback({ host, baseUrl }: Pick<Config, "host" | "baseUrl">): boolean {
  const isOurs = (name: string) => name === "localhost" || /^(\[?::1\]?|127(\.\d+){3})$/.test(name);
  return isOurs(host) && (baseUrl === undefined || isOurs(new URL(baseUrl).hostname));
}
