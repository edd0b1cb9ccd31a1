import type { Identity } from "../../identity/identity.ts";
import type { Store, Transaction } from "../../store/seam.ts";
import type { Clients } from "../clients.ts";
import type { SentParameters } from "../parameters.ts";
import type { BrowserAnswer, Visit } from "./browser.ts";
import type { Sealer } from "./login-ticket.ts";

/** One request of the browser in the authorization flow. */
export interface AuthorizeStep {
  readonly name: "request" | "loginPage" | "login" | "terms" | "decision";
  readonly method: "GET" | "POST";
  readonly path: string;
  /** `sent`: the query of a GET, the form of a POST. */
  answer(sent: SentParameters, visit: Visit): Promise<BrowserAnswer>;
}

export interface AuthorizeParts {
  readonly store: Store<
    Pick<Transaction, "tenants" | "users" | "clients" | "grants" | "signIns" | "codes" | "audit" | "nodes" | "clock">
  >;
  readonly identity: Pick<Identity, "signIn" | "brandOf">;
  readonly clients: Pick<Clients, "findClient">;
  readonly sealer: Sealer;
  /** Until it is true, login pages are sealed so that a node of the previous version can open them. */
  readonly areOlderNodesGone: () => boolean;
  readonly issuer: () => string;
  readonly codeSeconds: number;
}
