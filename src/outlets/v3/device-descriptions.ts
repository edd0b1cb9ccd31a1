import type { ContentDescription, Description, ErrorDescription } from "../../http/documentation/description.ts";
import { jsonAnswer, pathParameter } from "../../http/documentation/description-parts.ts";
import { okContent } from "../../http/documentation/schema.ts";
import type { Schema } from "../../model/json-schema.ts";
import { boolean, integer, list, map, milliseconds, named, object, text } from "../../model/json-schema.ts";

/** The device in the path. */
export const deviceId = pathParameter("deviceId", "The device's id.", "41");

export const unknownDevice: ErrorDescription = {
  status: 404,
  code: "unknown_device",
  when: "The token gives access to no device with this id.",
};
export const unknownAttribute: ErrorDescription = {
  status: 404,
  code: "unknown_attribute",
  when: "The device is a linked account, which has no attribute of that name.",
};
export const badParameter: ErrorDescription = {
  status: 400,
  code: "invalid_request",
  when: "A parameter is malformed.",
};

const deviceFields = {
  deviceId: integer("The device's id.", { minimum: 1 }),
  deviceName: text("Its name."),
  deviceTypeName: text("Its type; `EcosystemAccount` for a linked account."),
  presenceInfo: integer("1 when it is present, else 0. A linked account is present while its stream is live.", {
    enum: [0, 1],
  }),
};

const room = { room: text("The room that the company has set for a device of its own; missing when there is none.") };

const forEnterprise = { userId: integer("The user whose device it is; only for enterprise tokens.", { minimum: 1 }) };

export const listDevices: Description = {
  operationId: "listDevices",
  tag: "Users and devices",
  summary: "List devices",
  words: [
    "The devices that the token gives access to, 100 a page, ascending by id. Ask again with `cursor` for the next page; the last page has none. A cursor never expires and includes the filter.",
  ],
  parameters: [
    {
      name: "deviceTypeName",
      in: "query",
      isRequired: false,
      schema: { type: "string" },
      meaning: "Only devices of this type. Required with an enterprise token.",
      example: "EcosystemAccount",
    },
    {
      name: "cursor",
      in: "query",
      isRequired: false,
      schema: { type: "string" },
      meaning:
        "The `cursor` of the previous page. If `deviceTypeName` is sent too, it must be the same as for that page.",
    },
  ],
  answers: [
    jsonAnswer(
      200,
      "A page of devices.",
      named(
        "DeviceList",
        object(
          "A page of devices.",
          {
            devices: list(
              "The devices of this page.",
              named(
                "DeviceSummary",
                object("A device without its attributes.", deviceFields, { ...room, ...forEnterprise }),
              ),
            ),
          },
          { cursor: text("For the next page; missing on the last one.") },
        ),
      ),
      {
        devices: [
          { deviceId: 40, deviceName: "Hall lamp", deviceTypeName: "Lamp", presenceInfo: 1 },
          { deviceId: 41, deviceName: "Nest account", deviceTypeName: "EcosystemAccount", presenceInfo: 1 },
        ],
      },
    ),
  ],
  errors: [badParameter],
};

const attribute: Schema = named(
  "Attribute",
  object("One attribute of a device.", {
    value: {
      type: ["string", "number", "null"],
      description:
        'Totals are numbers, everything else is text; booleans are "true" and "false". Null: it was erased or became blank.',
    },
    updateTime: milliseconds("When it changed last."),
  }),
);

export const deviceContent: ContentDescription = {
  contentType: "application/json",
  schema: named(
    "Device",
    object(
      "A device with its attributes.",
      {
        ...deviceFields,
        stale: boolean("True when the values may be out of date; the status of the link says why."),
        attributes: map("Attributes by name.", attribute),
      },
      {
        ...room,
        ...forEnterprise,
        confirmedTime: milliseconds(
          "When the ecosystem last confirmed the whole state of a linked account. An ordinary device has none.",
        ),
      },
    ),
  ),
  example: {
    deviceId: 41,
    deviceName: "Nest account",
    deviceTypeName: "EcosystemAccount",
    presenceInfo: 1,
    stale: false,
    confirmedTime: 1_785_312_004_000,
    attributes: { "d.structures[1].a.away": { value: "home", updateTime: 1_785_312_000_000 } },
  },
};

