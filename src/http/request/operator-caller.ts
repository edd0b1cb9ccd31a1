import { ForeignOrigin, NotSignedIn } from "../../model/errors.ts";
import type { OperatorCallTurns } from "../../operators/call-turns.ts";
import type { Operator } from "../../operators/operator.ts";
import type { BrowserCookie } from "../answer/browser-cookie.ts";
import type { Incoming, SendingSite } from "./incoming.ts";

/** Finds the operator of a call; each method rejects with NotSignedIn. */
export interface OperatorCallers {
  /** The cookie of the console. */
  readonly cookie: BrowserCookie;
  readonly baseUrl: () => string;
  /** `isUse`: whether it prolongs the session. */
  bySession(secret: string, isUse: boolean): Promise<Operator>;
  byToken(token: string): Promise<Operator>;
  /** Bounds the calls in progress. */
  readonly callTurns?: Pick<OperatorCallTurns, "run">;
}

/**
 * The caller of a route whose rule is `operator`: a token in `Authorization: Bearer`, or the cookie of the console. A
 * change with the cookie must come from a page of ours, because browsers add the cookie to the requests of others too.
 */
export async function callerByOperator(
  { bearer, cookies, site }: Incoming,
  operators: OperatorCallers | undefined,
  { isChange, isUse }: { readonly isChange: boolean; readonly isUse: boolean },
): Promise<Operator> {
  if (!operators) throw new NotSignedIn();
  if (bearer !== undefined) return operators.byToken(bearer);
  const secret = operators.cookie.read(cookies);
  if (secret === undefined) throw new NotSignedIn();
  if (isChange) refuseForeignPage(site, operators.baseUrl());
  return operators.bySession(secret, isUse);
}

/**
 * Refuses a request that a page of another origin sent. Browsers say so in `Sec-Fetch-Site`, and on plain http in
 * `Origin`. A request with neither comes from no browser, and programs send a token.
 */
export function refuseForeignPage({ fetchSite, origin, host }: SendingSite, baseUrl: string): void {
  if (fetchSite === "same-origin") return;
  if (fetchSite !== undefined || origin === undefined || !URL.canParse(origin)) throw new ForeignOrigin();
  const sender = new URL(origin);
  const isOurs = sender.host === host || (URL.canParse(baseUrl) && sender.origin === new URL(baseUrl).origin);
  if (!isOurs) throw new ForeignOrigin();
}
