import type { Target } from "./attack.ts";
import { attacks } from "./attacks.ts";
import { hostileEcosystem } from "./hostile-ecosystem.ts";
import { hangUp } from "./requests.ts";
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

export type Told = { readonly got: Tally } | { readonly failed: string };

process.on("disconnect", () => process.exit());
process.on("message", async ({ attack: name, step, target }: Order) => {
  try {
    const attack = attacks.find((one) => one.name === name)!;
    const got = step === "run" ? await attack.run(target) : await attack.prepare?.(target);
    process.send?.({ got: got ?? {} } satisfies Told);
  } catch (error) {
    process.send?.({ failed: error instanceof Error ? (error.stack ?? error.message) : String(error) } satisfies Told);
  } finally {
    hangUp();
  }
});
process.send?.({ url: (await hostileEcosystem()).url });
