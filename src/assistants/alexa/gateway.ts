import type { AssistantMessage, Outcome, Recipient } from "../assistant.ts";
import { type CallMaker, type MakerAnswer, retryAfterMs } from "../maker-call.ts";
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

  const post = async (
    event: AlexaEvent,
    { url, token, signal }: { readonly url: string; readonly token: string; readonly signal: AbortSignal },
  ): Promise<readonly Outcome[]> => {
    const answer = await call({ method: "POST", url, token, body: withScope(event, token) }, signal);
    const halves = answer.isAnswered && answer.status === 413 ? halvesOf(event, newMessageId) : [];
    if (halves.length === 0) return [outcomeOf(answer)];
    const outcomes: Outcome[] = [];
    for (const half of halves) outcomes.push(...(await post(half, { url, token, signal })));
    return outcomes;
  };

  const postAll = async (
    events: readonly AlexaEvent[],
    { settings, region }: Recipient<AlexaSettings>,
    token: string,
    signal: AbortSignal,
  ): Promise<Outcome> => {
    const url = `${settings.gateways[region as GatewayRegion]}/v3/events`;
    const outcomes: Outcome[] = [];
    for (let from = 0; from < events.length; from += eventsAtOnce) {
      const posted = events.slice(from, from + eventsAtOnce).map((event) => post(event, { url, token, signal }));
      outcomes.push(...(await Promise.all(posted)).flat());
      if (outcomes.some(endsSending)) break;
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

/** An event about several endpoints that is too large for Alexa, as two events; none for an event about one. */
function halvesOf({ event, ...rest }: AlexaEvent, newMessageId: () => string): readonly AlexaEvent[] {
  const endpoints = (event.payload.endpoints ?? []) as readonly object[];
  if (endpoints.length < 2) return [];
  const middle = Math.ceil(endpoints.length / 2);
  return [endpoints.slice(0, middle), endpoints.slice(middle)].map((half) => ({
    ...rest,
    event: {
      ...event,
      header: { ...event.header, messageId: newMessageId() },
      payload: { ...event.payload, endpoints: half },
    },
  }));
}

function endsSending({ result }: Outcome): boolean {
  return result === "forget" || result === "retry";
}

/** The outcome of a message is that of its event with the worst one. */
function worstOf(outcomes: readonly Outcome[]): Outcome {
  const order = ["forget", "retry", "refused", "taken"] as const;
  return order.flatMap((result) => outcomes.filter((outcome) => outcome.result === result))[0]!;
}

/** What an answer of the event gateway means. */
function outcomeOf(answer: MakerAnswer): Outcome {
  if (!answer.isAnswered) return { result: "retry", status: null, text: answer.detail };
  const { status } = answer;
  if (status >= 200 && status < 300) return { result: "taken", status };
  const code = codeIn(answer.document);
  const text = `answered ${status}${code === undefined ? "" : ` ${code}`}`;
  if (status === 400 || status === 413) return { result: "refused", status, text };
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
