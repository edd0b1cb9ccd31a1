/** Time budget of one stream's turn, and of all ordinary turns in one turn of the event loop. */
const turnMs = 2;
/** Time budget in one turn of the event loop for streams that may report an alarm. */
const urgentTurnMs = 20;

/** A stream whose received text is applied piece by piece. */
export interface IngestStream {
  /** Applies the next piece. Returns false when nothing is left that can be applied now. */
  step(): boolean;
  /** Reports what the steps of this turn have changed. */
  endTurn(): void;
  /** Called after the turn with the CPU time that it took. Returns false when the stream must pause: it takes a turn later. */
  spent(ms: number): boolean;
  /** Whether waiting text may report an alarm. */
  isUrgent(): boolean;
}

/** The CPU time of the process, and its next turn of the event loop. */
export interface TurnClock {
  readonly cpuMs: () => number;
  readonly nextTurn: (act: () => void) => void;
}

const processClock: TurnClock = {
  cpuMs: () => performance.now(),
  nextTurn: (act) => {
    setImmediate(act);
  },
};

/**
 * Fair scheduler for the text of streams. When a thousand streams send at once, applying everything would take a second,
 * and a transaction with ten round trips to the database would wait that long ten times. So each turn of the event loop
 * applies text for a limited time. Streams that may report an alarm come first, then the oldest.
 */
export class IngestTurns {
  readonly #clock: TurnClock;
  readonly #urgent = new Set<IngestStream>();
  /** In order of arrival. */
  readonly #waiting = new Set<IngestStream>();
  #spentMs = 0;
  #isScheduled = false;

  constructor(clock: TurnClock = processClock) {
    this.#clock = clock;
  }

  /** Gives the stream a turn now or soon. `isUrgent` is evaluated only when there is no time left. */
  take(stream: IngestStream): void {
    const isFirst = this.#waiting.size === 0 && this.#urgent.size === 0;
    if (isFirst && this.#spentMs < turnMs) this.#run(stream);
    else if (!stream.isUrgent()) this.#waiting.add(stream);
    else if (this.#spentMs < urgentTurnMs) this.#run(stream);
    else this.#urgent.add(stream);
    this.#schedule();
  }

  /** Removes a stream that has ended. */
  forget(stream: IngestStream): void {
    this.#urgent.delete(stream);
    this.#waiting.delete(stream);
  }

  #run(stream: IngestStream): void {
    this.forget(stream);
    const startedMs = this.#clock.cpuMs();
    let hasMore: boolean;
    do hasMore = stream.step();
    while (hasMore && this.#clock.cpuMs() - startedMs < turnMs);
    stream.endTurn();
    const spentMs = this.#clock.cpuMs() - startedMs;
    this.#spentMs += spentMs;
    if (stream.spent(spentMs) && hasMore) (stream.isUrgent() ? this.#urgent : this.#waiting).add(stream);
  }

  /** A stream that has more text goes to the end, and may get another turn. */
  #runAll(streams: ReadonlySet<IngestStream>, untilMs: number): void {
    for (const stream of streams) {
      if (this.#spentMs >= untilMs) return;
      this.#run(stream);
    }
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#clock.nextTurn(() => {
      this.#isScheduled = false;
      this.#spentMs = 0;
      this.#runAll(this.#urgent, urgentTurnMs);
      this.#runAll(this.#waiting, this.#spentMs + turnMs);
      if (this.#waiting.size + this.#urgent.size > 0) this.#schedule();
    });
  }
}
