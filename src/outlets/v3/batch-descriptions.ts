import type { Description } from "../../http/documentation/description.ts";
import { jsonAnswer } from "../../http/documentation/description-parts.ts";
import { integer, list, map, object, text } from "../../model/json-schema.ts";
import { additionLimits, enterpriseOnly, lamp, unknownUser } from "./provisioning-descriptions.ts";

export const addDevices: Description = {
  operationId: "addDevices",
  tag: "Provisioning",
  summary: "Add many devices",
  words: [
    "Takes one JSON object in each line (NDJSON), as for one device, and answers with one line for each, in order: `{line, status, deviceId}`, or `{line, status, error, error_description}` for a refused one. Blank lines are not counted. A line has at most 64 KB.",
    "`mode=all`, the default, takes up to 1,000 lines, 10,000 attributes and 4 MB, and adds all devices or none: the error names the first line that was refused.",
    "`mode=each` takes any number of lines up to 256 MB within an hour; each succeeds or fails alone. Lines are carried out while they arrive, and answered at once: read the answer while you send. If the batch can't be carried out to its end, the last line has `isLast: true` and says why. Repeat the batch with the same `Idempotency-Key`: it is answered from the store as far as it was carried out, and continues there. One such batch of a tenant runs at a time on a node.",
  ],
  parameters: [
    {
      name: "mode",
      in: "query",
      isRequired: false,
      schema: { type: "string", enum: ["all", "each"] },
      meaning: "`all`: all devices or none. `each`: each line alone.",
    },
  ],
  body: {
    contentType: "application/x-ndjson",
    // OpenAPI 3.1 has no schema for the lines of a text.
    schema: { type: "string", description: "One JSON object in each line, with the members that one device has." },
    example: `${JSON.stringify(lamp)}\n`,
  },
  answers: [
    {
      status: 200,
      meaning: "One line for each line of the request.",
      content: {
        contentType: "application/x-ndjson",
        schema: { type: "string", description: "One JSON object in each line." },
        example: '{"line":1,"status":201,"deviceId":40}\n',
      },
    },
  ],
  errors: [
    { status: 400, code: "invalid_request", when: "There is no line, or with `mode=all` a line is malformed." },
    enterpriseOnly,
    unknownUser,
    additionLimits,
  ],
};

export const writeStates: Description = {
  operationId: "writeStates",
  tag: "Provisioning",
  summary: "Write states of many devices",
  words: [
    "Writes attributes of up to 1,000 devices of the tenant: an object with the id of each device and its attributes. Each device is one commit, in the order of the ids; a refused one leaves the others alone. Devices whose alerts have costly patterns are written last, unless they start an alarm. The answer is 200 even if all of them were refused: `failed` says why.",
  ],
  body: {
    contentType: "application/json",
    schema: map(
      "Attributes by device id.",
      map("Attribute names and their new values.", { type: ["string", "number", "boolean", "null"] }),
      { minProperties: 1 },
    ),
    example: { "40": { power: "off", level: 0 } },
  },
  answers: [
    jsonAnswer(
      200,
      "What became of each device.",
      object("What became of each device.", {
        written: list("The devices that were written.", { type: "integer" }),
        failed: list(
          "The devices that were refused, and why.",
          object("A refused device.", {
            deviceId: { type: ["integer", "string"], description: "Its id as it was sent." },
            status: integer("The HTTP status that the write of this device alone would have had."),
            error: text("The stable code of the error."),
            error_description: text("The error in a sentence."),
          }),
        ),
      }),
      { written: [40], failed: [] },
    ),
  ],
  errors: [
    { status: 400, code: "invalid_request", when: "The body is not an object with at least one device." },
    enterpriseOnly,
    { status: 409, code: "limit_reached", when: "The body names more than 1,000 devices, or 20 requests wait." },
  ],
};
