import type { Description } from "../../http/documentation/description.ts";
import { jsonAnswer, pathParameter } from "../../http/documentation/description-parts.ts";
import { integer, milliseconds, named, object, orNull, text } from "../../model/json-schema.ts";

const id = text("The session's id.", { pattern: "^ls_[A-Za-z0-9_-]{22}$" });
const expiresTime = milliseconds("Until when the page can be used: 30 minutes.");
const userId = integer("The user whose account will see the home.", { minimum: 1 });

export const createLinkSession: Description = {
  operationId: "createLinkSession",
  tag: "Linked accounts",
  summary: "Create a link session",
  words: [
    "Makes a page on which the owner of an account links it: send the user's browser to `url`. The page shows what is read and what may be done, sends the browser to the ecosystem, exchanges the code and links the account. The ecosystem's tokens never leave Breezeway. The page can be used once, for 30 minutes.",
    "The page names the account that will see the home. The user must sign in with it first, unless your client is registered as vouching for its users (`client edit --vouches-for-users`). With a user's token the account is that user's. An enterprise token names it with `userId`; without it, it is the account of the user of the tenant who signs in.",
    "With `returnUrl`, the last page leads back to it, with `linkSession` (the id) and your `state` added. Read the session then: the address in the browser proves nothing. A page that you opened as a popup sends `{linkSession, state, status}` to its opener by `postMessage`, to the origin of `returnUrl` only, and closes. The page can't be framed.",
    "`mode: renew` replaces the credential of an existing link; the device stays. If the new credential belongs to another account, the page asks before it switches.",
  ],
  body: {
    contentType: "application/json",
    schema: named(
      "NewLinkSession",
      object(
        "The session to create.",
        { ecosystem: text("The name of the ecosystem.") },
        {
          userId: integer("The user whose account will see the home. With a user's token only that user's own id.", {
            minimum: 1,
          }),
          mode: text("`link` by default.", { enum: ["link", "renew"] }),
          returnUrl: text(
            "Where the last page leads: one of the return addresses registered for your client, character for character. Without it the last page says that it can be closed.",
            { format: "uri" },
          ),
          state: text("Comes back unchanged with `returnUrl`. At most 2048 bytes."),
        },
      ),
    ),
    example: { ecosystem: "nest", mode: "link", returnUrl: "https://lantern.example/linked", state: "xyz" },
  },
  answers: [
    jsonAnswer(
      201,
      "The session.",
      named(
        "CreatedLinkSession",
        object("A new link session.", {
          id,
          url: text("The address of the page. It holds a secret: give it to the user alone.", { format: "uri" }),
          expiresTime,
        }),
      ),
      {
        id: "ls_3q2-7wAAAAAAAAAAAAAAAA",
        url: "https://breezeway.example/link/sessions/dBjftJeZ4CVP",
        expiresTime: 1_785_313_800_000,
      },
    ),
  ],
  errors: [
    {
      status: 400,
      code: "invalid_request",
      when: "A member is missing or malformed, returnUrl is not registered, or the ecosystem has no link page.",
    },
    { status: 400, code: "unknown_ecosystem", when: "No ecosystem of that name is configured." },
    { status: 404, code: "not_found", when: "The token gives access to no user with this id." },
    { status: 404, code: "not_federated", when: "`renew`: the user is not linked to the ecosystem." },
    { status: 409, code: "already_federated", when: "`link`: the user is linked to the ecosystem already." },
    {
      status: 409,
      code: "limit_reached",
      when: "The client has made 100 sessions for this user in the last day, or 10,000 as an enterprise client.",
    },
  ],
};

const problem = object("What went wrong last.", {
  side: text("Which side is at fault.", { enum: ["ecosystem", "client", "breezeway"] }),
  code: text("A stable code.", {
    enum: [
      "ecosystem_unreachable",
      "ecosystem_refused",
      "already_linked",
      "not_linked",
      "interrupted",
      "busy",
      "internal_error",
    ],
  }),
  description: text("A sentence for a person."),
});

export const getLinkSession: Description = {
  operationId: "getLinkSession",
  tag: "Linked accounts",
  summary: "Read a link session",
  words: [
    "Shows how a session stands. `pending`: the user has not finished. `linked`: the account is linked, as the device `deviceId`. `declined`: the user did not want to. `failed`: it can't succeed any more; `problem` says which side is at fault. `expired`: 30 minutes have passed. A `problem` of a pending or expired session is the last one; the user could try again.",
    "Only the client that created a session can read it, for the same user or tenant. A session can be read for 24 hours after it has expired.",
    "The end of a session is also an event `linkSession` on `GET /v3/events?linkSessions=true`, and a message to webhooks that were created with `linkSessions: true`; so is its expiry, within a minute.",
  ],
  parameters: [pathParameter("linkSessionId", "The session's id.", "ls_3q2-7wAAAAAAAAAAAAAAAA")],
  answers: [
    jsonAnswer(
      200,
      "The session.",
      named(
        "LinkSession",
        object(
          "A link session.",
          {
            id,
            ecosystem: text("The ecosystem's name."),
            mode: text("What the session does.", { enum: ["link", "renew"] }),
            userId: orNull(userId),
            status: text("How the session stands.", {
              enum: ["pending", "linked", "declined", "failed", "expired"],
            }),
            createdTime: milliseconds("When it was created."),
            expiresTime,
          },
          { deviceId: integer("The linked device; only when `linked`.", { minimum: 1 }), problem },
        ),
      ),
      {
        id: "ls_3q2-7wAAAAAAAAAAAAAAAA",
        ecosystem: "nest",
        mode: "link",
        userId: 3,
        status: "linked",
        deviceId: 41,
        createdTime: 1_785_312_000_000,
        expiresTime: 1_785_313_800_000,
      },
    ),
  ],
  errors: [{ status: 404, code: "not_found", when: "The token gives access to no session with this id." }],
};
