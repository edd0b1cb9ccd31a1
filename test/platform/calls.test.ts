import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { StoreUnavailable } from "../../src/model/errors.ts";
import { platformCalls } from "../../src/outlets/platform/calls.ts";
import { operations } from "../../src/outlets/platform/operations.ts";
import { thermostatAttribute, totalStructures } from "../../src/virtual-device/attribute-names.ts";
import { assertFault, madePlatform, textsOf, xmlOf } from "./made-platform.ts";
import { readStrictly } from "./strict-xml.ts";

describe("userLogin", () => {
  it("returns the user's id and a valid security token", async (t) => {
    const { call, userId } = await madePlatform(t);
    const { status, root } = await call("userLogin", { name: "alice", password: "correct horse", appId: "7" });
    assert.equal(status, 200);
    assert.equal(root.name, "ns1:userLoginResponse");
    assert.deepEqual(root.attributes, { "xmlns:ns1": "http://arrayent.com/zamapi/" });
    assert.deepEqual(
      root.children.map(({ name }) => name),
      ["userId", "securityToken"],
    );
    const { userId: answered, securityToken = "" } = textsOf(root);
    assert.equal(answered, String(userId));
    assert.equal((await call("getDeviceList", { secToken: securityToken })).status, 200);
  });

  it("names a missing parameter, and does not say which value is wrong", async (t) => {
    const { call } = await madePlatform(t);
    const right = { name: "alice", password: "correct horse", appId: "7" };
    for (const name of ["name", "password", "appId"]) {
      assertFault(await call("userLogin", { ...right, [name]: "" }), 102, `The parameter ${name} is missing.`);
    }
    const text = "Invalid login name or password.";
    assertFault(await call("userLogin", { ...right, password: "correct hors" }), 101, text);
    assertFault(await call("userLogin", { ...right, name: "bob" }), 101, text);
    assertFault(await call("userLogin", { ...right, appId: "8" }), 101, text);
    assertFault(await call("userLogin", { ...right, appId: "Acme" }), 101, text);
    assertFault(await call("userLogin", { ...right, name: "ali\u0001ce" }), 102);
  });

  it("is refused with Retry-After after too many failures", async (t) => {
    const { calls } = await madePlatform(t);
    const wrong = Object.entries({ name: "alice", password: "wrong one", appId: "7" });
    for (let failure = 0; failure < 5; failure++) await calls.call("userLogin", wrong, "192.0.2.9");
    const answer = await calls.call("userLogin", wrong, "192.0.2.9");
    assertFault({ status: answer.status, root: readStrictly(await xmlOf(answer)) }, 107);
    assert.ok("retryAfterSeconds" in answer);
    assert.equal(answer.retryAfterSeconds, 1);
  });
});

describe("userLogout", () => {
  it("ends the token", async (t) => {
    const { call, secToken } = await madePlatform(t);
    const { status, root } = await call("userLogout", { secToken });
    assert.equal(status, 200);
    assert.deepEqual(textsOf(root), { retCode: "0" });
    assertFault(await call("userLogout", { secToken }), 106, "Invalid security token.");
  });
});

describe("getDeviceList", () => {
  it("lists the user's own devices as siblings, with unchanged names", async (t) => {
    const { call, secToken, userId, addDevice, identity } = await madePlatform(t);
    const none = await call("getDeviceList", { secToken });
    assert.deepEqual(none.root.children, []);
    const bob = await identity.addUser({ tenant: "Acme", name: "bob", password: "correct horse", isAdmin: false });
    const names = [`<&]]>" 'lamp'`, "🏠", "‮ردهة", "line\nbreak\r", "bell\u0007"];
    const ids = [];
    for (const name of names) ids.push(await addDevice(name));
    await addDevice("foreign", false, bob);
    const { root } = await call("getDeviceList", { secToken, userId: String(userId) });
    assert.deepEqual(
      root.children.map((entry) => [entry.name, textsOf(entry)]),
      ids.map((id, at) => [
        "devList",
        {
          devId: String(id),
          devName: names[at]!.replace("\u0007", "\ufffd"),
          typeId: "1",
          sleepMode: "0",
          appID: "7",
          userID: String(userId),
        },
      ]),
    );
  });

  it("refuses a userId of another user than the token's, and says so", async (t) => {
    const { call, secToken, userId } = await madePlatform(t);
    for (const other of [String(userId + 1), `0${userId}`, "alice"]) {
      const sentence = "The security token belongs to another user than the parameter userId names.";
      assertFault(await call("getDeviceList", { secToken, userId: other }), 106, sentence);
    }
  });
});

