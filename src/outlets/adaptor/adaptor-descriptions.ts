import type { Description, ErrorDescription, Parameter, Schema } from "../../http/documentation/description.ts";
import {
  boolean,
  integer,
  list,
  map,
  milliseconds,
  named,
  object,
  orNull,
  text,
} from "../../http/documentation/schema.ts";

const deviceId = text("The virtual device that stands for the account: its id as a decimal string.", {
  pattern: "^[0-9]+$",
});

const ecosystemName: Parameter = {
  name: "anEcosystemName",
  in: "queryOrBody",
  isRequired: true,
  schema: { type: "string" },
  meaning: "The name of a configured ecosystem, in any case.",
  example: "nest",
};

const ecosystemToken: Parameter = {
  name: "anAccessToken",
  in: "queryOrBody",
  isRequired: true,
  schema: { type: "string", maxLength: 4096, pattern: "^[ -~]+$" },
  meaning: "The access token that the ecosystem gave your client for this user.",
  variable: "ECOSYSTEM_TOKEN",
};

const badParameter: ErrorDescription = { status: 400, code: 102, when: "A parameter is missing or malformed." };
const unknownEcosystem: ErrorDescription = { status: 400, code: 120, when: "No ecosystem of that name is configured." };
const notLinked: ErrorDescription = { status: 404, code: 119, when: "The user is not linked. Use POST to link." };
const refusedToken: ErrorDescription = { status: 422, code: 121, when: "The ecosystem refused the token." };
const unreachable: ErrorDescription = { status: 503, code: 122, when: "The ecosystem can't be reached now." };

const federation: Schema = named("Federation", object("A link to an account.", { DeviceId: deviceId }));

const linked = {
  status: 200,
  meaning: "The account is proven, mirrored and kept: its attributes can be read at once.",
  content: { contentType: "application/json", schema: federation, example: { DeviceId: "41" } },
} as const;

export const linkAccount: Description = {
  operationId: "linkAccount",
  tag: "Linked accounts",
  summary: "Link an account",
  words: [
    "Gives the service an ecosystem's access token. The token is proven with the ecosystem before anything is kept; what the ecosystem then shows becomes one virtual device on the user's account, filled when this call answers and kept current by the ecosystem's stream from then on.",
    "A refused call changes nothing. Two users may link the same account.",
  ],
  parameters: [ecosystemName, ecosystemToken],
  answers: [linked],
  errors: [
    badParameter,
    unknownEcosystem,
    { status: 409, code: 118, when: "The user is linked already. Use PUT to replace the token." },
    refusedToken,
    unreachable,
  ],
};

export const replaceAccountToken: Description = {
  operationId: "replaceAccountToken",
  tag: "Linked accounts",
  summary: "Replace the token of a link",
  words: [
    "Takes a new access token for an account that is linked already. Device and indexes stay as they are. The same token again leaves the stream alone; the replaced token is not revoked. After the token of another account the device shows that account when the call answers.",
  ],
  parameters: [ecosystemName, ecosystemToken],
  answers: [{ ...linked, meaning: "The token is replaced; the device is the same." }],
  errors: [badParameter, unknownEcosystem, notLinked, refusedToken, unreachable],
};

export const unlinkAccount: Description = {
  operationId: "unlinkAccount",
  tag: "Linked accounts",
  summary: "Unlink an account",
  words: [
    "Stops following the account, revokes its token where the ecosystem can, and removes the virtual device with everything that belongs to it. This can't be undone; linking again makes a new device.",
  ],
  parameters: [ecosystemName],
  answers: [
    {
      status: 200,
      meaning: "What was removed.",
      content: {
        contentType: "application/json",
        schema: named(
          "Unlinked",
          object("What an unlinking took away.", {
            DeviceId: deviceId,
            removed: object("How many records of each kind were removed.", {
              attributes: integer("Attribute values.", { minimum: 0 }),
              history: integer("Entries of the history.", { minimum: 0 }),
              blindIntervals: integer("Recorded blind intervals.", { minimum: 0 }),
              commands: integer("Receipts of fan requests.", { minimum: 0 }),
              alerts: integer("Alerts on the virtual device.", { minimum: 0 }),
            }),
            tokenRevoked: boolean("Whether the ecosystem confirmed that the token is dead."),
          }),
        ),
        example: {
          DeviceId: "41",
          removed: { attributes: 52, history: 318, blindIntervals: 2, commands: 4, alerts: 2 },
          tokenRevoked: true,
        },
      },
    },
  ],
  errors: [badParameter, unknownEcosystem, notLinked],
};

