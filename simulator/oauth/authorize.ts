import type { Account } from "../accounts/account.ts";
import type { Ecosystem } from "../ecosystem.ts";
import { readAccountPlan } from "../home/account-plan.ts";
import { type Call, readForm } from "../http/call.ts";
import { refuseOtherSites } from "../http/other-sites.ts";
import { consentPage, newHome } from "../pages/consent-page.ts";
import { messagePage, pinPage } from "../pages/message-pages.ts";
import { sendPage } from "../pages/page.ts";
import { Refusal } from "../refusal.ts";
import { type AuthRequest, badRequest, readAuthRequest } from "./authorization-request.ts";

/** Handles `/login/oauth2`: the consent page and the owner's decision. */
export async function answerAuthorize(ecosystem: Ecosystem, call: Call): Promise<void> {
  try {
    refuseOtherSites(call);
    if (call.method === "GET") showConsentPage(ecosystem, call);
    else if (call.method === "POST") handleDecision(ecosystem, call, await readForm(call));
    else throw new Refusal(405, "method_not_allowed", "This address is for a browser.");
  } catch (error) {
    const refusal = error instanceof Refusal ? error : new Refusal(500, "internal", "Something went wrong here.");
    sendPage(call, refusal.status, messagePage("This request is not complete", refusal.message));
  }
}

function showConsentPage(ecosystem: Ecosystem, call: Call): void {
  const request = readAuthRequest(ecosystem.clients, call.query);
  sendPage(call, 200, consentPage(request, ecosystem.accounts.all));
}

function handleDecision(ecosystem: Ecosystem, call: Call, form: URLSearchParams): void {
  const request = readAuthRequest(ecosystem.clients, form);
  const decision = form.get("decision");
  if (decision === "allow") allow(ecosystem, call, request, form.get("account") ?? "");
  else if (decision === "deny") deny(ecosystem, call, request);
  else throw badRequest("decision must be allow or deny.");
}

function allow(ecosystem: Ecosystem, call: Call, { client, returnsTo, state }: AuthRequest, accountId: string): void {
  const account = chooseAccount(ecosystem, accountId);
  const consent = { account, clientId: client.clientId, permissions: client.permissions };
  ecosystem.log.record("consent", account.accountId, { client: client.name, decision: "allow" });
  if (returnsTo === null) sendPage(call, 200, pinPage(client.name, ecosystem.codes.issue("pin", consent)));
  else redirect(call, returnsTo, { code: ecosystem.codes.issue("code", consent), state });
}

function deny(ecosystem: Ecosystem, call: Call, { client, returnsTo, state }: AuthRequest): void {
  ecosystem.log.record("consent", null, { client: client.name, decision: "deny" });
  if (returnsTo === null) {
    sendPage(call, 200, messagePage("Nothing was shared", `${client.name} was not given access to your home.`));
  } else {
    redirect(call, returnsTo, { error: "access_denied", error_description: "the owner refused access", state });
  }
}

function chooseAccount(ecosystem: Ecosystem, accountId: string): Account {
  const { accounts } = ecosystem;
  if (accounts.count === 0 && (accountId === newHome || accountId === "")) {
    return ecosystem.addAccount(readAccountPlan({})).account;
  }
  if (accountId !== "") return accounts.get(accountId);
  const [only, another] = accounts.all;
  if (only === undefined || another !== undefined) throw badRequest("Choose the home that the app may see.");
  return only;
}

function redirect({ response }: Call, address: string, parameters: Readonly<Record<string, string>>): void {
  const location = new URL(address);
  for (const [name, value] of Object.entries(parameters)) location.searchParams.append(name, value);
  response.writeHead(302, { Location: location.href, "Cache-Control": "no-store", "Content-Length": 0 }).end();
}
