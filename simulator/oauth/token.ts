import type { Ecosystem } from "../ecosystem.ts";
import { meetFaults } from "../faults/meet-faults.ts";
import { type Call, readForm, readSegments, sendJson } from "../http/call.ts";
import { EcosystemError, inEcosystemWords, nothingThere } from "../rest/ecosystem-error.ts";

const required = ["client_id", "client_secret", "code", "grant_type"] as const;
/** Ten years: these tokens are made to be kept. */
const lifeSeconds = 315_360_000;
const tokenPath = "/oauth2/access_token";
/** In the log the token's own path ends here. */
const revocationPath = "/oauth2/access_tokens/…";

/** Why no token is given, in the words of the token address. */
class NoToken extends Error {}

/** Answers for `/oauth2`: a code becomes a token, and a token ends. */
export async function answerToken(ecosystem: Ecosystem, call: Call): Promise<void> {
  try {
    const [, what, token, ...more] = readSegments(call);
    if (what === "access_token" && token === undefined) await giveToken(ecosystem, call);
    else if (what === "access_tokens" && token !== undefined && more.length === 0) endToken(ecosystem, call, token);
    else throw nothingThere();
  } catch (error) {
    const refusal = inEcosystemWords(error);
    log(ecosystem, call, null, refusal.status);
    sendJson(call, refusal.status, refusal.body(), refusal.headers, ecosystem.secrets);
  }
}

async function giveToken(ecosystem: Ecosystem, call: Call): Promise<void> {
  if (call.method !== "POST") throw wrongMethod("POST");
  if (!(await meetFaults(ecosystem, call, { kind: "token", accountId: null }))) return;
  const noStore = { "Cache-Control": "no-store" };
  try {
    const { token, account } = exchange(ecosystem, await readParameters(call));
    log(ecosystem, call, account.accountId, 200);
    sendJson(call, 200, { access_token: token, expires_in: lifeSeconds }, noStore);
  } catch (error) {
    if (!(error instanceof NoToken)) throw error;
    log(ecosystem, call, null, 400, error.message);
    sendJson(call, 400, { error: "oauth2_error", error_description: error.message }, noStore);
  }
}

function exchange(ecosystem: Ecosystem, parameters: URLSearchParams) {
  const missing = required.filter((name) => !parameters.get(name));
  if (missing.length > 0) throw new NoToken(`missing required parameters: ${missing.join(", ")}`);
  const [clientId, clientSecret, code, grantType] = required.map((name) => parameters.get(name)!) as [
    string,
    string,
    string,
    string,
  ];
  if (grantType !== "authorization_code") throw new NoToken("unsupported grant type");
  const client = ecosystem.clients.authenticate(clientId, clientSecret);
  if (client === undefined) throw new NoToken("client not found");
  const consent = ecosystem.codes.take(code, clientId);
  if (consent === undefined) throw new NoToken("authorization code not found");
  return ecosystem.access.grant(consent.account, clientId, consent.permissions);
}

/** Clients send the parameters in the query, in a form, or some here and some there; the form wins. */
async function readParameters(call: Call): Promise<URLSearchParams> {
  const parameters = new URLSearchParams(call.query);
  for (const [name, value] of await readForm(call)) parameters.set(name, value);
  return parameters;
}

function endToken(ecosystem: Ecosystem, call: Call, token: string): void {
  if (call.method !== "DELETE") throw wrongMethod("DELETE");
  const accountId = ecosystem.grants.find(token)?.account.accountId ?? null;
  if (!ecosystem.access.revokeToken(token)) throw nothingThere();
  log(ecosystem, call, accountId, 204);
  call.response.writeHead(204).end();
}

function log(ecosystem: Ecosystem, call: Call, accountId: string | null, status: number, message?: string): void {
  const path = call.rawPath.includes("access_tokens") ? revocationPath : tokenPath;
  const said = message === undefined ? {} : { message };
  ecosystem.log.record("request", accountId, { method: call.method, path, status, ...said });
}

function wrongMethod(allowed: string): EcosystemError {
  return new EcosystemError(405, "method not allowed", undefined, undefined, { Allow: allowed });
}
