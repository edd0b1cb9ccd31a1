import type { Dice } from "./dice.ts";

/** Something that can die or freeze, with everything that waits for it: a node, or the store. */
export interface Process {
  readonly name: string;
  isDead: boolean;
  isFrozen: boolean;
}

interface Entry {
  readonly dueMs: number;
  readonly process: Process | undefined;
  readonly what: string;
  readonly act: () => void;
  isCancelled: boolean;
}

/** The probability that two events are so close that the promises of the first have not all run. */
const closeTogether = 0.05;
/** The maximum distance of close events; after it all promises have run. */
const closeMs = 5;

/**
 * The only source of time. Every wait in the world is an entry here. Of the due entries the dice choose one; then all
 * promises settle, and the next is chosen. Nothing reads a real clock, so a seed determines the whole history.
 */
export class Scheduler {
  readonly dice: Dice;
  /** The events, one line each; their hash is the run's fingerprint. */
  readonly trace: string[] = [];
  nowMs = 0;
  steps = 0;
  readonly #waiting = new Heap();
  readonly #due: Entry[] = [];
  readonly #held = new Map<Process, Entry[]>();
  #isUnsettled = false;

  constructor(dice: Dice) {
    this.dice = dice;
  }

  /** Runs `act` after the delay, unless the process is dead by then; while it is frozen the entry waits. */
  after(delayMs: number, process: Process | undefined, what: string, act: () => void): () => void {
    const entry: Entry = {
      dueMs: this.nowMs + Math.max(0, Math.round(delayMs)),
      process,
      what,
      act,
      isCancelled: false,
    };
    this.#waiting.push(entry);
    return () => {
      entry.isCancelled = true;
    };
  }

  thaw(process: Process): void {
    process.isFrozen = false;
    this.#due.push(...(this.#held.get(process) ?? []));
    this.#held.delete(process);
  }

  note(line: string): void {
    this.trace.push(`${this.nowMs} ${line}`);
  }

  async runUntil(deadlineMs: number): Promise<void> {
    for (;;) {
      for (let next = this.#waiting.first; next && next.dueMs <= this.nowMs; next = this.#waiting.first) {
        this.#due.push(this.#waiting.pop());
      }
      const entry = this.#takeDue();
      if (entry) await this.#step(entry);
      else if (this.#due.length === 0) {
        const next = this.#waiting.first;
        if (!next || next.dueMs > deadlineMs) break;
        if (this.#isUnsettled && next.dueMs > this.nowMs + closeMs) {
          this.#isUnsettled = false;
          await allSettled();
          continue;
        }
        this.nowMs = next.dueMs;
      }
    }
    this.nowMs = Math.max(this.nowMs, deadlineMs);
    await allSettled();
  }

  #takeDue(): Entry | undefined {
    if (this.#due.length === 0) return undefined;
    const index = this.dice.below(this.#due.length);
    const entry = this.#due[index]!;
    this.#due[index] = this.#due.at(-1)!;
    this.#due.pop();
    if (entry.isCancelled || entry.process?.isDead) return undefined;
    if (!entry.process?.isFrozen) return entry;
    const held = this.#held.get(entry.process);
    if (held) held.push(entry);
    else this.#held.set(entry.process, [entry]);
    return undefined;
  }

  async #step(entry: Entry): Promise<void> {
    // Entries without a process come from outside (a kill, a client) and wait until all promises have run.
    if (this.#isUnsettled && !entry.process) await allSettled();
    this.steps += 1;
    this.note(entry.process ? `${entry.process.name}: ${entry.what}` : entry.what);
    entry.act();
    this.#isUnsettled = this.dice.chance(closeTogether);
    if (this.#isUnsettled) for (let ticks = this.dice.below(12); ticks > 0; ticks--) await undefined;
    else await allSettled();
  }
}

/** The core awaits only promises, so one turn of the event loop runs all of them. */
function allSettled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** A min-heap by time. Equal times have a fixed order; the dice choose among them. */
class Heap {
  readonly #entries: Entry[] = [];

  get first(): Entry | undefined {
    return this.#entries[0];
  }

  push(entry: Entry): void {
    const entries = this.#entries;
    let index = entries.push(entry) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (entries[parent]!.dueMs <= entry.dueMs) break;
      entries[index] = entries[parent]!;
      index = parent;
    }
    entries[index] = entry;
  }

  pop(): Entry {
    const entries = this.#entries;
    const first = entries[0]!;
    const last = entries.pop()!;
    if (entries.length === 0) return first;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= entries.length) break;
      if (child + 1 < entries.length && entries[child + 1]!.dueMs < entries[child]!.dueMs) child += 1;
      if (entries[child]!.dueMs >= last.dueMs) break;
      entries[index] = entries[child]!;
      index = child;
    }
    entries[index] = last;
    return first;
  }
}
