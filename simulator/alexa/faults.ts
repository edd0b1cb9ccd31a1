import type { Customer } from "./customer.ts";

/** Which calls a fault concerns: the event gateway, or the token endpoint. */
export type Area = "gateway" | "tokens";

/**
 * A fault that a test or a person switches on. `refuses`: with this status. `isDown`: the connection is closed. `hangs`:
 * nothing happens and there is no answer. `loses`: the call is carried out and there is no answer. `exceptCustomer`:
 * events of this customer are answered normally.
 */
export type Fault =
  | {
      readonly kind: "refuses";
      readonly status: number;
      readonly code: string;
      readonly retryAfterSeconds?: number;
    }
  | { readonly kind: "isDown" | "hangs" | "loses"; readonly exceptCustomer?: Customer };

export class Faults {
  readonly #active = new Map<Area, { readonly fault: Fault; times: number }>();

  /** `times`: how many calls meet the fault; all by default. */
  set(area: Area, fault: Fault, times = Number.POSITIVE_INFINITY): void {
    this.#active.set(area, { fault, times });
  }

  clear(area: Area): void {
    this.#active.delete(area);
  }

  /** The fault that the next call of the area meets. `customer`: whose event it is, if it is one. */
  consume(area: Area, customer?: Customer): Fault | undefined {
    const active = this.#active.get(area);
    if (!active || active.times <= 0) return undefined;
    const { fault } = active;
    if (customer && fault.kind !== "refuses" && fault.exceptCustomer === customer) return undefined;
    active.times -= 1;
    return fault;
  }
}

/** Faults that Amazon documents, by their names. */
export const namedFaults = {
  invalidRequest: { kind: "refuses", status: 400, code: "INVALID_REQUEST_EXCEPTION" },
  invalidToken: { kind: "refuses", status: 401, code: "INVALID_ACCESS_TOKEN_EXCEPTION" },
  neverEnabled: { kind: "refuses", status: 403, code: "SKILL_NEVER_ENABLED_EXCEPTION" },
  noPermission: { kind: "refuses", status: 403, code: "INSUFFICIENT_PERMISSION_EXCEPTION" },
  notFound: { kind: "refuses", status: 404, code: "SKILL_NOT_FOUND_EXCEPTION" },
  tooLarge: { kind: "refuses", status: 413, code: "REQUEST_ENTITY_TOO_LARGE_EXCEPTION" },
  rateLimited: { kind: "refuses", status: 429, code: "THROTTLING_EXCEPTION" },
  internal: { kind: "refuses", status: 500, code: "INTERNAL_SERVICE_EXCEPTION" },
  unavailable: { kind: "refuses", status: 503, code: "SERVICE_UNAVAILABLE_EXCEPTION" },
} as const satisfies Readonly<Record<string, Fault>>;
