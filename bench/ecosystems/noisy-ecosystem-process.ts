import { type Simulator, startSimulator } from "../../simulator/simulator.ts";

/**
 * Runs as a child process: the simulator with a number of accounts. The parent can play scenes in the first account,
 * such as a smoke alarm, and sets how often the other accounts change. It ends with its parent.
 */
export type Command =
  | { readonly kind: "accounts"; readonly count: number }
  /** The interval of changes in each of the other accounts; null: no more changes. */
  | { readonly kind: "life"; readonly everyMs: number | null }
  | { readonly kind: "scene"; readonly scene: string }
  | { readonly kind: "changes" };

export interface Reply {
  readonly url: string;
  readonly tokens: readonly string[];
  /** When a scene was played, in milliseconds since 1970, with fractions. */
  readonly playedMs: number;
  /** The number of changes in the other accounts so far. */
  readonly changes: number;
}

const usualHouse = { structures: [{ thermostats: 2, alarms: 3 }] };

const simulator = await startSimulator({ port: 0 });
const lives: (() => void)[] = [];
process.on("disconnect", () => process.exit());
process.on("message", async (command: Command) => process.send?.(await answer(command)));
process.send?.({ url: simulator.url });

async function answer(command: Command): Promise<Partial<Reply>> {
  switch (command.kind) {
    case "accounts":
      return { tokens: Array.from({ length: command.count }, (_, seed) => addAccount(simulator, seed)) };
    case "life":
      live(command.everyMs);
      return {};
    case "scene": {
      const playedMs = performance.timeOrigin + performance.now();
      await simulator.playScene(simulator.accountIds()[0]!, { scene: command.scene });
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

/** Starts are spread over the interval, so that the accounts do not change at the same moment. */
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
