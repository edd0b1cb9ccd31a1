import { createHash } from "node:crypto";
import { check } from "./checks/checker.ts";
import { World } from "./world.ts";

/** The result of one seed. */
export interface RunResult {
  readonly seed: number;
  /** The broken guarantee, as a sentence. */
  readonly violation: string | undefined;
  readonly steps: number;
  readonly faults: Readonly<Record<string, number>>;
  /** A hash of the whole trace. */
  readonly digest: string;
  readonly trace: readonly string[];
}

/** Runs one seed from start to end. The same seed gives the same trace, byte for byte. */
export async function simulate(seed: number, nodes = 2): Promise<RunResult> {
  const world = new World(seed, nodes);
  let failure: string | undefined;
  const noticed = (error: unknown) => {
    failure ??= `an unexpected error: ${error instanceof Error ? error.stack : error}`;
  };
  process.on("unhandledRejection", noticed);
  try {
    const missing = await world.run();
    failure ??= check(world.record()) ?? (missing === undefined ? undefined : `without faults, and still: ${missing}`);
  } catch (error) {
    noticed(error);
  } finally {
    process.off("unhandledRejection", noticed);
  }
  const { trace, steps } = world.scheduler;
  const digest = createHash("sha256").update(trace.join("\n")).digest("hex");
  return { seed, violation: failure, steps, faults: Object.fromEntries(world.faults.counts), digest, trace };
}
