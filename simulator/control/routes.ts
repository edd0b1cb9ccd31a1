import type { Ecosystem } from "../ecosystem.ts";
import type { Call } from "../http/call.ts";
import { executeHouseButton, showHousePage } from "../pages/house-page-answers.ts";
import * as accounts from "./account-answers.ts";
import * as clients from "./client-answers.ts";
import * as faults from "./fault-answers.ts";

/** A route of the control interface. A star in the path stands for the id that is passed to the handler. */
export interface Route {
  readonly method: string;
  readonly path: readonly string[];
  readonly answer: (ecosystem: Ecosystem, call: Call, id: string) => void | Promise<void>;
}

export const routes: readonly Route[] = [
  route("GET", "", accounts.readState),
  route("GET", "accounts", accounts.listAccounts),
  route("POST", "accounts", accounts.addAccount),
  route("DELETE", "accounts/*", accounts.removeAccount),
  route("POST", "accounts/*/tokens", accounts.issueToken),
  route("DELETE", "tokens/*", accounts.revokeToken),
  route("GET", "accounts/*/document", accounts.readDocument),
  route("PUT", "accounts/*/document", accounts.replaceDocument),
  route("POST", "accounts/*/scene", accounts.startScene),
  route("POST", "accounts/*/drop", accounts.dropStreams),
  route("PUT", "accounts/*/permissions", clients.changeGrants),
  route("GET", "clients", clients.listClients),
  route("POST", "clients", clients.registerClient),
  route("PUT", "clients/*/permissions", clients.changeClient),
  route("GET", "faults", faults.listFaults),
  route("POST", "faults", faults.turnFaultOn),
  route("DELETE", "faults", faults.clearFaults),
  route("DELETE", "faults/*", faults.clearFault),
  route("GET", "scenes", accounts.listScenes),
  route("GET", "log", accounts.readLog),
  route("GET", "page", showHousePage),
  route("POST", "page", executeHouseButton),
];

function route(method: string, path: string, answer: Route["answer"]): Route {
  return { method, path: path.split("/").filter(Boolean), answer };
}
