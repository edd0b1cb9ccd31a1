import type { Assistants } from "../../assistants/assistants.ts";
import { type GoogleIntents, type GoogleRequest, googleIntents } from "../../assistants/google-home/intents.ts";
import { fulfilmentPath } from "../../assistants/google-home/settings.ts";
import { jsonAnswer } from "../../http/answer/answer.ts";
import type { Incoming } from "../../http/request/incoming.ts";
import type { Route } from "../../http/routes.ts";
import type { ScopedPrincipal } from "../../identity/principal.ts";
import { InvalidToken } from "../../model/errors.ts";
import type { OAuth } from "../../oauth/oauth.ts";
import { type Intent, readFulfilment } from "./fulfilment-body.ts";
import { fulfil } from "./fulfilment-descriptions.ts";

export interface FulfilmentRouteParts {
  readonly assistants: Pick<Assistants, "outlets" | "grants" | "homes" | "commands" | "directives">;
  readonly tokens: Pick<OAuth, "clientOf" | "findClient" | "tokens">;
}

const bodyBytes = 262_144;

/** What Google calls for users who have linked it (docs/outlets/google-home.md). */
export function fulfilmentRoutes({ assistants, tokens }: FulfilmentRouteParts): readonly Route[] {
  const intents = googleIntents(assistants);
  return [
    {
      methods: ["POST"],
      path: fulfilmentPath,
      access: "bearer",
      errors: "standard",
      bodyBytes,
      isForClouds: true,
      scopes: ["devices:read"],
      description: fulfil,
      async answer(incoming, caller) {
        const { requestId, intent } = readFulfilment(incoming.body.kind === "json" ? incoming.body.value : undefined);
        const asking = await askingOf(incoming, caller, { assistants, tokens });
        const payload = await assistants.directives.during(asking.outlet.id, intent.name, errorCodeIn, () =>
          payloadOf(intents, asking, intent),
        );
        if (intent.name !== "DISCONNECT") return jsonAnswer(200, { requestId, payload });
        // Google holds no other token of this link: it ends with all its tokens.
        const client = await tokens.findClient(asking.outlet.clientId);
        if (client) await tokens.tokens.revoke(client, incoming.bearer ?? "", incoming.source);
        return jsonAnswer(200, payload);
      },
    },
  ];
}

/** The first error code in the payload of an answer: of a device that was asked for, or of a command. */
function errorCodeIn(payload: object): string | null {
  const { devices = {}, commands = [] } = payload as Results;
  const failed = [...Object.values(devices), ...commands].find(({ errorCode }) => errorCode !== undefined);
  return failed?.errorCode ?? null;
}

interface Result {
  readonly errorCode?: string;
}

interface Results {
  readonly devices?: Readonly<Record<string, Result>>;
  readonly commands?: readonly Result[];
}

/** Only a token of a user that an outlet's own client holds is accepted here. */
async function askingOf(
  { bearer = "" }: Incoming,
  caller: ScopedPrincipal,
  { assistants, tokens }: FulfilmentRouteParts,
): Promise<GoogleRequest> {
  const clientId = await tokens.clientOf(bearer);
  const outlet = await assistants.outlets.ofClient("google-home", clientId);
  if (!outlet || caller.kind !== "user") throw new InvalidToken();
  return { caller, outlet };
}

/** The payload of the answer to an intent. */
export function payloadOf(intents: GoogleIntents, asking: GoogleRequest, intent: Intent): Promise<object> {
  switch (intent.name) {
    case "SYNC":
      return intents.sync(asking);
    case "QUERY":
      return intents.query(asking, intent.deviceIds);
    case "EXECUTE":
      return intents.execute(asking, intent.executions);
    case "DISCONNECT":
      return intents.disconnect(asking);
  }
}
