import type { AnswerDescription, Description, Parameter } from "../../http/documentation/description.ts";
import { text } from "../../model/json-schema.ts";

/** Pages and redirects for a person's browser; no JSON. */
const page = (status: number, meaning: string): AnswerDescription => ({
  status,
  meaning,
  content: { contentType: "text/html", schema: { type: "string" } },
});

const parameter = (
  name: string,
  where: Parameter["in"],
  meaning: string,
  more: Partial<Parameter> = {},
): Parameter => ({
  name,
  in: where,
  isRequired: false,
  schema: { type: "string" },
  meaning,
  ...more,
});

const token = parameter("token", "path", "The secret in the session's `url`.", {
  isRequired: true,
});
const csrf = parameter(
  "csrf",
  "form",
  "Protects against cross-site request forgery; the page holds it in a hidden field.",
  {
    isRequired: true,
  },
);
const expired = page(
  400,
  "A page that says what is wrong: the session has expired, was used, or belongs to another browser.",
);
const location = text("The session's page, or the page of the ecosystem.");
const toPage = (meaning: string): AnswerDescription => ({ status: 303, meaning, headers: { Location: location } });

export const showLinkPage: Description = {
  operationId: "showLinkPage",
  tag: "Link pages",
  summary: "The page of a link session",
  words: [
    "Open the session's `url` in the user's browser. The page shows the session's present state: sign in, connect your home, reading, the result. It can be opened again at any time in the same browser.",
  ],
  parameters: [
    token,
    parameter("wait", "query", "`true`: the answer waits for up to 10 seconds while the home is read.", {
      schema: { type: "string", enum: ["true", "false"] },
    }),
  ],
  answers: [
    page(200, "The page of the session's present state."),
    toPage("The work of another node was interrupted: the page shows what to do."),
    expired,
  ],
};

export const sendLinkSignIn: Description = {
  operationId: "sendLinkSignIn",
  tag: "Link pages",
  summary: "The sign-in form of a link session",
  words: ["What the sign-in page sends. The user must be the one whom the session names, if it names one."],
  parameters: [
    token,
    csrf,
    parameter("username", "form", "The user's name within the tenant.", { isRequired: true }),
    parameter("password", "form", "The user's password.", { isRequired: true }),
  ],
  answers: [
    toPage("The user is signed in, or the form came too late: the page shows the present state."),
    expired,
    page(401, "The page again: the name or the password is wrong."),
    page(403, "The page again: the password is right, but the session is for another user."),
    page(429, "The page again: too many failed attempts, or too many at once. `Retry-After` says when to try again."),
  ],
};

export const sendLinkDecision: Description = {
  operationId: "sendLinkDecision",
  tag: "Link pages",
  summary: "The forms of a link session",
  words: [
    "What the other pages send. A form that comes too late, or twice, changes nothing and shows the present state.",
  ],
  parameters: [
    token,
    csrf,
    parameter("decision", "form", "What the user chose.", {
      isRequired: true,
      schema: { type: "string", enum: ["continue", "cancel", "switch", "keep"] },
    }),
    parameter("address", "form", "The address of the account, for an ecosystem whose accounts have one each."),
  ],
  answers: [
    toPage("On to the ecosystem, or to the page with the present state."),
    expired,
    page(
      429,
      "The page again: calls that this session or its user has caused before have no answer yet. `Retry-After` says when to try again.",
    ),
  ],
};

export const receiveConsent: Description = {
  operationId: "receiveConsent",
  tag: "Link pages",
  summary: "The callback of the ecosystems",
  words: [
    "Register `<base URL>/link/callback` as the redirect address of Breezeway's client with each ecosystem. Only the browser that was sent to the ecosystem can bring the answer; the ecosystem's tokens stay in Breezeway.",
  ],
  parameters: [
    parameter("state", "query", "The state that Breezeway sent to the ecosystem.", { isRequired: true }),
    parameter("code", "query", "The ecosystem's code."),
    parameter("error", "query", "The ecosystem's error instead of a code; `access_denied` when the owner declined."),
  ],
  answers: [toPage("The session's page."), expired],
};
