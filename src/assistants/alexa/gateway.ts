import type { AssistantMessage, Outcome, Recipient } from "../assistant.ts";
import { type CallMaker, type MakerAnswer, retryAfterMs } from "../maker-call.ts";
import { thingIdOf } from "./endpoint.ts";
import { type AlexaCredential, hasTokens, type LoginTokens, type NoTokens } from "./login-tokens.ts";
import { type AlexaEvent, withScope } from "./messages.ts";
import type { GatewayRegion } from "./regions.ts";
import type { AlexaSettings } from "./settings.ts";

export interface GatewayParts {
  readonly call: CallMaker;
  readonly tokens: LoginTokens;
  readonly nowMs: () => number;
  readonly newMessageId: () => string;
}

/** What one message to the event gateway holds: events of several endpoints, which are posted one by one. */
export interface AlexaBody {
  readonly events: readonly AlexaEvent[];
}

/** A token is renewed so long before it expires. */
const renewAheadMs = 300_000;

/** An operator must act: trying more often would not help. */
const untilOperatorActsMs = 15 * 60_000;

/** Events of one message that are posted at the same time. */
const eventsAtOnce = 8;

/** Events that Alexa refuses are halved so often in all: 31 posts are made within the time of one attempt. */
const mostHalvings = 15;

/** What a failed attempt says when Alexa was too slow for it. */
export const lateAnswer = "no answer in time";

/** Posts the events of a message to the gateway of the user's region. After a failure all of them are posted again. */
export function deliverOn({ call, tokens, nowMs, newMessageId }: GatewayParts) {
  const renew = async (
    { refreshToken }: AlexaCredential,
    { settings, keepCredential }: Recipient<AlexaSettings>,
    signal: AbortSignal,
  ): Promise<AlexaCredential | Outcome> => {
    const renewed = await tokens.renew(refreshToken, settings, signal);
    if (!hasTokens(renewed)) return withoutTokens(renewed);
    if (await keepCredential(renewed)) return renewed;
    return { result: "retry", status: null, text: "the user has linked the skill again meanwhile" };
  };

  const postAll = async (
    events: readonly AlexaEvent[],
    { settings, region }: Recipient<AlexaSettings>,
    token: string,
    signal: AbortSignal,
  ): Promise<Outcome> => {
    const url = `${settings.gateways[region as GatewayRegion]}/v3/events`;
    const post = (event: AlexaEvent) => call({ method: "POST", url, token, body: withScope(event, token) }, signal);
    const outcomes: Outcome[] = [];
    let waiting = events;
    let halvings = 0;
    while (waiting.length > 0 && !outcomes.some(endsSending)) {
      const posted = waiting.slice(0, eventsAtOnce);
      const answers = await Promise.all(posted.map(post));
      const halves: AlexaEvent[] = [];
      for (const [n, event] of posted.entries()) {
        const answer = answers[n]!;
        const parts = isForParts(answer) && halvings < mostHalvings ? halvesOf(event, newMessageId) : [];
        halves.push(...parts);
        if (parts.length > 0) halvings += 1;
        else outcomes.push(outcomeOf(answer, event, signal));
      }
      waiting = [...halves, ...waiting.slice(eventsAtOnce)];
    }
    return worstOf(outcomes);
  };

  return async (message: AssistantMessage, to: Recipient<AlexaSettings>, signal: AbortSignal): Promise<Outcome> => {
    const { events } = message.body as AlexaBody;
    const credential = to.credential as AlexaCredential | undefined;
    // Without a grant Alexa accepts no message. The user gives it when the skill is enabled.
    if (!credential) return { result: "forget", status: null, text: "the user has given no grant for messages" };
    if (credential.expiresMs - nowMs() >= renewAheadMs) {
      const outcome = await postAll(events, to, credential.accessToken, signal);
      if (outcome.status !== 401) return outcome;
    }
    const renewed = await renew(credential, to, signal);
    return "result" in renewed ? renewed : postAll(events, to, renewed.accessToken, signal);
  };
}

