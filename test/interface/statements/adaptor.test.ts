import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { PlatformClient } from "../../stories/platform-client.ts";
import { eventually } from "../../stories/world.ts";
import { addUser, callback, type House, houseOfFile, send } from "./house.ts";

const house = houseOfFile(
  {
    structures: [
      { name: "Town house", thermostats: 2, alarms: 1 },
      { name: "Summer house", thermostats: 1, alarms: 1 },
    ],
  },
  prepare,
);
let [code, accessToken, deviceId] = ["", "", 0];
let bobs: PlatformClient;

async function prepare(prepared: House): Promise<void> {
  bobs = await addUser(prepared, { name: "bob", password: "another word" });
}

function federatedTokens(method: string, query: Readonly<Record<string, string>>) {
  return send(`${house().service.baseUrl}/adaptor/federatedtokens?${new URLSearchParams(query)}`, { method });
}

function largeStrings(secToken: string, id: number | string) {
  return send(`${house().service.baseUrl}/adaptor/largestrings?${new URLSearchParams({ secToken, id: String(id) })}`);
}

/** The ids of structures and devices in the ecosystem. */
function ecosystemIds() {
  const { simulator, accountId } = house();
  // biome-ignore lint/suspicious/noExplicitAny: the document is the ecosystem's
  const { structures, devices } = simulator.document(accountId) as any;
  return { structures, devices };
}

describe("the flow of federation", () => {
  it("4.5 step 1: the ecosystem sends the browser back with a code and the state, after consent", async () => {
    const { simulator, accountId } = house();
    const address = new URL("/login/oauth2", simulator.url);
    const request = { client_id: simulator.defaultClient.clientId, state: "x y", redirect_uri: callback };
    address.search = String(new URLSearchParams(request));
    const page = await send(address);
    assert.equal(page.status, 200);
    const fields = [...String(page.body).matchAll(/name="([^"]+)" value="([^"]*)"/g)].map(([, name, value]) => [
      name,
      value,
    ]);
    const decision = new URLSearchParams({
      ...Object.fromEntries(fields),
      ...request,
      account: accountId,
      decision: "allow",
    });
    const { headers } = await send(address, { method: "POST", body: decision });
    const { searchParams } = new URL(headers.get("location")!);
    code = searchParams.get("code")!;
    assert.deepEqual([searchParams.get("state"), code.length > 0], ["x y", true]);
  });

  it("4.5 step 2: the ecosystem exchanges the code for an access token and its lifetime", async () => {
    const { clientId: client_id, clientSecret: client_secret } = house().simulator.defaultClient;
    const body = new URLSearchParams({ code, client_id, client_secret, grant_type: "authorization_code" });
    const answer = await send(`${house().simulator.url}/oauth2/access_token`, { method: "POST", body });
    assert.deepEqual([typeof answer.body.access_token, typeof answer.body.expires_in], ["string", "number"]);
    accessToken = answer.body.access_token;
  });

  it("2.6, 4.3, 4.5 step 3: POST federatedtokens answers the id of the virtual device as a text", async () => {
    const { secToken } = house().client;
    const query = { secToken, anEcosystemName: "nest", anAccessToken: accessToken };
    const { status, body } = await federatedTokens("POST", query);
    assert.deepEqual([status, Object.keys(body), typeof body.DeviceId], [200, ["DeviceId"], "string"]);
    deviceId = Number(body.DeviceId);
  });

  it("1, 4.5 step 4: the user has one virtual device, for the whole account", async () => {
    const { client, user } = house();
    const list = await client.call("getDeviceList", { secToken: client.secToken });
    assert.deepEqual(
      list.getDeviceListResponse.devList.map(({ devId }: { devId: string }) => devId),
      [String(deviceId)],
    );
    const { attributes } = await user.device(deviceId as never);
    assert.equal(attributes["o.totalStructures"].value, 2);
  });

  it("2.7: the virtual device has its values when the federation has answered", async () => {
    const attributes = await house().user.attributes(deviceId as never);
    const names = [1, 2].map((x) => attributes[`d.structures[${x}].a.name`]?.value).sort();
    assert.deepEqual(names, ["Summer house", "Town house"]);
  });

  it("2.5, 4.3, 4.5 step 5: largestrings maps friendly names to the ids of structures", async () => {
    const { status, body } = await largeStrings(house().client.secToken, deviceId);
    assert.deepEqual([status, Object.keys(body)], [200, ["labels", "identifiers"]]);
    const expected = Object.entries<{ name: string }>(ecosystemIds().structures).map(([id, { name }]) => [name, id]);
    assert.deepEqual(body.labels, Object.fromEntries(expected));
  });

  it("2.5: the entry of a structure has its index alone, and the attributes use this index", async () => {
    const { body } = await largeStrings(house().client.secToken, deviceId);
    const attributes = await house().user.attributes(deviceId as never);
    for (const id of Object.keys(ecosystemIds().structures)) {
      const [index, ...more] = body.identifiers[id];
      assert.ok(["1", "2"].includes(index) && more.length === 0);
      assert.equal(attributes[`d.structures[${index}].a.structure_id`]?.value, id);
    }
  });

  it("2.5: the entry of a device has its structure's index, its kind, its name and its structure's id", async () => {
    const { body } = await largeStrings(house().client.secToken, deviceId);
    const { devices } = ecosystemIds();
    let count = 0;
    for (const [kind, documentKind] of [
      ["thermostats", "thermostats"],
      ["smokeCoAlarms", "smoke_co_alarms"],
    ] as const) {
      for (const [id, { name, structure_id }] of Object.entries<{ name: string; structure_id: string }>(
        devices[documentKind],
      )) {
        assert.deepEqual(body.identifiers[id], [body.identifiers[structure_id][0], kind, name, structure_id]);
        count += 1;
      }
    }
    assert.equal(Object.keys(body.identifiers).length, 2 + count);
  });

  it("6: the ecosystem's changes become updates of the matching attributes", async (t) => {
    const { simulator, accountId, user, client } = house();
    await eventually(t.signal, async () => assert.equal((await client.linkStatus()).state, "live"));
    const before = (await user.attributes(deviceId as never))["d.structures[1].a.away"]!;
    await simulator.playScene(accountId, { scene: "leave", structure: 1 });
    const { body } = await largeStrings(client.secToken, deviceId);
    const away = Object.entries<{ away: string }>(ecosystemIds().structures);
    await eventually(t.signal, async () => {
      const attributes = await user.attributes(deviceId as never);
      for (const [id, structure] of away) {
        assert.equal(attributes[`d.structures[${body.identifiers[id][0]}].a.away`]?.value, structure.away);
      }
      assert.ok(Object.values(attributes).some(({ updateTime }) => updateTime > before.updateTime));
    });
  });
});

