import { Refusal } from "../refusal.ts";
import type { Call } from "./call.ts";

/**
 * Refuses a call that a page of another site makes through its visitor's browser. The simulator has no sign-in: any page
 * could start scenes in it, or give an app access. Reading is left alone, since such a page can't see the answer. A
 * program that is no browser sends neither header.
 */
export function refuseOtherSites({ method, request: { headers } }: Call): void {
  if (method === "GET" || method === "HEAD" || method === "OPTIONS") return;
  const { origin, host, "sec-fetch-site": site } = headers;
  // What the browser says of the page counts first: no page can forge it, and a form's Origin may be hidden ("null").
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
