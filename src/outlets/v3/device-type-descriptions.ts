import { traitMapTemplates } from "../../home/trait-map-templates.ts";
import type { ContentDescription, Description, ErrorDescription } from "../../http/documentation/description.ts";
import { jsonAnswer, pathParameter } from "../../http/documentation/description-parts.ts";
import { list, milliseconds, named, object, text } from "../../model/json-schema.ts";
import { enterpriseOnly } from "./provisioning-descriptions.ts";

const deviceTypeName = pathParameter("deviceTypeName", "The name of the device type; case-sensitive.", "Lamp");

const unknownDeviceType: ErrorDescription = {
  status: 404,
  code: "unknown_device_type",
  when: "The tenant has no trait map for a type of this name.",
};

const map = {
  type: "object",
  description: "The trait map. See *Own devices as things* in the documentation.",
} as const;

const deviceType = named(
  "DeviceType",
  object("A device type with its trait map.", {
    deviceTypeName: text("The name of the type."),
    map,
    changedTime: milliseconds("When the map was set."),
  }),
);

const lamp = { deviceTypeName: "Lamp", map: traitMapTemplates.lamp, changedTime: 1_785_312_000_000 };

const content: ContentDescription = { contentType: "application/json", schema: deviceType, example: lamp };

export const listDeviceTypes: Description = {
  operationId: "listDeviceTypes",
  tag: "Provisioning",
  summary: "List the device types that have a trait map",
  words: ["Lists the tenant's device types that have a trait map, by name. Other types are not listed."],
  answers: [
    jsonAnswer(
      200,
      "The device types.",
      object("The device types of the tenant.", { deviceTypes: list("Device types, by name.", deviceType) }),
      { deviceTypes: [lamp] },
    ),
  ],
  errors: [enterpriseOnly],
};

export const getDeviceType: Description = {
  operationId: "getDeviceType",
  tag: "Provisioning",
  summary: "Read the trait map of a device type",
  words: ["The map is the JSON document that was set."],
  parameters: [deviceTypeName],
  answers: [{ status: 200, meaning: "The device type.", content }],
  errors: [enterpriseOnly, unknownDeviceType],
};

export const setDeviceType: Description = {
  operationId: "setDeviceType",
  tag: "Provisioning",
  summary: "Set the trait map of a device type",
  words: [
    "A trait map says which attribute of a device is which field of which trait. With it every device of the type is a thing: in `/v3/things`, in events, in the history and for alerts.",
    "The map may be changed while devices exist. Their things change at once; no event says so. The error names the first place in the map that can't be used.",
  ],
  parameters: [deviceTypeName],
  body: { contentType: "application/json", schema: map, example: traitMapTemplates.lamp },
  answers: [{ status: 200, meaning: "The device type.", content }],
  errors: [
    { status: 400, code: "invalid_request", when: "The map can't be used, or the name is malformed." },
    enterpriseOnly,
    {
      status: 409,
      code: "limit_reached",
      when: "The tenant has 200 trait maps or 1,000 device types, or the map is larger than 16 KiB.",
    },
  ],
};

export const removeDeviceType: Description = {
  operationId: "removeDeviceType",
  tag: "Provisioning",
  summary: "Remove the trait map of a device type",
  words: ["Devices of the type stay as they are. They are no longer things; alerts on these things no longer fire."],
  parameters: [deviceTypeName],
  answers: [{ status: 204, meaning: "The map is removed." }],
  errors: [
    { status: 400, code: "invalid_request", when: "The request has a body." },
    enterpriseOnly,
    unknownDeviceType,
  ],
};
