import type { AccessScope } from "../model/access-scope.ts";
import { ClientGone, LimitReached } from "../model/errors.ts";
import type { TenantId } from "../model/ids.ts";
import { type LimitName, limits } from "../model/limits.ts";
import type { PatternWork } from "./programs.ts";

/** Whose costly patterns are matched. Tenants take turns, and within a tenant its callers. */
export interface MatchCaller {
  /** Operators of the service have turns of their own. */
  readonly tenantId: TenantId | "operators";
  readonly name: string;
  /** The caller may wait so often at the same time; without it there is no bound. */
  readonly limit?: { readonly name: WaitingLimit; readonly sentence: string };
  /** Aborts when nobody waits for the answer any more. */
  readonly disconnected?: AbortSignal | undefined;
}

type WaitingLimit = Extract<LimitName, "explanationsWaiting" | "changesWaiting">;

interface Waiting {
  readonly begin: () => void;
}

/**
 * Gives the one thread that matches costly patterns to its callers in turn (round robin), so that a caller with many
 * matches delays another tenant by one match only.
 */
export class MatchTurns {
  readonly #work: PatternWork;
  /** Those that wait, by tenant and caller. The first tenant in the map has the next turn, and of it the first caller. */
  readonly #waiting = new Map<MatchCaller["tenantId"], Map<string, Waiting[]>>();
  /** Tasks of each caller with a limit that wait or run. */
  readonly #admitted = new Map<string, number>();
  #isBusy = false;

  constructor(work: PatternWork) {
    this.#work = work;
  }

  /** Counts the task for the caller's limit while it runs. Throws LimitReached beyond it. */
  async admit<Result>({ name, limit }: MatchCaller, task: () => Promise<Result>): Promise<Result> {
    if (!limit) return task();
    const key = `${limit.name} ${name}`;
    const admitted = this.#admitted.get(key) ?? 0;
    if (admitted >= limits[limit.name]) throw new LimitReached(limit.name, limit.sentence);
    this.#admitted.set(key, admitted + 1);
    try {
      return await task();
    } finally {
      const left = this.#admitted.get(key)! - 1;
      if (left === 0) this.#admitted.delete(key);
      else this.#admitted.set(key, left);
    }
  }

  /** Runs the task when it is the caller's turn. Rejects with ClientGone when its client has gone before that. */
  async run<Result>(caller: MatchCaller, task: (work: PatternWork) => Promise<Result>): Promise<Result> {
    if (caller.disconnected?.aborted) throw new ClientGone();
    if (this.#isBusy) await this.#wait(caller);
    this.#isBusy = true;
    try {
      return await task(this.#work);
    } finally {
      this.#passOn();
    }
  }

  async #wait({ tenantId, name, disconnected }: MatchCaller): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting: Waiting = { begin: resolve };
    const ofTenant = this.#waiting.get(tenantId) ?? new Map<string, Waiting[]>();
    this.#waiting.set(tenantId, ofTenant);
    ofTenant.set(name, [...(ofTenant.get(name) ?? []), waiting]);
    const leave = () => {
      this.#remove(tenantId, name, waiting);
      reject(new ClientGone());
    };
    disconnected?.addEventListener("abort", leave, { once: true });
    try {
      await promise;
    } finally {
      disconnected?.removeEventListener("abort", leave);
    }
  }

  #passOn(): void {
    this.#isBusy = false;
    const [tenant] = this.#waiting;
    if (!tenant) return;
    const [tenantId, callers] = tenant;
    const [[name, [next]]] = callers as unknown as [[string, [Waiting]]];
    this.#remove(tenantId, name, next);
    // The tenant and its caller go to the end.
    const others = callers.get(name);
    if (callers.delete(name)) callers.set(name, others!);
    if (this.#waiting.delete(tenantId)) this.#waiting.set(tenantId, callers);
    // At once, so that nobody comes in between.
    this.#isBusy = true;
    next.begin();
  }

  #remove(tenantId: MatchCaller["tenantId"], name: string, waiting: Waiting): void {
    const ofTenant = this.#waiting.get(tenantId)!;
    const left = ofTenant.get(name)!.filter((other) => other !== waiting);
    if (left.length > 0) ofTenant.set(name, left);
    else ofTenant.delete(name);
    if (ofTenant.size === 0) this.#waiting.delete(tenantId);
  }
}

/** Who asks about alerts, beside the access scope. */
export interface Asker {
  /** An operator of the service asks, and not the user whose alerts they are. */
  readonly isOperator?: true;
  readonly disconnected?: AbortSignal | undefined;
}

/** Who asks, as limits count it: a user, all enterprise clients of a tenant, or the operators who look at a home. */
export function askerName(accessScope: AccessScope, { isOperator }: Asker): string {
  const name = accessScope.kind === "user" ? `user ${accessScope.userId}` : `tenant ${accessScope.tenantId}`;
  return isOperator ? `operators of ${name}` : name;
}
