import assert from "node:assert/strict";
import type { Simulator } from "../../simulator/simulator.ts";

const everyMs = 20;

/** The open streams at the simulator, and when each account's newest stream was opened, by the simulator's record. */
export class OpenedStreams {
  readonly #simulator: Simulator;
  readonly #open = new Map<string, number>();
  readonly #openedMs = new Map<string, number>();
  readonly #timer: NodeJS.Timeout;
  #sequence: number;
  #opened = 0;

  constructor(simulator: Simulator) {
    this.#simulator = simulator;
    this.#sequence = simulator.log().at(-1)?.sequence ?? 0;
    // The record is bounded, so it is read often enough.
    this.#timer = setInterval(() => this.#read(), everyMs).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** How many streams have been opened so far. */
  get opened(): number {
    this.#read();
    return this.#opened;
  }

  /** When the newest stream of that account was opened. */
  openedMs(accountId: string): number {
    this.#read();
    return this.#openedMs.get(accountId) ?? 0;
  }

  assertOneEach(accounts: readonly string[]): void {
    this.#read();
    const wrong = accounts.filter((accountId) => this.#open.get(accountId) !== 1);
    const [first] = wrong;
    assert.equal(wrong.length, 0, `${wrong.length} accounts, the first with ${first && (this.#open.get(first) ?? 0)}`);
  }

  #read(): void {
    for (const { sequence, kind, accountId, time } of this.#simulator.log(this.#sequence)) {
      if (sequence > this.#sequence + 1) assert.fail("the simulator's record was read too late");
      this.#sequence = sequence;
      if (accountId === null || (kind !== "stream-opened" && kind !== "stream-closed")) continue;
      const by = kind === "stream-opened" ? 1 : -1;
      this.#open.set(accountId, (this.#open.get(accountId) ?? 0) + by);
      if (by < 0) continue;
      this.#opened += 1;
      this.#openedMs.set(accountId, Date.parse(time));
    }
  }
}