describe("the adaptor", () => {
  it("4.3, 7: answers 119 to PUT federatedtokens while the user has no link, and 118 to POST when there is one", async () => {
    const { simulator, accountId, client } = house();
    const query = { anEcosystemName: "nest", anAccessToken: simulator.issueToken(accountId) };
    const absent = await federatedTokens("PUT", { secToken: bobs.secToken, ...query });
    assert.deepEqual([absent.status, absent.body.errorCode], [404, 119]);
    const present = await federatedTokens("POST", { secToken: client.secToken, ...query });
    assert.deepEqual([present.status, present.body.errorCode], [409, 118]);
  });

  it("4.3, 7: replaces the token of a link by PUT, with the same answer as POST", async () => {
    const { simulator, accountId, client } = house();
    const token = { anEcosystemName: "nest", anAccessToken: simulator.issueToken(accountId) };
    const { status, body } = await federatedTokens("PUT", { secToken: client.secToken, ...token });
    assert.deepEqual([status, body], [200, { DeviceId: String(deviceId) }]);
  });

  it("5: takes the user's security token in secToken, and answers 106 without a valid one", async () => {
    for (const secToken of ["", "bws_unknown"]) {
      for (const answer of [
        await federatedTokens("POST", { secToken, anEcosystemName: "nest", anAccessToken: accessToken }),
        await largeStrings(secToken, deviceId),
      ]) {
        assert.deepEqual([answer.status, answer.body.errorCode], [401, 106]);
        assert.equal(typeof answer.body.errorMessage, "string");
      }
    }
  });

  it("4.3: requires the ecosystem's name and its access token, and creates nothing without them", async () => {
    const { secToken } = bobs;
    for (const query of [{ anEcosystemName: "nest" }, { anAccessToken: accessToken }]) {
      const { status, body } = await federatedTokens("POST", { secToken, ...(query as Record<string, string>) });
      assert.deepEqual([status, body.errorCode], [400, 102]);
    }
    const unknown = await federatedTokens("POST", { secToken, anEcosystemName: "hive", anAccessToken: accessToken });
    assert.deepEqual([unknown.status, unknown.body.errorCode], [400, 120]);
    const refused = await federatedTokens("POST", { secToken, anEcosystemName: "nest", anAccessToken: "c.wrong" });
    assert.deepEqual([refused.status, refused.body.errorCode], [422, 121]);
    const list = await bobs.call("getDeviceList", { secToken });
    assert.equal(list.getDeviceListResponse?.devList, undefined);
  });

  it("5: links the account whose access token the user supplies", async () => {
    const { simulator } = house();
    const { token } = simulator.addAccount({ seed: 2, structures: [{ name: "Bob's flat" }] } as never);
    const query = { secToken: bobs.secToken, anEcosystemName: "nest", anAccessToken: token };
    const { body } = await federatedTokens("POST", query);
    assert.notEqual(Number(body.DeviceId), deviceId);
    assert.deepEqual(Object.keys((await largeStrings(bobs.secToken, body.DeviceId)).body.labels), ["Bob's flat"]);
  });

  it("4.3: answers the map of a virtual device on the user's own account alone", async () => {
    const lamp = await house().addLamp();
    for (const [secToken, id] of [
      [bobs.secToken, deviceId],
      [house().client.secToken, lamp],
      [house().client.secToken, 999],
    ] as const) {
      const { status, body } = await largeStrings(secToken, id);
      assert.deepEqual([status, body.errorCode], [404, 109]);
    }
  });
});
