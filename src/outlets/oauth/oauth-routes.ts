import { type Answer, jsonAnswer, pageAnswer, redirectAnswer } from "../../http/answer/answer.ts";
import { browserCookie } from "../../http/answer/browser-cookie.ts";
import { refusals } from "../../http/answer/refusal.ts";
import type { Description } from "../../http/documentation/description.ts";
import { formBody } from "../../http/request/body-types.ts";
import type { Incoming } from "../../http/request/incoming.ts";
import { bodyParameters } from "../../http/request/oauth-parameters.ts";
import type { Route } from "../../http/routes.ts";
import { BadParameter, UnsupportedGrantType } from "../../model/errors.ts";
import { parseId, type TenantId } from "../../model/ids.ts";
import { refreshScopes, requestedScope, scopeText } from "../../model/scopes.ts";
import { authorizePaths, type BrowserAnswer, signInStepLifetimeMs } from "../../oauth/authorize/browser.ts";
import type { AuthorizeStep } from "../../oauth/authorize/step.ts";
import type { Client } from "../../oauth/clients.ts";
import type { OAuth } from "../../oauth/oauth.ts";
import type { Parameters, SentParameters } from "../../oauth/parameters.ts";
import type { IssuedTokens } from "../../oauth/tokens.ts";

import { getLogo, sendDecision, sendLogin, showLogin, showTerms, startAuthorization } from "./page-descriptions.ts";
import { getServerMetadata, issueToken, revokeToken } from "./token-descriptions.ts";

export interface OAuthRouteParts {
  readonly oauth: Pick<OAuth, "authorizeSteps" | "tokens" | "metadata">;
  readonly logoOf: (tenantId: TenantId) => Promise<{ readonly type: string; readonly bytes: Uint8Array } | undefined>;
  readonly baseUrl: () => string;
}

const bodyBytes = 16_384;

/** The authorization server of docs/interface.md: pages for people, three endpoints for clients. */
export function oauthRoutes(parts: OAuthRouteParts): readonly Route[] {
  return [...pageRoutes(parts), ...clientRoutes(parts)];
}

function pageRoutes({ oauth: { authorizeSteps }, logoOf, baseUrl }: OAuthRouteParts): readonly Route[] {
  const cookie = browserCookie(baseUrl, signInStepLifetimeMs / 1_000);
  const visitOf = ({ cookies, source, disconnected }: Incoming) => ({
    browserSecret: cookie.read(cookies),
    source,
    disconnected,
  });
  const page = { access: "public", errors: "page", bodyBytes } as const;
  const show = (answer: BrowserAnswer): Answer => {
    const headers = {
      ...(answer.browserSecret !== undefined && { "set-cookie": cookie.set(answer.browserSecret) }),
      ...(answer.retryAfterSeconds !== undefined && { "retry-after": String(answer.retryAfterSeconds) }),
    };
    const { caller } = answer;
    if (answer.kind === "redirect") {
      return { ...redirectAnswer(answer.status, answer.location, headers), about: { caller } };
    }
    const code = pageCodes[answer.status];
    return {
      ...pageAnswer(answer.status, answer.page, headers),
      about: { caller, ...(code && { failure: { code } }) },
    };
  };
  return [
    ...authorizeSteps.map(
      (step): Route => ({
        ...page,
        methods: [step.method],
        path: step.path,
        description: stepDescriptions[step.name],
        answer: async (incoming: Incoming) =>
          show(await step.answer(step.method === "GET" ? incoming.query : formPairs(incoming), visitOf(incoming))),
      }),
    ),
    {
      ...page,
      methods: ["GET"],
      path: `${authorizePaths.logo}/:tenantId`,
      description: getLogo,
      async answer({ pathParameters }: Incoming) {
        const tenantId = parseId<TenantId>(pathParameters.tenantId ?? "");
        const logo = tenantId && (await logoOf(tenantId));
        if (!logo) throw refusals.unknownPath();
        // An SVG could contain a script: the policy disables it, even when the picture is opened on its own.
        const headers = { "content-type": logo.type, "content-security-policy": "default-src 'none'; sandbox" };
        return { status: 200, headers, body: Buffer.from(logo.bytes) };
      },
    },
  ];
}

