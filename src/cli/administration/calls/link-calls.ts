import { defaultExample } from "../../../ecosystems/registry.ts";
import { boolean, integer, list, object, orNull, text } from "../../../model/json-schema.ts";
import type { AdminCall } from "../../../operators/admin-call.ts";
import { cursor, ofTenant, timeOrNull } from "./fields.ts";

/** A link as lists show it. */
export const shownLink = {
  ecosystem: text("The ecosystem."),
  deviceId: integer("The virtual device of the account."),
  state: text("`live`, `waiting`, `stale`, `needs_reauth`, `not_followed`."),
  reason: text("Why it is not live."),
  stale: boolean("The values may be out of date."),
  confirmedTime: integer("When the ecosystem last confirmed the state. Milliseconds since 1970."),
};
export const exampleLink = {
  ecosystem: defaultExample.name,
  deviceId: 8,
  state: "live",
  reason: "",
  stale: false,
  confirmedTime: 1_772_357_400_000,
};

const link = object("A link.", {
  homeName: orNull(text("The names of its homes, as far as they are known.")),
  userId: integer("The user."),
  userName: text("The user's name."),
  tenant: text("The tenant's name."),
  ...shownLink,
  node: orNull(text("The id of the node that follows it.")),
  nodeName: orNull(text("That node's host and port.")),
  blindSince: timeOrNull("Since when changes of the home are not seen."),
  blindMsOfDay: orNull(
    integer("For how long they were not seen in the last 24 hours, in milliseconds. Null: not counted."),
  ),
  alarm: boolean("A smoke or CO alarm of the home sounds, also as of the last confirmation."),
});

export const linkCalls: readonly AdminCall[] = [
  {
    act: "link find",
    method: "GET",
    path: "/links",
    need: "read",
    subject: "tenants",
    isPaged: true,
    summary: "Find links by state",
    fields: [
      ofTenant,
      { option: "state", kind: "text", meaning: "Only links of this state." },
      {
        option: "filter",
        kind: "text",
        meaning: "Only links whose home, user, ecosystem or device contains this text.",
      },
      { option: "alarm", kind: "flag", meaning: "Only links of homes in which a smoke or CO alarm sounds." },
    ],
    answer: object("One page of links.", { links: list("In the order of users.", link) }, cursor),
    example: {
      links: [
        {
          homeName: "Maple Street",
          userId: 3,
          userName: "ada",
          tenant: "Acme",
          ...exampleLink,
          node: "n1",
          nodeName: "host-1:8080",
          blindSince: null,
          blindMsOfDay: 0,
          alarm: false,
        },
      ],
    },
  },
  {
    act: "link counts",
    method: "GET",
    path: "/links/counts",
    need: "read",
    subject: "tenants",
    summary: "Count links by state",
    fields: [ofTenant],
    answer: object("The counts.", {
      states: list(
        "In alphabetical order.",
        object("A state.", { state: text("It."), count: integer("How many links.") }),
      ),
    }),
    example: { states: [{ state: "live", count: 12 }] },
  },
];
