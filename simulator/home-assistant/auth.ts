import { type Call, readForm, sendJson } from "../http/call.ts";
import type { Issued, Tokens } from "./tokens.ts";

export interface TokenParts {
  readonly tokens: Tokens;
  readonly deleteToken: (token: string) => void;
}

/** The token endpoint: codes and renewal. Its body is a form. A refusal counts as a wrong login, as a wrong token does. */
export async function answerToken(call: Call, { tokens }: TokenParts): Promise<void> {
  const form = await readForm(call);
  const answer = grantFor(form, tokens);
  if ("error" in answer) tokens.failures += 1;
  sendJson(call, statusOf(answer), answer);
}

/** Revocation always succeeds, also for an unknown token. */
export async function answerRevoke(call: Call, { deleteToken }: TokenParts): Promise<void> {
  deleteToken((await readForm(call)).get("token") ?? "");
  call.response.writeHead(200, { "Content-Length": 0 }).end();
}

type Answer = Readonly<Record<string, string | number>>;

function statusOf({ error }: Answer): number {
  if (error === undefined) return 200;
  return error === "access_denied" ? 403 : 400;
}

function grantFor(form: URLSearchParams, tokens: Tokens): Answer {
  const field = (name: string) => form.get(name) ?? "";
  switch (field("grant_type")) {
    case "authorization_code": {
      const issued = tokens.redeem(field("code"), field("client_id"));
      if (!issued) return { error: "invalid_request", error_description: "Invalid code" };
      return { ...accessIn(issued, tokens), refresh_token: issued.refreshToken, ha_auth_provider: "homeassistant" };
    }
    case "refresh_token": {
      const issued = tokens.refresh(field("refresh_token"), field("client_id"));
      // The refresh token stays the same, and the answer has none.
      return typeof issued === "string" ? { error: issued } : accessIn(issued, tokens);
    }
    default:
      return { error: "unsupported_grant_type" };
  }
}

function accessIn({ accessToken }: Issued, { lifetimeMs }: Tokens): Answer {
  return { access_token: accessToken, token_type: "Bearer", expires_in: lifetimeMs / 1_000 };
}
