import type { TenantId, UserId } from "../../model/ids.ts";
import type { Page } from "../../web/page.ts";
import type { Client } from "../clients.ts";
import { Parameters, type SentParameters } from "../parameters.ts";

/** The browser of one request. */
export interface Visit {
  /** The secret in our cookie. */
  readonly browserSecret: string | undefined;
  /** The IP address of the browser. */
  readonly source: string;
  /** Aborts when the browser closes its connection. */
  readonly disconnected?: AbortSignal | undefined;
}

/** The answer to the browser: a page or a redirect. */
export type BrowserAnswer = (
  | { readonly kind: "page"; readonly status: number; readonly page: Page }
  | { readonly kind: "redirect"; readonly status: 302 | 303; readonly location: string }
) & {
  /** The new secret for the cookie. */
  readonly browserSecret?: string;
  readonly retryAfterSeconds?: number;
  /** Whom the page is for, as far as it is known: for the log and the record of requests. */
  readonly caller?: PageCaller;
};

interface PageCaller {
  readonly tenantId: TenantId;
  readonly clientId: string;
  readonly userId?: UserId;
}

/** The client of a page, and its user once the password was right. */
export function callerOf({ tenantId, id: clientId }: Client, userId?: UserId): PageCaller {
  return { tenantId, clientId, ...(userId !== undefined && { userId }) };
}

export const authorizePaths = {
  authorize: "/oauth2/authorize",
  login: "/oauth2/login",
  terms: "/oauth2/terms",
  logo: "/oauth2/logo",
};

/** How long a login page is valid, and then how long a sign-in waits for the decision. */
export const signInStepLifetimeMs = 10 * 60_000;

/** The named fields of a form or query. A missing field is empty; a field that was sent twice throws BadParameter. */
export function formOf<Name extends string>(
  sent: SentParameters,
  names: readonly Name[],
): Readonly<Record<Name, string>> {
  const parameters = new Parameters(sent);
  return Object.fromEntries(names.map((name) => [name, parameters.optional(name) ?? ""])) as Record<Name, string>;
}
