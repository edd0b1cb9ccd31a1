import type { Account } from "../../account/account.ts";
import { type AccountUser, sessionLifetime } from "../../account/sessions.ts";
import { type Answer, pageAnswer, redirectAnswer } from "../../http/answer/answer.ts";
import { browserCookie } from "../../http/answer/browser-cookie.ts";
import type { CallerIds } from "../../http/answer/failure.ts";
import { noticeCookie } from "../../http/answer/notice-cookie.ts";
import { refusals } from "../../http/answer/refusal.ts";
import { formBody } from "../../http/request/body-types.ts";
import type { Incoming, Pairs } from "../../http/request/incoming.ts";
import type { Route } from "../../http/routes.ts";
import type { Identity } from "../../identity/identity.ts";
import { isSame, newSecret } from "../../identity/secrets.ts";
import { BadParameter, InvalidLogin, NotFound, TooManyRequests } from "../../model/errors.ts";
import { parseId, type TenantId } from "../../model/ids.ts";
import { formOf } from "../../oauth/authorize/browser.ts";
import { type LoginProblem, loginPage, loginProblemOf } from "../../oauth/pages/login-page.ts";
import { basePath, pageBrand } from "../../oauth/pages/page-brand.ts";
import { accountPath } from "../../web/account-address.ts";
import { type Html, html } from "../../web/html.ts";
import { named, type Page } from "../../web/page.ts";
import { actOf, formFields } from "./account-acts.ts";
import {
  chooseCompany,
  exportAccount,
  sendAccountForm,
  sendAccountSignIn,
  showAccount,
} from "./account-descriptions.ts";
import { accountPage, notices } from "./account-page.ts";
import { companyPage, expiredPage, problemPage } from "./other-pages.ts";
import { csrfOf, failed, type SignedInVisit, type Visit } from "./visit.ts";

export interface AccountRouteParts {
  readonly account: Account;
  readonly identity: Pick<Identity, "brandOf" | "findTenant" | "onlyTenant">;
  readonly nowMs: () => number;
  readonly baseUrl: () => string;
}

