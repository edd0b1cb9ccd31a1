import { AccessEnded } from "../account-linking/linked-account.ts";
import { type Exchange, Journal, type Outcome, type Report } from "./journal.ts";
import { readSentence, understoodForms, type Wish } from "./sentence.ts";
import { shownMessage } from "./shown-message.ts";

/** What came of a request. */
export interface Settled {
  readonly outcome: Outcome;
  readonly words: string;
  /** The cloud does not accept the assistant's access any more. */
  readonly hasEnded?: boolean;
}

/** A person speaks one sentence after the other. */
export class Busy extends Error {}

/** What is said to an assistant, and what comes of it. */
export class Conversation {
  readonly #journal = new Journal();
  /** Why the assistant can't use the account; undefined while it can. */
  problem: string | undefined = "The account is not linked yet.";
  #isSpeaking = false;

  get exchanges(): readonly Exchange[] {
    return this.#journal.exchanges;
  }

  get reports(): readonly Report[] {
    return this.#journal.reports;
  }

  /** Runs a request of the person. Throws if the one before is not answered yet. */
  speak(said: string, request: (number: number) => Promise<Settled>): Promise<void> {
    return this.alone(() => this.run(said, request));
  }

  /** Runs several requests of the person, with none between them. */
  async alone(requests: () => Promise<void>): Promise<void> {
    if (this.#isSpeaking) throw new Busy("The request before is not answered yet.");
    this.#isSpeaking = true;
    await requests().finally(() => {
      this.#isSpeaking = false;
    });
  }

  /** Runs a request. An error becomes its outcome. */
  async run(said: string, request: (number: number) => Promise<Settled>): Promise<void> {
    const { number } = this.#journal.begin(said);
    const settled = await request(number).catch(settledError);
    this.settle(number, settled);
    if (settled.hasEnded) this.problem = settled.words;
    else if (this.#journal.find(number)?.received !== undefined) this.problem = undefined;
  }

  /** Runs what a sentence asks for, with the one request that `plan` finds for it. */
  say<Planned extends { readonly name: string }>(
    sentence: string,
    plan: (wish: Wish) => readonly Planned[],
    request: (planned: Planned, number: number) => Promise<Settled>,
  ): Promise<void> {
    return this.speak(sentence, async (number) => {
      const wish = readSentence(sentence);
      if (!wish) return notSent(`I understand only sentences such as: ${understoodForms.join("; ")}.`);
      const [first, ...more] = plan(wish);
      if (!first) return notSent(`I know no device "${wish.name}" that can do this. Discover shows those that I know.`);
      const names = [first, ...more].map(({ name }) => name).sort();
      if (more.length > 0) return notSent(`Which one: ${names.join(", ")}?`);
      return request(first, number);
    });
  }

  settle(number: number, { outcome, words }: Settled): void {
    this.#journal.update(number, { outcome, words });
  }

  sent(number: number, name: string, message: unknown): void {
    this.#journal.update(number, { sent: shownMessage(name, message) });
  }

  received(number: number, name: string, message: unknown): void {
    this.#journal.update(number, { received: shownMessage(name, message) });
  }

  /** The outcome of a request that was in progress. */
  receivedLater(number: number, name: string, message: unknown, settled: Settled): void {
    this.#journal.update(number, { later: { timeMs: Date.now(), message: shownMessage(name, message) } });
    this.settle(number, settled);
  }

  reported(report: {
    readonly name: string;
    readonly message: unknown;
    readonly words: string;
    refusal?: string;
  }): void {
    const { name, message, words, refusal } = report;
    this.#journal.report({ timeMs: Date.now(), words, message: shownMessage(name, message), refusal });
  }
}

function notSent(words: string): Settled {
  return { outcome: "notSent", words };
}

function settledError(error: unknown): Settled {
  if (error instanceof AccessEnded) return { outcome: "refused", words: error.message, hasEnded: true };
  return { outcome: "failed", words: error instanceof Error ? error.message : String(error) };
}