/** Throws when `scope` was sent twice (RFC 6749 3.2), also for an exchange, which ignores its value. */
function refuseSecondScope(parameters: Parameters): void {
  parameters.optional("scope");
}

/** Error codes of pages by status, for the log. */
const pageCodes: Readonly<Record<number, string>> = {
  400: "invalid_request",
  401: "invalid_login",
  429: "too_many_requests",
};

const stepDescriptions: Readonly<Record<AuthorizeStep["name"], Description>> = {
  request: startAuthorization,
  loginPage: showLogin,
  login: sendLogin,
  terms: showTerms,
  decision: sendDecision,
};

function formPairs({ body }: Incoming): SentParameters {
  if (body.kind === "json") throw refusals.wrongContentType(formBody);
  return body.kind === "form" ? body.pairs : [];
}

function clientRoutes({ oauth: { tokens, metadata } }: OAuthRouteParts): readonly Route[] {
  const grantTypes: ReadonlyMap<
    string,
    (client: Client, parameters: Parameters, source: string) => Promise<IssuedTokens>
  > = new Map([
    [
      "authorization_code",
      (client, parameters, source) =>
        tokens.exchangeCode(
          client,
          {
            code: parameters.required("code"),
            redirectUri: parameters.optional("redirect_uri"),
            verifier: parameters.optional("code_verifier"),
          },
          source,
        ),
    ],
    [
      // The interface's table has one field for both, so a refresh token is also accepted as `code`.
      "refresh_token",
      (client, parameters, source) => {
        const code = parameters.optional("code");
        const refreshToken = parameters.optional("refresh_token") ?? code;
        if (refreshToken === undefined) {
          throw new BadParameter("refresh_token", "The parameter refresh_token is missing.");
        }
        const requested = refreshScopes(parameters.optional("scope"), client);
        return tokens.refresh(client, { refreshToken, requestedScopes: requested }, source);
      },
    ],
    [
      "client_credentials",
      (client, parameters, source) =>
        tokens.issueToClient(client, requestedScope(parameters.optional("scope"), client), source),
    ],
  ]);
  return [
    {
      methods: ["POST"],
      path: "/oauth2/access_token",
      access: "client",
      errors: "standard",
      bodyBytes,
      description: issueToken,
      async answer(incoming, client) {
        const parameters = bodyParameters(incoming);
        const issue = grantTypes.get(parameters.required("grant_type"));
        if (!issue) {
          throw new UnsupportedGrantType(
            `The parameter grant_type must be one of ${[...grantTypes.keys()].join(", ")}.`,
          );
        }
        refuseSecondScope(parameters);
        const issued = await issue(client, parameters, incoming.source);
        const { accessToken, expiresInSeconds, refreshToken, scopes } = issued;
        return jsonAnswer(
          200,
          {
            access_token: accessToken,
            token_type: "Bearer",
            expires_in: expiresInSeconds,
            ...(refreshToken !== undefined && { refresh_token: refreshToken }),
            ...(scopes && { scope: scopeText(scopes) }),
          },
          // RFC 6749 5.1 asks for it beside Cache-Control, which every answer has.
          { pragma: "no-cache" },
        );
      },
    },
    {
      methods: ["POST"],
      path: "/oauth2/revoke_token",
      access: "client",
      errors: "standard",
      bodyBytes,
      description: revokeToken,
      async answer(incoming, client) {
        const parameters = bodyParameters(incoming);
        // The hint is ignored: it would only save one look-up (RFC 7009 2.1).
        parameters.optional("token_type_hint");
        await tokens.revoke(client, parameters.required("token"), incoming.source);
        return jsonAnswer(200, { status: "OK" });
      },
    },
    {
      methods: ["GET"],
      path: "/.well-known/oauth-authorization-server",
      access: "public",
      errors: "standard",
      description: getServerMetadata,
      answer: async () => jsonAnswer(200, metadata()),
    },
  ];
}
