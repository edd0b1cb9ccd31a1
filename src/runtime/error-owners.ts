/** A part that takes an error which its own work did not catch. */
export interface ErrorOwner {
  /** Must not throw. */
  uncaught(error: unknown): void;
}

/**
 * Associates asynchronous work with its owner, through all promises, timers and sockets that the work starts. An error
 * that nobody caught then reaches the owner, and only an error without an owner ends the process.
 */
export interface ErrorOwners {
  /** Runs `act`, and all work that it starts, for the owner. */
  run<Result>(owner: ErrorOwner, act: () => Result): Result;
  /**
   * Runs `act` for nobody: machinery that several owners share must not be taken for the work of the owner that happened
   * to start it. `asCaller` runs a callback for the caller's owner again.
   */
  outside<Result>(act: (asCaller: <Inner>(body: () => Inner) => Inner) => Result): Result;
}

/** For tests and commands that run without process-level error handling. */
export const noErrorOwners: ErrorOwners = {
  run: (_owner, act) => act(),
  outside: (act) => act((body) => body()),
};
