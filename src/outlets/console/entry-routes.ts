import { type Answer, pageAnswer, redirectAnswer } from "../../http/answer/answer.ts";
import type { BrowserCookie } from "../../http/answer/browser-cookie.ts";
import { refusals } from "../../http/answer/refusal.ts";
import { formBody } from "../../http/request/body-types.ts";
import type { Incoming } from "../../http/request/incoming.ts";
import { refuseForeignPage } from "../../http/request/operator-caller.ts";
import type { Route } from "../../http/routes.ts";
import { BadParameter, BreezewayError, Conflict, InvalidLogin, NotFound, TooManyRequests } from "../../model/errors.ts";
import type { Operators } from "../../operators/operators.ts";
import type { Page } from "../../web/page.ts";
import {
  describeClaim,
  describeClaimForm,
  describeInvitation,
  describeInvitationForm,
  describePassword,
  describePasswordForm,
  describeSignIn,
  describeSignInForm,
  describeSignOut,
} from "./console-descriptions.ts";
import { claimPage, invitationPage, notePage, passwordPage, signInAgainPage, signInPage } from "./entry-pages.ts";

export interface EntryRouteParts {
  readonly operators: Operators;
  readonly cookie: BrowserCookie;
  readonly baseUrl: () => string;
  /** How people call the OpenID provider; undefined without one. */
  readonly openIdLabel: string | undefined;
  /** How else a person comes in; undefined when there is no other way. */
  readonly hint?: string | undefined;
}

/** Forms of our own pages need their origin; other sites learn nothing. */
export const consoleHeaders = { "referrer-policy": "same-origin" };
const formBytes = 16_384;
const home = "/console";

