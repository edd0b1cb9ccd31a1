import { BreezewayError } from "../../src/model/errors.ts";
import type { SimulatedNode } from "./node.ts";
import type { Scheduler } from "./scheduler.ts";

const givenUpAfterMs = 5_000;

/** How people and programs reach the service: each call goes to any node that answers now. */
export class Calls {
  readonly scheduler: Scheduler;
  /** In a quiet stretch little happens. */
  areRare = false;
  readonly #readyNodes: () => readonly SimulatedNode[];

  /** `readyNodes`: those that answer now; one may freeze or die before it has. */
  constructor(scheduler: Scheduler, readyNodes: () => readonly SimulatedNode[]) {
    this.scheduler = scheduler;
    this.#readyNodes = readyNodes;
  }

  laterOnSomeNode(what: string, range: readonly [number, number], act: (node: SimulatedNode) => void): void {
    const { scheduler } = this;
    scheduler.after(scheduler.dice.between(...range), undefined, what, () => {
      const nodes = this.#readyNodes();
      if (nodes.length === 0) this.laterOnSomeNode(what, [range[0], Math.max(range[1], 50)], act);
      else act(scheduler.dice.pick(nodes));
    });
  }

  /** A call whose node never answers is given up; what it answers later is not heard. */
  untilAnswered<Result>(call: Promise<Result>, done: (result: Result) => void, failed: (error: unknown) => void): void {
    let isOver = false;
    const once = (act: () => void) => {
      if (isOver) return;
      isOver = true;
      giveUp();
      act();
    };
    const giveUp = this.scheduler.after(givenUpAfterMs, undefined, "a client gives up", () =>
      once(() => failed(undefined)),
    );
    call.then(
      (result) => once(() => done(result)),
      (error) => {
        expectOurs(error);
        once(() => failed(error));
      },
    );
  }
}

/** A call may fail in the ways that have a name; any other is a mistake of the core, and ends the run. */
export function expectOurs(error: unknown): void {
  if (!(error instanceof BreezewayError)) throw error;
}
