import { join } from "node:path";
import { startSimulator } from "../../simulator/simulator.ts";
import { simulatedEcosystemAt } from "../../src/ecosystems/registry.ts";
import {
  type DemoEcosystem,
  type DemoEcosystemOptions,
  lampOfPresence,
  lifeEveryMs,
  presenceScenes,
} from "./ecosystem.ts";

export const usualPort = 8090;
/** The real ecosystem accepts 10. In the demo every press of a button is a command, and a viewer presses often. */
const writesPerHour = 100;

export async function startNestSimulator({ folder, port, homeName }: DemoEcosystemOptions): Promise<DemoEcosystem> {
  const simulator = await startSimulator({ port, stateFile: join(folder, "simulator.json"), writesPerHour });
  const accountId = () => simulator.accountIds()[0]!;
  return {
    configuration: simulatedEcosystemAt(simulator.url),
    url: simulator.url,
    hasHouse: simulator.accountIds().length > 0,
    walk: "refusal",
    lamp: lampOfPresence,
    scenes: [
      presenceScenes,
      {
        about: "Air",
        buttons: [
          ["smoke", "Make smoke"],
          ["co-emergency", "Make carbon monoxide"],
          ["clear", "Clear the air"],
        ],
      },
      {
        about: "Thermostat",
        buttons: [
          ["thermostat-offline", "Take a thermostat offline"],
          ["thermostat-online", "Bring it back"],
          ["fan-on", "Start its fan at the wall"],
          ["fan-off", "Stop its fan"],
        ],
      },
    ],
    firstScene: "smoke",
    issueToken(seed) {
      const [known] = simulator.accountIds();
      if (known !== undefined) return { token: simulator.issueToken(known) };
      const structures = [{ name: homeName, thermostats: 2, alarms: 3 }];
      return { token: simulator.addAccount({ seed: seedOf(seed), structures }).token };
    },
    /** The simulator does not know ids of things: the home is found by its name. */
    async playScene(scene, name) {
      if (name === null) return "The account has no home. Add one on the simulator’s own page.";
      const { structures = {} } = simulator.document(accountId());
      const found = Object.entries(structures as Readonly<Record<string, { readonly name?: unknown }>>).find(
        ([, structure]) => structure.name === name,
      );
      if (!found) return `The simulator has no home named ${name}. The page shows its homes after the next update.`;
      await simulator.playScene(accountId(), { scene, structure: found[0] });
      return undefined;
    },
    // The simulator's log has only scenes that a person played, not those of the simulated life.
    lastDepartureMs() {
      const left = simulator
        .log()
        .findLast(({ kind, scene }) => kind === "scene" && (scene === "leave" || scene === "auto-away"));
      return left === undefined ? Number.POSITIVE_INFINITY : Date.parse(left.time);
    },
    startLife: () => void simulator.startLife(accountId(), { everyMs: lifeEveryMs }),
    pauseLife: () => simulator.pauseLife(accountId()),
    stop: () => simulator.stop(),
  };
}

/** A seed of digits is a number, as in the simulator's HTTP calls: the number and the text give different houses. */
const seedOf = (seed: string) => (/^\d{1,15}$/.test(seed) ? Number(seed) : seed);
