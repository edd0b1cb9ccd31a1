import { type BrowserCookie, browserCookie, operatorCookieOptions } from "../../http/answer/browser-cookie.ts";
import { sessionLifetime } from "../../operators/sessions.ts";

/** The cookie of an operator's session. */
export function operatorCookie(baseUrl: () => string): BrowserCookie {
  return browserCookie(baseUrl, sessionLifetime.longestMs / 1_000, operatorCookieOptions);
}
