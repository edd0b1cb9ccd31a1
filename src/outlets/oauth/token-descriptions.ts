import type { Description, Parameter } from "../../http/documentation/description.ts";
import { jsonAnswer } from "../../http/documentation/description-parts.ts";
import { okContent } from "../../http/documentation/schema.ts";
import { boolean, integer, list, named, object, text } from "../../model/json-schema.ts";

/** Endpoints that OAuth clients call directly. */
const parameter = (name: string, meaning: string, more: Partial<Parameter> = {}): Parameter => ({
  name,
  in: "body",
  isRequired: false,
  schema: { type: "string" },
  meaning,
  ...more,
});

const badRequest = {
  status: 400,
  code: "invalid_request",
  when: "A parameter is missing, malformed or repeated, or credentials are in the address.",
};

export const issueToken: Description = {
  operationId: "issueToken",
  tag: "Authorization",
  summary: "Get or refresh tokens",
  words: [
    "Exchanges a code for a pair of tokens, or a refresh token for a new pair. A code is valid for 60 seconds and for one exchange: if it is used again, all tokens from it are revoked.",
    "After a refresh the old refresh token stays valid until its successor has been used, plus 60 seconds, so a lost answer or a retry never costs you the link. Using it later revokes the grant. Enterprise clients may also use `client_credentials`, and get no refresh token.",
  ],
  parameters: [
    parameter("grant_type", "The kind of grant.", {
      isRequired: true,
      schema: { type: "string", enum: ["authorization_code", "refresh_token", "client_credentials"] },
      example: "authorization_code",
    }),
    parameter("code", "The code from your redirect address, for `authorization_code`.", { variable: "CODE" }),
    parameter("refresh_token", "For `refresh_token`. It may come as `code` instead."),
    parameter("redirect_uri", "The one you sent to `authorize`; if you sent none there, none or the registered one.", {
      schema: { type: "string", format: "uri" },
    }),
    parameter("code_verifier", "PKCE: the verifier of your `code_challenge`.", {
      schema: { type: "string", pattern: "^[A-Za-z0-9._~-]{43,128}$" },
    }),
    parameter(
      "scope",
      "With `client_credentials`: what the token may be used for. With `refresh_token`: narrows the new access token, not the grant. Ignored with `authorization_code`, where the user has decided. Unknown words are ignored; without a known one the token has all that was granted.",
    ),
  ],
  answers: [
    jsonAnswer(
      200,
      "The tokens. They are opaque: don't parse them.",
      named(
        "Tokens",
        object(
          "The tokens of a client.",
          {
            access_token: text("For `Authorization: Bearer`."),
            token_type: text("Always `Bearer`.", { enum: ["Bearer"] }),
            expires_in: integer("Seconds until the access token expires.", { minimum: 1 }),
          },
          {
            refresh_token: text("For the next pair. Not with `client_credentials`."),
            scope: text(
              "What the access token may be used for. Missing when no scope was requested: then everything. A request with unknown scopes alone gets `devices:read`.",
            ),
          },
        ),
      ),
      { access_token: "bwa_…", token_type: "Bearer", expires_in: 3600, refresh_token: "bwr_…" },
    ),
  ],
  errors: [
    badRequest,
    { status: 400, code: "invalid_grant", when: "The code or the refresh token is not valid, or not yours." },
    { status: 400, code: "invalid_scope", when: "A refresh asks for a known scope that was not granted." },
    { status: 400, code: "unauthorized_client", when: "Only enterprise clients may use `client_credentials`." },
    { status: 400, code: "unsupported_grant_type", when: "There is no such `grant_type`." },
  ],
};

export const revokeToken: Description = {
  operationId: "revokeToken",
  tag: "Authorization",
  summary: "Revoke tokens",
  words: [
    "Either token of a pair ends the whole grant: both tokens, and all that came from them. The grant has ended when this call answers. An unknown token, or one of another client, gets the same answer and stays as it is.",
  ],
  parameters: [
    parameter("token", "An access or refresh token.", { isRequired: true, variable: "TOKEN" }),
    parameter("token_type_hint", "Ignored."),
  ],
  answers: [{ status: 200, meaning: "The token is revoked.", content: okContent }],
  errors: [badRequest],
};

const address = (description: string) => text(description, { format: "uri" });
const words = (description: string) => list(description, { type: "string" });

export const getServerMetadata: Description = {
  operationId: "getServerMetadata",
  tag: "Authorization",
  summary: "What the server can do",
  words: ["The server's metadata (RFC 8414), for libraries that configure themselves."],
  answers: [
    jsonAnswer(
      200,
      "The metadata.",
      named(
        "ServerMetadata",
        object("What an authorization server can do (RFC 8414).", {
          issuer: address("The server's name: its address."),
          authorization_endpoint: address("Where the user's browser goes."),
          token_endpoint: address("Issues tokens."),
          revocation_endpoint: address("Revokes tokens."),
          scopes_supported: words("What tokens may be used for."),
          response_types_supported: words("`code`."),
          response_modes_supported: words("`query`."),
          grant_types_supported: words("What the token endpoint takes."),
          token_endpoint_auth_methods_supported: words("How clients authenticate."),
          revocation_endpoint_auth_methods_supported: words("How clients authenticate there."),
          code_challenge_methods_supported: words("`S256`."),
          authorization_response_iss_parameter_supported: boolean("`iss` comes back from authorize (RFC 9207)."),
          service_documentation: address("This page."),
        }),
      ),
    ),
  ],
};
