import { boolean, integer, list, object, text } from "../../../model/json-schema.ts";
import type { AdminCall, AdminField } from "../../../operators/admin-call.ts";
import { cursor, exampleTime, filter, ofTenant, time } from "./fields.ts";
import { exampleLink, shownLink } from "./link-calls.ts";

const userId = integer("The user's id.");
const user = {
  userId,
  name: text("The name to sign in with."),
  admin: boolean("May give enterprise clients access to the whole tenant."),
  suspended: boolean("Sign-ins and tokens are refused."),
  tenant: text("The tenant's name."),
  created: time("When the user was added."),
};
const exampleUser = { userId: 3, name: "ada", admin: false, suspended: false, tenant: "Acme", created: exampleTime };

const device = object("A device.", {
  deviceId: integer("Its id."),
  deviceName: text("Its name."),
  deviceTypeName: text("Its type."),
});
const password: AdminField = {
  option: "password",
  kind: "text",
  meaning: "The password, of 8 to 60 characters.",
  isRequired: true,
  example: "a good password",
};
const access = object("The user.", { userId, name: user.name, suspended: user.suspended });
const path = "/users/:user";
const count = (description: string) => integer(description, { minimum: 0 });

export const userCalls: readonly AdminCall[] = [
  {
    act: "user list",
    method: "GET",
    path: "/users",
    need: "read",
    subject: "tenants",
    isPaged: true,
    summary: "List users",
    fields: [ofTenant, filter],
    answer: object(
      "One page of users.",
      { users: list("In the order of their ids.", object("A user.", user)) },
      cursor,
    ),
    example: { users: [exampleUser] },
  },
  {
    act: "user add",
    method: "POST",
    path: "/users",
    need: "change",
    subject: "tenants",
    summary: "Add a user",
    fields: [
      { ...ofTenant, meaning: "The name or id of the tenant.", isRequired: true, example: "Acme" },
      { option: "name", kind: "text", meaning: "The name to sign in with.", isRequired: true, example: "ada" },
      password,
      { option: "admin", kind: "flag", meaning: "The user may give enterprise clients access to the whole tenant." },
    ],
    answer: object("The new user.", { userId }),
    example: { userId: 3 },
  },
  {
    act: "user show",
    method: "GET",
    path,
    need: "read",
    subject: "tenants",
    summary: "Show a user with devices and links",
    answer: object("The user.", {
      ...user,
      devices: list("The user's devices.", device),
      links: list("The user's links.", object("A link.", shownLink)),
    }),
    example: {
      ...exampleUser,
      devices: [{ deviceId: 7, deviceName: "Hall lamp", deviceTypeName: "Lamp" }],
      links: [exampleLink],
    },
  },
  {
    act: "user set-password",
    method: "PUT",
    path: `${path}/password`,
    need: "change",
    subject: "tenants",
    asksPassword: true,
    summary: "Set a user's password, and sign the user out everywhere",
    fields: [password],
    answer: object("What ended.", { userId, grants: count("Grants to clients that ended.") }),
    example: { userId: 3, grants: 2 },
  },
  {
    act: "user suspend",
    method: "POST",
    path: `${path}/suspend`,
    need: "change",
    subject: "tenants",
    summary: "Suspend a user; sign-ins and tokens are refused on every node within a second",
    words: ["Nothing is deleted, and the user's homes go on."],
    answer: access,
    example: { userId: 3, name: "ada", suspended: true },
  },
  {
    act: "user resume",
    method: "POST",
    path: `${path}/resume`,
    need: "change",
    subject: "tenants",
    summary: "End the suspension of a user; all access works again",
    answer: access,
    example: { userId: 3, name: "ada", suspended: false },
  },
  {
    act: "user unlock",
    method: "POST",
    path: `${path}/unlock`,
    need: "change",
    subject: "tenants",
    summary: "Forget failed sign-ins with a user's name",
    answer: access,
    example: { userId: 3, name: "ada", suspended: false },
  },
  {
    act: "user remove",
    method: "DELETE",
    path,
    need: "change",
    subject: "tenants",
    asksPassword: true,
    summary: "Remove a user with links, devices, history and grants",
    answer: object("What was removed.", {
      userId,
      removed: object("Counts.", {
        links: count("Links."),
        devices: count("Devices."),
        attributes: count("Attributes."),
        history: count("Entries of the log."),
        blindIntervals: count("Blind intervals."),
        alerts: count("Alerts."),
        webhooks: count("Webhooks."),
        grants: count("Grants to clients."),
      }),
      tokensRevoked: count("Links whose tokens were revoked at the ecosystem."),
    }),
    example: {
      userId: 3,
      removed: {
        links: 1,
        devices: 2,
        attributes: 520,
        history: 40,
        blindIntervals: 0,
        alerts: 1,
        webhooks: 0,
        grants: 1,
      },
      tokensRevoked: 1,
    },
  },
];
