import { hasScope, mayCommand, type Scope } from "../../model/scopes.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { type AssistantCommands, hasOutcome } from "../commanding.ts";
import type { AssistantGrants } from "../grants.ts";
import type { AssistantHomes } from "../homes.ts";
import { acceptGrant, type GrantingParts } from "./accept-grant.ts";
import { type AlexaCaller, type CallerParts, callerOf } from "./caller.ts";
import { commandFor } from "./commands.ts";
import type { Directive } from "./directive.ts";
import { discoveredHome } from "./discovery.ts";
import { type Endpoint, endpointsOf, thingIdOf } from "./endpoint.ts";
import { type AlexaError, alexaError, commandError, grantError, isAlexaError } from "./errors.ts";
import {
  type AlexaEvent,
  type Answered,
  deferredResponse,
  discoverResponse,
  errorResponse,
  stateReport,
} from "./messages.ts";
import { commandOutcome } from "./outcome.ts";
import { isReachable, propertiesOf } from "./properties.ts";
import type { StoredReply } from "./reports.ts";

export interface AlexaAnswerParts extends CallerParts, GrantingParts {
  readonly grants: Pick<AssistantGrants, "establish" | "replyLater">;
  readonly homes: AssistantHomes;
  readonly commands: AssistantCommands;
  readonly runtime: Runtime;
  readonly newMessageId: () => string;
}

/** The answers to directives. */
export interface AlexaAnswers {
  /** `awsRegion`: where the skill's Lambda function runs. */
  answer(directive: Directive, awsRegion: string | undefined): Promise<AlexaEvent>;
}

/** Alexa waits for 8 seconds. A command that takes longer than this is answered later. */
const commandWaitMs = 5_000;

/** How long a deferred command takes at most, as Alexa is told. */
const deferralSeconds = 30;

export function alexaAnswers(parts: AlexaAnswerParts): AlexaAnswers {
  const { homes, runtime, newMessageId } = parts;

  const endpointFor = async ({ userId, settings }: AlexaCaller, endpointId: string) => {
    const thingId = thingIdOf(endpointId);
    const thing = (await homes.some(userId, [thingId])).get(thingId);
    return thing && endpointsOf(thing, settings.alarms).find((endpoint) => endpoint.endpointId === endpointId);
  };

  const runCommand = async (caller: AlexaCaller, endpoint: Endpoint, directive: Directive, answered: Answered) => {
    const command = commandFor(directive, endpoint);
    if (isAlexaError(command)) return errorResponse(answered, command);
    if (!mayCommand(caller.scopes, command.trait)) return errorResponse(answered, lacks("devices:control"));
    if (!isReachable(endpoint)) return errorResponse(answered, commandError({ code: "offline" }, command.trait));
    const { userId, outlet, settings } = caller;
    const { thingId } = endpoint.thing;
    const sent = { userId, clientId: outlet.clientId, thingId, command };
    const receipt = await parts.commands.run(sent, commandWaitMs);
    if (!hasOutcome(receipt)) {
      const { correlationToken } = directive;
      const reply: StoredReply = { ...(correlationToken && { correlationToken }), endpointId: endpoint.endpointId };
      await parts.grants.replyLater(outlet.id, userId, { commandId: receipt.id, thingId, reply });
      return deferredResponse(answered, deferralSeconds);
    }
    const after = (await homes.some(userId, [thingId])).get(thingId);
    return commandOutcome(answered, receipt, after, settings.alarms, runtime.nowMs());
  };

  const answerCaller = async (caller: AlexaCaller, directive: Directive, answered: Answered): Promise<AlexaEvent> => {
    const { namespace, name, endpointId } = directive;
    if (!hasScope(caller, "devices:read")) return errorResponse(answered, lacks("devices:read"));
    if (namespace === "Alexa.Discovery" && name === "Discover") {
      const { endpoints } = discoveredHome(await homes.all(caller.userId), caller.settings.alarms);
      return discoverResponse(answered, endpoints);
    }
    const endpoint = endpointId === undefined ? undefined : await endpointFor(caller, endpointId);
    if (!endpoint) return errorResponse(answered, noSuchEndpoint);
    if (namespace === "Alexa" && name === "ReportState") {
      return stateReport(answered, propertiesOf(endpoint, runtime.nowMs()));
    }
    return runCommand(caller, endpoint, directive, answered);
  };

  return {
    async answer(directive, awsRegion) {
      const { namespace, name, correlationToken, endpointId } = directive;
      const answered = { messageId: newMessageId(), correlationToken, endpointId };
      const isGrant = namespace === "Alexa.Authorization" && name === "AcceptGrant";
      const refused = (error: AlexaError) =>
        errorResponse(answered, isGrant ? grantError(error.payload.message) : error);
      if (directive.payloadVersion !== "3") {
        return refused(alexaError("INVALID_DIRECTIVE", "The payload version must be 3."));
      }
      const caller = await callerOf(parts, directive.token);
      if (isAlexaError(caller)) return refused(caller);
      if (isGrant) return acceptGrant(parts, caller, directive, awsRegion, answered);
      return answerCaller(caller, directive, answered);
    },
  };
}

const noSuchEndpoint = alexaError("NO_SUCH_ENDPOINT", "The device is not there any more. Discover the devices again.");

function lacks(scope: Scope): AlexaError {
  const text = `The user did not grant the scope ${scope}. Disable the skill and link the account again.`;
  return alexaError("INSUFFICIENT_PERMISSIONS", text);
}
