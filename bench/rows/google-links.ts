import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Account } from "../../simulator/google-device-access/account.ts";
import { startGoogle } from "../../simulator/google-device-access/simulator.ts";
import { linkedUsage, type MeasuredEcosystem } from "../linked-usage.ts";
import type { Row } from "../row.ts";

/** CPU and memory of linked Google accounts on one node. Each has a house with two thermostats. */
export const googleLinks: Row = {
  name: "google-links",
  measure: (progress) => linkedUsage({ account: "a Google account", sampleMs: 60_000, start }, progress),
};

async function start(): Promise<MeasuredEcosystem> {
  const google = await startGoogle();
  const folder = mkdtempSync(join(tmpdir(), "breezeway-bench-google-"));
  const file = join(folder, "service-account.json");
  writeFileSync(file, google.serviceAccountKey());
  const accounts: Account[] = [];
  return {
    settings: google.settings(file),
    newAccount() {
      const account = google.addAccount(`person ${accounts.length}`);
      accounts.push(account);
      const expiresMs = Date.now() + google.tokens.lifetimeSeconds * 1_000;
      return { credential: { ...google.tokens.consent(account), expiresMs } };
    },
    report(sampleMs) {
      let turn = 0;
      // One account after the other, evenly over the time.
      const reporting = setInterval(() => {
        const account = accounts[turn % accounts.length];
        if (account) warm(account, 19 + Math.floor(turn / accounts.length) / 10 + (turn % 5) / 5);
        turn += 1;
      }, sampleMs / Math.max(1, accounts.length));
      return () => clearInterval(reporting);
    },
    async stop() {
      await google.stop();
      rmSync(folder, { recursive: true });
    },
  };
}

function warm(account: Account, celsius: number): void {
  for (const { name, type } of account.devices.values()) {
    if (!type.endsWith("THERMOSTAT")) continue;
    account.change(name, { "sdm.devices.traits.Temperature": { ambientTemperatureCelsius: celsius } });
  }
}
