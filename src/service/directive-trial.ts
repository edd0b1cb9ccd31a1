import type { AlexaAnswers } from "../assistants/alexa/answers.ts";
import { readDirective } from "../assistants/alexa/directive.ts";
import type { AlexaSettings } from "../assistants/alexa/settings.ts";
import type { Assistants } from "../assistants/assistants.ts";
import { googleIntents } from "../assistants/google-home/intents.ts";
import type { Outlet } from "../assistants/outlets.ts";
import { suspensionProblem } from "../identity/suspension.ts";
import { BadParameter, Conflict } from "../model/errors.ts";
import type { UserId } from "../model/ids.ts";
import { storedScopes } from "../model/scopes.ts";
import { readFulfilment } from "../outlets/google-home/fulfilment-body.ts";
import { payloadOf } from "../outlets/google-home/fulfilment-routes.ts";
import type { OpenStore } from "../store/seam.ts";

export interface TrialParts {
  readonly store: OpenStore;
  readonly assistants: Assistants;
  readonly alexa: Pick<AlexaAnswers, "answerAs">;
}

/** Answers a message of an assistant as if the user's assistant had sent it; returns the answer that it would get. */
export type TryDirective = (outlet: Outlet, userId: UserId, message: unknown) => Promise<object>;

/** The message has the rights that the user gave the assistant, and no others: a user who has not linked it can't be tried. */
export function directiveTrial({ store, assistants, alexa }: TrialParts): TryDirective {
  const intents = googleIntents(assistants);

  async function callerOf({ clientId, tenantId }: Outlet, userId: UserId) {
    const { grant, user } = await store.read(async (tx) => ({
      grant: (await tx.grants.ofUser(userId)).find((one) => one.clientId === clientId && one.covers === "user"),
      user: await tx.users.byId(userId),
    }));
    if (!grant) throw new Conflict(`User ${userId} has not linked this assistant.`);
    const problem = suspensionProblem(user);
    if (problem) throw new Conflict(problem);
    return { kind: "user", userId, tenantId, scopes: storedScopes(grant.scope) } as const;
  }

  return async (outlet, userId, message) => {
    const caller = await callerOf(outlet, userId);
    if (outlet.kind === "alexa") {
      const directive = readDirective(message);
      if (!directive) throw new BadParameter("message", "The message must be a directive of Alexa, with a header.");
      if (directive.namespace === "Alexa.Authorization") {
        throw new BadParameter("message", "A grant can't be tried: it would replace the user's link.");
      }
      return alexa.answerAs({ user: caller, outlet, settings: outlet.settings as AlexaSettings }, directive);
    }
    const { requestId, intent } = readFulfilment(message);
    if (intent.name === "DISCONNECT") {
      throw new BadParameter("message", "DISCONNECT can't be tried: it would end the user's link.");
    }
    return { requestId, payload: await payloadOf(intents, { caller, outlet }, intent) };
  };
}
