import { boolean, integer, list, object, orNull, type Schema, text } from "../../../model/json-schema.ts";
import type { AdminCall } from "../../../operators/admin-call.ts";

const timeMs = (meaning: string) => integer(`${meaning} Milliseconds since 1970.`);
const value = orNull(text("The value as text; null when it is blank."));
const cause: Schema = { type: "object", description: "Who or what changed it, in `by`.", additionalProperties: {} };
const devicePath = "/users/:user/devices/:device";
const exampleTime = 1_772_357_400_000;
const ofTenants = { subject: "tenants" } as const;

/** Devices of users with their attributes, as operators see them. */
export const deviceCalls: readonly AdminCall[] = [
  {
    act: "home device show",
    method: "GET",
    path: devicePath,
    need: "read",
    ...ofTenants,
    summary: "Show a user's device with all its attributes, and which webhooks receive its events",
    answer: object("The device.", {
      userId: integer("Its user."),
      userName: text("The user's name."),
      deviceId: integer("Its id."),
      deviceName: text("Its name."),
      deviceTypeName: text("Its type."),
      room: orNull(text("Its room.")),
      virtual: boolean("It mirrors a linked account."),
      present: boolean("The account is linked; true for other devices."),
      stale: boolean("The values may be out of date."),
      confirmedTime: orNull(timeMs("When the ecosystem last confirmed the whole state.")),
      attributes: list(
        "All attributes that ever had a value.",
        object("An attribute.", {
          name: text("Its name."),
          value,
          updateTime: timeMs("When it changed."),
          place: list("The home and the thing that it is about, by name.", text("A name.")),
          field: text("The rest of the name."),
          slot: text("The beginning of the name: the slot of a virtual device."),
          writable: boolean("It can be written."),
        }),
      ),
      webhooks: list(
        "Webhooks that receive its events.",
        object("A webhook.", {
          webhookId: text("Its id."),
          clientId: text("Its client."),
          ofTenant: boolean("It receives the events of all users of the tenant."),
        }),
      ),
    }),
    example: {
      userId: 3,
      userName: "ada",
      deviceId: 8,
      deviceName: "Hall lamp",
      deviceTypeName: "Lamp",
      room: "Hall",
      virtual: false,
      present: true,
      stale: false,
      confirmedTime: null,
      attributes: [
        { name: "power", value: "on", updateTime: exampleTime, place: [], field: "power", slot: "", writable: true },
      ],
      webhooks: [{ webhookId: "wh_…", clientId: "bwc_…", ofTenant: false }],
    },
  },
  {
    act: "home device history",
    method: "GET",
    path: `${devicePath}/history`,
    need: "read",
    ...ofTenants,
    summary: "List the changes of a user's device, oldest first",
    fields: [
      { option: "from", kind: "text", meaning: "From when on: `2h`, `3d` or an ISO time; 24 hours when left out." },
    ],
    answer: object("The changes.", {
      from: timeMs("The beginning."),
      changes: list(
        "Oldest first, about 1,000 at most.",
        object("A change.", { time: timeMs("When."), name: text("The attribute."), value, cause }),
      ),
      cut: boolean("There are more, which are newer."),
    }),
    example: {
      from: exampleTime,
      changes: [{ time: exampleTime, name: "power", value: "on", cause: { by: "client", user: 3 } }],
      cut: false,
    },
  },
  {
    act: "home device write",
    method: "PUT",
    path: `${devicePath}/attributes`,
    need: "change",
    ...ofTenants,
    summary: "Write attributes of a user's device, all or none",
    fields: [
      {
        option: "set",
        kind: "texts",
        meaning: "Attributes with their new values: `power=on`. An empty value erases.",
        example: ["power=on"],
      },
    ],
    answer: object("What was written.", {
      deviceId: integer("The device."),
      written: list("The attributes.", text("A name.")),
    }),
    example: { deviceId: 8, written: ["power"] },
  },
];
