import { createHash } from "node:crypto";
import { IdempotencyKeyInUse, IdempotencyKeyReused, OutcomeUnknown, TooManyIdempotencyKeys } from "../model/errors.ts";
import type { OwnerId } from "../model/ids.ts";
import { limits } from "../model/limits.ts";
import type { Store, Transaction } from "../store/seam.ts";
import type { BatchGroup } from "../store/tables/batch-groups.ts";
import type { IdempotencyKey } from "../store/tables/idempotency-keys.ts";
import { keysKeptMs } from "./idempotent-writes.ts";
import { UsageCounts } from "./usage-counts.ts";

/** The `Idempotency-Key` of a batch. */
export interface BatchKey {
  readonly ownerId: OwnerId;
  readonly clientId: string;
  readonly key: string;
  /** Method, path and mode: what the batch does with its lines. */
  readonly content: string;
  /** The whole body, for a request that may not be repeated with further lines. */
  readonly wholeBody?: string;
}

export interface BatchLine {
  readonly text: string;
}

/** The lines of a batch, as they arrive. */
export interface LineSource<Line extends BatchLine> {
  /** Waits for `atLeast` lines or the end, and returns up to `most` lines without taking them. */
  peek(atLeast: number, most: number): Promise<readonly Line[]>;
  take(count: number): void;
}

export type GroupTables = Pick<Transaction, "idempotencyKeys" | "batchGroups">;
type BatchTables = GroupTables & Pick<Transaction, "clock">;

/** Stores the answers of a group in the group's transaction; called last. */
export type KeepAnswers<Answer> = (tx: GroupTables, answers: readonly Answer[]) => Promise<void>;

/**
 * Carries out the first of these lines, at least one, in one transaction, and returns their answers. The answer to a line
 * that is postponed is `notYet`.
 */
export type CarryOut<Line, Answer> = (
  lines: readonly Line[],
  keep: KeepAnswers<Answer> | undefined,
) => Promise<readonly Answer[]>;

/** Answers of one group; `isReplayed` when they come from the store. */
export interface AnsweredGroup<Answer> {
  readonly answers: readonly Answer[];
  readonly isReplayed: boolean;
  /** Its one line is not carried out yet: the caller does it now. */
  readonly postponed?: PostponedLine<Answer>;
}

export interface PostponedLine<Answer> {
  /**
   * Stores the answer in the transaction that carries out the line; called last. Throws AnsweredElsewhere when a repeated
   * request has carried out the line. Undefined for a batch without a key.
   */
  readonly keep: KeepAnswers<Answer> | undefined;
}

/** A request with the same key has carried out a postponed line. The transaction must be rolled back. */
export class AnsweredElsewhere extends Error {
  /** As that request has stored it. */
  readonly answer: unknown;

  constructor(answer: unknown) {
    super("a request with the same key has carried out this line");
    this.answer = answer;
  }
}

const linesPerGroup = 100;
/** Groups outlive their key by more than the longest batch takes, so that a repeated batch finds all or none of them. */
const groupsKeptMs = keysKeptMs + 2 * limits.batchSeconds * 1_000;

/**
 * Carries out batches in groups of lines, one transaction for each group. The answers of a batch with a key become
 * durable with their group. A repeated batch gets the stored answers and continues behind them, so no line is carried
 * out twice. A postponed line is stored with the answer `notYet`: a request that finds that answer carries out the line, and
 * replaces it in the same transaction.
 */
export class ResumableBatches {
  readonly #store: Pick<Store<BatchTables>, "read">;
  readonly #groupCounts = new UsageCounts(() => this.#nowMs);
  /** Batches with a key in progress on this node. On another node the first group of the second one fails. */
  readonly #running = new Set<string>();

  /** The store's clock at the last request with a key. */
  #nowMs = 0;

  constructor(store: Pick<Store<BatchTables>, "read">) {
    this.#store = store;
  }

