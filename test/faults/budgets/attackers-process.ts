import type { Target } from "./attack.ts";
import { attacks } from "./attacks.ts";
import { hostileCloud } from "./hostile-cloud.ts";
import { hangUp } from "./requests.ts";
import type { Sighting } from "./sightings.ts";
import type { Tally } from "./tally.ts";

/**
 * Runs as a child process and attacks on request, so that attacks do not use the CPU of the measuring process. It ends
 * with its parent.
 */
export interface Order {
  readonly attack: string;
  readonly step: "prepare" | "run";
  readonly target: Target;
}

export type Told = { readonly got: Tally; readonly sightings: readonly Sighting[] } | { readonly failed: string };

process.on("disconnect", () => process.exit());
process.on("message", async ({ attack: name, step, target }: Order) => {
  try {
    const attack = attacks.find((one) => one.name === name)!;
    const sightings: Sighting[] = [];
    const note = (sighting: Sighting) => void sightings.push(sighting);
    const got = step === "run" ? await attack.run(target, note) : await attack.prepare?.(target);
    process.send?.({ got: got ?? {}, sightings } satisfies Told);
  } catch (error) {
    process.send?.({ failed: error instanceof Error ? (error.stack ?? error.message) : String(error) } satisfies Told);
  } finally {
    hangUp();
  }
});
process.send?.({ url: (await hostileCloud()).url });
