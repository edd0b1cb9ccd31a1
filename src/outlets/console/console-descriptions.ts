import type { AnswerDescription, Description, Parameter } from "../../http/documentation/description.ts";
import { text } from "../../model/json-schema.ts";

/** An answer that is an HTML page. */
const page = (status: number, meaning: string): AnswerDescription => ({
  status,
  meaning,
  content: { contentType: "text/html", schema: { type: "string" } },
});

const goesTo = (meaning: string): AnswerDescription => ({
  status: 303,
  meaning,
  headers: { Location: text("A page of the console.") },
});

const parameter = (name: string, where: Parameter["in"], meaning: string, isRequired = false): Parameter => ({
  name,
  in: where,
  isRequired,
  schema: { type: "string" },
  meaning,
});

const to = (where: Parameter["in"]) => parameter("to", where, "The page of the console to show afterwards.");
const link = parameter("link", "path", "The secret in the link.", true);
const name = parameter("name", "form", "The name to sign in with.");
const password = parameter("password", "form", "The password.", true);
const expired = page(404, "A page that says that the link was used or has expired.");
const invalidField = page(400, "The page again: a field is invalid.");
const wrongPassword = page(401, "The page again: the name or the password is wrong.");
const crossSite = page(403, "A page of another site has sent the form.");

function described(operationId: string, summary: string, more: Partial<Description>): Description {
  return {
    operationId,
    tag: "Console pages",
    summary,
    words: [`${summary}.`],
    answers: [page(200, "The page.")],
    ...more,
  };
}

export const describeSignIn = described("showConsoleSignIn", "The sign-in page of the console", {
  parameters: [to("query")],
});

export const describeSignInForm = described("sendConsoleSignIn", "The sign-in form of the console", {
  parameters: [{ ...name, isRequired: true }, password, to("form")],
  answers: [goesTo("The operator is signed in."), wrongPassword, crossSite],
});

export const describeSignOut = described("sendConsoleSignOut", "Sign out of the console", {
  answers: [goesTo("The session has ended."), crossSite],
});

/** The forms of a page that an embedding program adds. */
export const describeAddedForm = (operationId: string, title: string) =>
  described(operationId, `The forms of the page ${title}`, {
    parameters: [parameter("act", "form", "What to do.", true)],
    answers: [goesTo("It is done."), page(409, "A page that says why nothing was done."), crossSite],
  });

export const describeClaim = described("showConsoleClaim", "The page of a claim link", {
  words: ["`breezeway operator claim` prints the link. It is for one use within 30 minutes."],
  parameters: [link],
  answers: [page(200, "The page."), expired],
});

const tenant = parameter("tenant", "form", "The name of the first tenant, when there is none.");

export const describeClaimForm = described("sendConsoleClaim", "The form of a claim link", {
  parameters: [link, { ...name, isRequired: true }, password, tenant],
  answers: [goesTo("The person is an owner, and signed in."), invalidField, crossSite, expired],
});

export const describeInvitation = described("showConsoleInvitation", "The page of an invitation", {
  words: ["`breezeway operator invite` makes the link. It is for one use within 7 days."],
  parameters: [link],
  answers: [page(200, "The page."), expired],
});

export const describeInvitationForm = described("sendConsoleInvitation", "The form of an invitation", {
  parameters: [link, name, password],
  answers: [goesTo("The person is an operator, and signed in."), invalidField, crossSite, expired],
});

export const describePassword = described("showConsolePassword", "The page that asks for the password again", {
  parameters: [to("query")],
  answers: [
    page(200, "The page."),
    goesTo(
      "Nobody is signed in: the sign-in page. A name in place of a user's id: the page with that id, or a search.",
    ),
  ],
});

export const describePasswordForm = described("sendConsolePassword", "The form that asks for the password again", {
  parameters: [password, to("form")],
  answers: [goesTo("The password is confirmed for 5 minutes."), wrongPassword, crossSite],
});

export const describeAction = described("sendConsoleAction", "The form of an action on a page of the console", {
  words: ["Runs one call of `/admin/v1` by the name of its command, with the other fields as its options."],
  parameters: [
    parameter("act", "form", "The name of the command.", true),
    to("form"),
    parameter("form", "form", "The address of the form, which is shown again after the password."),
  ],
  answers: [
    page(200, "The answer, when it holds a secret that is shown once."),
    goesTo("It is done: the page again. Or nobody is signed in, or the password is needed."),
    page(400, "A page that says what is wrong."),
    crossSite,
  ],
});

