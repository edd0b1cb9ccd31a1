/** A message as people read it. */
export interface ShownMessage {
  /** Such as `ChangeReport`. */
  readonly name: string;
  /** JSON with line breaks, without secrets. */
  readonly text: string;
}

/**
 * What became of a request. `inProgress`: the outcome comes later. `unknown`: the answer holds no current state.
 * `refused`: the cloud said no. `failed`: no usable answer came. `notSent`: the assistant did not know what to ask for.
 */
export type Outcome = "waiting" | "done" | "inProgress" | "unknown" | "refused" | "failed" | "notSent";

/** A request of the assistant and its answer. */
export interface Exchange {
  readonly number: number;
  /** The sentence of the person, or what the assistant did by itself. */
  readonly said: string;
  readonly startedMs: number;
  readonly outcome: Outcome;
  /** What the assistant says. */
  readonly words: string;
  readonly sent?: ShownMessage | undefined;
  readonly received?: ShownMessage | undefined;
  /** The outcome of a request that was in progress. */
  readonly later?: { readonly timeMs: number; readonly message: ShownMessage } | undefined;
}

/** A message that the cloud sent by itself. */
export interface Report {
  readonly number: number;
  readonly timeMs: number;
  /** What it tells, in words. */
  readonly words: string;
  readonly message: ShownMessage;
  /** How the maker answered, if it did not take the message. */
  readonly refusal?: string | undefined;
}

const keptExchanges = 10;
const keptReports = 25;

/** The newest exchanges and reports of an assistant. */
export class Journal {
  exchanges: readonly Exchange[] = [];
  reports: readonly Report[] = [];
  #last = 0;

  /** Adds a request that is under way. */
  begin(said: string): Exchange {
    this.#last += 1;
    const begun = { number: this.#last, said, startedMs: Date.now(), outcome: "waiting" as const, words: "" };
    this.exchanges = [begun, ...this.exchanges].slice(0, keptExchanges);
    return begun;
  }

  find(number: number): Exchange | undefined {
    return this.exchanges.find((one) => one.number === number);
  }

  /** Adds what is known of a request now. */
  update(number: number, more: Partial<Omit<Exchange, "number">>): void {
    this.exchanges = this.exchanges.map((one) => (one.number === number ? { ...one, ...more } : one));
  }

  report(report: Omit<Report, "number">): void {
    this.#last += 1;
    this.reports = [{ number: this.#last, ...report }, ...this.reports].slice(0, keptReports);
  }
}
