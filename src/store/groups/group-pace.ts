/** The shortest time between the beginnings of two groups under load. */
export const groupsApartMs = 15;

export interface GroupPaceParts {
  readonly nowMs: () => number;
  readonly sleep: (ms: number) => Promise<unknown>;
}

/**
 * Under load, groups of commits begin a little apart, so that more commits share one. After a group with a single commit
 * there is no load, and the next commit does not wait.
 */
export class GroupPace {
  readonly #parts: GroupPaceParts;
  #lastMembers = 0;
  #lastMs = Number.NEGATIVE_INFINITY;

  constructor(parts: GroupPaceParts) {
    this.#parts = parts;
  }

  /** Resolves when the next group may begin. */
  async turn(): Promise<void> {
    const { nowMs, sleep } = this.#parts;
    const restMs = this.#lastMs + groupsApartMs - nowMs();
    if (this.#lastMembers > 1 && restMs > 0) await sleep(restMs);
    this.#lastMs = nowMs();
  }

  /** The group that began last was committed with so many members. */
  committed(members: number): void {
    this.#lastMembers = members;
  }
}
