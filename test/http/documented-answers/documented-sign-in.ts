import type { TestContext } from "node:test";
import { StoreUnavailable } from "../../../src/model/errors.ts";
import { startOutlets } from "../../../src/outlets/serve.ts";
import { formOf } from "../../oauth/scripted-browser.ts";
import { person } from "../../stories/world.ts";
import { unusedParts } from "../made-table.ts";
import type { DocumentedWorld } from "./documented-world.ts";

/** Calls without credentials, and with wrong ones. */
export async function callWithoutCredentials({ operations, call }: DocumentedWorld): Promise<void> {
  for (const { operationId, security } of operations) {
    const schemes = security.flatMap((one) => Object.keys(one));
    if (schemes.includes("accessToken")) {
      await call(operationId, 401, { at: "1" });
      await call(operationId, 401, { at: "1", bearer: "bwa_nonsense" });
    } else if (schemes.includes("secTokenHeader")) {
      await call(operationId, 401);
      await call(operationId, 401, { bearer: "bws_nonsense" });
    } else if (schemes.includes("secToken")) {
      await call(operationId, 500);
    } else if (schemes.includes("clientSecret")) {
      await call(operationId, 401);
      await call(operationId, 401, { form: { client_id: "nobody", client_secret: "nonsense" } });
    }
  }
}

export async function callForHealth({ baseUrl, call, check }: DocumentedWorld, t: TestContext): Promise<void> {
  for (const operationId of ["checkLiveness", "checkLivenessByHead", "checkReadiness", "checkReadinessByHead"]) {
    await call(operationId, 200);
  }
  await call("getOpenApi", 200);
  await call("getReference", 200);
  await call("readMetrics", 200);
  for (const authorization of [undefined, "Bearer nonsense"]) {
    const headers = { via: "1.1 proxy", ...(authorization && { authorization }) };
    const passedOn = await fetch(`${baseUrl}/metrics`, { headers });
    check("readMetrics", 401, { status: passedOn.status, headers: passedOn.headers, body: await passedOn.text() });
  }
  const checks = { store: () => Promise.reject(new StoreUnavailable("The store can't write now.")) };
  const report = { debug() {}, info() {}, warn() {}, error() {} };
  const ill = await startOutlets({ ...unusedParts, host: "127.0.0.1", port: 0, report, callers: {} as never, checks });
  t.after(() => ill.stop());
  for (const [operationId, method] of [["checkReadiness", "GET"] as const, ["checkReadinessByHead", "HEAD"] as const]) {
    const answer = await fetch(`${ill.url}/readyz`, { method });
    check(operationId, 503, { status: answer.status, headers: answer.headers, body: await answer.text() });
  }
}

export async function signInByBrowser(world: DocumentedWorld): Promise<void> {
  const { call, check, parts, addClient, loginForm, browser } = world;
  const { client_id: clientId } = await addClient("user");
  const request = { response_type: "code", client_id: clientId, state: "s" };
  await call("startAuthorization", 302, { query: { ...request, state: "" } });
  await call("startAuthorization", 400, { query: { ...request, client_id: "nobody" } });

  const { url } = await browser().get(world.authorizeUrl(clientId));
  await call("startAuthorization", 302, { query: request });
  await call("showLogin", 200, { query: { request: new URL(url).searchParams.get("request") ?? "" } });
  await call("showLogin", 400, { query: { request: "nonsense" } });
  const login = await loginForm(clientId);
  const wrong = { username: person.name, password: "wrong" };
  check("sendLogin", 401, await login.browser.submit(login.form, wrong));
  check("sendLogin", 400, await browser().submit(login.form, wrong));
  const nobody = { username: "nobody", password: "wrong" };
  // Each failure makes the next wait longer, so in the end an attempt is refused as too early.
  let refused = await login.browser.submit(login.form, nobody);
  while (refused.status === 401) refused = await login.browser.submit(login.form, nobody);
  check("sendLogin", 429, refused);
  const right = { username: person.name, password: person.password };
  const signedIn = await login.browser.submit(login.form, right);
  check("sendLogin", 303, signedIn);
  const { client_id: enterpriseId } = await addClient("enterprise");
  const byTenant = await loginForm(enterpriseId);
  check("sendLogin", 302, await byTenant.browser.submit(byTenant.form, right));

  const terms = await login.browser.get(signedIn.location);
  check("showTerms", 200, terms);
  await call("showTerms", 400, { query: { transaction: "gone" } });
  check("sendDecision", 400, await browser().submit(formOf(terms), { decision: "accept" }));
  check("sendDecision", 302, await login.browser.submit(formOf(terms), { decision: "accept" }));

  const logo = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"><path d="M0 0h8v8z"/></svg>');
  const { tenantId } = await parts.identity.findTenant("Story");
  await call("getLogo", 404, { at: String(tenantId) });
  await parts.identity.setBrand(tenantId, { logo });
  await call("getLogo", 200, { at: String(tenantId) });
}

/** Returns an access token of the user. */
export async function getTokens({ call, addClient, code }: DocumentedWorld): Promise<string> {
  const client = await addClient("user");
  const ask = (status: number, form: Readonly<Record<string, string>>) =>
    call("issueToken", status, { form: { ...client, ...form } });
  await ask(400, {});
  await ask(400, { grant_type: "password" });
  await ask(400, { grant_type: "client_credentials" });
  await ask(400, { grant_type: "authorization_code", code: "nonsense" });
  const enterprise = await addClient("enterprise");
  await call("issueToken", 200, { json: { ...enterprise, grant_type: "client_credentials" } });
  const first = await ask(200, { grant_type: "authorization_code", code: await code(client.client_id) });
  const second = await ask(200, { grant_type: "refresh_token", refresh_token: first.refresh_token });
  await call("getServerMetadata", 200);

  await call("revokeToken", 400, { form: client });
  await call("revokeToken", 200, { form: { ...client, token: "nonsense", token_type_hint: "" } });
  await call("revokeToken", 200, { json: { ...client, token: second.access_token } });
  await call("listUsers", 401, { bearer: second.access_token });
  return (await ask(200, { grant_type: "authorization_code", code: await code(client.client_id) })).access_token;
}

/** Calls with a token that lacks the scope of the call. */
export async function lackScopes({ operations, call, addClient, code }: DocumentedWorld): Promise<void> {
  const client = await addClient("user");
  const tokenFor = async (scope: string) => {
    const granted = await code(client.client_id, scope);
    return call("issueToken", 200, { form: { ...client, grant_type: "authorization_code", code: granted } });
  };
  const { access_token: forLinks, refresh_token } = await tokenFor("links");
  const { access_token: forAlerts } = await tokenFor("alerts");
  for (const { operationId, security } of operations) {
    const bearer = operationId.endsWith("LinkSession") ? forAlerts : forLinks;
    if (security.some((one) => "accessToken" in one)) await call(operationId, 403, { at: "1", bearer });
  }
  const wider = { ...client, grant_type: "refresh_token", refresh_token, scope: "alerts" };
  await call("issueToken", 400, { form: wider });
}
