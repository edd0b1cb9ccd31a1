import type { Identity } from "../../identity/identity.ts";
import type { Store, Transaction } from "../../store/seam.ts";
import type { Clients } from "../clients.ts";
import type { SentParameters } from "../parameters.ts";
import type { BrowserAnswer, Form, Visit } from "./browser.ts";
import { loginStep } from "./login-step.ts";
import type { Sealer } from "./login-ticket.ts";
import { requestStep } from "./request-step.ts";
import { termsStep } from "./terms-step.ts";

/**
 * The way of a user through authorize (interface 4.1): what the client asks for is checked, the user signs in, sees the
 * terms, decides, and is sent back to the client. Each step leads to the next, and what it needs to know travels with
 * the browser.
 */
export interface Authorize {
  /** The client's request: leads to the login page. */
  begin(query: SentParameters, visit: Visit): Promise<BrowserAnswer>;
  /** Name and password: lead to the terms. */
  logIn(form: Form, visit: Visit): Promise<BrowserAnswer>;
  showTerms(transaction: string, visit: Visit): Promise<BrowserAnswer>;
  /** Accept or decline: leads back to the client, with a code or without. */
  decide(form: Form, visit: Visit): Promise<BrowserAnswer>;
}

export interface AuthorizeParts {
  readonly store: Store<Pick<Transaction, "users" | "clients" | "signIns" | "codes" | "audit" | "nodes" | "clock">>;
  readonly identity: Pick<Identity, "signIn" | "brandOf">;
  readonly clients: Pick<Clients, "findClient">;
  readonly sealer: Sealer;
  /** Until then a login page must be one that a node of the version before can take. */
  readonly areOlderNodesGone: () => boolean;
  readonly issuer: () => string;
  readonly codeSeconds: number;
}

export function authorizeOn(parts: AuthorizeParts): Authorize {
  return {
    begin: requestStep(parts),
    logIn: loginStep(parts),
    ...termsStep(parts),
  };
}
