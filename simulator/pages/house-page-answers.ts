import type { Account } from "../accounts/account.ts";
import type { Ecosystem } from "../ecosystem.ts";
import { readFaultPlan } from "../faults/faults.ts";
import { readAccountPlan } from "../home/account-plan.ts";
import { type Call, readForm } from "../http/call.ts";
import { badArgument, Refusal } from "../refusal.ts";
import { faultButtonsByName, sceneOf } from "./house-buttons.ts";
import { addressOf, housePage } from "./house-page.ts";
import { sendPage } from "./page.ts";

/** Shows an account; the first one when none is chosen. */
export function showHousePage(ecosystem: Ecosystem, call: Call): void {
  const accountId = call.query.get("account");
  sendPage(call, 200, housePage(ecosystem, accountId ? ecosystem.accounts.get(accountId) : ecosystem.accounts.all[0]));
}

/** Executes a button and redirects to the page; a refusal is shown on the page. */
export async function executeHouseButton(ecosystem: Ecosystem, call: Call): Promise<void> {
  const form = await readForm(call);
  const accountId = form.get("account");
  const account = accountId ? ecosystem.accounts.get(accountId) : undefined;
  try {
    const next = await execute(ecosystem, account, form);
    call.response.writeHead(303, { Location: addressOf(next), "Content-Length": 0 }).end();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    sendPage(call, error.status, housePage(ecosystem, account ?? ecosystem.accounts.all[0], error.message));
  }
}

async function execute(ecosystem: Ecosystem, account: Account | undefined, form: URLSearchParams): Promise<Account> {
  if (form.has("make")) return ecosystem.addAccount(readAccountPlan({})).account;
  if (account === undefined) throw badArgument("Choose a home first.");
  const fault = faultButtonsByName.get(form.get("fault") ?? "")?.fault;
  const clear = form.get("clear");
  const endedClient = form.get("end");
  if (fault !== undefined) ecosystem.addFault(readFaultPlan({ ...fault, accountId: account.accountId }));
  else if (clear !== null) ecosystem.clearFaults(clear === "all" ? undefined : clear);
  else if (endedClient !== null) ecosystem.access.end(account, endedClient);
  else if (form.has("scene")) await ecosystem.playScene(account, sceneOf(form));
  else throw badArgument("This button is not known here.");
  return account;
}
