import type { Description, ErrorDescription, Parameter, Schema } from "../../http/documentation/description.ts";
import { boolean, integer, list, map, milliseconds, named, object, text } from "../../http/documentation/schema.ts";

/** The device that an address names. */
export const deviceId: Parameter = {
  name: "deviceId",
  in: "path",
  isRequired: true,
  schema: { type: "string" },
  meaning: "The device's id.",
  example: "41",
};

export const unknownDevice: ErrorDescription = {
  status: 404,
  code: "unknown_device",
  when: "The token reaches no device with this id.",
};
export const unknownAttribute: ErrorDescription = {
  status: 404,
  code: "unknown_attribute",
  when: "A linked account is asked for an attribute that no linked account has.",
};
const badParameter: ErrorDescription = { status: 400, code: "invalid_request", when: "A parameter is malformed." };

const always = {
  deviceId: integer("The device's id.", { minimum: 1 }),
  deviceName: text("Its name."),
  deviceTypeName: text("Its type; `EcosystemAccount` for a linked account."),
  presenceInfo: integer("1 when it is present, else 0. A linked account is present while its stream is live.", {
    enum: [0, 1],
  }),
};

const forEnterprise = { userId: integer("The user whose device it is; only for enterprise tokens.", { minimum: 1 }) };

export const listDevices: Description = {
  operationId: "listDevices",
  tag: "Users and devices",
  summary: "List devices",
  words: [
    "The devices that the token reaches, 100 a page, ascending by id. Ask again with `cursor` for the next page; the last page has none. A cursor never expires and carries its filter along.",
  ],
  parameters: [
    {
      name: "deviceTypeName",
      in: "query",
      isRequired: false,
      schema: { type: "string" },
      meaning: "Only devices of this type. An enterprise token must name one.",
      example: "EcosystemAccount",
    },
    {
      name: "cursor",
      in: "query",
      isRequired: false,
      schema: { type: "string" },
      meaning: "From the page before. A filter beside it must be the cursor's own.",
    },
  ],
  answers: [
    {
      status: 200,
      meaning: "A page of devices.",
      content: {
        contentType: "application/json",
        schema: named(
          "DeviceList",
          object(
            "A page of devices.",
            {
              devices: list(
                "The devices of this page.",
                named("DeviceSummary", object("A device in short.", always, forEnterprise)),
              ),
            },
            { cursor: text("Leads to the next page; missing on the last one.") },
          ),
        ),
        example: {
          devices: [
            { deviceId: 40, deviceName: "Hall lamp", deviceTypeName: "Lamp", presenceInfo: 1 },
            { deviceId: 41, deviceName: "Nest account", deviceTypeName: "EcosystemAccount", presenceInfo: 1 },
          ],
        },
      },
    },
  ],
  errors: [badParameter],
};

const attribute: Schema = named(
  "Attribute",
  object("One attribute of a device.", {
    value: {
      type: ["string", "number", "null"],
      description:
        'Totals are numbers, everything else is text; booleans are "true" and "false". Null means that it was erased or has turned blank.',
    },
    updateTime: milliseconds("When it changed last."),
  }),
);

export const getDevice: Description = {
  operationId: "getDevice",
  tag: "Users and devices",
  summary: "Read a device",
  words: [
    "All attributes that have a value, or only those you name. Asked for by name, an attribute that was erased or has turned blank is null, with the time of that; one that never had a value is not in the answer. One exception: `requestWrite` of a thermostat that is there is always in the answer when it is asked for by name, null when it is empty, with the time since which it is so. With `since` you get what changed strictly after that time, including, as null, what has turned blank since: so a poller never keeps the last word of an alarm that is gone. Times rise with each change to a device, whatever clocks do; the highest `updateTime` you have seen is your next `since`.",
    "The attributes of a linked account are `d.structures[X]…` and `o.…`, 519 names in all. Both published spellings are accepted (`thermostats[Y]` and `thermostat[Y]`, `smokeCoAlarms[Y]` and `smokeCOAlarms[Y]`, `totals.smokeCOAlarms` and `totals.smokeCoAlarms`); the answer uses yours. All 519 names fit into one request: its line and headers may take 48 KB, beyond which the answer is 431.",
    "A device that its structure lists and for which the ecosystem sends no object takes an index too: the device has a `device_id`, counts in the totals, and its other attributes stay as they were or blank until the object comes.",
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
        "The name of an attribute to read. `a,b` is read as two names unless the device has an attribute of that whole name. An ordinary device has no fixed names: one that it doesn't have is not in the answer.",
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
      content: {
        contentType: "application/json",
        schema: named(
          "Device",
          object(
            "A device with its attributes.",
            {
              ...always,
              stale: boolean("True when what is shown may no longer be so: see how the link stands."),
              attributes: map("Attributes by name.", attribute),
            },
            {
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
      },
    },
  ],
  errors: [badParameter, unknownDevice, unknownAttribute],
};

export const updateDevice: Description = {
  operationId: "updateDevice",
  tag: "Users and devices",
  summary: "Write attributes",
  words: [
    "Writes one attribute or several, all of them or none. Values are kept and shown as text; null or an empty text erases.",
    'On a linked account only `….fan_timer_active.requestWrite` of a thermostat is writable: `"true"` asks for the fan, `"false"` stops it. This call answers before the ecosystem has. Then read `fan_timer_active`: it counts only when its time is later than your write; that time also moves when the fan did already what you ask for, as soon as the ecosystem confirms it. Accepted, the request is erased; refused, it holds `error: <message>, <value>, <time>`.',
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
  answers: [
    {
      status: 200,
      meaning: "All of it is written.",
      content: {
        contentType: "application/json",
        schema: object("It is done.", { status: text("Always `OK`.", { enum: ["OK"] }) }),
        example: { status: "OK" },
      },
    },
  ],
  errors: [
    {
      status: 400,
      code: "invalid_request",
      when: 'The body is no flat object of names and values, or is empty, or is `{"name": …, "value": …}` for a device that has neither attribute.',
    },
    { status: 403, code: "read_only_attribute", when: "The ecosystem alone sets this attribute." },
    unknownDevice,
    { status: 404, code: "unknown_attribute", when: "A linked account has no attribute of that name." },
    {
      status: 409,
      code: "limit_reached",
      when: "The device would have more than 1,000 attributes, erased ones included, or the attributes of the user's devices would take more than 8 MB.",
    },
    { status: 413, code: "value_too_large", when: "A value is longer than 8 KB." },
  ],
};
