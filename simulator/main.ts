import { once } from "node:events";
import { startSimulator } from "./simulator.ts";

/** Where the command line wants the simulator. */
export interface SimulatorAddress {
  readonly host?: string;
  readonly port?: number;
}

/**
 * Runs the simulator until the signal aborts. `announce` gets one line when it listens; without one the line goes to
 * standard error, where it doesn't disturb what a command prints.
 */
export async function runSimulator(
  address: SimulatorAddress,
  signal: AbortSignal,
  announce: (line: string) => void = (line) => process.stderr.write(`${line}\n`),
): Promise<void> {
  const simulator = await startSimulator(address);
  announce(`simulator listening on ${simulator.url}`);
  if (!signal.aborted) await once(signal, "abort");
  await simulator.stop();
}
