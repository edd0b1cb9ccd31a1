import type { TagName } from "./description.ts";

/**
 * The groups of operations, in the order in which a newcomer needs them. Both `/docs` and the OpenAPI document show the
 * texts.
 */
export const tags: Readonly<Record<TagName, string>> = {
  Authorization:
    "An OAuth 2.0 authorization server with the authorization-code flow: send the user's browser to `authorize`, exchange the code for a pair of tokens, refresh the pair, revoke it when the user leaves. PKCE with S256 is supported, and required of clients that are registered with it.",
  "Users and devices":
    "What an access token may read and change. A user's token covers that user and their devices; an enterprise token covers every user and device of its tenant. Everything else looks as if it did not exist.",
  Provisioning:
    "How a company manages devices of its own with an enterprise token: one by one or in batches, and their states.",
  Things:
    "The things of linked accounts and of own devices that have a trait map: thermostats, alarms, lamps, homes and others, each with traits. A trait is a named group of fields with capabilities; its words are the same for every ecosystem.",
  Alerts:
    "Rules on attributes and on things: when a condition becomes true, an alert writes to other devices of the same user, or sends an event. The platform calls for triggers work on the same alerts, without those on things.",
  Events:
    "Changes of the devices that a token covers: live, over Server-Sent Events that resume without a gap; and later, as history.",
  "Linked accounts":
    "The adaptor interface: it links a user to their account in a home ecosystem. The whole account becomes one virtual device, and the ecosystem's stream keeps its attributes current.",
  "Platform calls":
    "Calls for clients of the platform's own web interface: GET with a query or POST with a form, answered in XML. A call that fails is HTTP 500 with a `requestFault`. A wrong method, path or type of body has its own HTTP status, with a `requestFault` too.",
  "Authorization pages":
    "The pages that a user's browser visits between `authorize` and your redirect address. Your client never calls them; they are listed for completeness.",
  "Link pages":
    "The pages that a user's browser visits between the `url` of a link session and your return address, and the callback that you register with each ecosystem. Your client never calls them; they are listed for completeness.",
  "Account pages":
    "The page of the people whose homes are linked: their homes, the apps with access, their data. Your client never calls it; send people there.",
  Assistants:
    "What a voice assistant's maker calls for users who have linked it. Only a token of the client that belongs to that assistant's outlet is accepted.",
  Administration:
    "What operators do, over the network: each call is a command of the command line, with the same answer, and members are named as the command's options. An operator reaches only their own tenants: everything else looks as if it did not exist. Each change is in the audit log with the operator's name.",
  "Console pages":
    "The pages of the console, for operators with a browser, and those on which they sign in. Programs never call them; they are listed for completeness.",
  Service: "The service's health, and its own documentation.",
};
