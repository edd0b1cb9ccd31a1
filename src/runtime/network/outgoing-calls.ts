import { ClientGone, EcosystemUnreachable, TooManyRequests } from "../../model/errors.ts";
import type { TenantId, UserId } from "../../model/ids.ts";
import { type LimitName, limits, type OnLimitReached } from "../../model/limits.ts";
import { FairQueue } from "../fair-queue.ts";
import type { Timers } from "../runtime.ts";

/** Who causes a call. */
export interface CallCause {
  readonly linkSession?: string | undefined;
  /** The user; where there is none the address, or the tenant. */
  readonly user: string;
  /** Tenants take turns. */
  readonly tenant: string;
  /** Aborts when the client disconnects. It ends the call, also one that waits. */
  readonly disconnected?: AbortSignal | undefined;
}

/** The cause of a call for a user. A user that is being removed may have no tenant any more. */
export function causeOfUser(userId: UserId, tenantId: TenantId | undefined): CallCause {
  return { user: `user ${userId}`, tenant: `tenant ${tenantId}` };
}

export interface OutgoingCallParts {
  readonly timers: Pick<Timers, "after">;
  readonly onLimitReached?: OnLimitReached | undefined;
}

type Bound = Extract<LimitName, `outgoingCallsPer${string}`>;

/** How long a call may wait for its turn. Two waits and the calls of one link session end within its claim. */
const waitLimitMs = 5_000;
const retryAfterSeconds = 5;
/** Time limit for the look-up of the name, all its addresses and the whole answer together. */
const callLimitMs = 30_000;
/** How long a call may take to end after its time limit. */
const graceMs = 1_000;

const sentences: Readonly<Record<Bound, string>> = {
  outgoingCallsPerLinkSession: "The call before has no answer yet.",
  outgoingCallsPerUser: "Other calls that this user has caused have no answer yet.",
  outgoingCallsPerTenant: "Too many calls that this tenant's users have caused have no answer yet.",
  outgoingCallsPerNode: "Too many outgoing calls have no answer yet.",
};

/**
 * Admits the outgoing calls that a caller causes. The other side may hang, and a stranger may have named its address:
 * the calls of one link session, user, tenant and node are bounded, and each has a time limit. Further ones wait for a
 * short time. Users and tenants take turns.
 */
export class OutgoingCalls {
  readonly #parts: OutgoingCallParts;
  readonly #queues: Readonly<Record<Bound, FairQueue>>;
  /** Ends each call that runs or waits. */
  readonly #ends = new Set<() => void>();

  constructor(parts: OutgoingCallParts) {
    this.#parts = parts;
    const perUser = { mostWaitingPerSource: limits.outgoingCallsWaitingPerUser };
    this.#queues = {
      outgoingCallsPerLinkSession: this.#queue("outgoingCallsPerLinkSession", perUser),
      outgoingCallsPerUser: this.#queue("outgoingCallsPerUser", perUser),
      outgoingCallsPerTenant: this.#queue("outgoingCallsPerTenant"),
      outgoingCallsPerNode: this.#queue("outgoingCallsPerNode", { atOnce: limits.outgoingCallsPerNode }),
    };
  }

  /**
   * Makes a call when it has its turn. Its signal aborts at the time limit, when the client disconnects or when this
   * node stops. Throws TooManyRequests beyond a bound, ClientGone when the client has disconnected, and
   * EcosystemUnreachable when the call ignores its signal.
   */
  async run<Result>(
    { linkSession, user, tenant, disconnected }: CallCause,
    call: (signal: AbortSignal) => Promise<Result>,
    limitMs = callLimitMs,
  ): Promise<Result> {
    const ending = new AbortController();
    const end = () => ending.abort();
    if (disconnected?.aborted) throw new ClientGone();
    disconnected?.addEventListener("abort", end, { once: true });
    this.#ends.add(end);
    const cancelWait = this.#parts.timers.after(waitLimitMs, end);
    const all: readonly (readonly [Bound, string | undefined])[] = [
      ["outgoingCallsPerLinkSession", linkSession],
      ["outgoingCallsPerUser", user],
      ["outgoingCallsPerTenant", tenant],
      ["outgoingCallsPerNode", tenant],
    ];
    let waitsFor: Bound | undefined;
    const enter = ([first, ...others]: typeof all): Promise<Result> => {
      if (first) {
        const [bound, source] = first;
        if (source === undefined) return enter(others);
        waitsFor = bound;
        return this.#queues[bound].run(source, () => enter(others), ending.signal);
      }
      if (ending.signal.aborted) throw new ClientGone();
      waitsFor = undefined;
      cancelWait();
      return this.#timed(call, ending, limitMs);
    };
    try {
      return await enter(all);
    } catch (error) {
      if (disconnected?.aborted) throw new ClientGone();
      throw error instanceof ClientGone && waitsFor ? this.#refusal(waitsFor) : error;
    } finally {
      cancelWait();
      this.#ends.delete(end);
      disconnected?.removeEventListener("abort", end);
    }
  }

  /** Ends all calls: this node stops. */
  stop(): void {
    for (const end of this.#ends) end();
  }

  /** The slot is free only when the call has ended, so that calls of disconnected clients count until then. */
  async #timed<Result>(
    call: (signal: AbortSignal) => Promise<Result>,
    ending: AbortController,
    limitMs: number,
  ): Promise<Result> {
    const { after } = this.#parts.timers;
    const { promise: late, reject } = Promise.withResolvers<never>();
    const cancels = [
      after(limitMs, () => ending.abort()),
      after(limitMs + graceMs, () => reject(new EcosystemUnreachable("No answer in time."))),
    ];
    try {
      return await Promise.race([call(ending.signal), late]);
    } finally {
      for (const cancel of cancels) cancel();
    }
  }

  #queue(bound: Bound, options: Partial<ConstructorParameters<typeof FairQueue>[0]> = {}): FairQueue {
    return new FairQueue({
      atOnce: Number.POSITIVE_INFINITY,
      atOncePerSource: limits[bound],
      mostWaiting: limits.outgoingCallsWaiting,
      fullError: () => this.#refusal(bound),
      ...options,
    });
  }

  #refusal(bound: Bound): Error {
    this.#parts.onLimitReached?.(bound);
    return new TooManyRequests(retryAfterSeconds, sentences[bound]);
  }
}
