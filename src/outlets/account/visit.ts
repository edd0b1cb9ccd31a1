import type { AccountUser } from "../../account/sessions.ts";
import { type Answer, pageAnswer } from "../../http/answer/answer.ts";
import type { BrowserCookie } from "../../http/answer/browser-cookie.ts";
import type { Incoming } from "../../http/request/incoming.ts";
import { derivedSecret } from "../../identity/secrets.ts";
import type { TenantId } from "../../model/ids.ts";
import type { Brand, Page } from "../../web/page.ts";

/** One request to the page of a tenant. */
export interface Visit {
  readonly tenantId: TenantId;
  readonly brand: Brand;
  readonly cookie: BrowserCookie;
  /** The secret in the cookie: of a session, or of a browser that has opened the sign-in page. */
  readonly secret: string | undefined;
  /** The path of the page. */
  readonly address: string;
  readonly incoming: Incoming;
}

/** A visit of a user who is signed in. What needs a session takes it, so that none can forget the check. */
export interface SignedInVisit extends Visit {
  readonly secret: string;
  readonly user: AccountUser;
}

/** The CSRF token of a browser's forms. It changes with the cookie, so that one from before signing in is useless. */
export function csrfOf(secret: string): string {
  return derivedSecret(secret, "account csrf");
}

/** A page that says what is wrong, with its code for the log. */
export function failed(
  status: number,
  code: string,
  page: Page,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  return { ...pageAnswer(status, page, headers), about: { failure: { code } } };
}
