import { type IngestStream, IngestTurns } from "../../../src/ecosystems/kit/ingest-turns.ts";
import type { Process, Scheduler } from "../scheduler.ts";

/** The CPU time of one step of a stream. Nothing else takes time in the simulation. */
const stepMs = 0.25;
/** Two turns of 2 ms, urgent turns of 20 ms, and the last step of each. */
const stepsPerTurn = 26 / stepMs;
/** A stream that has used its burst of 1,500 ms may use 150 ms a second. The last turn may exceed it. */
const share = { burstMs: 1_500, perSecond: 150, toleranceMs: 30 };

interface Metered extends IngestStream {
  /** The turn since which the stream has waited for its first step. */
  waitsSince: number | undefined;
}

/**
 * The event loop of one node for the text of its sessions. Time is counted in steps of work, so that the real turns share
 * it out in the same way in each run. The meter holds what a session may take against what it took.
 */
export class LoopTurns {
  readonly #turns: IngestTurns;
  readonly #metered = new Map<IngestStream, Metered>();
  readonly #broken: (guarantee: string) => void;
  readonly #scheduler: Scheduler;
  #turn = 0;
  #steps = 0;
  #cpuMs = 0;

  constructor(node: Process, scheduler: Scheduler, broken: (guarantee: string) => void) {
    this.#scheduler = scheduler;
    this.#broken = (guarantee) => broken(`${node.name}: ${guarantee}`);
    this.#turns = new IngestTurns({
      cpuMs: () => this.#cpuMs,
      nextTurn: (act) => {
        scheduler.after(2, node, "the next turn of the event loop", () => {
          this.#turn += 1;
          this.#steps = 0;
          act();
        });
      },
    });
  }

  take(stream: IngestStream): void {
    let metered = this.#metered.get(stream);
    if (!metered) {
      metered = this.#meter(stream);
      this.#metered.set(stream, metered);
    }
    metered.waitsSince ??= this.#turn;
    this.#turns.take(metered);
  }

  forget(stream: IngestStream): void {
    const metered = this.#metered.get(stream);
    this.#metered.delete(stream);
    if (metered) this.#turns.forget(metered);
  }

  #meter(stream: IngestStream): Metered {
    const { nowMs: openedMs } = this.#scheduler;
    let spentMs = 0;
    const metered: Metered = {
      waitsSince: undefined,
      step: () => {
        this.#steps += 1;
        this.#cpuMs += stepMs;
        if (this.#steps > stepsPerTurn) this.#broken(`${this.#steps} steps of streams in one turn of the event loop`);
        // Each turn gives every waiting stream a chance, or at least the first of them.
        const waited = this.#turn - (metered.waitsSince ?? this.#turn);
        if (waited > this.#metered.size + 1) this.#broken(`a stream has waited for ${waited} turns of the event loop`);
        metered.waitsSince = undefined;
        return stream.step();
      },
      endTurn: () => stream.endTurn(),
      isUrgent: () => stream.isUrgent(),
      spent: (ms) => {
        spentMs += ms;
        const livedMs = this.#scheduler.nowMs - openedMs;
        const mostMs = share.burstMs + share.toleranceMs + (livedMs * share.perSecond) / 1_000;
        if (spentMs > mostMs) this.#broken(`a stream took ${spentMs} ms of CPU in ${livedMs} ms`);
        return stream.spent(ms);
      },
    };
    return metered;
  }
}
