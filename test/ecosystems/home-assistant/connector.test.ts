import type { TestContext } from "node:test";
import { startHomeAssistant } from "../../../simulator/home-assistant/simulator.ts";
import { homeAssistantConnector } from "../../../src/ecosystems/home-assistant/connector.ts";
import { type ConnectorHarness, describeConnector } from "../../contracts/connector.contract.ts";

describeConnector("Home Assistant", startHarness, { announcesRevocation: false, canRevoke: false });

async function startHarness(t: TestContext): Promise<ConnectorHarness> {
  const simulator = await startHomeAssistant();
  t.after(() => simulator.stop());
  const token = simulator.tokens.addLongLived();
  const connector = (watchdogMs = 70_000) =>
    homeAssistantConnector({ name: "home", allowPrivateNetworks: true, watchdogMs, pingMs: 60_000 });
  return {
    connector: connector(),
    withShortTimeout: connector(250),
    unreachable: {
      ...connector(),
      read: (_, signal) => connector().read("http://127.0.0.1:1 token", signal),
      follow: (_, listener, signal) => connector().follow("http://127.0.0.1:1 token", listener, signal),
      act: (_, action, signal) => connector().act("http://127.0.0.1:1 token", action, signal),
    },
    unknownToken: `${simulator.url} never-issued`,
    account: {
      token: `${simulator.url} ${token}`,
      change: async () => simulator.instance.change("person.ada", "not_home"),
      sendAgain: async () => simulator.instance.change("person.ada", undefined, { ignoredAttribute: 1 }),
      revoke: async () => simulator.deleteToken(token),
      hangUp: async () => simulator.hangUp(),
    },
  };
}
