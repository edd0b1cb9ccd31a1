import { Refusal } from "../refusal.ts";
import type { Call } from "./call.ts";

/**
 * Prevents cross-site request forgery: the simulator has no sign-in, so any page could start scenes or give an app
 * access. Reads are allowed, because a page of another site can't see the answer. Programs other than browsers send
 * neither header.
 */
export function refuseOtherSites({ method, request: { headers } }: Call): void {
  if (method === "GET" || method === "HEAD" || method === "OPTIONS") return;
  const { origin, host, "sec-fetch-site": site } = headers;
  // Sec-Fetch-Site comes first: no page can forge it, and the Origin of a form may be hidden ("null").
  const isOwn =
    site === undefined
      ? origin === undefined || (URL.canParse(origin) && new URL(origin).host === host)
      : site === "same-origin" || site === "none";
  if (!isOwn) {
    throw new Refusal(
      403,
      "other_site",
      "A page of another site may not change anything here. Use the simulator's own page, or a program that sends no Origin header.",
    );
  }
}
