import { BreezewayError } from "../../../src/model/errors.ts";
import type { SimulatedNode } from "../node.ts";
import type { Scheduler } from "../scheduler.ts";

const givenUpAfterMs = 5_000;

/** How users and programs reach the service: each call goes to any node that is ready. */
export class Calls {
  readonly scheduler: Scheduler;
  /** In a quiet period there are few calls. */
  areRare = false;
  readonly #readyNodes: () => readonly SimulatedNode[];

  /** `readyNodes` returns the nodes that answer now; a node may freeze or die before it has answered. */
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

  /** Gives up a call whose node does not answer in time, and ignores a later answer. */
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

/** A call may fail with the named errors of the service. Any other error is a defect of the core and ends the run. */
export function expectOurs(error: unknown): void {
  if (!(error instanceof BreezewayError)) throw error;
}
