import type { AccountUser } from "../../account/sessions.ts";
import { type Answer, pageAnswer } from "../../http/answer/answer.ts";
import type { BrowserCookie } from "../../http/answer/browser-cookie.ts";
import type { NoticeCookie } from "../../http/answer/notice-cookie.ts";
import type { Incoming } from "../../http/request/incoming.ts";
import { derivedSecret } from "../../identity/secrets.ts";
import type { TenantId } from "../../model/ids.ts";
import type { Brand, Page } from "../../web/page.ts";

/** One request to the account page of a tenant's users. */
export interface Visit {
  readonly tenantId: TenantId;
  readonly brand: Brand;
  readonly cookie: BrowserCookie;
  /** What the form before this page has done. */
  readonly notice: NoticeCookie;
  /** The secret in the cookie: of a session, or of a browser that has opened the sign-in page. */
  readonly secret: string | undefined;
  /** The path of the account page. */
  readonly address: string;
  readonly incoming: Incoming;
}

/** A request of a signed-in user. Functions that need a session take this type, so that no check is forgotten. */
export interface SignedInVisit extends Visit {
  readonly secret: string;
  readonly user: AccountUser;
}

/** The CSRF token of a browser's forms. Signing in replaces the cookie, so that an earlier token is no longer valid. */
export function csrfOf(secret: string): string {
  return derivedSecret(secret, "account csrf");
}

/** An answer with a page that explains an error. The code of the error goes to the log. */
export function failed(
  status: number,
  code: string,
  page: Page,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  return { ...pageAnswer(status, page, headers), about: { failure: { code } } };
}
