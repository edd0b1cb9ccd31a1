import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { provisioningWorld } from "../provisioning/world.ts";
import { operatorWorld, password } from "./operator-world.ts";

const hidden = "ada\u202E";
const refusal = /U\+202E, which is invisible or changes the direction of text/;
const redirect = { "redirect-uri": ["https://voice.example/back"] };

describe("a name with a hidden character", () => {
  it("is refused by every command that names something", async (t) => {
    const { run, owner, newBrowser, callWith } = await operatorWorld(t);
    await owner();
    const { userId } = await run("user add", { tenant: "Acme", name: "bob", password });
    const { client_id: client } = await run("client add", { tenant: "Acme", name: "Voice", ...redirect });
    const commands: readonly (readonly [command: string, input: object])[] = [
      ["tenant add", { name: hidden }],
      ["tenant rename", { tenant: "Acme", name: hidden }],
      ["user add", { tenant: "Acme", name: hidden, password }],
      ["client add", { tenant: "Acme", name: hidden, ...redirect }],
      ["client edit", { client, name: hidden }],
      ["device add", { user: String(userId), name: hidden, type: "Lamp" }],
      ["operator invite", { name: hidden, role: "owner" }],
      ["operator token make", { operator: "ada", name: hidden }],
    ];
    for (const [command, input] of commands) await assert.rejects(run(command, input), refusal, command);
    const { token } = await run("operator token make", { operator: "ada", name: "ci" });
    const answer = await callWith(token, "POST", "/tenants", { name: hidden });
    assert.deepEqual([answer.status, answer.body.error], [400, "invalid_request"]);
    const { path } = await run("operator invite", { role: "owner" });
    const form = await newBrowser().send(path, { name: hidden, password });
    assert.equal(form.status, 400);
    assert.match(await form.text(), /U\+202E/);
  });

  it("is refused for devices and rooms over /v3, and in batches", async (t) => {
    const { send, lamp, devicesOf } = await provisioningWorld(t);
    const { deviceId } = (await send("POST", "/v3/devices", { json: lamp() })).body;
    for (const change of [{ deviceName: hidden }, { room: hidden }]) {
      const body = `${JSON.stringify(lamp(change))}\n`;
      const answers = [
        await send("POST", "/v3/devices", { json: lamp(change) }),
        await send("PATCH", `/v3/devices/${deviceId}`, { json: change }),
        await send("POST", "/v3/devices:batch", { body, headers: { "content-type": "application/x-ndjson" } }),
      ];
      for (const { status, body } of answers) {
        assert.equal(status, 400);
        assert.match(body.error_description, refusal);
      }
    }
    assert.equal((await devicesOf()).length, 1);
  });
});

describe("a stored name with a hidden character", () => {
  it("of a tenant, client, operator or user stays in use, and passes when it is not changed", async (t) => {
    const { run, owner, newBrowser, service } = await operatorWorld(t);
    await owner();
    const { tenantId } = await run("tenant show", { tenant: "Acme" });
    await service.parts.store.transaction(async (tx) => {
      await tx.tenants.rename(tenantId, hidden);
      const registered = { name: hidden, kind: "user", redirectUris: ["https://voice.example/back"] } as const;
      await tx.clients.add({ id: "bwc_old", tenantId, ...registered, requiresPkce: false, secrets: [] });
      const access = { role: "owner", reachesAll: true, tenantIds: [] };
      await tx.operators.add({ name: hidden, passwordHash: null, ...access });
    });
    assert.equal((await run("tenant rename", { tenant: hidden, name: hidden })).name, hidden);
    const edited = await run("client edit", {
      client: "bwc_old",
      name: hidden,
      "return-url": ["https://voice.example/"],
    });
    assert.equal(edited.name, hidden);
    const { path } = await run("operator claim");
    const entered = await newBrowser().send(path, { name: hidden, password });
    assert.equal(entered.status, 303, "a claim is the way back in");
    assert.equal((await run("operator show", { operator: hidden })).name, hidden);
  });

  it("of a device or room passes when it is not changed", async (t) => {
    const { send, world } = await provisioningWorld(t);
    const device = { userId: world.userId, typeName: "Lamp", name: hidden, isVirtual: false, room: hidden };
    const deviceId = await world.service.parts.store.transaction((tx) => tx.devices.add(device));
    const change = (json: object) => send("PATCH", `/v3/devices/${deviceId}`, { json });
    const { status, body } = await change({ deviceName: hidden, room: "Hall" });
    assert.deepEqual([status, body.deviceName, body.room], [200, hidden, "Hall"]);
    assert.equal((await change({ room: hidden })).status, 400);
    assert.equal((await change({ deviceName: `${hidden}a`, room: "Hall" })).status, 400);
    assert.equal((await change({ deviceName: "Lamp" })).status, 200);
  });
});
