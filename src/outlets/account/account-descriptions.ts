import type { AnswerDescription, Description, Parameter } from "../../http/documentation/description.ts";
import { jsonAnswer } from "../../http/documentation/description-parts.ts";
import { text } from "../../model/json-schema.ts";

/** Pages and redirects for a person's browser. */
const page = (status: number, meaning: string): AnswerDescription => ({
  status,
  meaning,
  content: { contentType: "text/html", schema: { type: "string" } },
});

const redirect = (meaning: string, more = {}): AnswerDescription => ({
  status: 303,
  meaning,
  headers: { Location: text("The account page, or the page of a link session."), ...more },
});

const parameter = (
  name: string,
  where: Parameter["in"],
  meaning: string,
  more: Partial<Parameter> = {},
): Parameter => ({ name, in: where, isRequired: false, schema: { type: "string" }, meaning, ...more });

const tenantId = parameter("tenantId", "path", "The tenant's id.", {
  isRequired: true,
  schema: { type: "integer", minimum: 1 },
  example: "1",
});
const csrf = parameter(
  "csrf",
  "form",
  "Protects against cross-site request forgery; the page holds it in a hidden field.",
  { isRequired: true },
);
const yes = { type: "string", enum: ["yes"] } as const;
const unknownTenant = page(404, "A page: there is no such tenant.");
const cookie = { "Set-Cookie": text("The session, in this browser only.") };

export const chooseCompany: Description = {
  operationId: "chooseAccountTenant",
  tag: "Account pages",
  summary: "Find the account page",
  words: [
    "Leads to the account page of the only tenant. With several tenants it asks for the tenant's name. Link to `/account/{tenantId}` where you can.",
  ],
  parameters: [parameter("company", "query", "The tenant's name.")],
  answers: [
    page(200, "A page that asks for the tenant's name."),
    redirect("On to the account page of the tenant."),
    page(404, "The page again: there is no tenant of that name."),
  ],
};

export const showAccount: Description = {
  operationId: "showAccount",
  tag: "Account pages",
  summary: "The account page",
  words: [
    "For users of the tenant: their linked homes with their state, the apps with access, export, sign out, and the end of the account. Without a session, the tenant's sign-in page.",
  ],
  parameters: [
    tenantId,
    parameter("page", "query", "Which page of apps; the first is 1."),
    parameter("done", "query", "What was just done, for a notice."),
  ],
  answers: [page(200, "The account page, or the sign-in page."), unknownTenant],
};

export const sendAccountSignIn: Description = {
  operationId: "sendAccountSignIn",
  tag: "Account pages",
  summary: "The sign-in form of the account page",
  words: ["What the sign-in page sends. A session lasts for 12 hours, and ends after 30 minutes without use."],
  parameters: [
    tenantId,
    csrf,
    parameter("username", "form", "The user's name within the tenant.", { isRequired: true }),
    parameter("password", "form", "The user's password.", { isRequired: true }),
  ],
  answers: [
    redirect("The user is signed in.", cookie),
    page(400, "A page that says what is wrong, for example that the page has expired."),
    page(401, "The sign-in page again: the name or the password is wrong."),
    unknownTenant,
    page(
      429,
      "The sign-in page again: too many failed attempts, or too many at once. `Retry-After` says when to try again.",
    ),
  ],
};

export const sendAccountForm: Description = {
  operationId: "sendAccountForm",
  tag: "Account pages",
  summary: "The forms of the account page",
  words: [
    "What the account page sends: one of the fields below says what to do. What ends something is asked once more on a page of its own. A form without a session, or sent twice, changes nothing.",
  ],
  parameters: [
    tenantId,
    csrf,
    parameter("renew", "form", "The ecosystem whose connection is renewed in a link session."),
    parameter("unlink", "form", "The ecosystem from which the user is disconnected."),
    parameter("endAccess", "form", "The id of the client whose access ends."),
    parameter("signOut", "form", "Ends the session of this browser.", { schema: yes }),
    parameter("signOutEverywhere", "form", "Ends the sessions of all browsers.", { schema: yes }),
    parameter("deleteAccount", "form", "Removes the user with all data; needs `password`.", { schema: yes }),
    parameter("decision", "form", "The answer to the question.", {
      schema: { type: "string", enum: ["confirm", "cancel"] },
    }),
    parameter("password", "form", "The user's password, to delete the account."),
  ],
  answers: [
    page(200, "The question, or that the account is deleted."),
    redirect("It is done, or there is no session: the account page says which.", cookie),
    page(400, "A page that says what is wrong, for example that the page has expired. Nothing was changed."),
    page(401, "The question again: the password is wrong."),
    unknownTenant,
    page(409, "A page: too many link sessions of the last day."),
    page(429, "The question again: too many wrong passwords. `Retry-After` says when to try again."),
  ],
};

export const exportAccount: Description = {
  operationId: "exportAccount",
  tag: "Account pages",
  summary: "Export the user's data",
  words: [
    "A JSON file with the user, links without their tokens, apps with access, devices with their attributes, things and alerts. Only in the browser in which the user is signed in.",
  ],
  parameters: [tenantId],
  answers: [
    jsonAnswer(200, "The file.", { type: "object" }),
    redirect("There is no session: the sign-in page."),
    unknownTenant,
    page(429, "A page: another export of this user runs."),
  ],
};