/** The page of the people whose homes are linked (docs/account.md). */
export function accountRoutes(parts: AccountRouteParts): readonly Route[] {
  const { account, identity, nowMs, baseUrl } = parts;
  const brandOf = pageBrand(identity, baseUrl);
  const act = actOf(parts);
  const page = { access: "public", errors: "page", bodyBytes: 16_384 } as const;

  async function visitOf(incoming: Incoming): Promise<Visit> {
    const tenantId = parseId<TenantId>(incoming.pathParameters.tenantId ?? "");
    if (tenantId === undefined) throw refusals.unknownPath();
    const brand = await brandOf(tenantId).catch((error: unknown) => {
      throw error instanceof NotFound ? refusals.unknownPath() : error;
    });
    // One cookie for each tenant: two accounts in one browser do not disturb each other.
    const plainName = `breezeway-account-${tenantId}`;
    const cookie = browserCookie(baseUrl, sessionLifetime.longestMs / 1_000, { plainName });
    const notice = noticeCookie(baseUrl, { plainName: `breezeway-account-done-${tenantId}` });
    const address = basePath(baseUrl()) + accountPath(tenantId);
    return { tenantId, brand, cookie, notice, secret: cookie.read(incoming.cookies), address, incoming };
  }

  async function signedIn(visit: Visit): Promise<SignedInVisit | undefined> {
    const { tenantId, secret } = visit;
    const user = secret === undefined ? undefined : await account.bySession(tenantId, secret);
    return user && secret !== undefined ? { ...visit, secret, user } : undefined;
  }

  function signInPage(
    visit: Visit,
    { lead, username = "", problem }: { lead?: Html; username?: string; problem?: LoginProblem } = {},
  ): { readonly shown: Page; readonly headers: Record<string, string> } {
    const { brand, address, cookie, secret } = visit;
    const ours = secret !== undefined && isSignInSecret(secret) ? secret : newSecret("");
    const shown = loginPage({
      brand,
      clientName: "",
      lead: lead ?? html`See your homes at ${named(brand.tenantName)}, which apps have access, and your data.`,
      returnsTo: undefined,
      action: `${address}/sign-in`,
      hidden: { csrf: csrfOf(ours) },
      username,
      problem,
    });
    return { shown, headers: { "set-cookie": cookie.set(ours) } };
  }

  async function showPage(visit: SignedInVisit): Promise<Answer> {
    const { user, brand, address, secret, incoming } = visit;
    const { page: pageText } = formOf(incoming.query, ["page"]);
    const done = visit.notice.read(incoming.cookies, address);
    const [homes, alarms, listed, companyApps, browsers] = await Promise.all([
      account.homes(user),
      account.alarms(user),
      account.apps(user),
      account.companyApps(user),
      account.countSessions(user),
    ]);
    const shown = accountPage({
      brand,
      userName: user.name,
      homes,
      alarms,
      ...listed,
      companyApps,
      appPage: /^[1-9]\d{0,3}$/.test(pageText) ? Number(pageText) : 1,
      browsers,
      notice: notices.get(done ?? ""),
      nowMs: nowMs(),
      address,
      csrf: csrfOf(secret),
    });
    const headers = done === undefined ? {} : { "set-cookie": visit.notice.clear() };
    return { ...pageAnswer(200, shown, headers), about: { caller: callerOf(user) } };
  }

  return [
    {
      ...page,
      methods: ["GET"],
      path: "/account",
      description: chooseCompany,
      async answer({ query }: Incoming) {
        const { company } = formOf(query, ["company"]);
        const found = company === "" ? await identity.onlyTenant() : await tenantOf(identity, company);
        if (found) return redirectAnswer(303, basePath(baseUrl()) + accountPath(found.tenantId));
        const isWrong = company !== "";
        return pageAnswer(isWrong ? 404 : 200, companyPage(`${basePath(baseUrl())}/account`, isWrong));
      },
    },
    {
      ...page,
      methods: ["GET"],
      path: "/account/:tenantId",
      description: showAccount,
      async answer(incoming: Incoming) {
        const visit = await visitOf(incoming);
        const session = await signedIn(visit);
        if (session) return showPage(session);
        const words = signedOutWords.get(formOf(incoming.query, ["done"]).done);
        const { shown, headers } = signInPage(visit, words === undefined ? {} : { lead: html`${words}` });
        return pageAnswer(200, shown, headers);
      },
    },
    {
      ...page,
      methods: ["POST"],
      path: "/account/:tenantId/sign-in",
      description: sendAccountSignIn,
      async answer(incoming: Incoming) {
        const visit = await visitOf(incoming);
        const { tenantId, address, secret, cookie } = visit;
        const { csrf, username, password } = formOf(formPairs(incoming), ["csrf", "username", "password"]);
        if (secret === undefined || !isSame(csrf, csrfOf(secret))) {
          // On a double click the first answer may have changed the cookie already.
          if (await signedIn(visit)) return redirectAnswer(303, address);
          return failed(400, "invalid_request", expiredPage(visit.brand, address));
        }
        if (username.trim() === "" || password === "") {
          const { shown, headers } = signInPage(visit, { username, problem: { kind: "empty" } });
          return failed(400, "invalid_request", shown, headers);
        }
        try {
          const { source, disconnected } = incoming;
          const attempt = { tenantId: String(tenantId), name: username, password, source, disconnected };
          return redirectAnswer(303, address, { "set-cookie": cookie.set(await account.signIn(attempt)) });
        } catch (error) {
          // Text that no name or password can hold is treated as wrong.
          if (error instanceof InvalidLogin || error instanceof BadParameter) {
            const { shown, headers } = signInPage(visit, { username, problem: loginProblemOf(error) });
            return failed(401, "invalid_login", shown, headers);
          }
          if (!(error instanceof TooManyRequests)) throw error;
          const { retryAfterSeconds } = error;
          const { shown, headers } = signInPage(visit, { username, problem: { kind: "tooMany", retryAfterSeconds } });
          return failed(429, "too_many_requests", shown, { ...headers, "retry-after": String(retryAfterSeconds) });
        }
      },
    },
    {
      ...page,
      methods: ["POST"],
      path: "/account/:tenantId",
      description: sendAccountForm,
      async answer(incoming: Incoming) {
        const visit = await visitOf(incoming);
        // Read first: a form that can't be read is refused with and without a session.
        const sent = formPairs(incoming);
        const { csrf, deleteAccount, decision } = formOf(sent, ["csrf", ...formFields]);
        const session = await signedIn(visit);
        if (!session) {
          // On a second click, the first one may have ended the session.
          const isDeletion = deleteAccount !== "" && decision === "confirm";
          return redirectAnswer(303, `${visit.address}?done=${isDeletion ? "deleted-or-signed-out" : "session-ended"}`);
        }
        if (!isSame(csrf, csrfOf(session.secret))) {
          return failed(400, "invalid_request", expiredPage(visit.brand, visit.address));
        }
        const answer = await act(session, sent);
        return { ...answer, about: { ...answer.about, caller: callerOf(session.user) } };
      },
    },
    {
      ...page,
      methods: ["GET"],
      path: "/account/:tenantId/export",
      description: exportAccount,
      async answer(incoming: Incoming) {
        const visit = await visitOf(incoming);
        const session = await signedIn(visit);
        if (!session) return redirectAnswer(303, `${visit.address}?done=session-ended`);
        try {
          const slices = await account.exportOf(session.user, visit.brand.tenantName, incoming.source);
          const headers = {
            "content-type": "application/json; charset=utf-8",
            "content-disposition": 'attachment; filename="my-data.json"',
          };
          return { status: 200, headers, slices, about: { caller: callerOf(session.user) } };
        } catch (error) {
          if (!(error instanceof TooManyRequests)) throw error;
          const headers = { "retry-after": String(error.retryAfterSeconds) };
          return failed(429, "too_many_requests", problemPage(visit.brand, visit.address, error.message), headers);
        }
      },
    },
  ];
}

/** What the sign-in page says to a user who was signed in before. */
const signedOutWords: ReadonlyMap<string, string> = new Map([
  ["signed-out", "You are signed out."],
  ["signed-out-everywhere", "You are signed out in all browsers."],
  ["session-ended", "Your session has ended. Sign in again."],
  ["deleted-or-signed-out", "Your account is deleted, or you are signed out."],
]);

/** Whether this is the secret of a browser that has opened the sign-in page. That of a session is not used again. */
function isSignInSecret(secret: string): boolean {
  return /^[A-Za-z0-9_-]{43}$/.test(secret);
}

function callerOf({ tenantId, userId }: AccountUser): CallerIds {
  return { tenantId, userId };
}

async function tenantOf(identity: AccountRouteParts["identity"], company: string) {
  try {
    return await identity.findTenant(company);
  } catch (error) {
    if (error instanceof NotFound || error instanceof BadParameter) return undefined;
    throw error;
  }
}

function formPairs({ body }: Incoming): Pairs {
  if (body.kind === "json") throw refusals.wrongContentType(formBody);
  return body.kind === "form" ? body.pairs : [];
}
