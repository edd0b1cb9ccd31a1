import { setTimeout as pause } from "node:timers/promises";
import { callControl, NoServiceListening } from "../cli/administration/control-socket.ts";
import { NotRunning } from "../model/errors.ts";
import { type DataFolder, FolderInUse } from "../store/disk/data-folder.ts";

export interface WaitLimits {
  /** How long a command waits for a service that starts or stops. */
  readonly commandMs: number;
  /** How long a starting service waits for a command that has opened the store itself. */
  readonly serviceMs: number;
  readonly retryEveryMs: number;
}

export const defaultWaitLimits: WaitLimits = { commandMs: 30_000, serviceMs: 10_000, retryEveryMs: 100 };

/**
 * Runs a command over the control socket of the running service, or `otherwise` where no process holds the folder. A
 * process that holds the folder and does not listen is a service that starts or stops, or another command: then this
 * command waits, and says so.
 */
export async function whenReachable<Result>(
  folder: DataFolder,
  actions: { readonly overSocket: () => Promise<Result>; readonly otherwise: () => Promise<Result> },
  say: (sentence: string) => void,
  { commandMs, retryEveryMs }: WaitLimits = defaultWaitLimits,
): Promise<Result> {
  const startedMs = performance.now();
  const [seconds, held] = [Math.round(commandMs / 1_000), `Another Breezeway process holds ${folder.path}`];
  for (let attempts = 0; ; attempts++) {
    try {
      return await actions.overSocket();
    } catch (error) {
      if (!(error instanceof NoServiceListening)) throw error;
    }
    try {
      if (!folder.isInUse()) return await actions.otherwise();
    } catch (error) {
      if (!(error instanceof FolderInUse)) throw error;
    }
    if (performance.now() - startedMs >= commandMs) {
      throw new NotRunning(
        `${held} and has not answered within ${seconds} s. A large store may take longer to upgrade: try again once the service says that it listens, or see: breezeway doctor`,
      );
    }
    if (attempts === 0) say(`${held} and starts or stops. Waiting up to ${seconds} s for it; Ctrl-C ends.`);
    await pause(retryEveryMs);
  }
}

/** Starts a service on a folder that a command may hold briefly. Throws at once where another service holds it. */
export async function whenFree<Result>(
  folder: DataFolder,
  start: () => Promise<Result>,
  { serviceMs, retryEveryMs }: WaitLimits = defaultWaitLimits,
): Promise<Result> {
  const startedMs = performance.now();
  for (;;) {
    try {
      return await start();
    } catch (error) {
      const isLate = performance.now() - startedMs >= serviceMs;
      if (!(error instanceof FolderInUse) || isLate || (await isServiceRunning(folder))) throw error;
      await pause(retryEveryMs);
    }
  }
}

/** A service that is frozen does not answer. It still holds the folder. */
const silenceMs = 4_000;

/** Only a service listens on the control socket. */
async function isServiceRunning(folder: DataFolder): Promise<boolean> {
  return callControl(folder.trustedSocket(), "status", {}, undefined, silenceMs).then(
    () => true,
    (error) => !(error instanceof NoServiceListening),
  );
}
