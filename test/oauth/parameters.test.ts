import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { BadParameter } from "../../src/model/errors.ts";
import { Parameters } from "../../src/oauth/parameters.ts";

describe("the parameters of an OAuth request", () => {
  it("are sent once and hold storable characters; an empty one counts as omitted", () => {
    const parameters = new Parameters([
      ["state", "s"],
      ["scope", ""],
      ["twice", "a"],
      ["twice", "a"],
      ["broken", "\ud800"],
    ]);
    assert.deepEqual([parameters.optional("state"), parameters.required("state")], ["s", "s"]);
    assert.deepEqual([parameters.optional("scope"), parameters.optional("unsent")], [undefined, undefined]);
    for (const name of ["twice", "broken"]) assert.throws(() => parameters.optional(name), BadParameter, name);
    for (const name of ["scope", "unsent"]) assert.throws(() => parameters.required(name), BadParameter, name);
  });
});
