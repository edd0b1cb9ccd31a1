/** Where a test can make the work for one link throw. */
export const faultPoints = [
  "follow rejects",
  "follow throws",
  "pauseMs",
  "account",
  "unchanged",
  "read",
  "act",
  "open token",
  "commit",
  "load",
  "record",
  "nowMs",
  "elapsedMs",
  "random",
  "after",
  "report",
] as const;

export type FaultPoint = (typeof faultPoints)[number];

/** An error that no code expects. */
export class PlantedError extends TypeError {}

interface Plan {
  readonly userId: number;
  readonly point: FaultPoint;
  /** Number of passes before the fault. */
  skip: number;
  /** Number of passes that throw. */
  times: number;
}

/** One fault for one user's link at a time. */
export class PlantedFault {
  #plan: Plan | undefined;
  thrown = 0;

  plant(userId: number, point: FaultPoint, { skip = 0, times = 1 } = {}): void {
    this.#plan = { userId, point, skip, times };
    this.thrown = 0;
  }

  remove(): void {
    this.#plan = undefined;
  }

  /** Called when the work for that user passes this point; throws if the fault is planted here. */
  pass(point: FaultPoint, userId: number | undefined): void {
    const plan = this.#plan;
    if (plan?.point !== point || plan.userId !== userId) return;
    if (plan.skip > 0) {
      plan.skip -= 1;
      return;
    }
    if (this.thrown >= plan.times) return;
    this.thrown += 1;
    throw new PlantedError(`planted at ${point}`);
  }
}
