import { thingKinds } from "../../home/thing.ts";
import type { Description, ErrorDescription, Parameter } from "../../http/documentation/description.ts";
import { jsonAnswer, pathParameter } from "../../http/documentation/description-parts.ts";
import { boolean, integer, list, map, milliseconds, named, object, orNull, text } from "../../model/json-schema.ts";
import { badParameter } from "./device-descriptions.ts";

export const thingId = pathParameter("thingId", "The thing's id.", "t_Zk3xV0bqT2m8cQx1r5sYwA");

export const unknownThing: ErrorDescription = {
  status: 404,
  code: "unknown_thing",
  when: "The token gives access to no thing with this id.",
};

const nullableText = (meaning: string) => orNull(text(meaning));

const field = object("A field of a trait.", {
  value: {
    type: ["string", "number", "boolean", "null"],
    description: "The value; null when the ecosystem did not tell it.",
  },
  updateTime: milliseconds("When it changed."),
});

const trait = object("A trait of the thing.", {
  capabilities: {
    type: "object",
    description: "What it can do: ranges, modes, steps. Null means that it was not told.",
  },
  state: map(
    "The fields by name. `available` false: the device does not answer, and the others are the last known.",
    field,
  ),
});

const thing = named(
  "Thing",
  object(
    "A thing: a device that a person would point at, or a home.",
    {
      thingId: text("Its id. It stays the same after relinking, and after unlinking and linking again."),
      deviceId: integer("The virtual device of the linked account that reports it.", { minimum: 1 }),
      kind: text("What it is.", { enum: [...thingKinds] }),
      name: nullableText("Its name."),
      room: nullableText("The room that it is in."),
      homeName: nullableText("The name of the structure that it belongs to."),
      maker: nullableText("Its maker."),
      model: nullableText("Its model."),
      source: text("The ecosystem that reports it."),
      stale: boolean("Whether the state may be outdated: the link is not live, or the thing is gone."),
      traits: map("The traits by name, as the trait catalogue describes them.", trait),
    },
    {
      userId: integer("The user whose thing it is; only for enterprise tokens.", { minimum: 1 }),
      confirmedTime: milliseconds("When the ecosystem last confirmed the whole account."),
      goneTime: milliseconds("Since when the thing is gone. It can be read for 90 days after that."),
    },
  ),
);

const example = {
  thingId: "t_Zk3xV0bqT2m8cQx1r5sYwA",
  deviceId: 41,
  kind: "alarm",
  name: "Hallway",
  room: "Hallway",
  homeName: "Maple Street",
  maker: "Nest",
  model: null,
  source: "nest",
  stale: false,
  confirmedTime: 1785312060000,
  traits: {
    smoke: {
      capabilities: { graded: true },
      state: {
        available: { value: true, updateTime: 1785312000000 },
        state: { value: "clear", updateTime: 1785312000000 },
        word: { value: "ok", updateTime: 1785312000000 },
        testing: { value: false, updateTime: 1785312000000 },
        fault: { value: null, updateTime: 1785312000000 },
        endOfLife: { value: null, updateTime: 1785312000000 },
        muted: { value: null, updateTime: 1785312000000 },
      },
    },
  },
};

const filter = (name: string, meaning: string, sample: string): Parameter => ({
  name,
  in: "query",
  isRequired: false,
  schema: { type: "string" },
  meaning,
  example: sample,
});

export const listThings: Description = {
  operationId: "listThings",
  tag: "Things",
  summary: "List things",
  words: [
    "The things that the token gives access to, at most 100 a page: first those of linked accounts, then those of own devices. Ask again with `cursor` for the next page; the last page has none. With a filter or an enterprise token a page may be short or empty and still have a cursor. A cursor never expires and includes the filter. Things that are gone are left out.",
  ],
  parameters: [
    { ...filter("kind", "Only things of this kind.", "alarm"), schema: { type: "string", enum: [...thingKinds] } },
    filter("room", "Only things in this room.", "Hallway"),
    filter("source", "Only things of this ecosystem.", "nest"),
    {
      name: "cursor",
      in: "query",
      isRequired: false,
      schema: { type: "string" },
      meaning: "From the previous page. A filter that is sent too must be the one that the cursor includes.",
    },
  ],
  answers: [
    jsonAnswer(
      200,
      "A page of things.",
      named(
        "ThingList",
        object(
          "A page of things.",
          { things: list("The things of this page.", thing) },
          { cursor: text("For the next page; missing on the last one.") },
        ),
      ),
      { things: [example] },
    ),
  ],
  errors: [badParameter],
};

export const getThing: Description = {
  operationId: "getThing",
  tag: "Things",
  summary: "Read a thing",
  words: ["A thing with all its traits. With `since`, only the fields that changed after that time."],
  parameters: [
    thingId,
    {
      name: "since",
      in: "query",
      isRequired: false,
      schema: { type: "integer", format: "int64", minimum: 0 },
      meaning: "Only fields that changed strictly after this time, in milliseconds.",
    },
  ],
  answers: [jsonAnswer(200, "The thing.", thing, example)],
  errors: [badParameter, unknownThing],
};