export const getLinkStatus: Description = {
  operationId: "getLinkStatus",
  tag: "Linked accounts",
  summary: "See how a link stands",
  words: [
    "Tells what the attributes can't: whether the ecosystem is being followed, what in the account is over the limits, and when an event could not have been seen.",
  ],
  parameters: [ecosystemName],
  answers: [
    {
      status: 200,
      meaning: "How the link stands.",
      content: {
        contentType: "application/json",
        schema: named(
          "LinkStatus",
          object("How a link stands, and what was noticed about its account.", {
            DeviceId: deviceId,
            ecosystem: text("The ecosystem's name."),
            state: text(
              "`live`: its stream follows the account. `waiting`: between streams. `needs_reauth`: only a new token helps.",
              { enum: ["live", "waiting", "needs_reauth"] },
            ),
            reason: text("Why it is in this state, in words; empty when there is nothing to say."),
            presenceInfo: integer("1 while the stream is live, else 0.", { enum: [0, 1] }),
            stale: boolean("True when the link isn't live, or when nothing was confirmed for 15 minutes."),
            confirmedTime: orNull(milliseconds("When the ecosystem last confirmed the whole state.")),
            overLimit: object(
              "What is there beyond 2 structures and, in each, 20 thermostats and 18 alarms; it has no attributes.",
              {
                structures: integer("Structures without an index.", { minimum: 0 }),
                thermostats: integer("Thermostats without an index.", { minimum: 0 }),
                alarms: integer("Smoke/CO alarms without an index.", { minimum: 0 }),
              },
            ),
            oddities: object("What the last snapshot left open or said in an unexpected way.", {
              incomplete: integer("Objects that were announced but not readable; their values stay.", { minimum: 0 }),
              unknownAlarmStates: integer("Alarm states we don't know; they are mirrored as they are.", {
                minimum: 0,
              }),
              unknownAwayStates: integer("Home/away states we don't know; they are shown as `unknown`.", {
                minimum: 0,
              }),
              strayAlarms: integer(
                "Alarms that belong to no structure in the snapshot. In an account of one structure they have an index there; in one of two, their warnings and emergencies count in both.",
                { minimum: 0 },
              ),
              partialPuts: integer(
                "How often the stream sent a part instead of the whole account; a read followed. The node counts that follows the link.",
                { minimum: 0 },
              ),
            }),
            drifts: integer(
              "How often a second look found what the stream had withheld; the node counts that follows the link.",
              { minimum: 0 },
            ),
            blindIntervals: list(
              "When an event in the account could not have been seen, in the last 90 days.",
              object("A stretch of blindness.", {
                from: milliseconds("When it began."),
                to: orNull(milliseconds("When it ended; null while it lasts.")),
                cause: text("Why."),
              }),
            ),
          }),
        ),
        example: {
          DeviceId: "41",
          ecosystem: "nest",
          state: "live",
          reason: "",
          overLimit: { structures: 0, thermostats: 0, alarms: 0 },
          oddities: { incomplete: 0, unknownAlarmStates: 0, unknownAwayStates: 0, strayAlarms: 0, partialPuts: 0 },
          drifts: 0,
          presenceInfo: 1,
          stale: false,
          confirmedTime: 1_785_312_000_000,
          blindIntervals: [{ from: 1_785_311_400_000, to: 1_785_311_404_118, cause: "just linked" }],
        },
      },
    },
  ],
  errors: [badParameter, unknownEcosystem, notLinked],
};

export const getLargeStrings: Description = {
  operationId: "getLargeStrings",
  tag: "Linked accounts",
  summary: "Resolve indexes",
  words: [
    "Maps the names and ids that the ecosystem uses to the indexes X and Y in attribute names. Indexes are arbitrary, so resolve them here; once given, an index stays with its ecosystem id through rename, absence and return.",
    "Y of a device is the one whose `device_id` attribute holds the ecosystem's id. POST does the same as GET, for clients that keep the secToken out of addresses.",
    "An access token reads the same: a user's token for the user's own device, an enterprise token for any device of its tenant.",
  ],
  parameters: [
    {
      name: "id",
      in: "queryOrBody",
      isRequired: true,
      schema: { type: "string", pattern: "^[0-9]+$" },
      meaning: "The id of the virtual device.",
      example: "41",
    },
  ],
  answers: [
    {
      status: 200,
      meaning: "The index map of what is present in the account.",
      content: {
        contentType: "application/json",
        schema: named(
          "IndexMap",
          object("How names and ids of the ecosystem map to indexes.", {
            labels: map("A structure's friendly name → its id in the ecosystem.", { type: "string" }),
            identifiers: map(
              "An ecosystem id → the platform's words for it: `[X]` for a structure; `[X, kind, name, structure id]` for a device, whose kind is `thermostats` or `smokeCoAlarms`.",
              { type: "array", items: { type: "string" }, minItems: 1, maxItems: 4 },
            ),
          }),
        ),
        example: {
          labels: { "Maple Street": "structure-7f3a" },
          identifiers: {
            "thermostat-91c2": ["1", "thermostats", "Hallway", "structure-7f3a"],
            "alarm-04be": ["1", "smokeCoAlarms", "Kitchen", "structure-7f3a"],
            "structure-7f3a": ["1"],
          },
        },
      },
    },
  ],
  errors: [badParameter, { status: 404, code: 109, when: "The caller has no virtual device with this id." }],
};
