import { jsonAnswer } from "../../http/answer/answer.ts";
import type { Body, Incoming } from "../../http/request/incoming.ts";
import type { Route } from "../../http/routes.ts";
import type { Principal } from "../../identity/principal.ts";
import type {
  CreatedLinkSession,
  LinkSessions,
  NewLinkSession,
  ShownLinkSession,
} from "../../link-sessions/link-sessions.ts";
import { BadParameter } from "../../model/errors.ts";
import { parseId, type UserId } from "../../model/ids.ts";
import { type KeyedRouteParts, keyed } from "./idempotent-routes.ts";
import { createLinkSession, getLinkSession } from "./link-session-descriptions.ts";

export interface LinkSessionRouteParts extends KeyedRouteParts {
  readonly linkSessions: Pick<LinkSessions, "create" | "get">;
}

const path = "/v3/link-sessions";
/** As for the state of an authorization request. */
const longestState = 2_048;

/** Link sessions. A session belongs to the client that created it and to its user or tenant; others don't see it. */
export function linkSessionRoutes({ linkSessions, idempotency, tokens }: LinkSessionRouteParts): readonly Route[] {
  const callerOf = async ({ bearer = "" }: Incoming, caller: Principal) => ({
    ...caller,
    clientId: await tokens.clientOf(bearer),
  });
  return [
    keyed(
      { idempotency, tokens },
      {
        methods: ["POST"],
        path,
        // The address of the page holds a secret.
        isSecret: true,
        scopes: ["links"],
        description: createLinkSession,
        async answer(incoming, caller, keep) {
          const created = ({ id, url, expiresMs }: CreatedLinkSession) =>
            jsonAnswer(201, { id, url, expiresTime: expiresMs });
          const session = readNewSession(incoming.body);
          return created(await linkSessions.create(await callerOf(incoming, caller), session, keep(created)));
        },
      },
    ),
    {
      methods: ["GET"],
      path: `${path}/:linkSessionId`,
      access: "bearer",
      errors: "standard",
      scopes: ["links"],
      description: getLinkSession,
      async answer(incoming, caller) {
        const id = incoming.pathParameters.linkSessionId ?? "";
        return jsonAnswer(200, bodyOf(await linkSessions.get(await callerOf(incoming, caller), id)));
      },
    },
  ];
}

function readNewSession(body: Body): NewLinkSession {
  const value = body.kind === "json" ? body.value : undefined;
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new BadParameter("body", "The body must be a JSON object with the member ecosystem.");
  }
  const { ecosystem, userId, mode = "link", returnUrl, state } = value as Record<string, unknown>;
  if (typeof ecosystem !== "string" || ecosystem === "") {
    throw new BadParameter("ecosystem", "The member ecosystem must be the name of an ecosystem.");
  }
  if (mode !== "link" && mode !== "renew") throw new BadParameter("mode", "The member mode must be link or renew.");
  const text = textOf(value as Record<string, unknown>, "state");
  if (text !== undefined && Buffer.byteLength(text) > longestState) {
    throw new BadParameter("state", `The member state must have at most ${longestState} bytes.`);
  }
  if (state !== undefined && returnUrl === undefined) {
    throw new BadParameter("state", "The member state needs returnUrl: without it nobody is sent back.");
  }
  const address = textOf(value as Record<string, unknown>, "returnUrl");
  return { ecosystem, userId: readUserId(userId), mode, returnUrl: address, state: text };
}

function textOf(members: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = members[name];
  if (value === undefined) return undefined;
  if (typeof value !== "string" || !value.isWellFormed() || value.includes("\0")) {
    throw new BadParameter(name, `The member ${name} must be a text.`);
  }
  return value;
}

function readUserId(value: unknown): UserId | undefined {
  if (value === undefined) return undefined;
  const userId = typeof value === "number" || typeof value === "string" ? parseId<UserId>(String(value)) : undefined;
  if (userId === undefined) throw new BadParameter("userId", "The member userId must be the id of a user.");
  return userId;
}

function bodyOf({ id, ecosystem, mode, userId, status, deviceId, problem, createdMs, expiresMs }: ShownLinkSession) {
  return {
    id,
    ecosystem,
    mode,
    userId,
    status,
    ...(deviceId !== null && { deviceId }),
    ...(problem && { problem }),
    createdTime: createdMs,
    expiresTime: expiresMs,
  };
}
