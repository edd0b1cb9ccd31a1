import { type Simulator, startSimulator } from "../simulator/simulator.ts";

/**
 * Loaded as a process of its own: the simulator with so many accounts, of which the first burns when told to and all
 * others live their everyday life at the pace that they are told. It ends with whoever started it.
 */
export type Asked =
  | { readonly ask: "accounts"; readonly count: number }
  /** Something happens in each of the others every so often; null: nothing any more. */
  | { readonly ask: "life"; readonly everyMs: number | null }
  | { readonly ask: "scene"; readonly scene: string }
  | { readonly ask: "changes" };

export interface Told {
  readonly url: string;
  readonly tokens: readonly string[];
  /** When a scene was played, in milliseconds since 1970 and finer. */
  readonly playedMs: number;
  /** How often something has changed in the others so far. */
  readonly changes: number;
}

const usualHouse = { structures: [{ thermostats: 2, alarms: 3 }] };

const simulator = await startSimulator({ port: 0 });
const lives: (() => void)[] = [];
process.on("disconnect", () => process.exit());
process.on("message", async (asked: Asked) => process.send?.(await answer(asked)));
process.send?.({ url: simulator.url });

async function answer(asked: Asked): Promise<Partial<Told>> {
  switch (asked.ask) {
    case "accounts":
      return { tokens: Array.from({ length: asked.count }, (_, seed) => addAccount(simulator, seed)) };
    case "life":
      live(asked.everyMs);
      return {};
    case "scene": {
      const playedMs = performance.timeOrigin + performance.now();
      await simulator.playScene(simulator.accountIds()[0]!, { scene: asked.scene });
      return { playedMs };
    }
    case "changes":
      return { changes: others().reduce((sum, accountId) => sum + simulator.revision(accountId) - 1, 0) };
  }
}

function addAccount(to: Simulator, seed: number): string {
  return to.addAccount({ seed, ...usualHouse }).token;
}

function others(): readonly string[] {
  return simulator.accountIds().slice(1);
}

/** Begun one after the other, so that not all accounts change in the same moment. */
function live(everyMs: number | null): void {
  for (const stop of lives.splice(0)) stop();
  if (everyMs === null) return;
  const accounts = others();
  for (const [place, accountId] of accounts.entries()) {
    const beginning = setTimeout(
      () => lives.push(simulator.startLife(accountId, { everyMs, restMs: 0 })),
      (everyMs * place) / accounts.length,
    );
    lives.push(() => clearTimeout(beginning));
  }
}
