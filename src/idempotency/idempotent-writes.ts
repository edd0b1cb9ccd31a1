import { createHash } from "node:crypto";
import { IdempotencyKeyInUse, IdempotencyKeyReused, OutcomeUnknown, StoreUnavailable } from "../model/errors.ts";
import type { OwnerId } from "../model/ids.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { Sweep } from "../runtime/sweep.ts";
import type { Sealer } from "../store/keys/sealing.ts";
import type { Store, Transaction } from "../store/seam.ts";
import type { IdempotencyKey, StoredAnswer } from "../store/tables/idempotency-keys.ts";
import { KeyLimits } from "./key-limits.ts";

/** A request that carries an `Idempotency-Key`. */
export interface KeyedRequest {
  readonly ownerId: OwnerId;
  readonly clientId: string;
  readonly key: string;
  /** What the request asks for: method, path and body. */
  readonly content: string;
  /** The answer holds a secret: it is sealed in the store. */
  readonly isSecret: boolean;
}

/** What a request asks for, as it is stored with the answer. */
interface RequestContent extends Pick<KeyedRequest, "isSecret"> {
  readonly contentHash: string;
}

export interface KeptAnswer {
  readonly status: number;
  readonly body: string;
}

export type KeepTables = Pick<Transaction, "idempotencyKeys">;

/** Stores the answer in the transaction of the write that it answers; called last, with what the write returns. */
export type KeepAnswer<Result = void> = (tx: KeepTables, result: Result) => Promise<void>;

/** Creates that function for one request, from a function that builds the answer. */
export type Keep = <Result>(answerOf: (result: Result) => KeptAnswer) => KeepAnswer<Result>;

export interface IdempotentWriteParts {
  readonly store: Store<KeepTables & Pick<Transaction, "batchGroups">>;
  readonly sealer: Sealer;
  readonly runtime: Runtime;
}

/** How long a key is kept. The IETF draft leaves that to the service. */
export const keysKeptMs = 24 * 3_600_000;

const sweep = { everyMs: 600_000, atOnce: 1_000 };

/**
 * Carries out each keyed request once (IETF draft "The Idempotency-Key HTTP Header Field"). The key and the answer
 * become durable with the write itself, so a repeated request finds both or neither. Refusals are not stored: a
 * refused request changed nothing and may be repeated.
 */
export class IdempotentWrites {
  readonly #parts: IdempotentWriteParts;
  readonly #limits: KeyLimits;
  readonly #sweep: Sweep;
  /** Requests in progress on this node. On another node the second transaction waits for the first one's row. */
  readonly #running = new Set<string>();

  constructor(parts: IdempotentWriteParts) {
    this.#parts = parts;
    this.#limits = new KeyLimits(parts.runtime.elapsedMs);
    this.#sweep = new Sweep({
      task: "idempotency_keys",
      failure: "expired idempotency keys could not be removed",
      everyMs: sweep.everyMs,
      runtime: parts.runtime,
      remove: (signal) => this.#removeExpired(signal),
    });
  }

  start(): void {
    this.#sweep.start();
  }

  stop(): Promise<void> {
    return this.#sweep.stop();
  }

  /** Removes expired keys, and returns how many there were. */
  sweep(): Promise<number> {
    return this.#sweep.run();
  }

  /** The answer of the first request with this key; `write` runs only if there was none. */
  async run<Answer>(request: KeyedRequest, write: (keep: Keep) => Promise<Answer>): Promise<Answer | KeptAnswer> {
    const { ownerId, clientId, content, isSecret } = request;
    const key = { ownerId, hash: hashOf(clientId, request.key) };
    // The hash of a large body takes long: it is made before the transaction begins.
    const requestContent = { contentHash: hashOf(content), isSecret };
    const name = `${key.ownerId} ${key.hash}`;
    if (this.#running.has(name)) throw new IdempotencyKeyInUse();
    this.#running.add(name);
    try {
      return (await this.#findKept(key, requestContent)) ?? (await this.#write(key, requestContent, write));
    } finally {
      this.#running.delete(name);
    }
  }

  async #write<Answer>(key: IdempotencyKey, requestContent: RequestContent, write: (keep: Keep) => Promise<Answer>) {
    const { ownerId } = key;
    await this.#limits.check(ownerId, () => this.#parts.store.read((tx) => tx.idempotencyKeys.usage(ownerId)));
    try {
      return await write((answerOf) => (tx, result) => this.#store(tx, key, requestContent, answerOf(result)));
    } catch (error) {
      if (error instanceof OutcomeUnknown) throw error.ofKeyedRequest();
      if (error instanceof StoreUnavailable) throw error;
      // Another node may have executed the same request meanwhile. Then its answer counts, not this error.
      const kept = await this.#findKept(key, requestContent);
      if (kept) return kept;
      throw error;
    }
  }

  async #findKept(key: IdempotencyKey, { contentHash, isSecret }: RequestContent): Promise<KeptAnswer | undefined> {
    const stored = await this.#parts.store.read((tx) => tx.idempotencyKeys.find(key));
    if (!stored) return undefined;
    const text = stored.isSealed ? this.#parts.sealer.open(stored.text, answerContext(key)) : stored.text;
    const { content: first, ...answer } = JSON.parse(text) as KeptAnswer & { readonly content: string };
    if (first !== contentHash || stored.isSealed !== isSecret) throw new IdempotencyKeyReused();
    return answer;
  }

  async #store(tx: KeepTables, key: IdempotencyKey, { contentHash, isSecret }: RequestContent, answer: KeptAnswer) {
    const text = JSON.stringify({ content: contentHash, status: answer.status, body: answer.body });
    // The hash of the content is sealed too: a webhook's address may be a secret that can be guessed.
    const stored: StoredAnswer = isSecret
      ? { isSealed: true, text: this.#parts.sealer.seal(text, answerContext(key)) }
      : { isSealed: false, text };
    this.#limits.added(key.ownerId, Buffer.byteLength(stored.text));
    if (!(await tx.idempotencyKeys.add(key, stored, keysKeptMs))) throw new IdempotencyKeyInUse();
  }

  async #removeExpired(signal: AbortSignal): Promise<number> {
    let all = 0;
    while (!signal.aborted) {
      const removed = await this.#parts.store.transaction(
        async (tx) =>
          (await tx.idempotencyKeys.removeExpired(sweep.atOnce)) + (await tx.batchGroups.removeExpired(sweep.atOnce)),
        { background: true },
      );
      all += removed;
      if (removed < sweep.atOnce) break;
    }
    return all;
  }
}

/** Binds a sealed answer to its key. */
export function answerContext({ ownerId, hash }: IdempotencyKey): string {
  return `answer to ${ownerId} ${hash}`;
}

function hashOf(...texts: readonly string[]): string {
  return createHash("sha256").update(texts.join("\n")).digest("base64url");
}
