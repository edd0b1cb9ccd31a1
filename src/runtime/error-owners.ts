/** A part that handles errors that its own work did not catch. */
export interface ErrorOwner {
  /** Must not throw. */
  uncaught(error: unknown): void;
}

/**
 * Associates asynchronous work with its owner, through all promises, timers and sockets that the work starts. An uncaught
 * error then reaches the owner; only an uncaught error without an owner ends the process.
 */
export interface ErrorOwners {
  /** Runs `act`, and all work that it starts, for the owner. */
  run<Result>(owner: ErrorOwner, act: () => Result): Result;
  /**
   * Runs `act` without an owner: errors of shared machinery must not be attributed to the owner that happened to start
   * it. `asCaller` runs a callback for the caller's owner again.
   */
  outside<Result>(act: (asCaller: <Inner>(body: () => Inner) => Inner) => Result): Result;
}

/** For tests and commands that run without process-level error handling. */
export const noErrorOwners: ErrorOwners = {
  run: (_owner, act) => act(),
  outside: (act) => act((body) => body()),
};
