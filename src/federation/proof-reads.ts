import type { Home } from "../home/home.ts";
import { ClientGone, TooManyRequests } from "../model/errors.ts";
import type { TenantId, UserId } from "../model/ids.ts";
import { type LimitName, limits, type OnLimitReached } from "../model/limits.ts";

export interface ProofCaller {
  readonly userId: UserId;
  readonly tenantId: TenantId;
  /** Aborts when the client disconnects. */
  readonly disconnected?: AbortSignal | undefined;
}

export interface ProofReadParts {
  readonly onLimitReached?: OnLimitReached | undefined;
  /** Aborts all reads when the service stops. */
  readonly signal: AbortSignal;
}

type ProofLimit = Extract<LimitName, `proofReads${string}`>;

/** Most reads take less. A read that hangs ends with the connector's time limit. */
const retryAfterSeconds = 5;
const sentences: Readonly<Record<ProofLimit, string>> = {
  proofReadsPerUser: "Other tokens of this user are being verified with their ecosystem.",
  proofReadsPerTenant: "Too many tokens of this tenant's users are being verified with their ecosystem.",
  proofReadsPerNode: "Too many tokens are being verified with their ecosystem.",
};

/**
 * Bounds the reads that prove tokens on this node. Each is a connection to an ecosystem, which may hang, and any user
 * can start one with an invented token.
 */
export class ProofReads {
  readonly #parts: ProofReadParts;
  /** The reads in progress, by what is bounded. */
  readonly #running = new Map<string, number>();

  constructor(parts: ProofReadParts) {
    this.#parts = parts;
  }

  /** Throws TooManyRequests beyond a limit, and ClientGone when the client disconnected before the read ended. */
  async run(caller: ProofCaller, read: (signal: AbortSignal) => Promise<Home>): Promise<Home> {
    const { userId, tenantId, disconnected } = caller;
    const counted: readonly (readonly [ProofLimit, string])[] = [
      ["proofReadsPerUser", `user ${userId}`],
      ["proofReadsPerTenant", `tenant ${tenantId}`],
      ["proofReadsPerNode", "node"],
    ];
    for (const [limit, key] of counted) this.#check(limit, key);
    for (const [, key] of counted) this.#count(key, 1);
    try {
      return await eitherAborts(this.#parts.signal, disconnected, read);
    } catch (error) {
      throw disconnected?.aborted ? new ClientGone() : error;
    } finally {
      for (const [, key] of counted) this.#count(key, -1);
    }
  }

  #check(limit: ProofLimit, key: string): void {
    if ((this.#running.get(key) ?? 0) < limits[limit]) return;
    this.#parts.onLimitReached?.(limit);
    throw new TooManyRequests(retryAfterSeconds, sentences[limit]);
  }

  #count(key: string, by: 1 | -1): void {
    const running = (this.#running.get(key) ?? 0) + by;
    if (running === 0) this.#running.delete(key);
    else this.#running.set(key, running);
  }
}

/** Runs `act` with a signal that aborts when one of the two does. No listener stays on the node's own signal. */
async function eitherAborts<Result>(
  own: AbortSignal,
  clients: AbortSignal | undefined,
  act: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const signals = clients ? [own, clients] : [own];
  const ending = new AbortController();
  const end = () => ending.abort();
  if (signals.some(({ aborted }) => aborted)) end();
  for (const signal of signals) signal.addEventListener("abort", end, { once: true });
  try {
    return await act(ending.signal);
  } finally {
    for (const signal of signals) signal.removeEventListener("abort", end);
  }
}
