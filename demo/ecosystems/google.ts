import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { startGoogle } from "../../simulator/google-device-access/simulator.ts";
import { seededRandom } from "../../simulator/home/random.ts";
import { readEcosystem } from "../../src/ecosystems/registry.ts";
import { type DemoEcosystem, type DemoEcosystemOptions, lifeEveryMs } from "./ecosystem.ts";

/** The same devices after each start, the hall always with index 2; their states begin anew. */
const seed = "demo";

export async function startGoogleHouse({ folder, port, homeName }: DemoEcosystemOptions): Promise<DemoEcosystem> {
  const google = await startGoogle({ port, seed });
  const account = google.addAccount("Ada", { homeName });
  const keyFile = join(folder, "google-service-account.json");
  writeFileSync(keyFile, google.serviceAccountKey(), { mode: 0o600 });
  return {
    configuration: readEcosystem("google", google.settings(keyFile)),
    url: google.url,
    // Consents end with the simulator: link at each start.
    hasHouse: false,
    walk: "fan",
    lamp: {
      attribute: "d.structures[1].d.thermostats[2].fan_timer_active",
      on: "true",
      off: "false",
      first: "off",
    },
    scenes: [
      {
        about: "Weather",
        buttons: [
          ["cold", "Open a window"],
          ["warm", "Let the sun in"],
        ],
      },
      {
        about: "Thermostats",
        buttons: [
          ["offline", "Take them offline"],
          ["online", "Bring them back"],
          ["fan", "Start a fan at the wall"],
          ["no-fan", "Stop it"],
        ],
      },
    ],
    firstScene: "cold",
    issueToken() {
      const expiresMs = Date.now() + google.tokens.lifetimeSeconds * 1_000;
      return { credential: { ...google.tokens.consent(account), expiresMs } };
    },
    async playScene(scene) {
      google.playScene(account, scene);
      return undefined;
    },
    lastDepartureMs: () => Number.POSITIVE_INFINITY,
    startLife: (lifeSeed) => google.startLife(account, { everyMs: lifeEveryMs, random: seededRandom(lifeSeed) }),
    pauseLife: () => google.pauseLife(),
    stop: () => google.stop(),
  };
}
