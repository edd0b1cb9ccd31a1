import { integer, list, object, orNull, text } from "../../../model/json-schema.ts";
import type { AdminCall, AdminField } from "../../../operators/admin-call.ts";
import { cursor, exampleTime, filter, time } from "./fields.ts";

const tenantId = integer("The tenant's id, the `appId` of platform calls.");
const tenantName = text("Its name.");
const tenant = { tenantId, name: tenantName };
const exampleTenant = { tenantId: 42, name: "Acme" };

const shown = object("The tenant, with the branding of its pages.", {
  ...tenant,
  accent: orNull(text("The accent, as `#rrggbb`.")),
  supportUrl: orNull(text("The address for help.")),
  logo: orNull(object("The logo.", { type: text("Its media type."), bytes: integer("Its size.") })),
  terms: orNull(object("The terms of its users.", { version: text("Their version."), date: time("Since when.") })),
});
const exampleShown = {
  ...exampleTenant,
  accent: "#0b6470",
  supportUrl: "https://help.example/",
  logo: { type: "image/png", bytes: 2_048 },
  terms: { version: "3", date: exampleTime },
};

const name: AdminField = { option: "name", kind: "text", meaning: "Its name.", isRequired: true, example: "Acme" };
const path = "/tenants/:tenant";

export const tenantCalls: readonly AdminCall[] = [
  {
    act: "tenant list",
    method: "GET",
    path: "/tenants",
    need: "read",
    subject: "tenants",
    isPaged: true,
    summary: "List the tenants that you reach",
    fields: [filter],
    answer: object(
      "One page of tenants.",
      { tenants: list("In the order of their ids.", object("A tenant.", tenant)) },
      cursor,
    ),
    example: { tenants: [exampleTenant] },
  },
  {
    act: "tenant add",
    method: "POST",
    path: "/tenants",
    need: "change",
    subject: "deployment",
    summary: "Add a tenant",
    fields: [
      name,
      { option: "app-id", kind: "number", meaning: "Its id, the `appId` of platform calls; without it, a free one." },
    ],
    answer: object("The new tenant.", tenant),
    example: exampleTenant,
  },
  {
    act: "tenant show",
    method: "GET",
    path,
    need: "read",
    subject: "tenants",
    summary: "Show a tenant with its branding and terms",
    answer: shown,
    example: exampleShown,
  },
  {
    act: "tenant rename",
    method: "PUT",
    path: `${path}/name`,
    need: "change",
    subject: "tenants",
    summary: "Give a tenant another name",
    fields: [name],
    answer: object("The tenant.", tenant),
    example: exampleTenant,
  },
  {
    act: "tenant brand",
    method: "PATCH",
    path: `${path}/brand`,
    need: "change",
    subject: "tenants",
    summary: "Change the branding of a tenant's pages",
    words: ["Members that are left out keep their values."],
    fields: [
      {
        option: "accent",
        kind: "text",
        meaning: "The accent, as `#rrggbb`, with enough contrast.",
        example: "#0b6470",
      },
      { option: "support-url", kind: "text", meaning: "The https address for help." },
      { option: "logo", kind: "text", meaning: "A PNG, JPEG, WebP or SVG picture in base64." },
      { option: "clear", kind: "texts", meaning: "What to remove: `accent`, `logo`, `support-url`." },
    ],
    answer: shown,
    example: exampleShown,
  },
  {
    act: "tenant terms",
    method: "PUT",
    path: `${path}/terms`,
    need: "change",
    subject: "tenants",
    summary: "Set or remove the terms of a tenant's users",
    fields: [
      { option: "file", kind: "text", meaning: "The text of the terms.", example: "Be kind to your thermostat." },
      { option: "version", kind: "text", meaning: "Their version.", example: "3" },
      { option: "clear", kind: "flag", meaning: "Remove the terms." },
      {
        option: "require-acceptance",
        kind: "flag",
        meaning: "True: access granted under older terms must be accepted again. False: it remains valid.",
      },
      { option: "refreshes-end", kind: "text", meaning: "When such access ends: a date such as 2027-01-31." },
    ],
    answer: shown,
    example: exampleShown,
  },
  {
    act: "tenant remove",
    method: "DELETE",
    path,
    need: "change",
    subject: "deployment",
    asksPassword: true,
    summary: "Remove a tenant that has no users, with its clients",
    answer: object("What was removed.", {
      ...tenant,
      removed: object("Counts.", { clients: integer("Clients that were removed.") }),
    }),
    example: { ...exampleTenant, removed: { clients: 1 } },
  },
];
