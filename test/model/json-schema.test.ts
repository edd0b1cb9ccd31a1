import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  boolean,
  integer,
  list,
  map,
  milliseconds,
  named,
  number,
  object,
  orNull,
  text,
} from "../../src/model/json-schema.ts";

describe("a schema", () => {
  it("has the type of its values, a description, and what else is said about them", () => {
    assert.deepEqual(text("A name."), { type: "string", description: "A name." });
    assert.deepEqual(text("A name.", { maxLength: 60 }), { type: "string", description: "A name.", maxLength: 60 });
    assert.deepEqual(integer("A count."), { type: "integer", description: "A count." });
    assert.deepEqual(integer("A count.", { minimum: 1 }), { type: "integer", description: "A count.", minimum: 1 });
    assert.deepEqual(number("A share."), { type: "number", description: "A share." });
    assert.deepEqual(boolean("Yes or no."), { type: "boolean", description: "Yes or no." });
  });

  it("of a list or a map describes its values too", () => {
    const name = text("A name.");
    assert.deepEqual(list("Names.", name), { type: "array", description: "Names.", items: name });
    assert.deepEqual(list("Names.", name, { maxItems: 9 }), {
      type: "array",
      description: "Names.",
      items: name,
      maxItems: 9,
    });
    assert.deepEqual(map("Names.", name), { type: "object", description: "Names.", additionalProperties: name });
    assert.deepEqual(map("Names.", name, { minProperties: 1 }), {
      type: "object",
      description: "Names.",
      additionalProperties: name,
      minProperties: 1,
    });
  });

  it("of an object names the fields that are required, if there are any", () => {
    const [name, room] = [text("A name."), text("A room.")];
    assert.deepEqual(object("A thing.", { name }, { room }), {
      type: "object",
      description: "A thing.",
      properties: { name, room },
      required: ["name"],
    });
    assert.deepEqual(object("A thing.", { name }), {
      type: "object",
      description: "A thing.",
      properties: { name },
      required: ["name"],
    });
    assert.deepEqual(object("A thing.", {}, { room }), {
      type: "object",
      description: "A thing.",
      properties: { room },
    });
  });

  it("can allow null as well", () => {
    assert.deepEqual(orNull(text("A name.", { maxLength: 60 })), {
      type: ["string", "null"],
      description: "A name.",
      maxLength: 60,
    });
  });

  it("can have a name, by which others refer to it", () => {
    assert.deepEqual(named("Name", text("A name.")), { title: "Name", type: "string", description: "A name." });
  });

  it("of a time counts milliseconds", () => {
    assert.deepEqual(milliseconds("When it came."), {
      type: "integer",
      description: "When it came. Milliseconds since 1970.",
      format: "int64",
      minimum: 0,
    });
  });
});
