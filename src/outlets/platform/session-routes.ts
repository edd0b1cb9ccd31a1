import { jsonAnswer } from "../../http/answer/answer.ts";
import { refusals } from "../../http/answer/refusal.ts";
import { jsonBody } from "../../http/request/body-types.ts";
import type { Body } from "../../http/request/incoming.ts";
import type { Route } from "../../http/routes.ts";
import type { Identity } from "../../identity/identity.ts";
import { BadParameter, InvalidLogin, NotFound } from "../../model/errors.ts";
import { openSession } from "./session-descriptions.ts";

export type SessionRouteParts = Pick<Identity, "login" | "findTenant">;

/** The platform's sign-in by JSON, which some of its clients use instead of `userLogin`. */
export function sessionRoutes({ login, findTenant }: SessionRouteParts): readonly Route[] {
  /**
   * The tenant's id from its name or id, because clients of this call send the name. An unknown name fails like a wrong
   * password.
   */
  const appIdOf = async (nameOrId: string): Promise<string> => {
    try {
      return String((await findTenant(nameOrId)).tenantId);
    } catch (error) {
      if (error instanceof NotFound || error instanceof BadParameter) return nameOrId;
      throw error;
    }
  };
  return [
    {
      methods: ["POST"],
      path: "/acc/applications/:appId/sessions",
      access: "public",
      errors: "adaptor",
      description: openSession,
      async answer({ body, pathParameters, source, disconnected }) {
        const { username: name, password } = credentialsIn(body);
        try {
          const appId = await appIdOf(pathParameters.appId ?? "");
          const { userId, secToken } = await login({ name, password, appId, source, disconnected });
          return jsonAnswer(200, { userId, securityToken: secToken });
        } catch (error) {
          // Clients of this call expect 403, which is not an error of the adaptor.
          if (error instanceof InvalidLogin) {
            const refused = jsonAnswer(403, { errorCode: 101, errorMessage: error.message });
            return { ...refused, about: { failure: { code: error.code } } };
          }
          throw error;
        }
      },
    },
  ];
}

function credentialsIn(body: Body): { readonly username: string; readonly password: string } {
  if (body.kind === "form") throw refusals.wrongContentType(jsonBody);
  const members = body.kind === "json" ? body.value : undefined;
  if (typeof members !== "object" || members === null || Array.isArray(members)) {
    throw new BadParameter("body", "The body must be a JSON object with username and password.");
  }
  const text = (name: string): string => {
    const value = Object.hasOwn(members, name) ? (members as Record<string, unknown>)[name] : undefined;
    if (typeof value === "string" && value !== "") return value;
    throw new BadParameter(name, `The member ${name} of the body must be a string that isn't empty.`);
  };
  return { username: text("username"), password: text("password") };
}
