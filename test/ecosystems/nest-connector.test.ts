import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { startSimulator } from "../../simulator/simulator.ts";
import { nestConnector } from "../../src/ecosystems/nest/connector.ts";
import { type ConnectorHarness, describeConnector } from "../contracts/connector.contract.ts";

describeConnector("Nest", startHarness);

describe("the Nest connector's description", () => {
  it("names the virtual device and what the ecosystem can do", () => {
    const connector = nestConnector({ name: "NEST", apiUrl: "http://127.0.0.1:8090", allowedHosts: [] });
    assert.equal(connector.name, "nest");
    assert.equal(connector.displayName, "Nest account");
    assert.deepEqual(connector.capabilities, { fanNeedsHome: true, planning: { endsEcoFirst: false } });
  });
});

describe("a full Nest account", () => {
  it("is read without anything odd", async (t) => {
    const simulator = await startSimulator({ port: 0 });
    t.after(() => simulator.stop());
    const home = { thermostats: 20, alarms: 18 };
    const { token } = simulator.addAccount({ seed: 1, structures: [home, home] });
    const connector = nestConnector({ name: "nest", apiUrl: simulator.url, allowedHosts: [] });
    const account = await connector.read(token, new AbortController().signal);
    const sizes = [account.structures, account.thermostats, account.alarms].map(({ byId }) => byId.size);
    assert.deepEqual(sizes, [2, 40, 36]);
    const sightings = [account.structures, account.thermostats, account.alarms].flatMap(({ byId }) => [
      ...byId.values(),
    ]);
    assert.ok(sightings.every(({ isRead }) => isRead));
    assert.deepEqual(account.oddities, { incomplete: 0, unknownAlarmStates: 0, unknownAwayStates: 0 });
  });
});

async function startHarness(t: TestContext): Promise<ConnectorHarness> {
  const simulator = await startSimulator({ port: 0, keepAliveMs: 30_000 });
  t.after(() => simulator.stop());
  const { accountId, token } = simulator.addAccount({ seed: 1, structures: [{ thermostats: 2, alarms: 2 }] });
  const at = (apiUrl: string, watchdogMs = 70_000) =>
    nestConnector({ name: "nest", apiUrl, allowedHosts: [`127.0.0.1:${simulator.port}`], watchdogMs });
  return {
    connector: at(simulator.url),
    withShortTimeout: at(simulator.url, 250),
    unreachable: at("http://127.0.0.1:1"),
    unknownToken: "c.NeverGivenOut123",
    account: {
      token,
      change: async () => void (await simulator.playScene(accountId, { scene: "leave" })),
      sendAgain: async () => simulator.replaceDocument(accountId, simulator.document(accountId)),
      revoke: async () => void simulator.revokeToken(token),
      hangUp: async () => void simulator.drop(accountId),
    },
  };
}