  /** The key is in use on this node until the generator has ended. `notYet`: the answer to lines that are postponed. */
  async *run<Line extends BatchLine, Answer>(
    request: BatchKey | undefined,
    source: LineSource<Line>,
    carryOut: CarryOut<Line, Answer>,
    notYet?: Answer,
  ): AsyncGenerator<AnsweredGroup<Answer>, void, void> {
    if (!request) return yield* unkeyed(source, carryOut, notYet);
    const key = { ownerId: request.ownerId, hash: hashOf(request.clientId, request.key) };
    const name = `${key.ownerId} ${key.hash}`;
    if (this.#running.has(name)) throw new IdempotencyKeyInUse();
    this.#running.add(name);
    try {
      const stored = yield* this.#replay<Line, Answer>(key, request, source, notYet);
      yield* this.#continue(key, request, stored, source, carryOut, notYet);
    } catch (error) {
      throw error instanceof OutcomeUnknown ? error.ofKeyedRequest() : error;
    } finally {
      this.#running.delete(name);
    }
  }

  /** Yields the stored answers of a batch that was sent before; returns how many groups there are. */
  async *#replay<Line extends BatchLine, Answer>(
    key: IdempotencyKey,
    request: BatchKey,
    source: LineSource<Line>,
    notYet: Answer | undefined,
  ): AsyncGenerator<AnsweredGroup<Answer>, number, void> {
    const { kept, nowMs } = await this.#store.read(async (tx) => ({
      kept: await tx.idempotencyKeys.find(key),
      nowMs: await tx.clock.nowMs(),
    }));
    this.#nowMs = nowMs;
    if (!kept) return 0;
    if (kept.isSealed || !isSameRequest(JSON.parse(kept.text), request)) throw new IdempotencyKeyReused();
    for (let number = 0; ; number++) {
      const group = await this.#store.read((tx) => tx.batchGroups.find(key, number));
      if (!group) return number;
      const lines = await source.peek(group.lines, group.lines);
      if (lines.length < group.lines || digestOf(lines) !== group.digest) throw new IdempotencyKeyReused();
      source.take(group.lines);
      const isPostponed = notYet !== undefined && group.answers === JSON.stringify([notYet]);
      const postponed = isPostponed && { postponed: { keep: replacing(key, number, group.answers) } };
      yield { answers: JSON.parse(group.answers), isReplayed: true, ...postponed };
    }
  }

  async *#continue<Line extends BatchLine, Answer>(
    key: IdempotencyKey,
    request: BatchKey,
    stored: number,
    source: LineSource<Line>,
    carryOut: CarryOut<Line, Answer>,
    notYet: Answer | undefined,
  ): AsyncGenerator<AnsweredGroup<Answer>, void, void> {
    const { ownerId } = key;
    for (let number = stored; ; ) {
      const first = number;
      const lines = await source.peek(1, linesPerGroup);
      if (lines.length === 0) return;
      await this.#checkRoom(ownerId);
      const keepAnswers: KeepAnswers<Answer> = async (tx, made) => {
        if (first === 0) await beginKey(tx, key, request);
        for (const [nth, group] of groupsOf(lines, made, notYet).entries()) {
          if (!(await tx.batchGroups.add(key, first + nth, storedGroup(group), groupsKeptMs)))
            throw new IdempotencyKeyInUse();
        }
      };
      const groups = groupsOf(lines, await carryOut(lines, keepAnswers), notYet);
      for (const { answers } of groups) {
        const kept = JSON.stringify(answers);
        this.#groupCounts.added(ownerId, Buffer.byteLength(kept));
        source.take(answers.length);
        const postponed = answers[0] === notYet && { postponed: { keep: replacing<Answer>(key, number, kept) } };
        yield { answers, isReplayed: false, ...postponed };
        number += 1;
      }
    }
  }

  /** The number of keys is not limited: a company that reports states each second needs one for each report. */
  async #checkRoom(ownerId: OwnerId): Promise<void> {
    const groupUsage = () => this.#store.read((tx) => tx.batchGroups.usage(ownerId));
    const { bytes } = await this.#groupCounts.of(ownerId, groupUsage);
    if (bytes >= limits.batchKeyBytesPerTenant) throw tooManyBytes(bytes);
  }
}