/** The pages on which an operator comes in. */
export function entryRoutes({ operators, cookie, baseUrl, openIdLabel, hint }: EntryRouteParts): readonly Route[] {
  const show = (status: number, page: Page, headers = {}) =>
    pageAnswer(status, page, { ...consoleHeaders, ...headers });
  const enter = (secret: string, to: string) => redirectAnswer(303, to, { "set-cookie": cookie.set(secret) });
  const origin = ({ source, userAgent, disconnected }: Incoming) => ({ source, userAgent, disconnected });

  /** Shows the page again with what is wrong; other errors are answered as everywhere. */
  const again = (error: unknown, page: (problem: string) => Page): Answer => {
    const status = error instanceof BreezewayError ? statuses.find(([kind]) => error instanceof kind)?.[1] : undefined;
    if (status === undefined) throw error;
    const headers = error instanceof TooManyRequests ? { "retry-after": String(error.retryAfterSeconds) } : {};
    return show(status, page((error as Error).message), headers);
  };

  const form = (incoming: Incoming): ((name: string) => string) => {
    refuseForeignPage(incoming.site, baseUrl());
    const { body } = incoming;
    if (body.kind === "json") throw refusals.wrongContentType(formBody);
    const pairs = body.kind === "form" ? body.pairs : [];
    return (name) => pairs.find(([key]) => key === name)?.[1] ?? "";
  };

  const linkRoutes = (["claim", "invitation"] as const).flatMap((kind): readonly Route[] => {
    const path = `${home}/${kind}/:link`;
    const pageOf = kind === "claim" ? claimPage : invitationPage;
    const gone = (error: unknown): Answer => {
      if (!(error instanceof NotFound)) throw error;
      return show(404, notePage("This link is not valid", error.message, { words: "Sign in", to: `${home}/sign-in` }));
    };
    return [
      {
        access: "public",
        errors: "page",
        methods: ["GET"],
        path,
        description: kind === "claim" ? describeClaim : describeInvitation,
        async answer({ pathParameters: { link = "" } }) {
          try {
            return show(200, pageOf(`${home}/${kind}/${link}`, await operators.openLink(kind, link), {}));
          } catch (error) {
            return gone(error);
          }
        },
      },
      {
        access: "public",
        errors: "page",
        methods: ["POST"],
        path,
        bodyBytes: formBytes,
        description: kind === "claim" ? describeClaimForm : describeInvitationForm,
        async answer(incoming) {
          const { link = "" } = incoming.pathParameters;
          const field = form(incoming);
          const typed = { name: field("name"), tenant: field("tenant") };
          try {
            const open = await operators.openLink(kind, link);
            try {
              const taken = { ...typed, password: field("password"), ...origin(incoming) };
              return enter(await operators.takeLink(kind, link, taken), home);
            } catch (error) {
              return again(error, (problem) => pageOf(`${home}/${kind}/${link}`, open, typed, problem));
            }
          } catch (error) {
            return gone(error);
          }
        },
      },
    ];
  });

  return [
    {
      access: "public",
      errors: "page",
      methods: ["GET"],
      path: `${home}/sign-in`,
      description: describeSignIn,
      async answer(incoming) {
        if (!(await operators.hasOperators())) {
          const words = "Nobody runs this Breezeway yet. On its machine, get a link with: breezeway operator claim";
          return show(200, notePage("There is no operator yet", words, { words: "Try again", to: `${home}/sign-in` }));
        }
        return show(200, signInPage(returnPath(incoming), {}, { openIdLabel, hint }));
      },
    },
    {
      access: "public",
      errors: "page",
      methods: ["POST"],
      path: `${home}/sign-in`,
      bodyBytes: formBytes,
      description: describeSignInForm,
      async answer(incoming) {
        const field = form(incoming);
        const [name, to] = [field("name"), ownPath(field("to"))];
        try {
          const secret = await operators.signIn({ name, password: field("password"), ...origin(incoming) });
          return enter(secret, to);
        } catch (error) {
          return again(error, (problem) => signInPage(to, { name }, { openIdLabel, hint, problem }));
        }
      },
    },
    {
      access: "public",
      errors: "page",
      methods: ["POST"],
      path: `${home}/sign-out`,
      description: describeSignOut,
      async answer(incoming) {
        form(incoming);
        const secret = cookie.read(incoming.cookies);
        if (secret !== undefined) await operators.signOut(secret, incoming.source);
        return redirectAnswer(303, `${home}/sign-in`, { "set-cookie": cookie.clear() });
      },
    },
    {
      access: "operator",
      need: "read",
      subject: "self",
      pages: consolePaths,
      errors: "page",
      methods: ["GET"],
      path: `${home}/password`,
      description: describePassword,
      async answer(incoming, { name, operatorId }) {
        const to = returnPath(incoming);
        const { hasPassword } = await operators.find(String(operatorId));
        return show(200, hasPassword ? passwordPage(to, name, { hint }) : signInAgainPage(to, name, openIdLabel));
      },
    },
    {
      access: "operator",
      need: "read",
      subject: "self",
      pages: consolePaths,
      errors: "page",
      methods: ["POST"],
      path: `${home}/password`,
      bodyBytes: formBytes,
      description: describePasswordForm,
      async answer(incoming, operator) {
        const field = form(incoming);
        const to = ownPath(field("to"));
        try {
          const secret = cookie.read(incoming.cookies) ?? "";
          await operators.confirm(operator, secret, { password: field("password"), ...origin(incoming) });
          return redirectAnswer(303, to);
        } catch (error) {
          return again(error, (problem) => passwordPage(to, operator.name, { hint, problem }));
        }
      },
    },
    ...linkRoutes,
  ];
}

/** Pages for a browser that has no session, and for one that needs the password. */
export const consolePaths = { signIn: `${home}/sign-in`, password: `${home}/password` };

/** The statuses of pages that are shown again. */
const statuses: readonly (readonly [new (...args: never[]) => BreezewayError, number])[] = [
  [InvalidLogin, 401],
  [BadParameter, 400],
  [Conflict, 409],
  [TooManyRequests, 429],
];

export function returnPath({ query }: Incoming): string {
  return ownPath(query.find(([name]) => name === "to")?.[1] ?? "");
}

/** Only pages of the console: an address of another site would make this page a trap. */
export function ownPath(to: string): string {
  return /^\/console(?:[/?][\x21-\x5b\x5d-\x7e]*)?$/.test(to) ? to : home;
}
