import type { Description, ErrorDescription, Parameter } from "../../http/documentation/description.ts";
import { jsonAnswer } from "../../http/documentation/description-parts.ts";
import type { Schema } from "../../model/json-schema.ts";
import { boolean, integer, list, map, milliseconds, named, object, orNull, text } from "../../model/json-schema.ts";

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

const ecosystemUrl: Parameter = {
  name: "anEcosystemUrl",
  in: "queryOrBody",
  isRequired: false,
  schema: { type: "string", maxLength: 2048 },
  meaning:
    "The address of the account, for an ecosystem whose accounts have an address each: https, and public unless the ecosystem's settings allow private networks. Other ecosystems ignore it.",
};

const badParameter: ErrorDescription = { status: 400, code: 102, when: "A parameter is missing or malformed." };
const unknownEcosystem: ErrorDescription = { status: 400, code: 120, when: "No ecosystem of that name is configured." };
const notLinked: ErrorDescription = { status: 404, code: 119, when: "The user is not linked. Use POST to link." };
const refusedToken: ErrorDescription = { status: 422, code: 121, when: "The ecosystem refused the token." };
const unreachable: ErrorDescription = { status: 503, code: 122, when: "The ecosystem can't be reached now." };

const tooManyProofs: ErrorDescription = {
  status: 429,
  code: 107,
  when: "Calls that the user, or users of the tenant, have caused have no answer from their ecosystems yet; `Retry-After` says when to try again.",
};

const federation: Schema = named("Federation", object("A link to an account.", { DeviceId: deviceId }));

const linked = jsonAnswer(
  200,
  "The account is verified, mirrored and stored: its attributes can be read at once.",
  federation,
  { DeviceId: "41" },
);

export const linkAccount: Description = {
  operationId: "linkAccount",
  tag: "Linked accounts",
  summary: "Link an account",
  words: [
    "Gives the service an ecosystem's access token. The token is verified with the ecosystem before anything is stored. The account becomes one virtual device of the user, with its attributes filled when this call answers; the ecosystem's stream keeps it current from then on.",
    "A refused call changes nothing. Two users may link the same account.",
  ],
  parameters: [ecosystemName, ecosystemToken, ecosystemUrl],
  answers: [linked],
  errors: [
    badParameter,
    unknownEcosystem,
    { status: 409, code: 118, when: "The user is linked already. Use PUT to replace the token." },
    refusedToken,
    tooManyProofs,
    unreachable,
  ],
};

export const replaceAccountToken: Description = {
  operationId: "replaceAccountToken",
  tag: "Linked accounts",
  summary: "Replace the token of a link",
  words: [
    "Takes a new access token for an account that is linked already. Device and indexes stay. Sending the same token again does not interrupt the stream; the replaced token is not revoked. If the token belongs to another account, the device shows that account when the call answers.",
  ],
  parameters: [ecosystemName, ecosystemToken, ecosystemUrl],
  answers: [{ ...linked, meaning: "The token is replaced; the device is the same." }],
  errors: [badParameter, unknownEcosystem, notLinked, refusedToken, tooManyProofs, unreachable],
};

export const unlinkAccount: Description = {
  operationId: "unlinkAccount",
  tag: "Linked accounts",
  summary: "Disconnect an account",
  words: [
    "Stops following the account, revokes its token where the ecosystem can, and removes the virtual device with everything that belongs to it. This can't be undone; linking again makes a new device.",
  ],
  parameters: [ecosystemName],
  answers: [
    jsonAnswer(
      200,
      "What was removed.",
      named(
        "Unlinked",
        object("What unlinking removed.", {
          DeviceId: deviceId,
          removed: object("How many records of each kind were removed.", {
            attributes: integer("Attribute values.", { minimum: 0 }),
            history: integer("Entries of the history.", { minimum: 0 }),
            blindIntervals: integer("Recorded blind intervals.", { minimum: 0 }),
            commands: integer("Receipts of fan requests.", { minimum: 0 }),
            alerts: integer("Alerts on the virtual device.", { minimum: 0 }),
          }),
          tokenRevoked: boolean("Whether the ecosystem confirmed that the token is revoked."),
        }),
      ),
      {
        DeviceId: "41",
        removed: { attributes: 52, history: 318, blindIntervals: 2, commands: 4, alerts: 2 },
        tokenRevoked: true,
      },
    ),
  ],
  errors: [badParameter, unknownEcosystem, notLinked],
};