/** Takes the key with the first group. Groups of an expired use of the same key are in the way. */
async function beginKey(tx: GroupTables, key: IdempotencyKey, { content, wholeBody }: BatchKey): Promise<void> {
  const stored: StoredRequest = {
    content: hashOf(content),
    ...(wholeBody !== undefined && { wholeBody: hashOf(wholeBody) }),
  };
  const text = JSON.stringify({ ...stored, status: 200, body: "" });
  if (!(await tx.idempotencyKeys.add(key, { isSealed: false, text }, keysKeptMs))) throw new IdempotencyKeyInUse();
  await tx.batchGroups.remove(key);
}

/** Hashes of the request that took a key. Nodes of an earlier version store no hash of the whole body. */
interface StoredRequest {
  readonly content: string;
  readonly wholeBody?: string;
}

function isSameRequest(stored: StoredRequest, { content, wholeBody }: BatchKey): boolean {
  if (stored.content !== hashOf(content)) return false;
  return stored.wholeBody === undefined || wholeBody === undefined || stored.wholeBody === hashOf(wholeBody);
}

async function* unkeyed<Line extends BatchLine, Answer>(
  source: LineSource<Line>,
  carryOut: CarryOut<Line, Answer>,
  notYet: Answer | undefined,
): AsyncGenerator<AnsweredGroup<Answer>, void, void> {
  for (;;) {
    const lines = await source.peek(1, linesPerGroup);
    if (lines.length === 0) return;
    for (const { answers } of groupsOf(lines, await carryOut(lines, undefined), notYet)) {
      source.take(answers.length);
      yield { answers, isReplayed: false, ...(answers[0] === notYet && { postponed: { keep: undefined } }) };
    }
  }
}

interface LinesWithAnswers<Answer> {
  readonly lines: readonly BatchLine[];
  readonly answers: readonly Answer[];
}

/** Postponed lines are groups of their own, so that the answer of one is replaced without those of others. */
function groupsOf<Answer>(
  lines: readonly BatchLine[],
  answers: readonly Answer[],
  notYet: Answer | undefined,
): readonly LinesWithAnswers<Answer>[] {
  if (notYet === undefined || !answers.includes(notYet)) return [{ lines: lines.slice(0, answers.length), answers }];
  return answers.map((answer, index) => ({ lines: [lines[index]!], answers: [answer] }));
}

function storedGroup({ lines, answers }: LinesWithAnswers<unknown>): BatchGroup {
  return { lines: lines.length, digest: digestOf(lines), answers: JSON.stringify(answers) };
}

/** Replaces the answer of a postponed line, once. */
function replacing<Answer>(key: IdempotencyKey, number: number, notYet: string): KeepAnswers<Answer> {
  return async (tx, answers) => {
    if (await tx.batchGroups.replaceAnswers(key, number, notYet, JSON.stringify(answers))) return;
    const stored = await tx.batchGroups.find(key, number);
    // The key has expired meanwhile, and another request has it.
    if (!stored) throw new IdempotencyKeyInUse();
    throw new AnsweredElsewhere(JSON.parse(stored.answers)[0]);
  };
}

function tooManyBytes(bytes: number): TooManyIdempotencyKeys {
  return new TooManyIdempotencyKeys(
    "batchKeyBytesPerTenant",
    `The answers kept for batches of this tenant take ${bytes} bytes and may take ${limits.batchKeyBytesPerTenant}. Send the rest without an Idempotency-Key, or when keys have expired.`,
  );
}

function digestOf(lines: readonly BatchLine[]): string {
  return hashOf(...lines.map(({ text }) => text));
}

function hashOf(...texts: readonly string[]): string {
  return createHash("sha256").update(texts.join("\n")).digest("base64url");
}
