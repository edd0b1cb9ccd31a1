import type { IngestStream } from "../../src/ecosystems/kit/ingest-turns.ts";

/** Applies all text of a stream at once. */
export const immediateTurns = {
  take(stream: IngestStream): void {
    while (stream.step());
    stream.endTurn();
    stream.spent(0);
  },
  forget: () => undefined,
};

/** Runs a generator to its end, and returns its result. */
export function finished<Result>(work: Generator<unknown, Result>): Result {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value as Result;
  }
}