function withoutTokens({ reason, text }: NoTokens): Outcome {
  if (reason === "ended") return { result: "forget", status: null, text };
  return { result: "retry", status: null, text, ...(reason === "wrongClient" && { afterMs: untilOperatorActsMs }) };
}

/** Alexa refuses the event because of its size, or because of one of its endpoints. */
function isForParts(answer: MakerAnswer): boolean {
  return answer.isAnswered && (answer.status === 413 || answer.status === 400);
}

/** An event about several endpoints as two events; none for an event about one. */
function halvesOf({ event, ...rest }: AlexaEvent, newMessageId: () => string): readonly AlexaEvent[] {
  const endpoints = endpointsIn(event);
  if (endpoints.length < 2) return [];
  const middle = Math.ceil(endpoints.length / 2);
  return [endpoints.slice(0, middle), endpoints.slice(middle)].map((half) => {
    const header = { ...event.header, messageId: newMessageId() };
    const payload = { ...event.payload, endpoints: half };
    return { ...rest, event: { ...event, header, payload } };
  });
}

function endpointsIn({ payload }: AlexaEvent["event"]): readonly { readonly endpointId: string }[] {
  return (payload.endpoints ?? []) as readonly { readonly endpointId: string }[];
}

function endsSending({ result }: Outcome): boolean {
  return result === "forget" || result === "retry";
}

/** The outcome of a message is that of its event with the worst one. The things of all refused additions are told again. */
function worstOf(outcomes: readonly Outcome[]): Outcome {
  const order = ["forget", "retry", "refused", "taken"] as const;
  const worst = order.flatMap((result) => outcomes.filter((outcome) => outcome.result === result))[0]!;
  if (worst.result !== "refused") return worst;
  const refusals = outcomes.filter((outcome) => outcome.result === "refused");
  const later = refusals.filter(({ afterMs }) => afterMs !== undefined);
  if (later.length === 0) return worst;
  return { ...later[0]!, thingIds: [...new Set(later.flatMap(({ thingIds = [] }) => thingIds))] };
}

/** What the event gateway's answer to an event means. */
function outcomeOf(answer: MakerAnswer, { event }: AlexaEvent, signal: AbortSignal): Outcome {
  if (!answer.isAnswered) {
    return { result: "retry", status: null, text: signal.aborted ? lateAnswer : answer.detail };
  }
  const { status } = answer;
  if (status >= 200 && status < 300) return { result: "taken", status };
  const code = codeIn(answer.document);
  const text = `answered ${status}${code === undefined ? "" : ` ${code}`}`;
  if (isForParts(answer)) {
    const endpoints = event.header.name === "AddOrUpdateReport" ? endpointsIn(event) : [];
    // An addition that is dropped would never be made up for. Alexa may have no room for the endpoints at present (413), or
    // it refuses others that were sent with them (400).
    const isToldAgain = endpoints.length > (status === 413 ? 0 : 1);
    if (!isToldAgain) return { result: "refused", status, text };
    const thingIds = endpoints.map(({ endpointId }) => thingIdOf(endpointId));
    return { result: "refused", status, text, afterMs: untilOperatorActsMs, thingIds };
  }
  if (code === "SKILL_DISABLED_EXCEPTION") return { result: "forget", status, text };
  // The user's enablement may not have reached this gateway yet. Wrong permissions or a missing skill are for operators.
  const isForOperator = status === 404 || (status === 403 && code !== "SKILL_NEVER_ENABLED_EXCEPTION");
  return { result: "retry", status, text, afterMs: isForOperator ? untilOperatorActsMs : retryAfterMs(answer) };
}

/** Alexa's name of the error. Its description is not repeated: it may quote what was sent. */
function codeIn({ payload }: Readonly<Record<string, unknown>>): string | undefined {
  const code = (payload as Readonly<Record<string, unknown>> | null | undefined)?.code;
  return typeof code === "string" && /^[A-Z_]{1,60}$/.test(code) ? code : undefined;
}
