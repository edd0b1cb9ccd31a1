import { InvalidArgument } from "./errors.ts";

/**
 * Checks the address of a service and removes trailing slashes.
 * @internal
 */
export function address(url: string): string {
  let protocol = "";
  try {
    protocol = new URL(url).protocol;
  } catch {
    // Reported below.
  }
  if (protocol !== "http:" && protocol !== "https:") {
    throw new InvalidArgument("The address of the service must begin with http:// or https://.");
  }
  return url.replace(/\/+$/, "");
}
