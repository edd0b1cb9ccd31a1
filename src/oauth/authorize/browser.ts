import type { Page } from "../pages/page.ts";

/** What a browser brings along. */
export interface Visit {
  /** What our cookie holds. */
  readonly browserSecret: string | undefined;
  /** The address it comes from. */
  readonly source: string;
  /** Aborts when the browser closes its connection. */
  readonly gone?: AbortSignal | undefined;
}

export type Form = Readonly<Record<string, string>>;

/** What the browser gets: a page, or another address. */
export type BrowserAnswer = (
  | { readonly kind: "page"; readonly status: number; readonly page: Page }
  | { readonly kind: "redirect"; readonly status: 302 | 303; readonly location: string }
) & {
  /** What its cookie holds from now on. */
  readonly browserSecret?: string;
  readonly retryAfterSeconds?: number;
};

export const addresses = { login: "/oauth2/login", terms: "/oauth2/terms", logo: "/oauth2/logo" };

/** From the login page to the decision. */
export const transactionMs = 10 * 60_000;