export const getLinkStatus: Description = {
  operationId: "getLinkStatus",
  tag: "Linked accounts",
  summary: "Read the state of a link",
  words: [
    "Shows what the attributes can't: whether the stream is live, what in the account exceeds the limits, and when events could have been missed.",
  ],
  parameters: [ecosystemName],
  answers: [
    jsonAnswer(
      200,
      "The state of the link.",
      named(
        "LinkStatus",
        object("The state of a link, and notices about its account.", {
          DeviceId: deviceId,
          ecosystem: text("The ecosystem's name."),
          state: text(
            "`live`: its stream is open. `waiting`: between streams. `needs_reauth`: the link needs a new token.",
            { enum: ["live", "waiting", "needs_reauth"] },
          ),
          reason: text("Why it is in this state, in words; may be empty."),
          presenceInfo: integer("1 while the stream is live, else 0.", { enum: [0, 1] }),
          stale: boolean("True when the link isn't live, or when nothing was confirmed for 15 minutes."),
          confirmedTime: orNull(milliseconds("When the ecosystem last confirmed the whole state.")),
          overLimit: object(
            "Objects beyond 2 structures and, in each, 20 thermostats and 18 alarms. They have no attributes.",
            {
              structures: integer("Structures without an index.", { minimum: 0 }),
              thermostats: integer("Thermostats without an index.", { minimum: 0 }),
              alarms: integer("Smoke/CO alarms without an index.", { minimum: 0 }),
            },
            {
              things: integer("Things beyond 500, which are not stored; missing when there is none.", { minimum: 1 }),
            },
          ),
          oddities: object("Counts of incomplete or unexpected data in the last snapshot.", {
            incomplete: integer("Objects that were announced but not readable; their values stay.", { minimum: 0 }),
            unknownAlarmStates: integer("Unknown alarm states; they are mirrored unchanged.", {
              minimum: 0,
            }),
            unknownAwayStates: integer("Unknown home/away states; they are shown as `unknown`.", {
              minimum: 0,
            }),
            strayAlarms: integer(
              "Alarms that belong to no structure in the snapshot. In an account of one structure they have an index there; in one of two, their warnings and emergencies count in both.",
              { minimum: 0 },
            ),
            partialPuts: integer(
              "How often the stream sent a part instead of the whole account; a read followed. Counted by the node that follows the link.",
              { minimum: 0 },
            ),
          }),
          drifts: integer(
            "How often a plain read found changes that the stream had not sent. Counted by the node that follows the link.",
            { minimum: 0 },
          ),
          blindIntervals: list(
            "Times in the last 90 days in which an event of the account could have been missed.",
            object("A blind interval.", {
              from: milliseconds("When it began."),
              to: orNull(milliseconds("When it ended; null while it lasts.")),
              cause: text("Why."),
            }),
          ),
        }),
      ),
      {
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
    ),
  ],
  errors: [badParameter, unknownEcosystem, notLinked],
};

export const getLargeStrings: Description = {
  operationId: "getLargeStrings",
  tag: "Linked accounts",
  summary: "Resolve indexes",
  words: [
    "Maps the names and ids that the ecosystem uses to the indexes X and Y in attribute names. Indexes are arbitrary, so resolve them here; once assigned, an index stays with its ecosystem id through rename, absence and return.",
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
    jsonAnswer(
      200,
      "The index map of what is present in the account.",
      named(
        "IndexMap",
        object("How names and ids of the ecosystem map to indexes.", {
          labels: map("A structure's friendly name → its id in the ecosystem.", { type: "string" }),
          identifiers: map(
            "An ecosystem id → its description: `[X]` for a structure; `[X, kind, name, structure id]` for a device, whose kind is `thermostats` or `smokeCoAlarms`.",
            { type: "array", items: { type: "string" }, minItems: 1, maxItems: 4 },
          ),
        }),
      ),
      {
        labels: { "Maple Street": "structure-7f3a" },
        identifiers: {
          "thermostat-91c2": ["1", "thermostats", "Hallway", "structure-7f3a"],
          "alarm-04be": ["1", "smokeCoAlarms", "Kitchen", "structure-7f3a"],
          "structure-7f3a": ["1"],
        },
      },
    ),
  ],
  errors: [badParameter, { status: 404, code: 109, when: "The caller has no virtual device with this id." }],
};
