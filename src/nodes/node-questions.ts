import type { NodeId } from "../model/ids.ts";
import { BackgroundTask } from "../runtime/background-task.ts";
import { type Cancel, pause, type Runtime } from "../runtime/runtime.ts";
import type { NodeBus } from "../store/node-bus.ts";
import type { Store, Transaction } from "../store/seam.ts";
import type { Membership } from "./membership.ts";

export interface NodeQuestionParts {
  readonly store: Store<Pick<Transaction, "nodeQuestions" | "nodes">>;
  readonly membership: Pick<Membership, "id" | "living">;
  readonly bus: Pick<NodeBus, "receivesHints">;
  readonly runtime: Runtime;
  readonly newId: () => string;
}

export interface NodeAnswers {
  readonly answers: ReadonlyMap<NodeId, string>;
  /** Live nodes that have not answered in time. */
  readonly silentNodes: readonly NodeId[];
}

type AnswerQuestion = (question: string) => string;

/** How long the asker waits. A node answers within some milliseconds of the hint. */
const waitMs = 2_000;
/** The pauses between reads of the answers. */
const pauses = { fromMs: 20, toMs: 250 };
/** Older questions are not answered: the asker has stopped waiting. */
const keptMs = 10_000;
/** How often a node looks for questions while it receives no hints. */
const pollMs = 1_000;

/**
 * Questions to all nodes about what only their memory holds. On a shared store they travel through a table, and a hint
 * makes the nodes look (docs/decisions/025). On SQLite the only node answers itself.
 */
export class NodeQuestions {
  readonly #parts: NodeQuestionParts;
  readonly #task: BackgroundTask;
  readonly #topics = new Map<string, AnswerQuestion>();
  #next: Cancel | undefined;
  #answering: Promise<void> | undefined;
  #isHinted = false;
  #isStarted = false;

  constructor(parts: NodeQuestionParts) {
    this.#parts = parts;
    this.#task = new BackgroundTask("node_questions", "questions of other nodes could not be answered", parts.runtime);
  }

  onQuestion(topic: string, answer: AnswerQuestion): void {
    this.#topics.set(topic, answer);
  }

  /** From now on this node answers. A short-lived command only asks. */
  start(): void {
    this.#isStarted = true;
    if (this.#parts.store.isShared) this.#schedule();
  }

  async stop(): Promise<void> {
    this.#isStarted = false;
    this.#next?.();
    await this.#answering;
  }

  /** Another node may have asked a question: answer now. */
  hinted(): void {
    this.#isHinted = true;
    if (this.#isStarted && this.#parts.store.isShared) this.#answering ??= this.#answerAll();
  }

  async ask(topic: string, question: string): Promise<NodeAnswers> {
    const { store, membership } = this.#parts;
    const own = this.#isStarted ? this.#topics.get(topic)?.(question) : undefined;
    const answers = new Map<NodeId, string>(own === undefined ? [] : [[membership.id, own]]);
    if (!store.isShared) return { answers, silentNodes: [] };
    const others = (await store.read((tx) => membership.living(tx))).filter((id) => id !== membership.id);
    if (others.length === 0) return { answers, silentNodes: [] };
    const id = this.#parts.newId();
    await store.transaction((tx) => tx.nodeQuestions.ask({ id, topic, question }, membership.id, keptMs));
    try {
      await this.#collect(id, others, answers);
    } finally {
      // A question that stays is removed with the next one.
      await store.transaction((tx) => tx.nodeQuestions.remove(id)).catch(() => undefined);
    }
    return { answers, silentNodes: others.filter((node) => !answers.has(node)) };
  }

  async #collect(id: string, others: readonly NodeId[], answers: Map<NodeId, string>): Promise<void> {
    const { store, runtime } = this.#parts;
    const untilMs = runtime.elapsedMs() + waitMs;
    for (let pauseMs = pauses.fromMs; ; pauseMs = Math.min(pauses.toMs, pauseMs * 2)) {
      const rows = await store.read((tx) => tx.nodeQuestions.answersTo(id));
      for (const { node, answer } of rows) answers.set(node, answer);
      if (others.every((node) => answers.has(node)) || runtime.elapsedMs() >= untilMs) return;
      await pause(runtime, pauseMs, new AbortController().signal);
    }
  }

  #schedule(): void {
    this.#next = this.#parts.runtime.after(pollMs, () => {
      if (!this.#parts.bus.receivesHints) this.hinted();
      this.#schedule();
    });
  }

  async #answerAll(): Promise<void> {
    const { store, membership } = this.#parts;
    try {
      while (this.#isHinted && this.#isStarted) {
        this.#isHinted = false;
        const questions = await store.read((tx) => tx.nodeQuestions.unanswered(membership.id, keptMs));
        for (const { id, topic, question } of questions) {
          const answer = this.#topics.get(topic)?.(question);
          if (answer !== undefined) await store.transaction((tx) => tx.nodeQuestions.answer(id, membership.id, answer));
        }
      }
      this.#task.succeeded();
    } catch (error) {
      this.#task.failed(error);
    } finally {
      this.#answering = undefined;
    }
  }
}
