import { type Answer, pageAnswer, redirectAnswer } from "../../http/answer/answer.ts";
import { browserCookie } from "../../http/answer/browser-cookie.ts";
import { refusals } from "../../http/answer/refusal.ts";
import type { Description } from "../../http/documentation/description.ts";
import { formBody } from "../../http/request/body-types.ts";
import type { Incoming, Pairs } from "../../http/request/incoming.ts";
import type { Route } from "../../http/routes.ts";
import type { LinkSessions } from "../../link-sessions/link-sessions.ts";
import { sessionMs } from "../../link-sessions/session-status.ts";
import { type LinkAnswer, type LinkStep, type LinkVisit, sessionCookieName } from "../../link-sessions/steps/step.ts";
import { receiveConsent, sendLinkDecision, sendLinkSignIn, showLinkPage } from "./link-page-descriptions.ts";

export interface LinkPageRouteParts {
  readonly linkSessions: Pick<LinkSessions, "steps">;
  readonly baseUrl: () => string;
}

/** The pages on which the owner of an account links it (docs/interface.md, Link sessions). */
export function linkPageRoutes({ linkSessions: { steps }, baseUrl }: LinkPageRouteParts): readonly Route[] {
  // One cookie for each session: two sessions in one browser do not disturb each other.
  const cookieOf = (sessionId: string) =>
    browserCookie(baseUrl, sessionMs / 1_000, { plainName: sessionCookieName(sessionId) });
  const visitOf = ({ cookies, source, disconnected }: Incoming): LinkVisit => ({
    secretOf: (sessionId) => cookieOf(sessionId).read(cookies),
    source,
    disconnected,
  });
  const show = ({ cookie, retryAfterSeconds, ...answer }: LinkAnswer): Answer => {
    const headers = {
      ...(cookie && { "set-cookie": cookieOf(cookie.sessionId).set(cookie.secret) }),
      ...(retryAfterSeconds !== undefined && { "retry-after": String(retryAfterSeconds) }),
    };
    if (answer.kind === "redirect") return redirectAnswer(answer.status, answer.location, headers);
    const code = pageCodes[answer.status];
    return { ...pageAnswer(answer.status, answer.page, headers), ...(code && { about: { failure: { code } } }) };
  };
  return steps.map(
    (step): Route => ({
      access: "public",
      errors: "page",
      bodyBytes: 16_384,
      methods: [step.method],
      path: step.path,
      description: descriptions[step.name],
      async answer(incoming) {
        const sent = step.method === "GET" ? incoming.query : formPairs(incoming);
        return show(await step.answer(incoming.pathParameters.token ?? "", sent, visitOf(incoming)));
      },
    }),
  );
}

/** Error codes of pages by status, for the log. */
const pageCodes: Readonly<Record<number, string>> = {
  400: "invalid_request",
  401: "invalid_login",
  403: "invalid_login",
  429: "too_many_requests",
};

const descriptions: Readonly<Record<LinkStep["name"], Description>> = {
  page: showLinkPage,
  signIn: sendLinkSignIn,
  decision: sendLinkDecision,
  callback: receiveConsent,
};

function formPairs({ body }: Incoming): Pairs {
  if (body.kind === "json") throw refusals.wrongContentType(formBody);
  return body.kind === "form" ? body.pairs : [];
}
