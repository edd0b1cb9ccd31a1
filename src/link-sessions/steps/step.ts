import type { Connector } from "../../ecosystems/connector.ts";
import type { Identity } from "../../identity/identity.ts";
import type { Clients } from "../../oauth/clients.ts";
import type { SentParameters } from "../../oauth/parameters.ts";
import type { OutgoingCalls } from "../../runtime/network/outgoing-calls.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import type { Store, Transaction } from "../../store/seam.ts";
import type { Page } from "../../web/page.ts";
import type { linkingWith } from "../linking.ts";
import type { EndTables } from "../session-end.ts";
import type { Sealer } from "../session-secrets.ts";
import type { SessionWork } from "../session-work.ts";

/** One request of the browser on the link pages. */
export interface LinkStep {
  readonly name: "page" | "signIn" | "decision" | "callback";
  readonly method: "GET" | "POST";
  readonly path: string;
  /** `token`: the secret in the address; empty for the callback. `sent`: the query of a GET, the form of a POST. */
  answer(token: string, sent: SentParameters, visit: LinkVisit): Promise<LinkAnswer>;
}

/** The browser of one request. */
export interface LinkVisit {
  /** The secret in the cookie of that session. */
  secretOf(sessionId: string): string | undefined;
  /** The address of the browser. */
  readonly source: string;
  /** Aborts when the browser closes its connection. */
  readonly disconnected: AbortSignal;
}

/** The answer to the browser: a page or a redirect. */
export type LinkAnswer = (
  | { readonly kind: "page"; readonly status: number; readonly page: Page }
  | { readonly kind: "redirect"; readonly status: 303; readonly location: string }
) & {
  /** The cookie of a session and its new secret. */
  readonly cookie?: { readonly sessionId: string; readonly secret: string };
  readonly retryAfterSeconds?: number;
};

/** The name of the cookie of a session. */
export function sessionCookieName(sessionId: string): string {
  return `breezeway-${sessionId}`;
}

/** The addresses of the link pages, below the base URL. */
export const linkAddresses = {
  page: "/link/sessions/:token",
  signIn: "/link/sessions/:token/sign-in",
  callback: "/link/callback",
};

export interface StepParts {
  readonly store: Store<EndTables & Pick<Transaction, "users" | "links">>;
  readonly sealer: Sealer;
  readonly identity: Pick<Identity, "signIn" | "brandOf">;
  readonly clients: Pick<Clients, "findClient">;
  readonly connectors: ReadonlyMap<string, Connector>;
  readonly linking: ReturnType<typeof linkingWith>;
  readonly work: SessionWork;
  readonly outgoing: OutgoingCalls;
  readonly runtime: Runtime;
  readonly baseUrl: () => string;
  /** Breezeway's callback, as it is registered with the ecosystems. */
  readonly redirectUri: () => string;
  /** Called when the log has grown. */
  readonly appended: () => void;
}
