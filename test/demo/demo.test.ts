import assert from "node:assert/strict";
import { exec } from "node:child_process";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { runCommand } from "../cli/run-command.ts";
import { suiteLifetime } from "../set-up/lifetime.ts";
import { takenPort } from "../stories/child-service.ts";
import { eventually } from "../stories/world.ts";
import { demoFolder, type RunningDemo, startDemo } from "./running-demo.ts";

const timeout = 120_000;

describe("the demo", () => {
  it("shows a house that changes, keeps it over kill -9 without duplicates, and stops on request", {
    timeout,
  }, async (t) => {
    const folder = demoFolder(t);
    const first = await startDemo(t, folder);
    const before = await home(first);
    assert.equal(before.house.presenceInfo, 1);
    assert.equal(before.house.attributes["d.structures[1].a.name"].value, "Maple Street");
    assert.equal(before.lamp.attributes.power.value, "on");
    const newest = Math.max(...timesOf(before.house));
    await eventually(t.signal, async () => {
      const { attributes } = await first.get(`devices/${before.ids.account}?since=${newest}`);
      assert.ok(Object.keys(attributes).length > 0, "no attribute changes");
    });
    const token = first.secret("demo-access-token");
    first.process.kill("SIGKILL");
    await first.ended;

    const second = await startDemo(t, folder);
    await eventually(t.signal, async () => assert.equal((await home(second)).house.presenceInfo, 1));
    const after = await home(second);
    assert.deepEqual(after.ids, before.ids);
    assert.deepEqual(after.alerts, before.alerts);
    assert.deepEqual(idsOf(after.house), idsOf(before.house));
    const headers = { authorization: `Bearer ${token}` };
    const stream = await fetch(`${second.baseUrl}/v3/events`, { headers });
    assert.equal(stream.status, 200, "a token from before the restart is still valid");
    second.process.kill("SIGINT");
    assert.equal(await second.ended, 0);

    const environment = { BREEZEWAY_DATA: folder };
    const served = await runCommand(["serve", "--host", "0.0.0.0", "--port", "0"], {
      environment: { ...environment, BREEZEWAY_ALLOW_INSECURE: "true" },
    });
    assert.equal(served.code, 3);
    assert.match(served.stderr, /holds the demo, whose password is known/);
    const reseeded = await runCommand(["demo", "--seed", "9", "--port", "0"], { environment });
    assert.equal(reseeded.code, 3);
    assert.match(reseeded.stderr, /was made with seed 7/);
  });

  it("is refused on any address other than loopback, and with a shared database", async () => {
    const environment = { BREEZEWAY_DATABASE_URL: "postgres://127.0.0.1:1/none" };
    const { code, stderr } = await runCommand(["demo", "--host", "0.0.0.0"], { environment });
    assert.equal(code, 3);
    assert.match(stderr, /The demo listens on loopback only/);
    assert.match(stderr, /Unset BREEZEWAY_DATABASE_URL/);
  });
});

describe("a running demo whose port was taken", () => {
  let demo: RunningDemo;
  let folder: string;
  let port: number;
  const suite = suiteLifetime();
  before(async () => {
    folder = demoFolder(suite);
    port = await takenPort(suite);
    const nest = { protocol: "nest", apiUrl: "https://home.example" };
    demo = await startDemo(suite, folder, port, { BREEZEWAY_ECOSYSTEMS: JSON.stringify({ nest }) });
  });
  after(() => suite.end());

  it("takes the next one and says so", () => {
    const taken = Number(new URL(demo.baseUrl).port);
    assert.ok(taken > port);
    assert.ok(demo.output.includes(`The service takes port ${taken}, because ${port} is taken.`));
    assert.ok(demo.consoleLink.startsWith(`${demo.baseUrl}/demo/?c=`));
  });

  it("says that it uses its own simulator when an ecosystem is configured", () => {
    assert.match(demo.output, /^The demo uses its own simulator\. BREEZEWAY_ECOSYSTEMS is ignored here/);
  });

  it("prints a banner whose commands work, and names the kind of token", async () => {
    const [, curl = ""] = /(token=.*\n.*)/.exec(demo.output) ?? [];
    const { stdout } = await promisify(exec)(curl);
    assert.equal(JSON.parse(stdout).deviceName, "Nest account");
    assert.match(demo.output, /demo-access-token\n +access token of the company/);
    assert.match(demo.output, /npx breezeway sim trigger smoke/);
    assert.match(demo.output, /npx breezeway devices get 1 --watch \\\n +--data /);
    for (const [, address = ""] of demo.output.matchAll(/(?:API docs|Simulator) +(\S+)/g)) {
      assert.equal((await fetch(address, { headers: { accept: "text/html" } })).status, 200, address);
    }
    const query = new URLSearchParams({ secToken: demo.secret("demo-sec-token") });
    assert.equal((await fetch(`${demo.baseUrl}/zdk/services/zamapi/getDeviceList?${query}`)).status, 200);
  });

  it("has the pair of alerts that the interface describes, and they switch the lamp", { timeout }, async (t) => {
    const { alerts, ids } = await home(demo);
    assert.deepEqual(alerts, [
      { attrName: "d.structures[1].a.away", operation: "regex", stringThreshold: "home", autoDisarm: true },
      { attrName: "d.structures[1].a.away", operation: "regex", stringThreshold: "(auto-)?away", autoDisarm: true },
    ]);
    for (const [scene, power] of [
      ["auto-away", "off"],
      ["come-home", "on"],
      ["leave", "off"],
    ] as const) {
      const played = await fetch(`${demo.simulatorUrl}/simulator/accounts/account-1/scene`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ scene }),
      });
      assert.equal(played.status, 200);
      await eventually(t.signal, async () => {
        assert.equal((await demo.get(`devices/${ids.lamp}`)).attributes.power.value, power);
      });
    }
  });

  it("is not started again on its folder", async () => {
    const { code, stderr } = await runCommand(["demo", "--port", "0"], { environment: { BREEZEWAY_DATA: folder } });
    assert.equal(code, 7);
    assert.equal(stderr, `breezeway: Another Breezeway is running on ${folder}. Stop it, or choose another folder.\n`);
    assert.equal((await home(demo)).house.presenceInfo, 1);
  });
});

/** The demo's objects as a client sees them. */
async function home(demo: RunningDemo) {
  const [account] = (await demo.get("devices?deviceTypeName=EcosystemAccount")).devices;
  const lamps = (await demo.get("devices?deviceTypeName=Lamp")).devices;
  assert.equal(lamps.length, 1);
  const ids = { account: account.deviceId, lamp: lamps[0].deviceId };
  const { alerts } = await demo.get(`alerts?deviceId=${ids.account}`);
  return {
    ids,
    house: await demo.get(`devices/${ids.account}`),
    lamp: await demo.get(`devices/${ids.lamp}`),
    alerts: alerts.map((alert: Record<string, unknown>) => {
      const { attrName, operation, stringThreshold, autoDisarm } = alert;
      return { attrName, operation, stringThreshold, autoDisarm };
    }),
  };
}

interface DeviceBody {
  readonly attributes: Readonly<Record<string, { readonly value: unknown; readonly updateTime: number }>>;
}

function timesOf({ attributes }: DeviceBody): number[] {
  return Object.values(attributes).map(({ updateTime }) => updateTime);
}

function idsOf({ attributes }: DeviceBody): [string, unknown][] {
  return Object.entries(attributes)
    .filter(([name]) => name.endsWith("_id"))
    .map(([name, { value }]) => [name, value]);
}
