import { type BrowserCookie, browserCookie } from "../../http/answer/browser-cookie.ts";
import { sessionLifetime } from "../../operators/sessions.ts";

/** The cookie of an operator's session. `Strict`: pages of other sites can't even link into a session. */
export function operatorCookie(baseUrl: () => string): BrowserCookie {
  const options = { plainName: "breezeway-operator", sameSite: "Strict" } as const;
  return browserCookie(baseUrl, sessionLifetime.longestMs / 1_000, options);
}
