import { InvalidArgument } from "./errors.ts";

/**
 * The address of a service, without a slash at its end.
 * @internal
 */
export function address(url: string): string {
  let protocol = "";
  try {
    protocol = new URL(url).protocol;
  } catch {
    // Said below.
  }
  if (protocol !== "http:" && protocol !== "https:") {
    throw new InvalidArgument("The address of the service must begin with http:// or https://.");
  }
  return url.replace(/\/+$/, "");
}
