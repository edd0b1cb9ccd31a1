import type { Ecosystem } from "../ecosystem.ts";
import { applyFaults } from "../faults/apply-faults.ts";
import { type Call, readForm, readSegments, sendJson } from "../http/call.ts";
import { EcosystemError, elementNotFound, toEcosystemError } from "../rest/ecosystem-error.ts";

const required = ["client_id", "client_secret", "code", "grant_type"] as const;
/** Ten years, as in the ecosystem. */
const lifeSeconds = 315_360_000;
const tokenPath = "/oauth2/access_token";
/** The path of a revocation in the log, without the token. */
const revocationPath = "/oauth2/access_tokens/…";

/** A refusal with the `error_description` of the token address. */
class TokenRefused extends Error {}

/** Handles `/oauth2`: the exchange of a code for a token, and the revocation of a token. */
export async function answerToken(ecosystem: Ecosystem, call: Call): Promise<void> {
  try {
    const [, endpoint, token, ...more] = readSegments(call);
    if (endpoint === "access_token" && token === undefined) await issueToken(ecosystem, call);
    else if (endpoint === "access_tokens" && token !== undefined && more.length === 0)
      revokeToken(ecosystem, call, token);
    else throw elementNotFound();
  } catch (error) {
    const refusal = toEcosystemError(error);
    log(ecosystem, call, null, refusal.status);
    sendJson(call, refusal.status, refusal.body(), refusal.headers, ecosystem.secrets);
  }
}

async function issueToken(ecosystem: Ecosystem, call: Call): Promise<void> {
  if (call.method !== "POST") throw wrongMethod("POST");
  if (!(await applyFaults(ecosystem, call, { kind: "token", accountId: null }))) return;
  const noStore = { "Cache-Control": "no-store" };
  try {
    const { token, account } = exchange(ecosystem, await readParameters(call));
    log(ecosystem, call, account.accountId, 200);
    sendJson(call, 200, { access_token: token, expires_in: lifeSeconds }, noStore);
  } catch (error) {
    if (!(error instanceof TokenRefused)) throw error;
    log(ecosystem, call, null, 400, error.message);
    sendJson(call, 400, { error: "oauth2_error", error_description: error.message }, noStore);
  }
}

function exchange(ecosystem: Ecosystem, parameters: URLSearchParams) {
  const missing = required.filter((name) => !parameters.get(name));
  if (missing.length > 0) throw new TokenRefused(`missing required parameters: ${missing.join(", ")}`);
  const [clientId, clientSecret, code, grantType] = required.map((name) => parameters.get(name)!) as [
    string,
    string,
    string,
    string,
  ];
  if (grantType !== "authorization_code") throw new TokenRefused("unsupported grant type");
  const client = ecosystem.clients.authenticate(clientId, clientSecret);
  if (client === undefined) throw new TokenRefused("client not found");
  const consent = ecosystem.codes.take(code, clientId);
  if (consent === undefined) throw new TokenRefused("authorization code not found");
  return ecosystem.access.grant(consent.account, clientId, consent.permissions);
}

/** Parameters may be in the query, in a form, or in both; the form has precedence. */
async function readParameters(call: Call): Promise<URLSearchParams> {
  const parameters = new URLSearchParams(call.query);
  for (const [name, value] of await readForm(call)) parameters.set(name, value);
  return parameters;
}

function revokeToken(ecosystem: Ecosystem, call: Call, token: string): void {
  if (call.method !== "DELETE") throw wrongMethod("DELETE");
  const accountId = ecosystem.grants.find(token)?.account.accountId ?? null;
  if (!ecosystem.access.revokeToken(token)) throw elementNotFound();
  log(ecosystem, call, accountId, 204);
  call.response.writeHead(204).end();
}

function log(ecosystem: Ecosystem, call: Call, accountId: string | null, status: number, message?: string): void {
  const path = call.rawPath.includes("access_tokens") ? revocationPath : tokenPath;
  const details = message === undefined ? {} : { message };
  ecosystem.log.record("request", accountId, { method: call.method, path, status, ...details });
}

function wrongMethod(allowed: string): EcosystemError {
  return new EcosystemError(405, "method not allowed", undefined, undefined, { Allow: allowed });
}
