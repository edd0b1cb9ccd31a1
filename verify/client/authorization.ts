import { createHash, randomBytes } from "node:crypto";
import { claim } from "../outcome.ts";
import type { Found, RowContext, Tokens } from "../row-context.ts";
import { summaryOf } from "./answer-summary.ts";
import type { Answered, Fields } from "./deployment.ts";

/** Sends a visitor through login and terms, with a state and a PKCE challenge of this visit. */
export async function visit(
  context: RowContext,
  decision: "accept" | "decline" = "accept",
): Promise<NonNullable<Found["returned"]>> {
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

export const codeOf = ({ address }: NonNullable<Found["returned"]>) => address.searchParams.get("code") ?? "";

/** A request to the token address, with the client's id and secret in the body as the interface has it. */
async function askForTokens({ deployment, input, secrets }: RowContext, fields: Fields): Promise<Answered> {
  const answer = await deployment.post("/oauth2/access_token", { ...fields, ...credentials(input.client!) });
  secrets.keep(answer.json?.access_token);
  secrets.keep(answer.json?.refresh_token);
  return answer;
}

export function exchange(
  context: RowContext,
  returned: NonNullable<Found["returned"]>,
  verifier = returned.verifier,
): Promise<Answered> {
  return askForTokens(context, {
    grant_type: "authorization_code",
    code: codeOf(returned),
    redirect_uri: context.input.client!.redirectUri,
    code_verifier: verifier,
  });
}

export function refresh(context: RowContext, refreshToken: string): Promise<Answered> {
  return askForTokens(context, { grant_type: "refresh_token", refresh_token: refreshToken });
}

export function revoke({ deployment, input }: RowContext, token: string): Promise<Answered> {
  return deployment.post("/oauth2/revoke_token", { token, token_type_hint: "", ...credentials(input.client!) });
}

/** A grant of its own, for a row that ends it. */
export async function newGrant(context: RowContext): Promise<Tokens> {
  const answer = await exchange(context, await visit(context));
  claim(answer.status === 200, () => ({
    seen: `A second sign-in gave no tokens: ${summaryOf(answer)}.`,
    side: "service",
    next: "Look for the answer's request id in the service's log.",
  }));
  return tokensIn(answer);
}

export function tokensIn({ json }: Answered): Tokens {
  return { accessToken: json?.access_token ?? "", refreshToken: json?.refresh_token ?? "" };
}

/** Whether an access token is still good: 200 or 401. */
export async function statusWith({ deployment }: RowContext, accessToken: string): Promise<number> {
  return (await deployment.v3(accessToken, "users")).status;
}

export function isDead({ status, json }: Answered): boolean {
  return status === 400 && json?.error === "invalid_grant";
}

function credentials(client: { readonly id: string; readonly secret: string }): Fields {
  return { client_id: client.id, client_secret: client.secret };
}

const random = () => randomBytes(32).toString("base64url");
