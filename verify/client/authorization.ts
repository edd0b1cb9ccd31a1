import { createHash, randomBytes } from "node:crypto";
import { ensure } from "../outcome.ts";
import type { RowContext, SharedState, Tokens } from "../row-context.ts";
import { summaryOf } from "./answer-summary.ts";
import type { Answer, Fields } from "./deployment.ts";

/** Sends the visitor through login and terms, with a new state and PKCE challenge. */
export async function visit(
  context: RowContext,
  decision: "accept" | "decline" = "accept",
): Promise<NonNullable<SharedState["returned"]>> {
  const { deployment, input, secrets, visitor } = context;
  const [state, verifier] = [random(), random()];
  const address = new URL(`${deployment.url}/oauth2/authorize`);
  const parameters = {
    response_type: "code",
    client_id: input.client!.id,
    redirect_uri: input.client!.redirectUri,
    state,
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
  };
  for (const [name, value] of Object.entries(parameters)) address.searchParams.set(name, value);
  const returned = await visitor!.authorize(String(address), decision);
  secrets.keep(verifier);
  secrets.keep(returned.searchParams.get("code") ?? undefined);
  return { address: returned, state, verifier };
}

export const codeOf = ({ address }: NonNullable<SharedState["returned"]>) => address.searchParams.get("code") ?? "";

/** Calls the token address. The client's id and secret are in the body, as the interface describes. */
async function requestTokens({ deployment, input, secrets }: RowContext, fields: Fields): Promise<Answer> {
  const answer = await deployment.post("/oauth2/access_token", { ...fields, ...credentials(input.client!) });
  secrets.keep(answer.json?.access_token);
  secrets.keep(answer.json?.refresh_token);
  return answer;
}

export function exchangeCode(
  context: RowContext,
  returned: NonNullable<SharedState["returned"]>,
  verifier = returned.verifier,
): Promise<Answer> {
  return requestTokens(context, {
    grant_type: "authorization_code",
    code: codeOf(returned),
    redirect_uri: context.input.client!.redirectUri,
    code_verifier: verifier,
  });
}

export function refreshTokens(context: RowContext, refreshToken: string): Promise<Answer> {
  return requestTokens(context, { grant_type: "refresh_token", refresh_token: refreshToken });
}

export function revokeToken({ deployment, input }: RowContext, token: string): Promise<Answer> {
  return deployment.post("/oauth2/revoke_token", { token, token_type_hint: "", ...credentials(input.client!) });
}

/** A separate grant, for a row that ends it. */
export async function newGrant(context: RowContext): Promise<Tokens> {
  const answer = await exchangeCode(context, await visit(context));
  ensure(answer.status === 200, () => ({
    seen: `A second sign-in gave no tokens: ${summaryOf(answer)}.`,
    side: "service",
    next: "Look for the answer's request id in the service's log.",
  }));
  return tokensIn(answer);
}

export function tokensIn({ json }: Answer): Tokens {
  return { accessToken: json?.access_token ?? "", refreshToken: json?.refresh_token ?? "" };
}

/** The status of a call with this access token: 200 while it is valid, then 401. */
export async function statusWith({ deployment }: RowContext, accessToken: string): Promise<number> {
  return (await deployment.v3(accessToken, "users")).status;
}

export function isInvalidGrant({ status, json }: Answer): boolean {
  return status === 400 && json?.error === "invalid_grant";
}

function credentials(client: { readonly id: string; readonly secret: string }): Fields {
  return { client_id: client.id, client_secret: client.secret };
}

const random = () => randomBytes(32).toString("base64url");
