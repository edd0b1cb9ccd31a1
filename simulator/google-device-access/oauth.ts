import type { Page } from "../pages/page.ts";
import type { Account } from "./account.ts";
import { consentPage, refusedPage } from "./pages/consent-page.ts";
import type { Tokens } from "./tokens.ts";

export interface OAuthParts {
  readonly projectId: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly accounts: ReadonlyMap<string, Account>;
  readonly tokens: Tokens;
}

export interface OAuthAnswer {
  readonly status: number;
  readonly body?: object;
  readonly page?: Page;
  readonly location?: string;
}

const codeScope = "https://www.googleapis.com/auth/sdm.service";

/** `GET`: the page of partner connections. `POST`: the person's decision, which redirects to the project. */
export function answerConsent(
  parts: OAuthParts,
  method: string,
  query: URLSearchParams,
  form: URLSearchParams,
): OAuthAnswer {
  const parameters = method === "POST" ? form : query;
  const clientId = parameters.get("client_id") ?? "";
  const redirectUri = parameters.get("redirect_uri") ?? "";
  const state = parameters.get("state") ?? "";
  if (clientId !== parts.clientId || !URL.canParse(redirectUri))
    return { status: 400, page: refusedPage("invalid_client") };
  if (method !== "POST") {
    const isValidRequest = query.get("response_type") === "code" && query.get("scope") === codeScope;
    if (!isValidRequest) return { status: 400, page: refusedPage("invalid_request") };
    const page = consentPage(parts.projectId, [...parts.accounts.values()], { clientId, redirectUri, state });
    return { status: 200, page };
  }
  const account = parts.accounts.get(form.get("account") ?? "");
  const back = new URL(redirectUri);
  if (state) back.searchParams.set("state", state);
  if (!account || form.get("decision") !== "allow") back.searchParams.set("error", "access_denied");
  else {
    const chosen = form.getAll("device");
    for (const name of account.devices.keys()) account.share(name, chosen.includes(name));
    // Google's second page asks for each permission. A person who grants none still comes back with a code.
    const scope = form.has("withheld") ? "" : codeScope;
    back.searchParams.set("code", parts.tokens.issueCode(account, { clientId, redirectUri, scope }));
    back.searchParams.set("scope", scope);
  }
  return { status: 302, location: String(back) };
}

/** The token endpoint, for users and for the service account. */
export function answerToken(parts: OAuthParts, tokenUrl: string, form: URLSearchParams): OAuthAnswer {
  const field = (name: string) => form.get(name) ?? "";
  const { tokens } = parts;
  const grant = field("grant_type");
  if (grant === "urn:ietf:params:oauth:grant-type:jwt-bearer") {
    const token = tokens.serviceToken(field("assertion"), tokenUrl);
    return token === undefined ? failed(400, "invalid_grant") : issued(tokens, { access_token: token });
  }
  if (field("client_id") !== parts.clientId || field("client_secret") !== parts.clientSecret) {
    return failed(401, "invalid_client");
  }
  if (grant === "refresh_token") {
    const token = tokens.renew(field("refresh_token"));
    return token === undefined
      ? failed(400, "invalid_grant")
      : issued(tokens, { access_token: token, scope: codeScope });
  }
  if (grant !== "authorization_code") return failed(400, "unsupported_grant_type");
  const pair = tokens.redeem(field("code"), field("client_id"), field("redirect_uri"));
  if (!pair) return failed(400, "invalid_grant");
  return issued(tokens, { access_token: pair.accessToken, refresh_token: pair.refreshToken, scope: pair.scope });
}

export function answerRevocation({ tokens }: OAuthParts, form: URLSearchParams): OAuthAnswer {
  return tokens.revoke(form.get("token") ?? "") ? { status: 200, body: {} } : failed(400, "invalid_token");
}

function issued({ lifetimeSeconds }: Tokens, body: object): OAuthAnswer {
  return { status: 200, body: { ...body, expires_in: lifetimeSeconds, token_type: "Bearer" } };
}

function failed(status: number, error: string): OAuthAnswer {
  return { status, body: { error, error_description: "Bad Request" } };
}