export const getDevice: Description = {
  operationId: "getDevice",
  tag: "Users and devices",
  summary: "Read a device",
  words: [
    "All attributes that have a value, or only those you name. If you name an attribute that was erased or became blank, it is null, with the time at which that happened; one that never had a value is not in the answer. One exception: if you name the `requestWrite` of a thermostat that is present, it is always in the answer; when it is empty it is null, with the time at which it became empty. With `since` you get what changed strictly after that time. An attribute that became blank since then is null, so that a client does not keep the values of a smoke alarm that was removed. Times rise with each change to a device, even if clocks are set back; the highest `updateTime` you have seen is your next `since`.",
    "The attributes of a linked account are `d.structures[X]…` and `o.…`, 519 names in all. Both published spellings are accepted (`thermostats[Y]` and `thermostat[Y]`, `smokeCoAlarms[Y]` and `smokeCOAlarms[Y]`, `totals.smokeCOAlarms` and `totals.smokeCoAlarms`); the answer uses yours. All 519 names fit into one request: its line and headers may take 48 KB, beyond which the answer is 431.",
    "If a structure lists a device for which the ecosystem sends no object, the device has an index too: it has a `device_id` and counts in the totals, and its other attributes keep their values, or stay blank, until the ecosystem sends the object.",
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
        "The name of an attribute to read. `a,b` is read as two names unless the device has an attribute of that whole name. An ordinary device has no fixed names: a name that it doesn't have is missing from the answer.",
      example: "d.structures[1].a.away",
    },
    {
      name: "since",
      in: "query",
      isRequired: false,
      schema: { type: "integer", format: "int64", minimum: 0 },
      meaning: "Only what changed after this time, in milliseconds since 1970.",
    },
  ],
  answers: [
    {
      status: 200,
      meaning: "The device.",
      content: deviceContent,
    },
  ],
  errors: [badParameter, unknownDevice, unknownAttribute],
};

export const updateDevice: Description = {
  operationId: "updateDevice",
  tag: "Users and devices",
  summary: "Write attributes",
  words: [
    "Writes one attribute or several, all of them or none. Values are stored and shown as text; null or an empty text erases.",
    'On a linked account only `….fan_timer_active.requestWrite` of a thermostat is writable: `"true"` starts the fan, `"false"` stops it. This call answers before the ecosystem does. Then read `fan_timer_active`: its value counts only when its time is later than your write. That time also changes when the fan was in the requested state already, as soon as the ecosystem confirms it. When the ecosystem accepts the request, `requestWrite` is erased; when it refuses, `requestWrite` holds `error: <message>, <value>, <time>`.',
  ],
  parameters: [deviceId],
  body: {
    contentType: "application/json",
    schema: map(
      "Attribute names and their new values.",
      { type: ["string", "number", "boolean", "null"] },
      { minProperties: 1 },
    ),
    example: { "d.structures[1].d.thermostats[1].fan_timer_active.requestWrite": "true" },
  },
  answers: [{ status: 200, meaning: "All attributes are written.", content: okContent }],
  errors: [
    {
      status: 400,
      code: "invalid_request",
      when: 'The body is not a flat object of names and values, or is empty, or is `{"name": …, "value": …}` and the device has no attributes `name` and `value`.',
    },
    { status: 403, code: "read_only_attribute", when: "Only the ecosystem sets this attribute." },
    unknownDevice,
    {
      status: 404,
      code: "unknown_attribute",
      when: "The device is a linked account, which has no attribute of that name.",
    },
    {
      status: 409,
      code: "limit_reached",
      when: "The device would have more than 1,000 attributes, erased ones included, or the attributes of the user's devices would take more than 8 MB. Or 20 changes of the user wait for costly patterns of alerts.",
    },
    { status: 413, code: "value_too_large", when: "A value is longer than 8 KB." },
  ],
};