export const describeLive = described("showConsoleChanges", "Follow what changes, for the pages of the console", {
  words: [
    "A stream of Server-Sent Events. `change` says what a change is about, without its content: `{deviceId, kind, tenantId, userId, time}`, of the tenants that the operator reaches. `heartbeat`: every 2 seconds. `resync`: changes may be missing. The stream ends within a second after the session, and when the operator reaches other tenants than before.",
  ],
  parameters: [
    {
      ...parameter("Last-Event-ID", "header", "The id of the last event; the stream continues after it."),
      schema: text("An id."),
    },
  ],
  answers: [
    {
      status: 200,
      meaning: "The stream; it goes on until either side ends it.",
      content: {
        contentType: "text/event-stream",
        schema: text("Server-Sent Events."),
        example:
          'id: 1f-8-3\nevent: change\ndata: {"deviceId":8,"kind":"attribute","tenantId":1,"userId":3,"time":1772357400000}\n\n',
      },
    },
  ],
});

export const describeScript = described("showConsoleScript", "A script of the console's pages", {
  parameters: [
    parameter("digest", "path", "A hash of the scripts.", true),
    parameter("name", "path", "The file.", true),
  ],
  answers: [
    {
      status: 200,
      meaning: "The script. It never changes at this address.",
      content: { contentType: "text/javascript", schema: text("JavaScript.") },
    },
  ],
});

export const describeAuditCsv = described("showConsoleAuditFile", "The audit log as a file", {
  words: ["The newest 10,000 entries that match the filters."],
  parameters: [
    parameter("tenant", "query", "Only entries of this tenant, by name or id."),
    parameter("act", "query", "Only this act."),
    parameter("operator", "query", "Only acts of this operator, by name."),
    parameter("user", "query", "Only acts of this user, by id."),
    parameter("client", "query", "Only acts of this client, by its whole id."),
  ],
  answers: [
    {
      status: 200,
      meaning: "One line for each entry, newest first.",
      content: { contentType: "text/csv", schema: { type: "string" } },
    },
    goesTo("Nobody is signed in: the sign-in page."),
  ],
});

/** The description of a page: its title is all that a program needs to know. */
export function describePage(
  operationId: string,
  title: string,
  pathParameters: readonly string[],
  query: readonly string[] = [],
): Description {
  return described(operationId, `The page ${title}`, {
    parameters: [
      ...pathParameters.map((parameterName) => parameter(parameterName, "path", "Its id.", true)),
      parameter("tenant", "query", "The id of the chosen tenant."),
      ...query.map((queryName) => parameter(queryName, "query", "What the page shows.")),
      parameter("parts", "query", "Names of parts, with commas: only these are answered, without the frame."),
    ],
    answers: [
      page(200, "The page, or the parts of it."),
      goesTo(
        "Nobody is signed in: the sign-in page. A name in place of a user's id: the page with that id, or a search.",
      ),
    ],
  });
}

export const describeOpenId = described("showConsoleOpenId", "Sign in at the OpenID provider", {
  words: ["Sends the browser to the provider of `BREEZEWAY_OPERATOR_OIDC_ISSUER`."],
  parameters: [to("query"), parameter("confirm", "query", "Set: the present session is confirmed by a new sign-in.")],
  answers: [
    { status: 303, meaning: "The browser goes to the provider.", headers: { Location: text("The provider's page.") } },
    page(404, "A page that says that there is no OpenID provider."),
    page(503, "A page that says that the provider can't be reached."),
  ],
});

export const describeOpenIdCallback = described("showConsoleOpenIdCallback", "The way back from the OpenID provider", {
  words: ["The provider sends the browser here. The answer counts only in the browser that began, within 10 minutes."],
  parameters: [
    parameter("code", "query", "The provider's code."),
    parameter("state", "query", "The value that binds the answer to the browser."),
    parameter("iss", "query", "The provider, by its issuer address."),
    parameter("error", "query", "Why the provider refuses."),
    parameter("error_description", "query", "The same in words."),
    parameter("session_state", "query", "A value of the provider that is ignored."),
  ],
  answers: [
    page(200, "The operator is signed in; the page leads to the console."),
    page(403, "A page that says why the operator is not signed in."),
    page(404, "A page that says that there is no OpenID provider."),
    page(503, "A page that says that the provider can't be reached."),
  ],
});
