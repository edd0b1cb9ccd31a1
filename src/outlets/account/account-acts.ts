import type { Account } from "../../account/account.ts";
import { type Answer, pageAnswer, redirectAnswer } from "../../http/answer/answer.ts";
import { browserCookie } from "../../http/answer/browser-cookie.ts";
import type { Pairs } from "../../http/request/incoming.ts";
import { sessionMs } from "../../link-sessions/session-status.ts";
import { sessionCookieName } from "../../link-sessions/steps/step.ts";
import { BadParameter, InvalidLogin, LimitReached, NotFederated, TooManyRequests } from "../../model/errors.ts";
import { formOf } from "../../oauth/authorize/browser.ts";
import {
  deletedPage,
  deleteQuestion,
  deletionUnderwayPage,
  endAccessQuestion,
  problemPage,
  signOutEverywhereQuestion,
  unlinkQuestion,
} from "./other-pages.ts";
import { csrfOf, failed, type SignedInVisit } from "./visit.ts";

/** What the forms of the account page can do, by the name of the button or field. */
export const acts = ["renew", "unlink", "endAccess", "signOut", "signOutEverywhere", "deleteAccount"] as const;
type Act = (typeof acts)[number];

/** The fields of every form of the account page, beside its token. */
export const formFields = [...acts, "decision", "password"] as const;

interface Sent {
  /** The ecosystem or the client that the act is about. */
  readonly value: string;
  readonly isConfirmed: boolean;
  readonly password: string;
}

type Carry = (visit: SignedInVisit, sent: Sent) => Promise<Answer>;

export interface ActParts {
  readonly account: Account;
  readonly baseUrl: () => string;
}

/** Carries out what a form of the account page asks for. The caller has checked the session and the CSRF token. */
export function actOf({ account, baseUrl }: ActParts): (visit: SignedInVisit, sent: Pairs) => Promise<Answer> {
  const formFor = ({ address, secret }: SignedInVisit) => ({ address, csrf: csrfOf(secret) });
  const back = ({ address, notice }: SignedInVisit, done: string) =>
    redirectAnswer(303, address, { "set-cookie": notice.set(done, address) });
  const signedOut = (visit: SignedInVisit, done: string) =>
    redirectAnswer(303, `${visit.address}?done=${done}`, { "set-cookie": visit.cookie.clear() });

  const carryOut: Readonly<Record<Act, Carry>> = {
    async renew(visit, { value: ecosystem }) {
      const { user, brand, address, incoming } = visit;
      try {
        const { id, url, browserSecret } = await account.renew(user, ecosystem, incoming.source);
        const cookie = browserCookie(baseUrl, sessionMs / 1_000, { plainName: sessionCookieName(id) });
        return redirectAnswer(303, url, { "set-cookie": cookie.set(browserSecret) });
      } catch (error) {
        if (error instanceof NotFederated) return back(visit, "no-home");
        if (error instanceof LimitReached) {
          const words = "You have renewed connections very often today. Try again tomorrow.";
          return failed(409, error.code, problemPage(brand, address, words));
        }
        if (!(error instanceof BadParameter)) throw error;
        const words = "This connection can’t be renewed here. Connect the home again in the app that you use.";
        return failed(400, error.code, problemPage(brand, address, words));
      }
    },

    async unlink(visit, { value: ecosystem, isConfirmed }) {
      const { user, brand, incoming } = visit;
      if (isConfirmed) {
        const wasLinked = await account.unlink(user, ecosystem, incoming.source);
        return back(visit, wasLinked ? "unlinked" : "no-home");
      }
      const home = (await account.homes(user)).find((one) => one.ecosystem === ecosystem);
      if (!home) return back(visit, "no-home");
      const name = home.names.join(", ") || home.accountName;
      return pageAnswer(200, unlinkQuestion(brand, formFor(visit), { ecosystem, name }));
    },

    async endAccess(visit, { value: clientId, isConfirmed }) {
      const { user, brand, incoming } = visit;
      if (isConfirmed) {
        const hadAccess = await account.endAccess(user, clientId, incoming.source);
        return back(visit, hadAccess ? "access-ended" : "no-access");
      }
      const app = (await account.apps(user)).apps.find((one) => one.clientId === clientId);
      if (!app) return back(visit, "no-access");
      return pageAnswer(200, endAccessQuestion(brand, formFor(visit), app));
    },

    async signOut(visit) {
      await account.signOut(visit.user, visit.secret, visit.incoming.source);
      return signedOut(visit, "signed-out");
    },

    async signOutEverywhere(visit, { isConfirmed }) {
      if (!isConfirmed) return pageAnswer(200, signOutEverywhereQuestion(visit.brand, formFor(visit)));
      await account.signOutEverywhere(visit.user, visit.incoming.source);
      return signedOut(visit, "signed-out-everywhere");
    },

    async deleteAccount(visit, { isConfirmed, password }) {
      const { user, brand, cookie, incoming } = visit;
      const ask = (words?: string) =>
        deleteQuestion(brand, formFor(visit), user.name, words === undefined ? undefined : { words });
      if (!isConfirmed) return pageAnswer(200, ask());
      if (password === "") return failed(400, "invalid_request", ask("Enter your password."));
      try {
        const { source, disconnected } = incoming;
        const state = await account.deleteAccount(user, { password, source, disconnected });
        const page = state === "deleted" ? deletedPage(brand) : deletionUnderwayPage(brand);
        return pageAnswer(200, page, { "set-cookie": cookie.clear() });
      } catch (error) {
        if (error instanceof InvalidLogin || error instanceof BadParameter) {
          return failed(401, "invalid_login", ask("The password is wrong. Nothing was deleted."));
        }
        if (!(error instanceof TooManyRequests)) throw error;
        const headers = { "retry-after": String(error.retryAfterSeconds) };
        const words = "Too many attempts with a wrong password. Nothing was deleted. Try again later.";
        return failed(429, "too_many_requests", ask(words), headers);
      }
    },
  };

  return async (visit, sent) => {
    const fields = formOf(sent, formFields);
    const act = acts.find((name) => fields[name] !== "");
    if (!act) {
      return failed(400, "invalid_request", problemPage(visit.brand, visit.address, "Choose what you want to do."));
    }
    if (fields.decision === "cancel") return back(visit, "cancelled");
    const { password } = fields;
    return carryOut[act](visit, { value: fields[act], isConfirmed: fields.decision === "confirm", password });
  };
}
