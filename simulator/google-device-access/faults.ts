/** Which calls a fault concerns: the interface for devices, the feed, or the token endpoint. */
export type Area = "devices" | "feed" | "tokens";

/** A fault that a test or a person switches on. `refuses`: answers with this status. `hangs`: never answers. `slow`: answers late. */
export type Fault =
  | {
      readonly kind: "refuses";
      readonly status: number;
      readonly code: string;
      readonly message: string;
      readonly retryAfterSeconds?: number;
    }
  | { readonly kind: "hangs" }
  | { readonly kind: "slow"; readonly byMs: number };

export class Faults {
  readonly #active = new Map<Area, Fault>();

  set(area: Area, fault: Fault | undefined): void {
    if (fault) this.#active.set(area, fault);
    else this.#active.delete(area);
  }

  of(area: Area): Fault | undefined {
    return this.#active.get(area);
  }
}

/** Faults that Google documents, by their names. */
export const namedFaults = {
  rateLimited: { kind: "refuses", status: 429, code: "RESOURCE_EXHAUSTED", message: "Rate limited." },
  unavailable: { kind: "refuses", status: 503, code: "UNAVAILABLE", message: "The service is currently unavailable." },
  internal: { kind: "refuses", status: 500, code: "INTERNAL", message: "Internal error encountered." },
  invalidToken: { kind: "refuses", status: 401, code: "UNAUTHENTICATED", message: "Request had invalid credentials." },
  forbidden: {
    kind: "refuses",
    status: 403,
    code: "PERMISSION_DENIED",
    message: "The caller does not have permission.",
  },
} as const satisfies Readonly<Record<string, Fault>>;
