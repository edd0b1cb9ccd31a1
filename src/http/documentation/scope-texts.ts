import type { Scope } from "../../model/scopes.ts";

/** What each scope allows, for developers of clients. */
export const scopeMeanings: Readonly<Record<Scope, string>> = {
  "devices:read":
    "Read users, devices, their history and commands, and `largestrings`; follow events. Events of alerts that fire also need `alerts`.",
  "devices:control": "Write devices, fans included. It does not include reading them.",
  alerts:
    "Read, create, change and remove alerts. An alert that writes devices also needs `devices:control`; `explain` and `dry-run` show values, and also need `devices:read`.",
  webhooks:
    "List and remove webhooks, list and resend deliveries. Creating one also needs `devices:read`, because it gets the events of devices; messages about alerts that fire also need `alerts`.",
  links:
    "Make link sessions, on whose pages users connect their homes, and read how they end; be told of their ends by events and webhooks.",
};
