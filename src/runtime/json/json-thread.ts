import { Worker } from "node:worker_threads";
import { limits } from "../../model/limits.ts";
import { FairQueue } from "../fair-queue.ts";
import { WorkerThread } from "../process/worker-thread.ts";
import type { Runtime } from "../runtime.ts";
import { type Projection, project } from "./projection.ts";
import { isForThread, largeBounds, messageBounds, parseUntrusted } from "./untrusted-json.ts";

/**
 * Reads what a projection names. A text within `messageBounds` is read at once, a larger one by a thread. Undefined for
 * text that is invalid or beyond `largeBounds`, when the signal aborts, and when the thread fails or has no room. Sources
 * take turns. The texts of one source may overtake each other: a caller that needs their order waits for each. A Buffer
 * may be handed over to the thread: the caller must not use it afterwards.
 */
export type ReadLargeJson = (
  source: string,
  content: string | Buffer,
  projection: Projection,
  signal?: AbortSignal,
) => Promise<unknown>;

/** Reads without a thread: for programs that have no event loop to protect. */
export const readJsonHere: ReadLargeJson = async (_source, content, projection) =>
  project(parseUntrusted(String(content), largeBounds), projection);

export interface JsonJob {
  readonly content: string | Uint8Array<ArrayBuffer>;
  readonly projection: Projection;
}

interface WaitingText {
  readonly bytes: number;
  readonly leaving: AbortController;
}

/** More than the largest text takes. Beyond it the thread ends, and the process goes on. */
const mostMegabytes = 192;

/**
 * A thread that parses large JSON of outside clouds. The event loop must not wait for the parse, and receives the
 * projection only.
 */
export class JsonThread {
  readonly #thread: WorkerThread<JsonJob, unknown>;
  readonly #queue = new FairQueue({
    atOnce: 1,
    // The bytes are bounded instead.
    mostWaiting: Number.POSITIVE_INFINITY,
    fullError: noAnswer,
  });
  readonly #waiting = new Set<WaitingText>();

  constructor(runtime: Pick<Runtime, "after" | "report">, startWorker = startJsonWorker) {
    this.#thread = new WorkerThread({
      runtime,
      startWorker,
      label: "the thread that reads large JSON",
      unavailable: noAnswer,
      stopping: noAnswer,
    });
  }

  readonly read: ReadLargeJson = async (source, content, projection, signal) => {
    if (content.length > largeBounds.bytes) return undefined;
    if (content.length <= messageBounds.bytes) {
      const text = String(content);
      const value = parseUntrusted(text);
      if (value !== undefined || !isForThread(text)) return project(value, projection);
    }
    const waiting: WaitingText = { bytes: content.length, leaving: new AbortController() };
    const leave = () => waiting.leaving.abort();
    signal?.addEventListener("abort", leave, { once: true });
    if (signal?.aborted) leave();
    this.#waiting.add(waiting);
    this.#dropLargest();
    const run = () => {
      this.#waiting.delete(waiting);
      return this.#run(content, projection);
    };
    try {
      return await this.#queue.run(source, run, waiting.leaving.signal);
    } catch {
      // The caller has gone, or the thread has no room, can't be started or is stopped.
      return undefined;
    } finally {
      this.#waiting.delete(waiting);
      signal?.removeEventListener("abort", leave);
    }
  };

  /** A job in hand and those that wait end with undefined. */
  stop(): Promise<void> {
    return this.#thread.stop();
  }

  #run(content: string | Buffer, projection: Projection): Promise<unknown> {
    if (typeof content === "string") return this.#thread.run({ content, projection });
    // A Buffer can be a part of memory that others use too.
    const isWhole = content.byteLength === content.buffer.byteLength && content.buffer instanceof ArrayBuffer;
    const bytes = new Uint8Array<ArrayBuffer>(
      isWhole ? (content.buffer as ArrayBuffer) : Uint8Array.from(content).buffer,
    );
    return this.#thread.run({ content: bytes, projection }, [bytes.buffer]);
  }

  /** Keeps the bytes that wait within the limit. Small texts go on: many homes wait for theirs, and few for a large one. */
  #dropLargest(): void {
    const texts = [...this.#waiting];
    if (texts.reduce((sum, { bytes }) => sum + bytes, 0) <= limits.untrustedJsonWaitingBytes) return;
    const largest = texts.reduce((left, right) => (right.bytes > left.bytes ? right : left));
    this.#waiting.delete(largest);
    largest.leaving.abort();
  }
}

/** Starts the thread with this code. */
export function startJsonWorker(code = new URL("./json-worker.ts", import.meta.url)): Worker {
  return new Worker(code, { resourceLimits: { maxOldGenerationSizeMb: mostMegabytes } });
}

function noAnswer(): Error {
  return new Error("The text is not read.");
}
