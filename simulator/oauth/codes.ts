import { randomInt } from "node:crypto";
import type { Account } from "../accounts/account.ts";
import type { Permissions } from "../clients/permissions.ts";
import type { Secrets } from "../secrets.ts";

/** What an owner has allowed, until the client fetches its token. */
export interface Consent {
  readonly account: Account;
  readonly clientId: string;
  readonly permissions: Permissions;
}

/** A code travels through the browser; a PIN is read and typed by a person, so that it is short and lives longer. */
export type CodeKind = "code" | "pin";

const forms: Readonly<Record<CodeKind, { readonly length: number; readonly lifeMs: number }>> = {
  code: { length: 16, lifeMs: 10 * 60_000 },
  pin: { length: 8, lifeMs: 48 * 3_600_000 },
};

/** Without the letters and digits that people take for each other. */
const alphabet = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
const mostOpen = 10_000;

/** The codes and PINs that wait to be exchanged, each of them once. */
export class Codes {
  readonly #nowMs: () => number;
  readonly #secrets: Secrets;
  readonly #open = new Map<string, Consent & { readonly untilMs: number }>();

  constructor(nowMs: () => number, secrets: Secrets) {
    this.#nowMs = nowMs;
    this.#secrets = secrets;
  }

  issue(kind: CodeKind, consent: Consent): string {
    const { length, lifeMs } = forms[kind];
    const code = Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join("");
    if (this.#open.size >= mostOpen) this.#open.delete(this.#open.keys().next().value!);
    this.#open.set(code, { ...consent, untilMs: this.#nowMs() + lifeMs });
    this.#secrets.remember(code);
    return code;
  }

  /** What stands behind a code of this client; undefined when there is none, or no longer. A code is taken once. */
  take(code: string, clientId: string): Consent | undefined {
    const consent = this.#open.get(code);
    if (consent === undefined || consent.clientId !== clientId) return undefined;
    this.#open.delete(code);
    return consent.untilMs > this.#nowMs() ? consent : undefined;
  }
}
