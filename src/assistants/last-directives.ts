import { BreezewayError } from "../model/errors.ts";

/** The last message that an assistant's maker sent for a user of an outlet. It holds no content and no token. */
export interface LastDirective {
  readonly timeMs: number;
  /** The maker's name of the message, such as `Alexa.PowerController TurnOn` or `EXECUTE`. */
  readonly name: string;
  /** The error code of the answer; null when the answer holds none. */
  readonly error: string | null;
}

export interface FoundDirective {
  /** Undefined: no node has received one since `sinceMs`. */
  readonly last: LastDirective | undefined;
  /** Every node remembers the directives since this time; undefined when some node has not answered, or none runs. */
  readonly sinceMs: number | undefined;
}

/** Questions to all nodes about what only their memory holds. */
export interface NodeMemories {
  onQuestion(topic: string, answer: (question: string) => string): void;
  ask(
    topic: string,
    question: string,
  ): Promise<{
    readonly answers: ReadonlyMap<string, string>;
    readonly silentNodes: readonly string[];
  }>;
}

interface NodeAnswer {
  readonly startedMs: number;
  readonly directives: Readonly<Record<string, LastDirective>>;
}

/** More outlets than one service has. The outlet whose last directive is the oldest is forgotten first. */
const outletsKept = 1_000;
const knownNames = /^[A-Za-z][A-Za-z0-9. ]{0,79}$/;
const topic = "last directives";

/** Remembers in memory the last directive of each outlet: a write for each directive would cost more than it tells. */
export class LastDirectives {
  readonly #nowMs: () => number;
  readonly #nodes: NodeMemories;
  readonly #startedMs: number;
  readonly #last = new Map<string, LastDirective>();

  constructor(nowMs: () => number, nodes: NodeMemories) {
    this.#nowMs = nowMs;
    this.#nodes = nodes;
    this.#startedMs = nowMs();
    nodes.onQuestion(topic, (question) => JSON.stringify(this.#answer(JSON.parse(question) as string[])));
  }

  /** Answers a directive, and records how. */
  async during<Answer>(
    outletId: string,
    name: string,
    errorIn: (answer: Answer) => string | null,
    answering: () => Promise<Answer>,
  ): Promise<Answer> {
    try {
      const answer = await answering();
      this.#record(outletId, name, errorIn(answer));
      return answer;
    } catch (error) {
      this.#record(outletId, name, error instanceof BreezewayError ? error.code : "failed");
      throw error;
    }
  }

  /** The last directive of each of these outlets, on any node. */
  async find(outletIds: readonly string[]): Promise<ReadonlyMap<string, FoundDirective>> {
    if (outletIds.length === 0) return new Map();
    const { answers, silentNodes } = await this.#nodes.ask(topic, JSON.stringify(outletIds));
    const known = [...answers.values()].map((text) => JSON.parse(text) as NodeAnswer);
    const isComplete = known.length > 0 && silentNodes.length === 0;
    const sinceMs = isComplete ? Math.max(...known.map(({ startedMs }) => startedMs)) : undefined;
    return new Map(
      outletIds.map((id) => {
        const found = known.flatMap(({ directives }) => directives[id] ?? []);
        return [id, { last: found.toSorted((a, b) => b.timeMs - a.timeMs)[0], sinceMs }];
      }),
    );
  }

  #record(outletId: string, name: string, error: string | null): void {
    this.#last.delete(outletId);
    // The name comes from outside.
    this.#last.set(outletId, { timeMs: this.#nowMs(), name: knownNames.test(name) ? name : "unknown", error });
    if (this.#last.size > outletsKept) this.#last.delete(this.#last.keys().next().value!);
  }

  #answer(outletIds: readonly string[]): NodeAnswer {
    const found = outletIds.flatMap((id) => {
      const last = this.#last.get(id);
      return last ? [[id, last] as const] : [];
    });
    return { startedMs: this.#startedMs, directives: Object.fromEntries(found) };
  }
}
