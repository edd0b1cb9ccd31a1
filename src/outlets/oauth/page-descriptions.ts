import type { AnswerDescription, Description, Parameter } from "../../http/documentation/description.ts";
import { text } from "../../model/json-schema.ts";

/** Pages and redirects for a person's browser; no JSON. */
const page = (status: number, meaning: string): AnswerDescription => ({
  status,
  meaning,
  content: { contentType: "text/html", schema: { type: "string" } },
});

const hidden = (name: string, meaning: string): Parameter => ({
  name,
  in: "form",
  isRequired: true,
  schema: { type: "string" },
  meaning,
});

const transaction = hidden("transaction", "Which sign-in it is; the page holds it in a hidden field.");
const csrf = hidden("csrf", "Protects against cross-site request forgery; the page holds it in a hidden field.");
const expired = page(400, "A page that says what is wrong, for example that this sign-in has expired.");

const query = (name: string, meaning: string, more: Partial<Parameter> = {}): Parameter => ({
  name,
  in: "query",
  isRequired: false,
  schema: { type: "string" },
  meaning,
  ...more,
});

export const startAuthorization: Description = {
  operationId: "startAuthorization",
  tag: "Authorization",
  summary: "Start the flow",
  words: [
    "Open this address in the user's browser. The user signs in on the tenant's page, sees what your client asks for, and decides. The browser then comes back to your redirect address with `code` and `state`, or with `error` and `state`; `iss` names this server in either case, unless your client is registered without it (`client edit --no-issuer`).",
    "If the client or its redirect address is unknown, the person sees a page, and the browser is never redirected.",
  ],
  parameters: [
    query("response_type", "Must be `code`.", {
      isRequired: true,
      schema: { type: "string", enum: ["code"] },
      example: "code",
    }),
    query("client_id", "Your client's id.", { isRequired: true, variable: "CLIENT_ID" }),
    query(
      "state",
      "Comes back unchanged: compare it, so that an attacker can't inject a code. At most 2048 bytes. Required without `code_challenge`.",
      { example: "xyz" },
    ),
    query(
      "redirect_uri",
      "One of the addresses registered for your client, character for character. May be left out when there is only one; sent here, it must be sent again with the code.",
      { schema: { type: "string", format: "uri" } },
    ),
    query(
      "scope",
      "What the tokens may be used for: some of the scopes, with spaces between them. Unknown words are ignored; unknown words alone give `devices:read`. Without it: everything.",
    ),
    query("code_challenge", "PKCE: the SHA-256 of your verifier in base64url.", {
      schema: { type: "string", pattern: "^[A-Za-z0-9_-]{43}$" },
    }),
    query("code_challenge_method", "Must be `S256`; needed beside `code_challenge`.", {
      schema: { type: "string", enum: ["S256"] },
    }),
  ],
  answers: [
    {
      status: 302,
      meaning:
        "To the tenant's login page. A refused request returns to your redirect address: `error` is `invalid_request` or `unsupported_response_type`.",
      headers: {
        Location: text(
          "The login page; or your redirect address with `error`, `error_description`, `state` and `iss`.",
        ),
      },
    },
    page(400, "A page that says that the client or its redirect address is unknown."),
  ],
};

export const showLogin: Description = {
  operationId: "showLogin",
  tag: "Authorization pages",
  summary: "The login page",
  words: ["The tenant's login page. `authorize` redirects here. The address works for ten minutes."],
  parameters: [query("request", "The sealed authorization request.", { isRequired: true })],
  answers: [
    {
      ...page(200, "The login page."),
      headers: { "Set-Cookie": text("Binds the form to this browser.") },
    },
    expired,
  ],
};

export const sendLogin: Description = {
  operationId: "sendLogin",
  tag: "Authorization pages",
  summary: "The login page's form",
  words: ["What the login page sends."],
  parameters: [
    transaction,
    csrf,
    hidden("username", "The user's name within the tenant."),
    hidden("password", "The user's password."),
  ],
  answers: [
    {
      status: 303,
      meaning: "The user is signed in and continues with the terms.",
      headers: {
        Location: text("The terms page."),
        "Set-Cookie": text("Binds the sign-in to this browser; it changes with the login."),
      },
    },
    {
      status: 302,
      meaning: "An enterprise client needs an administrator, and this user isn't one: `error` is `access_denied`.",
      headers: { Location: text("The client's redirect address.") },
    },
    expired,
    page(401, "The login page again: the name or the password is wrong."),
    page(
      429,
      "The login page again: too many failed attempts, or too many at once. `Retry-After` says when to try again.",
    ),
  ],
};

export const showTerms: Description = {
  operationId: "showTerms",
  tag: "Authorization pages",
  summary: "The terms page",
  words: ["Shows which client asks, what it may do, and which host it returns to."],
  parameters: [query("transaction", "Which sign-in it is.", { isRequired: true })],
  answers: [page(200, "The terms of the tenant, with Accept and Decline."), expired],
};

export const sendDecision: Description = {
  operationId: "sendDecision",
  tag: "Authorization pages",
  summary: "The terms page's form",
  words: ["What the terms page sends. After this the browser is back at your client."],
  parameters: [
    transaction,
    csrf,
    { ...hidden("decision", "What the user chose."), schema: { type: "string", enum: ["accept", "decline"] } },
  ],
  answers: [
    {
      status: 302,
      meaning: "Back to your client: with a code, or with `error=access_denied`.",
      headers: { Location: text("Your redirect address with `code` or `error`, and `state` and `iss`.") },
    },
    expired,
  ],
};

export const getLogo: Description = {
  operationId: "getLogo",
  tag: "Authorization pages",
  summary: "A tenant's logo",
  words: ["The picture on the tenant's login and terms pages."],
  parameters: [
    {
      name: "tenantId",
      in: "path",
      isRequired: true,
      schema: { type: "integer", minimum: 1 },
      meaning: "The tenant's id.",
      example: "1",
    },
  ],
  answers: [
    { status: 200, meaning: "The picture.", content: { contentType: "image/*", schema: {} } },
    page(404, "A page: the tenant has no logo."),
  ],
};
