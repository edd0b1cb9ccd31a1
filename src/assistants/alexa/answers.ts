import { hasConsent, type UserPrincipal } from "../../identity/principal.ts";
import { QuotaExceeded, UnknownThing } from "../../model/errors.ts";
import { hasScope, type Scope } from "../../model/scopes.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { type AssistantCommands, type CommandCaller, hasOutcome } from "../commanding.ts";
import type { AssistantGrants } from "../grants.ts";
import type { AssistantHomes } from "../homes.ts";
import type { LastDirectives } from "../last-directives.ts";
import { acceptGrant, type GrantingParts } from "./accept-grant.ts";
import { type AlexaCaller, type CallerParts, callerOf } from "./caller.ts";
import { commandFor } from "./commands.ts";
import type { Directive } from "./directive.ts";
import { chosenDevice, discoveredHome } from "./discovery.ts";
import { type Endpoint, endpointsOf, thingIdOf } from "./endpoint.ts";
import { type AlexaError, alexaError, commandError, grantError, isAlexaError } from "./errors.ts";
import {
  type AlexaEvent,
  deferredResponse,
  discoverResponse,
  errorResponse,
  type ReplyHeader,
  stateReport,
} from "./messages.ts";
import { commandOutcome, withoutOutcome } from "./outcome.ts";
import { isComplete, isReachable, propertiesOf } from "./properties.ts";
import type { StoredReply } from "./reports.ts";

export interface AlexaAnswerParts extends CallerParts, GrantingParts {
  readonly grants: Pick<AssistantGrants, "establish" | "replyLater" | "leaving" | "listed">;
  readonly homes: AssistantHomes;
  readonly commands: AssistantCommands;
  /** Counts a request for the quotas of the outlet's client and tenant; throws QuotaExceeded. */
  readonly admitRequest: (sender: CommandCaller) => void;
  /** Records the directives of verified callers. */
  readonly directives: Pick<LastDirectives, "during">;
  readonly runtime: Runtime;
  readonly newMessageId: () => string;
}

/** The answers to directives. */
export interface AlexaAnswers {
  /**
   * `awsRegion`: where the skill's Lambda function runs. `onCaller` is called when the token of the directive was
   * verified.
   */
  answer(
    directive: Directive,
    awsRegion: string | undefined,
    onCaller?: (caller: CommandCaller & Pick<UserPrincipal, "userId">) => void,
  ): Promise<AlexaEvent>;
  /** Answers a directive of a known caller, whatever its token is. */
  answerAs(caller: AlexaCaller, directive: Directive): Promise<AlexaEvent>;
}

/** Alexa waits for 8 seconds. A command that takes longer than this is answered later. */
const commandWaitMs = 5_000;

/** How long a deferred command takes at most, as Alexa is told. */
const deferralSeconds = 30;

