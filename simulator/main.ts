import { once } from "node:events";
import { startSimulator } from "./simulator.ts";

export interface SimulatorAddress {
  readonly host?: string;
  readonly port?: number;
}

/** Runs the simulator until the signal aborts. `announce` gets a line with its address and one with its client. */
export async function runSimulator(
  address: SimulatorAddress,
  signal: AbortSignal,
  announce: (line: string) => void = (line) => process.stderr.write(`${line}\n`),
): Promise<void> {
  const simulator = await startSimulator(address);
  const { clientId, clientSecret } = simulator.defaultClient;
  announce(`simulator listening on ${simulator.url}`);
  announce(`ready for client_id ${clientId}, client_secret ${clientSecret}`);
  if (!signal.aborted) await once(signal, "abort");
  await simulator.stop();
}
