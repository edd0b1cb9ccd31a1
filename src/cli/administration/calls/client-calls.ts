import { boolean, integer, list, object, orNull, text } from "../../../model/json-schema.ts";
import type { AdminCall, AdminField } from "../../../operators/admin-call.ts";
import { cursor, exampleTime, filter, ofTenant, time } from "./fields.ts";

const client = {
  client_id: text("The client's id."),
  name: text("The name that users read."),
  tenant: text("The tenant's name."),
  kind: text("`user` acts for each user who gives it access, `enterprise` for the whole tenant.", {
    enum: ["user", "enterprise"],
  }),
  redirect_uris: list("Addresses to which users are sent back.", text("An address.")),
  require_pkce: boolean("Requests without PKCE are refused."),
  return_urls: list("Addresses to which link pages send users back.", text("An address.")),
  vouches_for_users: boolean("Link pages do not ask its users to sign in."),
  sends_issuer: boolean("Users are sent back with `iss` (RFC 9207)."),
  suspended: boolean("Its secret and tokens are refused."),
  created: time("When it was added."),
};
const exampleClient = {
  client_id: "bwc_…",
  name: "Voice",
  tenant: "Acme",
  kind: "user",
  redirect_uris: ["https://voice.example/back"],
  require_pkce: true,
  return_urls: [],
  vouches_for_users: false,
  sends_issuer: true,
  suspended: false,
  created: exampleTime,
};
const credentials = object("The credentials. The secret is shown only now.", {
  client_id: client.client_id,
  client_secret: text("The secret."),
});
const exampleCredentials = { client_id: "bwc_…", client_secret: "bwcs_…" };

const returnUrl: AdminField = {
  option: "return-url",
  kind: "texts",
  meaning: "Addresses to which link pages send users back.",
};
const vouches: AdminField = {
  option: "vouches-for-users",
  kind: "flag",
  meaning: "It has signed its users in itself: link pages do not ask them to.",
};
const issuer: AdminField = {
  option: "issuer",
  member: "sendsIssuer",
  kind: "flag",
  meaning:
    "Send users back with `iss` (RFC 9207), as by default. False for a client that refuses parameters it does not know.",
};
const suspension = object("The client.", {
  client_id: client.client_id,
  name: client.name,
  suspended: client.suspended,
});
const path = "/clients/:client";

export const clientCalls: readonly AdminCall[] = [
  {
    act: "client list",
    method: "GET",
    path: "/clients",
    need: "read",
    subject: "tenants",
    isPaged: true,
    summary: "List clients",
    fields: [ofTenant, filter],
    answer: object("One page of clients.", { clients: list("Clients.", object("A client.", client)) }, cursor),
    example: { clients: [exampleClient] },
  },
  {
    act: "client add",
    method: "POST",
    path: "/clients",
    need: "secret",
    subject: "tenants",
    asksPassword: true,
    summary: "Register a client",
    words: ["The answer holds the client's secret, which is shown only once."],
    fields: [
      {
        ...ofTenant,
        meaning: "The name or id of the tenant whose users it may ask.",
        isRequired: true,
        example: "Acme",
      },
      { option: "name", kind: "text", meaning: "The name that users read.", isRequired: true, example: "Voice" },
      {
        option: "redirect-uri",
        kind: "texts",
        meaning: "Addresses to which users are sent back: https, exactly as the client sends them.",
        example: ["https://voice.example/back"],
      },
      { option: "kind", kind: "text", meaning: "`user` or `enterprise`; `user` when it is left out." },
      { option: "require-pkce", kind: "flag", meaning: "Refuse its requests without PKCE." },
      returnUrl,
      vouches,
      issuer,
    ],
    answer: credentials,
    example: exampleCredentials,
  },
  {
    act: "client show",
    method: "GET",
    path,
    need: "read",
    subject: "tenants",
    summary: "Show a client, without its secret",
    answer: object("The client.", {
      ...client,
      grants: list(
        "Its grants, counted by scope.",
        object("Grants of one scope.", {
          scope: orNull(
            text(
              "The scopes; null: everything, as clients of earlier versions get it; `by-default` at the end: the client named none.",
            ),
          ),
          grants: integer("How many."),
        }),
      ),
    }),
    example: { ...exampleClient, grants: [{ scope: "devices:read", grants: 3 }] },
  },
  {
    act: "client edit",
    method: "PATCH",
    path,
    need: "change",
    subject: "tenants",
    summary: "Change a client; members that are left out keep their values",
    fields: [
      { option: "name", kind: "text", meaning: "The name that users read." },
      {
        option: "redirect-uri",
        kind: "texts",
        meaning: "Addresses to which users are sent back; replaces those before.",
      },
      returnUrl,
      vouches,
      issuer,
    ],
    answer: object("The client after the change.", {
      client_id: client.client_id,
      name: client.name,
      redirect_uris: client.redirect_uris,
      return_urls: client.return_urls,
      vouches_for_users: client.vouches_for_users,
      sends_issuer: client.sends_issuer,
    }),
    example: {
      client_id: "bwc_…",
      name: "Voice",
      redirect_uris: ["https://voice.example/back"],
      return_urls: [],
      vouches_for_users: false,
      sends_issuer: true,
    },
  },
  {
    act: "client rotate-secret",
    method: "POST",
    path: `${path}/secret`,
    need: "secret",
    subject: "tenants",
    asksPassword: true,
    summary: "Give a client a new secret",
    words: ["The old secret stays valid for the overlap."],
    fields: [
      {
        option: "overlap",
        kind: "number",
        meaning: "Hours for which the old secret stays valid; 24 when it is left out.",
      },
    ],
    answer: credentials,
    example: exampleCredentials,
  },
  {
    act: "client suspend",
    method: "POST",
    path: `${path}/suspend`,
    need: "change",
    subject: "tenants",
    summary: "Suspend a client; its secret and tokens are refused on every node within a second",
    words: ["Nothing is deleted."],
    answer: suspension,
    example: { client_id: "bwc_…", name: "Voice", suspended: true },
  },
  {
    act: "client resume",
    method: "POST",
    path: `${path}/resume`,
    need: "change",
    subject: "tenants",
    summary: "End the suspension of a client; all its access works again",
    answer: suspension,
    example: { client_id: "bwc_…", name: "Voice", suspended: false },
  },
  {
    act: "client remove",
    method: "DELETE",
    path,
    need: "change",
    subject: "tenants",
    asksPassword: true,
    summary: "Remove a client; its tokens end at once",
    answer: object("What ended.", {
      client_id: client.client_id,
      name: client.name,
      grants: integer("Grants that ended."),
    }),
    example: { client_id: "bwc_…", name: "Voice", grants: 3 },
  },
];
