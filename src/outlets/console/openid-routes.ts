import { type Answer, pageAnswer, redirectAnswer } from "../../http/answer/answer.ts";
import { type BrowserCookie, browserCookie } from "../../http/answer/browser-cookie.ts";
import type { Incoming } from "../../http/request/incoming.ts";
import type { Route } from "../../http/routes.ts";
import { OpenIdRefused, OpenIdUnavailable } from "../../operators/openid/openid-errors.ts";
import { type OpenIdSignIn, openIdPatienceMs } from "../../operators/openid/openid-sign-in.ts";
import type { Operators } from "../../operators/operators.ts";
import { html } from "../../web/html.ts";
import { pageOf } from "../../web/page.ts";
import { describeOpenId, describeOpenIdCallback } from "./console-descriptions.ts";
import { notePage } from "./entry-pages.ts";
import { consoleHeaders, consolePaths, returnPath } from "./entry-routes.ts";

export interface OpenIdRouteParts {
  readonly openId: OpenIdSignIn | undefined;
  readonly operators: Pick<Operators, "bySession">;
  readonly cookie: BrowserCookie;
  readonly baseUrl: () => string;
}

const openIdPaths = { begin: "/console/openid", callback: "/console/openid/callback" };

/** Signing in at an OpenID provider. */
export function openIdRoutes({ openId, operators, cookie, baseUrl }: OpenIdRouteParts): readonly Route[] {
  // Lax: the provider's page sends the browser back with a navigation from another site.
  const stateCookie = browserCookie(baseUrl, openIdPatienceMs / 1_000, { plainName: "breezeway-openid" });

  const asPage = async (work: (signIn: OpenIdSignIn) => Promise<Answer>): Promise<Answer> => {
    const retry = { words: "Back to the sign-in page", to: consolePaths.signIn };
    if (!openId) {
      const sentence = "This Breezeway has no OpenID provider. See BREEZEWAY_OPERATOR_OIDC_ISSUER.";
      return pageAnswer(404, notePage("There is no OpenID sign-in", sentence, retry), consoleHeaders);
    }
    try {
      return await work(openId);
    } catch (error) {
      const isRefused = error instanceof OpenIdRefused;
      if (!isRefused && !(error instanceof OpenIdUnavailable)) throw error;
      const title = isRefused ? "You are not signed in" : `${openId.label} can't be reached`;
      return pageAnswer(isRefused ? 403 : 503, notePage(title, error.message, retry), {
        ...consoleHeaders,
        "set-cookie": stateCookie.clear(),
      });
    }
  };

  /** The session of this browser, if it is to be confirmed by a new sign-in. */
  const confirmed = async ({ query, cookies }: Incoming) => {
    if (!query.some(([name]) => name === "confirm")) return undefined;
    const secret = cookie.read(cookies);
    const operator = secret === undefined ? undefined : await operators.bySession(secret).catch(() => undefined);
    return operator?.by.kind === "session" ? { sessionId: operator.by.id, operatorId: operator.operatorId } : undefined;
  };

  return [
    {
      access: "public",
      errors: "page",
      methods: ["GET"],
      path: openIdPaths.begin,
      description: describeOpenId,
      answer: (incoming) =>
        asPage(async (signIn) => {
          const wish = { to: returnPath(incoming), confirms: await confirmed(incoming) };
          const begun = await signIn.begin(wish);
          return redirectAnswer(303, begun.location, { "set-cookie": stateCookie.set(begun.cookie) });
        }),
    },
    {
      access: "public",
      errors: "page",
      methods: ["GET"],
      path: openIdPaths.callback,
      description: describeOpenIdCallback,
      answer: (incoming) =>
        asPage(async (signIn) => {
          const { source, userAgent, cookies, target, disconnected } = incoming;
          const query = target.includes("?") ? target.slice(target.indexOf("?")) : "";
          const state = stateCookie.read(cookies);
          const { to, session } = await signIn.finish({ query, cookie: state, source, userAgent, disconnected });
          const setCookie = session === undefined ? stateCookie.clear() : cookie.set(session);
          return pageAnswer(200, signedInPage(to), { ...consoleHeaders, "set-cookie": setCookie });
        }),
    },
  ];
}

/**
 * A page between the provider and the console. A redirect would still count as a navigation from the provider's site,
 * for which browsers withhold the `Strict` cookie of the session.
 */
function signedInPage(to: string) {
  const main = html`<h1>You are signed in</h1>
<p class="lead"><a href="${to}">Go to the console</a></p>`;
  return pageOf({ title: "You are signed in · Breezeway", brand: undefined, main, continuesAt: to });
}
