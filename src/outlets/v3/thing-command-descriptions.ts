import { commandStates } from "../../home/command-states.ts";
import type { Description, ErrorDescription } from "../../http/documentation/description.ts";
import { jsonAnswer, pathParameter } from "../../http/documentation/description-parts.ts";
import { integer, list, map, milliseconds, named, object, orNull, text } from "../../model/json-schema.ts";
import { thingId, unknownThing } from "./thing-descriptions.ts";

const commandId = pathParameter("commandId", "The command's id, from its receipt.", "c12");

const unknownCommand: ErrorDescription = {
  status: 404,
  code: "unknown_command",
  when: "The thing has no receipt with this id. Receipts of old commands are removed.",
};

const parameterValues = map("The parameters by name, as the trait catalogue describes them.", {
  type: ["string", "number", "boolean"],
});

const alertCause = object("The alert that sent the command; missing for a command of a client.", {
  by: text("Always `alert`.", { enum: ["alert"] }),
  alert: integer("The id of the alert.", { minimum: 1 }),
});

const receipt = named(
  "CommandReceipt",
  object(
    "What became of a command.",
    {
      commandId: text("Its id. It begins with `f` for a fan request that was written to an attribute."),
      thingId: text("The thing's id."),
      trait: text("The trait."),
      command: text("The command of the trait."),
      params: parameterValues,
      state: text("Its state.", { enum: [...commandStates] }),
      error: orNull(
        map(
          "Why it was not carried out: `code` for programs, `text` for people, `words` for what the ecosystem said if it refused the command, and further members of some codes, such as `min` and `max` of `outOfRange`.",
          { type: ["string", "number", "array", "null"], items: { type: "string" } },
        ),
      ),
      requestedTime: milliseconds("When it was sent to this service."),
      sentTime: orNull(milliseconds("When it was sent to the ecosystem.")),
      settledTime: orNull(milliseconds("When its outcome was known.")),
    },
    { cause: alertCause },
  ),
);

const example = {
  commandId: "c12",
  thingId: "t_Zk3xV0bqT2m8cQx1r5sYwA",
  trait: "thermostat",
  command: "setTarget",
  params: { celsius: 20.5 },
  state: "queued",
  error: null,
  requestedTime: 1_785_312_000_000,
  sentTime: null,
  settledTime: null,
};

const states =
  "`queued` (durable), `sending` (sent to the ecosystem, once), `accepted` (by the ecosystem), `confirmed` (the ecosystem showed the result), `contradicted` (it kept showing another state), `rejected` (by this service or by the ecosystem; `error` says why) or `expired` (it was not sent in time, or it is unknown whether it was carried out; `error` says which).";

export const sendThingCommand: Description = {
  operationId: "sendThingCommand",
  tag: "Things",
  summary: "Send a command to a thing",
  words: [
    `Stores the command and answers with its receipt; the ecosystem is called after that. The receipt has a state: ${states}`,
    "A command is sent at most once. The commands of one thing are sent one after the other, and at most 4 may wait. A command that asks for the same as one that waits or is being sent gets the receipt of that one. A newer command of the same kind replaces one that was not sent. A command that the thing can't carry out now is answered with a receipt in the state `rejected`.",
    "A token without scopes may only start and stop fans; every other command needs a token with the scope `devices:control`.",
  ],
  parameters: [thingId],
  body: {
    contentType: "application/json",
    schema: named(
      "ThingCommand",
      object(
        "A command.",
        { trait: text("The trait."), command: text("The command of the trait.") },
        { params: parameterValues },
      ),
    ),
    example: { trait: "thermostat", command: "setTarget", params: { celsius: 20.5 } },
  },
  answers: [jsonAnswer(202, "The receipt.", receipt, example)],
  errors: [
    {
      status: 400,
      code: "invalid_request",
      when: "The body is malformed, or no trait has such a command or parameter.",
    },
    unknownThing,
  ],
};

export const listThingCommands: Description = {
  operationId: "listThingCommands",
  tag: "Things",
  summary: "List the commands of a thing",
  words: [
    "The receipts of the newest 100 commands, newest first. The fan requests of a thermostat that were written to an attribute are among them.",
  ],
  parameters: [thingId],
  answers: [
    jsonAnswer(
      200,
      "The receipts.",
      named(
        "CommandReceipts",
        object("The receipts of a thing.", {
          thingId: text("The thing's id."),
          commands: list("The newest first.", receipt),
        }),
      ),
      { thingId: example.thingId, commands: [example] },
    ),
  ],
  errors: [unknownThing],
};

export const getThingCommand: Description = {
  operationId: "getThingCommand",
  tag: "Things",
  summary: "Read the receipt of a command",
  words: [`What became of a command. Its state is ${states}`],
  parameters: [thingId, commandId],
  answers: [jsonAnswer(200, "The receipt.", receipt, { ...example, state: "confirmed" })],
  errors: [unknownThing, unknownCommand],
};
