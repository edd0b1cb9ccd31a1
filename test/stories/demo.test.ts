import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { breezeway, startChild, takenPort } from "./child-service.ts";
import { PlatformClient } from "./platform-client.ts";
import { eventually } from "./world.ts";

describe("the demo", () => {
  it("shows a linked house whose values move, and keeps it over kill -9", { timeout: 60_000 }, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "breezeway-demo-"));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const first = await demo(t, folder);
    const device = await virtualDevice(first.client);
    const before = await first.client.device(device);
    assert.equal(await nameByAccessToken(first.service.baseUrl, folder, device), "Nest account");
    assert.equal(before.attributes.get("d.structures[1].a.name")?.value, "Maple Street");
    const ids = idsOf(before.attributes);
    const newest = Math.max(...[...before.attributes.values()].map(({ updTime }) => updTime));
    await eventually(t.signal, async () => {
      const { attributes, presenceInfo } = await first.client.device(device);
      assert.equal(presenceInfo, "1");
      assert.ok(
        [...attributes.values()].some(({ updTime }) => updTime > newest),
        "nothing moves",
      );
    });
    first.service.process.kill("SIGKILL");
    await first.service.ended;

    const second = await demo(t, folder);
    assert.equal(await virtualDevice(second.client), device);
    assert.equal(await nameByAccessToken(second.service.baseUrl, folder, device), "Nest account");
    assert.deepEqual(idsOf((await second.client.device(device)).attributes), ids);
    await eventually(t.signal, async () => assert.equal((await second.client.device(device)).presenceInfo, "1"));
    second.service.process.kill("SIGTERM");
    assert.equal(await second.service.ended, 0);
  });

  it("takes the next port when its own is taken, and says so", { timeout: 60_000 }, async (t) => {
    const port = await takenPort(t);
    const folder = mkdtempSync(join(tmpdir(), "breezeway-demo-"));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const { service } = await demo(t, folder, port);
    assert.notEqual(new URL(service.baseUrl).port, String(port));
    assert.ok(Number(new URL(service.baseUrl).port) > port);
  });

  it("is refused on any address but loopback", async () => {
    const { code, stderr } = await breezeway(["demo", "--host", "0.0.0.0"]);
    assert.equal(code, 3);
    assert.match(stderr, /The demo listens on loopback only/);
  });
});

async function demo(t: TestContext, folder: string, port = 0) {
  const service = await startChild("demo", { BREEZEWAY_DATA: folder, BREEZEWAY_PORT: String(port) });
  t.after(() => service.process.kill("SIGKILL"));
  const client = new PlatformClient(() => service.baseUrl);
  client.secToken = readFileSync(join(folder, "demo-sec-token"), "utf8");
  return { service, client };
}

async function virtualDevice(client: PlatformClient): Promise<number> {
  const { getDeviceListResponse } = await client.call("getDeviceList", { secToken: client.secToken });
  const devices: { devId: string; devName: string }[] = getDeviceListResponse.devList;
  assert.deepEqual(devices.map(({ devName }) => devName).sort(), ["Hall lamp", "Nest account"]);
  return Number(devices.find(({ devName }) => devName === "Nest account")?.devId);
}

/** As the README's first command asks for it. */
async function nameByAccessToken(baseUrl: string, folder: string, device: number): Promise<unknown> {
  const token = readFileSync(join(folder, "demo-access-token"), "utf8");
  const answer = await fetch(`${baseUrl}/v3/devices/${device}`, { headers: { authorization: `Bearer ${token}` } });
  return ((await answer.json()) as { deviceName: unknown }).deviceName;
}

function idsOf(attributes: ReadonlyMap<string, { readonly value: string }>): [string, string][] {
  return [...attributes].filter(([name]) => name.endsWith("_id")).map(([name, { value }]) => [name, value]);
}
