import type {
  ContentDescription,
  Description,
  ErrorDescription,
  Parameter,
} from "../../http/documentation/description.ts";
import { integer, map, object, orNull, text } from "../../model/json-schema.ts";
import { deviceContent, deviceId, unknownDevice } from "./device-descriptions.ts";

export const enterpriseOnly: ErrorDescription = {
  status: 403,
  code: "enterprise_only",
  when: "The token is a user's. Only enterprise clients manage devices.",
};

const attributeValues = map("Attribute names and their first values.", {
  type: ["string", "number", "boolean", "null"],
});

const newDevice = object(
  "A device of the company's own.",
  {
    userId: integer("The user whose device it is, of the client's tenant.", { minimum: 1 }),
    deviceTypeName: text("Its type: 1 to 128 characters. A new name makes a new type."),
    deviceName: text("Its name: 1 to 128 characters."),
  },
  { room: orNull(text("Its room: 1 to 128 characters.")), attributes: attributeValues },
);

export const lamp = {
  userId: 3,
  deviceTypeName: "Lamp",
  deviceName: "Hall lamp",
  room: "Hall",
  attributes: { power: "on" },
};

const lampId = 40;

const added: ContentDescription = {
  ...deviceContent,
  example: {
    deviceId: lampId,
    userId: 3,
    deviceName: "Hall lamp",
    room: "Hall",
    deviceTypeName: "Lamp",
    presenceInfo: 1,
    stale: false,
    attributes: { power: { value: "on", updateTime: 1_785_312_000_000 } },
  },
};

/** The example is the lamp: a linked account's device can't be changed here. */
const ownDeviceId: Parameter = { ...deviceId, example: String(lampId) };

export const unknownUser: ErrorDescription = {
  status: 404,
  code: "not_found",
  when: "The tenant has no user with this id.",
};

const linkedDevice: ErrorDescription = {
  status: 409,
  code: "conflict",
  when: "The device belongs to a linked account, whose ecosystem decides about it. To remove it, disconnect the account.",
};

export const additionLimits: ErrorDescription = {
  status: 409,
  code: "limit_reached",
  when: "The user has 10,000 devices, the tenant 1,000,000, the clients of the tenant have named 1,000 new types, or the attributes would exceed their limits.",
};

export const addDevice: Description = {
  operationId: "addDevice",
  tag: "Provisioning",
  summary: "Add a device",
  words: [
    "Adds a device of the company's own to a user of the tenant. The event `device` says `added`; the first values of its attributes follow as `attribute` events.",
  ],
  body: { contentType: "application/json", schema: newDevice, example: lamp },
  answers: [{ status: 201, meaning: "The device.", content: added }],
  errors: [
    { status: 400, code: "invalid_request", when: "A member is missing, unknown or malformed." },
    enterpriseOnly,
    unknownUser,
    additionLimits,
    { status: 413, code: "value_too_large", when: "A value is longer than 8 KB." },
  ],
};

export const describeDevice: Description = {
  operationId: "describeDevice",
  tag: "Provisioning",
  summary: "Change name and room of a device",
  words: ["Changes the name, the room, or both. Null erases the room. The event `device` says `changed`."],
  parameters: [ownDeviceId],
  body: {
    contentType: "application/json",
    schema: object("What to change.", {}, { deviceName: text("Its name."), room: orNull(text("Its room, or null.")) }),
    example: { room: "Kitchen" },
  },
  answers: [{ status: 200, meaning: "The device.", content: added }],
  errors: [
    { status: 400, code: "invalid_request", when: "The body has neither member, another one, or a malformed text." },
    enterpriseOnly,
    unknownDevice,
    linkedDevice,
  ],
};

export const removeDevice: Description = {
  operationId: "removeDevice",
  tag: "Provisioning",
  summary: "Remove a device",
  words: [
    "Removes the device with its attributes, alerts and history. The event `device` says `removed`. Its id is never used again.",
  ],
  parameters: [ownDeviceId],
  answers: [{ status: 204, meaning: "The device is removed." }],
  errors: [
    { status: 400, code: "invalid_request", when: "The request has a body." },
    enterpriseOnly,
    unknownDevice,
    linkedDevice,
  ],
};