describe("getDeviceAttributesWithValues", () => {
  it("returns the virtual device's attributes that have a value, in the order of the model", async (t) => {
    const { call, secToken, addDevice, write, absent, clock } = await madePlatform(t);
    const deviceId = await addDevice("Nest account", true);
    const name = thermostatAttribute(1, 2, "name");
    const hasFan = thermostatAttribute(1, 2, "hasFan");
    await write(deviceId, { [name]: "<Hall & stairs>", [totalStructures]: "1", [hasFan]: "true" });
    await write(deviceId, { [hasFan]: null });
    const parameters = { secToken, devId: String(deviceId) };
    const { root } = await call("getDeviceAttributesWithValues", parameters);
    const { typeId, typeName, presenceInfo } = textsOf(root);
    assert.deepEqual(
      { typeId, typeName, presenceInfo },
      { typeId: "1", typeName: "EcosystemAccount", presenceInfo: "1" },
    );
    assert.deepEqual(
      root.children.slice(3).map((entry) => [entry.name, textsOf(entry)]),
      [
        [totalStructures, "o.totalStructures", "1"],
        [name, "d.structures[1].d.thermostats[2].name", "<Hall & stairs>"],
      ].map(([id, attribute, value]) => [
        "attrList",
        { id: String(id), name: attribute, displayName: attribute, value, updTime: String(clock.nowMs) },
      ]),
    );
    absent.add(deviceId);
    assert.equal(textsOf((await call("getDeviceAttributesWithValues", parameters)).root).presenceInfo, "0");
  });

  it("returns an ordinary device's attributes under their own names", async (t) => {
    const { call, secToken, addDevice, write } = await madePlatform(t);
    const deviceId = await addDevice("Lamp");
    await write(deviceId, { power: "on", "colour <1>": "warm & bright" });
    const { root } = await call("getDeviceAttributesWithValues", { secToken, devId: String(deviceId) });
    const attributes = root.children.slice(3).map(textsOf);
    assert.deepEqual(
      attributes.map(({ name, value }) => [name, value]),
      [
        ["colour <1>", "warm & bright"],
        ["power", "on"],
      ],
    );
  });

  it("gives the same fault for foreign, absent and malformed ids, and ignores the type", async (t) => {
    const { call, secToken, addDevice, identity } = await madePlatform(t);
    const bob = await identity.addUser({ tenant: "Acme", name: "bob", password: "correct horse", isAdmin: false });
    const foreign = await addDevice("foreign", false, bob);
    const own = await addDevice("own");
    const faults = [];
    for (const devId of [String(foreign), "999", "0", "-1", "1.0", "abc", " 1", "99999999999", "<x>"]) {
      faults.push(await call("getDeviceAttributesWithValues", { secToken, devId }));
    }
    for (const fault of faults) {
      assertFault(fault, 109, "Device does not exist.");
      assert.deepEqual(fault, faults[0]);
    }
    assertFault(await call("getDeviceAttributesWithValues", { secToken }), 102, "The parameter devId is missing.");
    for (const deviceTypeId of ["1", "99", "Lamp"]) {
      const typed = await call("getDeviceAttributesWithValues", { secToken, devId: String(own), deviceTypeId });
      assert.equal(typed.status, 200);
    }
  });
});

describe("getUserValueList", () => {
  it("is a root without children: the service stores no values for users", async (t) => {
    const { call, secToken } = await madePlatform(t);
    const { status, root } = await call("getUserValueList", { secToken });
    assert.deepEqual([status, root.name, root.children], [200, "ns1:getUserValueListResponse", []]);
  });
});

describe("a platform call", () => {
  it("that needs a token is refused without a valid one, before its parameters are checked", async (t) => {
    const { call } = await madePlatform(t);
    for (const [name, { access }] of operations) {
      if (access === "public") continue;
      for (const secToken of ["", "nonsense", `bws_${"A".repeat(43)}`]) {
        assertFault(await call(name, { secToken }), 106, "Invalid security token.");
      }
      assertFault(await call(name, {}), 106, "Invalid security token.");
    }
  });

  it("with a repeated parameter is refused, even with equal values", async (t) => {
    const { calls, secToken } = await madePlatform(t);
    const twice: [string, string][] = [
      ["secToken", secToken],
      ["devId", "1"],
      ["devId", "1"],
    ];
    const answer = await calls.call("getDeviceAttributesWithValues", twice, "192.0.2.1");
    assertFault(
      { status: answer.status, root: readStrictly(await xmlOf(answer)) },
      102,
      "The parameter devId was sent more than once.",
    );
  });

  it("of an unknown operation is 103 and doesn't repeat its name", async (t) => {
    const { calls, secToken } = await madePlatform(t);
    for (const name of ["", "userlogin", "__proto__", "constructor", "<&>", secToken]) {
      const answer = await calls.call(name, [["secToken", secToken]], "192.0.2.1");
      assertFault(
        { status: answer.status, root: readStrictly(await xmlOf(answer)) },
        103,
        "This operation is unknown.",
      );
    }
  });

  it("that fails unexpectedly reports the error to the operator and not to the caller", async () => {
    const failing = (error: Error) => {
      const fail = () => Promise.reject(error);
      return platformCalls({
        identity: { login: fail, logout: fail, authenticate: fail },
        devices: { page: fail, state: fail, write: fail },
        alerts: {
          add: fail,
          find: fail,
          page: fail,
          setEnabled: fail,
          setEnabledOfDevice: fail,
          remove: fail,
        },
        federation: { freshness: fail },
        onLimitReached: () => undefined,
      });
    };
    const parameters = Object.entries({ secToken: "x", name: "alice", password: "correct horse", appId: "7" });
    const unexpected = new Error("row 12 of table users is broken");
    for (const name of operations.keys()) {
      const answer = await failing(unexpected).call(name, parameters, "192.0.2.1");
      assertFault({ status: answer.status, root: readStrictly(await xmlOf(answer)) }, 199, "Internal error.");
      assert.equal("error" in answer && answer.error, unexpected);
    }
    const away = await failing(new StoreUnavailable("disk full")).call("getDeviceList", parameters, "192.0.2.1");
    assertFault(
      { status: away.status, root: readStrictly(await xmlOf(away)) },
      199,
      "Breezeway can't use its store now. Nothing was changed. Try again in a few seconds.",
    );
  });
});
