import { type LoginProblem, loginPage } from "../../oauth/pages/login-page.ts";
import { basePath, pageBrand } from "../../oauth/pages/page-brand.ts";
import { accountPath } from "../../web/account-address.ts";
import { html } from "../../web/html.ts";
import { messagePage } from "../../web/message-page.ts";
import { named } from "../../web/page.ts";
import type { HomeSummary } from "../home-summary.ts";
import { connectPage } from "../pages/connect-page.ts";
import {
  alreadyLinkedPage,
  anotherAccountPage,
  declinedPage,
  expiredPage,
  failedPage,
  linkedPage,
  otherBrowserPage,
  type PageFrame,
  readingPage,
  unreachablePage,
  usedPage,
} from "../pages/outcome-pages.ts";
import { returnAddress } from "../return-address.ts";
import { csrfOf, pageToken } from "../session-secrets.ts";
import { problemOf, problems, type SessionProblem } from "../session-status.ts";
import type { FoundSession } from "./found-session.ts";
import { type LinkAnswer, linkAddresses, type StepParts } from "./step.ts";

type Shown = Extract<LinkAnswer, { readonly kind: "page" }>;

/** The pages of a session. `secret`: the secret in the browser's cookie. */
export function sessionPages({ identity, baseUrl }: Pick<StepParts, "identity" | "baseUrl">) {
  const brandOf = pageBrand(identity, baseUrl);

  const address = (found: FoundSession, name: "page" | "signIn") =>
    basePath(baseUrl()) + linkAddresses[name].replace(":token", pageToken(found.secrets, found.session));
  const frameOf = async ({ session, client }: FoundSession): Promise<PageFrame> => ({
    brand: await brandOf(session.tenantId),
    clientName: client.isOperators ? undefined : client.name,
    back: returnAddress(session),
  });
  const formOf = (found: FoundSession, secret: string) => ({
    action: address(found, "page"),
    hidden: { csrf: csrfOf(secret, found.session.id) },
  });
  const page = (status: number, shown: Shown["page"]): Shown => ({ kind: "page", status, page: shown });
  const returnsTo = ({ session: { returnUrl } }: FoundSession) =>
    returnUrl === null ? undefined : new URL(returnUrl).host;
  const messageOf = ({ session }: FoundSession, status: string) => ({
    linkSession: session.id,
    state: session.clientState,
    status,
  });

  return {
    address,
    unknown: (): Shown => page(400, messagePage({ kind: "expired" })),
    expired: async (found: FoundSession) => page(400, expiredPage(await frameOf(found))),
    otherBrowser: async (found: FoundSession) => page(400, otherBrowserPage(await frameOf(found))),
    used: async (found: FoundSession) => page(400, usedPage(await frameOf(found))),
    reading: async (found: FoundSession) =>
      page(200, readingPage(await frameOf(found), `${address(found, "page")}?wait=true`)),

    async signIn(
      found: FoundSession,
      secret: string,
      { status = 200, username = found.user?.name ?? "", problem }: SignInOptions = {},
    ): Promise<Shown> {
      const { client, session, user } = found;
      const brand = await brandOf(session.tenantId);
      const whose = user ? html`The account ${named(user.name)} will see this home: sign in with it.` : undefined;
      const asks = client.isOperators
        ? html`${named(brand.tenantName)} asks to connect your home.`
        : html`${named(client.name)} asks to connect your home to ${named(brand.tenantName)}.`;
      const lead = html`${asks} ${whose} After you sign in, you decide.`;
      const shown = loginPage({
        brand,
        clientName: client.name,
        lead,
        returnsTo: returnsTo(found),
        action: address(found, "signIn"),
        hidden: formOf(found, secret).hidden,
        username,
        problem,
      });
      return page(status, shown);
    },

    async connect(
      found: FoundSession,
      secret: string,
      { status = 200, address: typed = found.secrets.address ?? "", problem }: ConnectOptions = {},
    ): Promise<Shown> {
      const { session, connector, user } = found;
      const shown = connectPage({
        brand: await brandOf(session.tenantId),
        accountUrl: basePath(baseUrl()) + accountPath(session.tenantId),
        returnsTo: returnsTo(found),
        userName: user?.name ?? "",
        isSignedIn: session.isSignedIn,
        accountName: connector.displayName,
        mode: session.mode,
        ...formOf(found, secret),
        ...(connector.consent?.asksForAddress && { address: typed }),
        problem,
      });
      return page(status, shown);
    },

    async unreachable(found: FoundSession, secret: string): Promise<Shown> {
      const problem = problemOf(found.session) ?? problems.interrupted();
      const { displayName } = found.connector;
      return page(200, unreachablePage(await frameOf(found), displayName, problem, formOf(found, secret)));
    },

    async anotherAccount(found: FoundSession, secret: string): Promise<Shown> {
      const homes = JSON.parse(found.session.summary ?? "[]") as HomeSummary;
      return page(200, anotherAccountPage(await frameOf(found), homes, formOf(found, secret)));
    },

    alreadyLinked: async (found: FoundSession) =>
      page(200, alreadyLinkedPage(await frameOf(found), found.connector.displayName, messageOf(found, "failed"))),

    /** The page of a session that has ended. */
    async ended(found: FoundSession): Promise<Shown> {
      const { phase, summary } = found.session;
      const frame = await frameOf(found);
      const message = messageOf(found, phase);
      const { displayName } = found.connector;
      const homes = JSON.parse(summary ?? "[]") as HomeSummary;
      if (phase === "linked") return page(200, linkedPage(frame, displayName, homes, message));
      if (phase === "declined") return page(200, declinedPage(frame, message));
      const problem = problemOf(found.session) ?? problems.internal();
      if (problem.code === "already_linked") return this.alreadyLinked(found);
      const [sentence, detail] = wordsOf(problem, displayName);
      return page(200, failedPage(frame, sentence, detail, message));
    },
  };
}

export type SessionPages = ReturnType<typeof sessionPages>;

interface SignInOptions {
  readonly status?: number;
  readonly username?: string;
  readonly problem?: LoginProblem;
}

interface ConnectOptions {
  readonly status?: number;
  readonly address?: string;
  readonly problem?: string;
}

/** What a failed session tells the user, and the technical reason. */
function wordsOf({ code, description }: SessionProblem, accountName: string): readonly [string, string] {
  if (code === "ecosystem_refused") return [`Your ${accountName} refused the connection.`, description];
  if (code === "not_linked") return ["No home is connected, so there is nothing to connect again.", ""];
  return ["Something went wrong on our side. Nothing was connected.", ""];
}
