import type { TestContext } from "node:test";
import type { Google } from "../../../simulator/google-device-access/simulator.ts";
import { type ConnectorHarness, describeConnector } from "../../contracts/connector.contract.ts";
import { startedConnector, startedGoogle } from "./harness.ts";

// The ecosystem has no connection for each account that it could close.
describeConnector("Google Device Access", startHarness, { isPolled: true });

const temperature = "sdm.devices.traits.Temperature";

async function startHarness(t: TestContext): Promise<ConnectorHarness> {
  const google = await startedGoogle(t);
  const account = google.addAccount("Ada");
  const [device] = account.devices.values().filter(({ type }) => type.endsWith("THERMOSTAT"));
  const { accessToken } = google.tokens.consent(account);
  const { feed } = await startedConnector(t, google);
  const nowhere: Google = { ...google, settings: (file) => withoutPort(google.settings(file)) };
  let celsius = 19;
  return {
    connector: feed.connector(),
    withShortTimeout: feed.connector({ silentAfterMs: 200 }),
    unreachable: (await startedConnector(t, nowhere)).feed.connector(),
    unknownToken: "ya29.never-Issued",
    account: {
      token: accessToken,
      change: async () => {
        celsius += 1;
        account.change(device!.name, { [temperature]: { ambientTemperatureCelsius: celsius } });
      },
      sendAgain: async () => account.tell(device!.name, { [temperature]: { ambientTemperatureCelsius: celsius } }),
      revoke: async () => {
        google.tokens.revoke(accessToken);
        // The next list notices it; a relation event calls for one.
        account.relate("UPDATED", "", device!.name);
      },
      hangUp: async () => google.hangUp(),
    },
  };
}

function withoutPort(settings: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const replaced = Object.entries(settings).map(([name, value]) => [
    name,
    value.replace(/127\.0\.0\.1:\d+/, "127.0.0.1:1"),
  ]);
  return Object.fromEntries(replaced);
}
