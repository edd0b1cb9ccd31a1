import type { Description, Parameter } from "../../http/documentation/description.ts";
import { jsonAnswer } from "../../http/documentation/description-parts.ts";
import { integer, list, map, milliseconds, named, object, orNull, text } from "../../model/json-schema.ts";
import { deviceId, unknownAttribute, unknownDevice } from "./device-descriptions.ts";
import { thingId, unknownThing } from "./thing-descriptions.ts";

const ofDevice = { deviceId: integer("The device's id.", { minimum: 1 }) };

const range: readonly Parameter[] = [
  {
    name: "from",
    in: "query",
    isRequired: false,
    schema: { type: "integer", format: "int64", minimum: 0 },
    meaning: "Only changes from this time on, in milliseconds since 1970.",
  },
  {
    name: "to",
    in: "query",
    isRequired: false,
    schema: { type: "integer", format: "int64", minimum: 0 },
    meaning: "Only changes before this time, in milliseconds since 1970.",
  },
  {
    name: "cursor",
    in: "query",
    isRequired: false,
    schema: { type: "string" },
    meaning: "From the previous page.",
  },
];
const cause = map(
  "The cause: `by` is `ecosystem`, `client` (with the `user`), `alert` (with its id) or `administrator`.",
  { type: ["string", "integer"] },
);

export const getHistory: Description = {
  operationId: "getHistory",
  tag: "Events",
  summary: "Read the history of a device",
  words: [
    "Every change that was committed to a device, oldest first, as long as it is kept: 7 days unless configured. A page ends after the commit that brings it to 1,000 changes. Ask again with `cursor`, and the same filters, for the next one; the last page has no cursor. Other pages may be empty if the filter matches little.",
  ],
  parameters: [
    deviceId,
    {
      name: "attribute",
      in: "query",
      isRequired: false,
      isRepeatable: true,
      schema: { type: "string" },
      meaning:
        "Only changes of this attribute, in any published spelling; the answer uses yours. `a,b` is read as two names.",
      example: "d.structures[1].a.away",
    },
    ...range,
  ],
  answers: [
    jsonAnswer(
      200,
      "A page of changes.",
      named(
        "History",
        object(
          "Changes of a device's attributes.",
          {
            ...ofDevice,
            changes: list(
              "Oldest first.",
              named(
                "Change",
                object("One attribute got a value.", {
                  name: text("The attribute."),
                  value: { type: ["string", "number", "null"], description: "Null: it was erased or became blank." },
                  updateTime: milliseconds("When it was committed; all changes of one commit have the same time."),
                  cause,
                }),
              ),
            ),
          },
          { cursor: text("For the next page; missing on the last one.") },
        ),
      ),
      {
        deviceId: 41,
        changes: [
          {
            name: "d.structures[1].a.away",
            value: "away",
            updateTime: 1_785_312_000_000,
            cause: { by: "ecosystem" },
          },
        ],
      },
    ),
  ],
  errors: [
    { status: 400, code: "invalid_request", when: "A parameter is malformed." },
    unknownDevice,
    unknownAttribute,
    { status: 409, code: "limit_reached", when: "The filter has more than 600 attribute names." },
  ],
};

export const getThingHistory: Description = {
  operationId: "getThingHistory",
  tag: "Events",
  summary: "Read the history of a thing",
  words: [
    "Every change that was committed to a thing, oldest first, as long as it is kept: 7 days unless configured. A page ends when it holds 1,000 changes, or when 2,000 commits to the linked account were read for it. Ask again with `cursor`, and the same filter, for the next one; the last page has no cursor. Other pages may be empty.",
  ],
  parameters: [
    thingId,
    {
      name: "field",
      in: "query",
      isRequired: false,
      isRepeatable: true,
      schema: { type: "string" },
      meaning: "Only changes of this field, written as trait and field.",
      example: "smoke.state",
    },
    ...range,
  ],
  answers: [
    jsonAnswer(
      200,
      "A page of changes.",
      named(
        "ThingHistory",
        object(
          "Changes of a thing.",
          {
            thingId: text("The thing's id."),
            deviceId: integer("The virtual device of the linked account that reports it.", { minimum: 1 }),
            changes: list(
              "Oldest first.",
              named(
                "ThingChange",
                object(
                  "One commit changed the thing.",
                  {
                    what: text("`state`: only fields changed. `changed`: its description or capabilities too.", {
                      enum: ["added", "changed", "state", "gone"],
                    }),
                    fields: map(
                      "The changed fields by trait and name, such as `smoke.state`.",
                      object("A field.", {
                        value: {
                          type: ["string", "number", "boolean", "null"],
                          description: "The new value; null when the ecosystem did not tell it.",
                        },
                      }),
                    ),
                    updateTime: milliseconds("When it was committed."),
                  },
                  { cause },
                ),
              ),
            ),
          },
          { cursor: text("For the next page; missing on the last one.") },
        ),
      ),
      {
        thingId: "t_Zk3xV0bqT2m8cQx1r5sYwA",
        deviceId: 41,
        changes: [
          {
            what: "state",
            fields: { "smoke.state": { value: "alarm" }, "smoke.word": { value: "emergency" } },
            updateTime: 1_785_312_000_000,
            cause: { by: "ecosystem" },
          },
        ],
      },
    ),
  ],
  errors: [{ status: 400, code: "invalid_request", when: "A parameter is malformed." }, unknownThing],
};

export const getCommands: Description = {
  operationId: "getCommands",
  tag: "Events",
  summary: "Read the states of fan requests",
  words: [
    "The last 100 fan requests of a linked account, the newest first, each with its state: `queued` (the write is durable), `sending` (sent to the ecosystem, once), `accepted` (by the ecosystem), `confirmed` (the stream showed it), `contradicted` (the stream showed the opposite), `rejected` (by this service or by the ecosystem; `text` says why) or `expired` (it is unknown whether it was carried out). An ordinary device has none.",
  ],
  parameters: [deviceId],
  answers: [
    jsonAnswer(
      200,
      "The receipts.",
      named(
        "Commands",
        object("Fan requests and their states.", {
          ...ofDevice,
          commands: list(
            "The newest first.",
            named(
              "Command",
              object("One fan request.", {
                commandId: integer("Its id, as in `command` events."),
                name: text("The `requestWrite` attribute that was written."),
                value: text("The written value."),
                state: text("Its state.", {
                  enum: ["queued", "sending", "accepted", "confirmed", "contradicted", "rejected", "expired"],
                }),
                text: orNull(text("Why it was refused, in the words of this service or of the ecosystem.")),
                requestedTime: milliseconds("When it was written."),
                sentTime: orNull(milliseconds("When it was sent to the ecosystem.")),
                settledTime: orNull(milliseconds("When its outcome was known.")),
              }),
            ),
          ),
        }),
      ),
      {
        deviceId: 41,
        commands: [
          {
            commandId: 7,
            name: "d.structures[1].d.thermostats[1].fan_timer_active.requestWrite",
            value: "true",
            state: "confirmed",
            text: null,
            requestedTime: 1_785_312_000_000,
            sentTime: 1_785_312_000_012,
            settledTime: 1_785_312_001_400,
          },
        ],
      },
    ),
  ],
  errors: [unknownDevice],
};
