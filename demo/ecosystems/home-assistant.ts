import { join } from "node:path";
import { seededRandom } from "../../simulator/home/random.ts";
import { startHomeAssistant } from "../../simulator/home-assistant/simulator.ts";
import { readEcosystem } from "../../src/ecosystems/registry.ts";
import {
  type DemoEcosystem,
  type DemoEcosystemOptions,
  lampOfPresence,
  lifeEveryMs,
  presenceScenes,
} from "./ecosystem.ts";

export async function startHouse({ folder, port, homeName }: DemoEcosystemOptions): Promise<DemoEcosystem> {
  const stateFile = join(folder, "home-assistant.json");
  const simulator = await startHomeAssistant({ port, stateFile, locationName: homeName });
  return {
    // The instance is on this machine: its address is private, and has no TLS.
    configuration: readEcosystem("home", { protocol: "home-assistant", allowPrivateNetworks: true }),
    url: simulator.url,
    // The link names the address of the simulator, whose port may be another one now: link at each start.
    hasHouse: false,
    walk: "smoke",
    lamp: lampOfPresence,
    scenes: [
      presenceScenes,
      {
        about: "Air",
        buttons: [
          ["smoke", "Make smoke"],
          ["co", "Make carbon monoxide"],
          ["clear", "Clear the air"],
        ],
      },
      {
        about: "Thermostat",
        buttons: [
          ["unavailable", "Take the thermostat offline"],
          ["available", "Bring it back"],
          ["fan-on", "Start its fan at the wall"],
          ["fan-off", "Stop its fan"],
        ],
      },
    ],
    firstScene: "smoke",
    issueToken() {
      const [known] = simulator.tokens.longLived;
      const token = known ?? simulator.tokens.addLongLived();
      simulator.save();
      return { token, ecosystemUrl: simulator.url };
    },
    async playScene(scene) {
      simulator.playScene(scene);
      return undefined;
    },
    lastDepartureMs: () => simulator.playedMs("leave"),
    startLife: (seed) => void simulator.startLife({ everyMs: lifeEveryMs, random: seededRandom(seed) }),
    pauseLife: () => simulator.pauseLife(),
    stop: () => simulator.stop(),
  };
}