export function alexaAnswers(parts: AlexaAnswerParts): AlexaAnswers {
  const { homes, grants, runtime, newMessageId } = parts;

  /** Of things that are gone, only those that Alexa is not to delete yet. */
  const leavingOf = async ({ user: { userId }, outlet }: AlexaCaller) =>
    homes.some(userId, await grants.leaving(outlet.id, userId));

  const endpointFor = async (caller: AlexaCaller, endpointId: string) => {
    const thingId = thingIdOf(endpointId);
    const thing = (await homes.some(caller.user.userId, [thingId])).get(thingId);
    if (!thing || (thing.goneMs !== null && !(await leavingOf(caller)).has(thingId))) return undefined;
    return endpointsOf(thing, caller.settings.alarms).find((endpoint) => endpoint.endpointId === endpointId);
  };

  const discovered = async (caller: AlexaCaller, header: ReplyHeader) => {
    const present = await homes.all(caller.user.userId);
    const known = new Set(present.map(({ thingId }) => thingId));
    const leaving = [...(await leavingOf(caller)).values()].filter(({ thingId }) => !known.has(thingId));
    const { endpoints, omitted } = discoveredHome([...present, ...leaving], caller.settings.alarms);
    const devices = { offered: endpoints.map(chosenDevice), omitted: omitted.map(chosenDevice) };
    await grants.listed(caller.outlet.id, caller.user.userId, devices);
    if (omitted.length > 0) {
      const fields = { user: caller.user.userId, outlet: caller.outlet.id, omitted: omitted.length };
      const text = "Alexa takes no more endpoints of this user; breezeway outlet show names those that are not offered";
      runtime.report.warn(fields, text);
    }
    return discoverResponse(header, endpoints);
  };

  const runCommand = async (caller: AlexaCaller, endpoint: Endpoint, directive: Directive, header: ReplyHeader) => {
    const command = commandFor(directive, endpoint);
    if (isAlexaError(command)) return errorResponse(header, command);
    const { user, outlet, settings } = caller;
    if (!hasConsent(user, command)) return errorResponse(header, lacks("devices:control"));
    if (!isReachable(endpoint)) return errorResponse(header, commandError({ code: "offline" }, command.trait));
    const { userId } = user;
    const { thingId } = endpoint.thing;
    const { tenantId, clientId } = outlet;
    const sent = { userId, tenantId, clientId, thingId, commands: [command] };
    const receipt = (await parts.commands.run(sent, commandWaitMs))[0]!;
    if (!hasOutcome(receipt)) {
      const { correlationToken } = directive;
      const reply: StoredReply = { ...(correlationToken && { correlationToken }), endpointId: endpoint.endpointId };
      const isKept = await grants.replyLater(outlet.id, userId, { commandId: receipt.id, thingId, reply });
      // Without a grant for messages the outcome could never be told.
      return isKept ? deferredResponse(header, deferralSeconds) : withoutOutcome(header, true);
    }
    const after = (await homes.some(userId, [thingId])).get(thingId);
    return commandOutcome(header, receipt, after, settings.alarms, runtime.nowMs());
  };

  const answerCaller = async (caller: AlexaCaller, directive: Directive, header: ReplyHeader): Promise<AlexaEvent> => {
    const { namespace, name, endpointId } = directive;
    if (!hasScope(caller.user, "devices:read")) return errorResponse(header, lacks("devices:read"));
    if (namespace === "Alexa.Discovery" && name === "Discover") return discovered(caller, header);
    const endpoint = endpointId === undefined ? undefined : await endpointFor(caller, endpointId);
    if (!endpoint) return errorResponse(header, noSuchEndpoint);
    if (namespace === "Alexa" && name === "ReportState") {
      const properties = propertiesOf(endpoint, runtime.nowMs());
      return isComplete(endpoint, properties) ? stateReport(header, properties) : errorResponse(header, unknownState);
    }
    try {
      return await runCommand(caller, endpoint, directive, header);
    } catch (error) {
      if (error instanceof UnknownThing) return errorResponse(header, noSuchEndpoint);
      throw error;
    }
  };

  return {
    answerAs(caller, directive) {
      const { correlationToken, endpointId } = directive;
      return answerCaller(caller, directive, { messageId: newMessageId(), correlationToken, endpointId });
    },
    async answer(directive, awsRegion, onCaller) {
      const { namespace, name, correlationToken, endpointId } = directive;
      const header = { messageId: newMessageId(), correlationToken, endpointId };
      const isGrant = namespace === "Alexa.Authorization" && name === "AcceptGrant";
      const refused = (error: AlexaError) => errorResponse(header, isGrant ? grantError(error.payload.message) : error);
      if (directive.payloadVersion !== "3") {
        return refused(alexaError("INVALID_DIRECTIVE", "The payload version must be 3."));
      }
      const caller = await callerOf(parts, directive.token);
      if (isAlexaError(caller)) return refused(caller);
      const { tenantId, clientId } = caller.outlet;
      onCaller?.({ tenantId, clientId, userId: caller.user.userId });
      return parts.directives.during(caller.outlet.id, `${namespace} ${name}`, errorTypeIn, async () => {
        try {
          parts.admitRequest(caller.outlet);
          if (isGrant) return await acceptGrant(parts, caller, directive, awsRegion, header);
          return await answerCaller(caller, directive, header);
        } catch (error) {
          if (error instanceof QuotaExceeded) return refused(alexaError("RATE_LIMIT_EXCEEDED", error.message));
          throw error;
        }
      });
    },
  };
}

function errorTypeIn({ event: { header, payload } }: AlexaEvent): string | null {
  return header.name === "ErrorResponse" ? String(payload.type) : null;
}

const noSuchEndpoint = alexaError("NO_SUCH_ENDPOINT", "The device is not there any more. Discover the devices again.");

const unknownState = alexaError("ENDPOINT_UNREACHABLE", "The device does not tell all of its state at present.");

function lacks(scope: Scope): AlexaError {
  const text = `The user did not grant the scope ${scope}. Disable the skill and link the account again.`;
  return alexaError("INSUFFICIENT_PERMISSIONS", text);
}
