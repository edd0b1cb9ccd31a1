import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { justLinked } from "../../src/model/just-linked.ts";
import { writingAction } from "../../src/model/trigger.ts";
import { virtualDeviceType } from "../../src/model/virtual-device-type.ts";

describe("a word that is stored and shown to clients", () => {
  it("stays the same for the type of virtual devices", () => assert.equal(virtualDeviceType, "EcosystemAccount"));
  it("stays the same for the state of a new link", () => assert.equal(justLinked, "just linked"));
  it("stays the same for the action of an alert that writes", () => assert.equal(writingAction, "attribute"));
});
