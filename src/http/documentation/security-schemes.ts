import { cookieName, operatorCookieOptions } from "../answer/browser-cookie.ts";
import type { SecurityScheme } from "./access-descriptions.ts";
import { scopeMeanings } from "./scope-texts.ts";

/** How callers authenticate, in OpenAPI's terms. */
export function securitySchemes(baseUrl: string): Readonly<Record<SecurityScheme, object>> {
  const tokenUrl = `${baseUrl}/oauth2/access_token`;
  return {
    accessToken: {
      type: "oauth2",
      description:
        "An access token in `Authorization: Bearer`. The grant decides which devices it may use, its scopes what it may do with them. A token that was requested without `scope` has all scopes.",
      flows: {
        authorizationCode: {
          authorizationUrl: `${baseUrl}/oauth2/authorize`,
          tokenUrl,
          refreshUrl: tokenUrl,
          scopes: scopeMeanings,
        },
        clientCredentials: { tokenUrl, scopes: scopeMeanings },
      },
    },
    secToken: {
      type: "apiKey",
      in: "query",
      name: "secToken",
      description: "A user's security token, from the platform call `userLogin`. Better in a form than in the address.",
    },
    secTokenHeader: {
      type: "http",
      scheme: "bearer",
      description: "A user's security token in `Authorization: Bearer`.",
    },
    operatorToken: {
      type: "http",
      scheme: "bearer",
      description: "An operator's token in `Authorization: Bearer`, from `breezeway operator token make`.",
    },
    operatorSession: {
      type: "apiKey",
      in: "cookie",
      name: cookieName(baseUrl, operatorCookieOptions),
      description: "The console's cookie. A change must come from a page of the console itself.",
    },
    clientSecret: {
      type: "http",
      scheme: "basic",
      description: "A client's id and secret. They may stand in the body instead, as `client_id` and `client_secret`.",
    },
  };
}
