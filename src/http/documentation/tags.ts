import type { TagName } from "./description.ts";

/** What belongs together, in the order in which a newcomer meets it, with words for both readers. */
export const tags: Readonly<Record<TagName, string>> = {
  Authorization:
    "An OAuth 2.0 authorization server with the authorization-code flow: send the user's browser to `authorize`, exchange the code for a pair of tokens, refresh the pair, revoke it when the user leaves. PKCE with S256 is understood, and required of clients that are registered so.",
  "Users and devices":
    "What an access token may see and change. A user's token reaches that user and their devices; an enterprise token reaches every user and device of its tenant. What a token doesn't reach looks as if it weren't there.",
  Alerts:
    "Rules on attributes: when a condition becomes true, an alert writes to other devices of the same user, or is told to those who listen. The platform calls for alerts work on the same ones.",
  Events:
    "What happens to the devices that a token reaches: as it happens, over Server-Sent Events that resume without a gap; and afterwards, as history.",
  "Linked accounts":
    "The adaptor interface: it links a user to their account in a home ecosystem. The whole account becomes one virtual device, and the ecosystem's stream keeps its attributes current.",
  "Platform calls":
    "Calls for clients of the platform's own web interface: GET with a query or POST with a form, answered in XML. A call that fails is HTTP 500 with a `requestFault`. A wrong method, path or type of body has its own HTTP status, with a `requestFault` too.",
  "Authorization pages":
    "What a user's browser goes through between `authorize` and your redirect address. Your client never calls these; they are told for completeness.",
  Service: "How the service is doing, and how it describes itself.",
};
