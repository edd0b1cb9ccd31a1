import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { namesIn, parseAttributeNames, refuseUnknown } from "../../src/devices/attribute-parameter.ts";
import { UnknownAttribute } from "../../src/model/errors.ts";

const account = { isVirtual: true };
const lamp = { isVirtual: false };
const [first, second] = ["d.structures[1].a.away", "d.structures[2].a.away"];

describe("the parameter attribute", () => {
  it("separates names by commas, and takes a value without a comma literally", () => {
    assert.deepEqual(namesIn("power, colour,"), ["power", "colour"]);
    assert.deepEqual(namesIn(" power "), [" power "]);
    assert.deepEqual(namesIn(" , "), [" , "]);
  });

  it("names attributes of linked accounts by any value between commas", () => {
    assert.deepEqual(parseAttributeNames([`${first},${second}`, first], [account, account]), [first, second]);
    assert.throws(() => parseAttributeNames([`${first},power`], [account]), UnknownAttribute);
  });

  it("also keeps a value with a comma whole when a device may have an attribute of that name", () => {
    for (const devices of [[], [lamp], [account, lamp]]) {
      assert.deepEqual(parseAttributeNames(["power,colour"], devices), ["power,colour", "power", "colour"]);
    }
  });

  it("refuses an unknown name only when all devices are linked accounts", () => {
    assert.throws(() => refuseUnknown([first, "power"], [account, account]), UnknownAttribute);
    refuseUnknown([first, second], [account]);
    for (const devices of [[], [lamp], [account, lamp]]) refuseUnknown(["power"], devices);
  });
});
