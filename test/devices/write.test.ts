import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { CommitRequest, CommitTables } from "../../src/devices/commit.ts";
import { attributeKey, checkWrites, deviceWriting, knownAttribute, valueSubject } from "../../src/devices/write.ts";
import { NotFound, UnknownDevice } from "../../src/model/errors.ts";
import type { DeviceId } from "../../src/model/ids.ts";
import { thermostatAttribute } from "../../src/virtual-device/attribute-names.ts";
import { onStore } from "../contracts/store/harness.ts";
import { makeHome } from "../contracts/store/home.ts";
import { sqliteHarness } from "../contracts/store/sqlite-harness.ts";

const ordinary = { isVirtual: false };
const account = { isVirtual: true };
const fan = "d.structures[1].d.thermostats[2].fan_timer_active.requestWrite";
const fanKey = thermostatAttribute(1, 2, "requestWrite");
const write = (device: { readonly isVirtual: boolean }, name: string, value: string | null) =>
  checkWrites(device, [{ name, value }])[0];

describe("a write to an ordinary device", () => {
  it("has names of 1 to 128 characters, without control characters and what a database can't store", () => {
    for (const name of ["x", "x".repeat(128), "🏠".repeat(128)]) {
      assert.deepEqual(write(ordinary, name, "on"), { key: name, value: "on" });
      assert.equal(attributeKey(ordinary, name), name);
    }
    for (const name of ["", "x".repeat(129), "🏠".repeat(129), "a\tb", "a\u0000", "half \uD83C", "\uFFFE"]) {
      const refused = { code: "bad_parameter", parameter: "name" };
      assert.throws(() => write(ordinary, name, "on"), refused, JSON.stringify(name));
      assert.throws(() => attributeKey(ordinary, name), refused, JSON.stringify(name));
    }
  });

  it("has values of at most 8,192 bytes of text", () => {
    for (const value of ["x".repeat(8_192), "ä".repeat(4_096), "two\tlines\r\n"]) {
      assert.deepEqual(write(ordinary, "level", value), { key: "level", value });
    }
    for (const value of ["x".repeat(8_193), "ä".repeat(4_097)]) {
      assert.throws(() => write(ordinary, "level", value), {
        code: "value_too_large",
        message: "The value of level must have at most 8192 bytes in UTF-8.",
      });
    }
    for (const value of ["bell\u0007", "\u0000", "half \uD83C"]) {
      assert.throws(() => write(ordinary, "level", value), { code: "bad_value", message: /^The value of level must/ });
    }
  });

  it("erases an attribute with null or an empty text", () => {
    for (const value of [null, ""]) assert.deepEqual(write(ordinary, "level", value), { key: "level", value: null });
  });
});

describe("a write to a linked account's device", () => {
  it("may request a fan with up to 256 characters on one line, or erase a request", () => {
    for (const value of ["true", "🏠".repeat(256)]) {
      assert.deepEqual(write(account, fan, value), { key: fanKey, value });
    }
    for (const value of [null, ""]) assert.deepEqual(write(account, fan, value), { key: fanKey, value: null });
    for (const value of ["x".repeat(257), "two\nlines"]) {
      assert.throws(() => write(account, fan, value), { code: "bad_value" }, value);
    }
  });

  it("is refused for an unknown attribute, a repeated one, and all but fan requests, in this order", () => {
    const known = { name: fan, value: "true" };
    const other = { name: fan.replace("thermostats", "thermostat"), value: "false" };
    const readOnly = { name: "d.structures[1].a.away", value: "home" };
    assert.throws(() => checkWrites(account, [readOnly, known, known, { name: "power", value: "on" }]), {
      code: "unknown_attribute",
    });
    assert.throws(() => checkWrites(account, [readOnly, known, other]), { code: "bad_parameter", parameter: "body" });
    assert.throws(() => checkWrites(account, [known, readOnly]), { code: "read_only_attribute" });
  });

  it("names attributes by any published spelling", () => {
    assert.equal(attributeKey(account, fan), fanKey);
    assert.equal(attributeKey(account, fan.replace("thermostats", "thermostat")), fanKey);
    assert.deepEqual(knownAttribute(fan), { number: fanKey, spelling: fan });
  });
});

describe("an error about an attribute", () => {
  it("repeats its name only when the name can't be a secret", () => {
    const refusal = (name: string) => ({ code: "unknown_attribute", message: `This device has no attribute ${name}.` });
    assert.throws(() => knownAttribute("colour"), refusal("colour"));
    assert.throws(() => knownAttribute("hunter2"), refusal("of that name"));
    assert.throws(() => knownAttribute("o.structures[3].away"), refusal("o.structures[3].away"));
    assert.equal(valueSubject("colour"), "The value of colour");
    assert.equal(valueSubject("c.hunter2"), "The value of each attribute");
  });
});

describe("a client's write", () => {
  const on = (test: (home: Awaited<ReturnType<typeof writingHome>>) => Promise<void>) =>
    onStore(sqliteHarness, async (store) => test(await writingHome(store)));

  /** A home, and its writes as they reach the commit. */
  async function writingHome(store: Parameters<typeof makeHome>[0]) {
    const home = await makeHome(store);
    const requests: CommitRequest[] = [];
    let failure: Error | undefined;
    const writing = deviceWriting(store, async (request) => {
      requests.push(request);
      if (failure) throw failure;
      return [];
    });
    const fail = (error: Error) => {
      failure = error;
    };
    return { ...home, lamp: home.devices[0]!, writing, requests, fail, writes: [{ name: "power", value: "on" }] };
  }

  it("is committed for the device's user, and caused by the client or, with an enterprise token, by the administrator", () =>
    on(async ({ lamp, userId, tenantId, writing, writes, requests }) => {
      await writing.write({ kind: "user", userId }, lamp, writes);
      await writing.write({ kind: "enterprise", tenantId }, lamp, writes);
      const updates = [{ deviceId: lamp, changes: [{ key: "power", value: "on" }] }];
      const waiting = { mayRefuse: true, abandoned: undefined };
      assert.deepEqual(requests, [
        { userId, cause: { by: "client", user: userId }, updates, ...waiting },
        { userId, cause: { by: "administrator" }, updates, ...waiting },
      ]);
    }));

  it("stores the answer of a repeatable request in the same transaction", () =>
    on(async ({ lamp, userId, writing, writes, requests }) => {
      const kept: unknown[] = [];
      await writing.write({ kind: "user", userId }, lamp, writes, async (tx) => void kept.push(tx));
      const tx = {} as CommitTables;
      await requests[0]?.also?.(tx);
      assert.deepEqual(kept, [tx]);
    }));

  it("is refused for a device that does not exist, or was removed meanwhile", () =>
    on(async ({ lamp, userId, writing, writes, requests, fail }) => {
      const accessScope = { kind: "user", userId } as const;
      await assert.rejects(writing.write(accessScope, 999 as DeviceId, writes), UnknownDevice);
      assert.deepEqual(requests, []);
      fail(new NotFound("Device 1 does not exist."));
      await assert.rejects(writing.write(accessScope, lamp, writes), UnknownDevice);
      fail(new Error("the disk is full"));
      await assert.rejects(writing.write(accessScope, lamp, writes), { message: "the disk is full" });
    }));
});
