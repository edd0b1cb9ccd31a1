import { randomInt } from "node:crypto";
import type { Account } from "../accounts/account.ts";
import type { Permissions } from "../clients/permissions.ts";
import type { Secrets } from "../secrets.ts";

/** The owner's consent, until the client exchanges its code. */
export interface Consent {
  readonly account: Account;
  readonly clientId: string;
  readonly permissions: Permissions;
}

/** A code is passed on by the browser. A PIN is typed by a person, so it is shorter and valid for longer. */
export type CodeKind = "code" | "pin";

const forms: Readonly<Record<CodeKind, { readonly length: number; readonly lifeMs: number }>> = {
  code: { length: 16, lifeMs: 10 * 60_000 },
  pin: { length: 8, lifeMs: 48 * 3_600_000 },
};

/** Without letters and digits that look alike. */
const alphabet = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
const maxOpen = 10_000;

/** The codes and PINs that were not exchanged yet. */
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
    if (this.#open.size >= maxOpen) this.#open.delete(this.#open.keys().next().value!);
    this.#open.set(code, { ...consent, untilMs: this.#nowMs() + lifeMs });
    this.#secrets.remember(code);
    return code;
  }

  /** Redeems a client's code, which works once. Undefined if the code is unknown or expired. */
  take(code: string, clientId: string): Consent | undefined {
    const consent = this.#open.get(code);
    if (consent === undefined || consent.clientId !== clientId) return undefined;
    this.#open.delete(code);
    return consent.untilMs > this.#nowMs() ? consent : undefined;
  }
}
