import type { AssistantMessage, Outcome, Recipient } from "../assistant.ts";
import type { AmazonAddresses, AmazonAnswer, CallAmazon } from "./amazon-call.ts";
import { type AlexaCredential, hasTokens, type LoginTokens, type NoTokens } from "./login-tokens.ts";
import { type AlexaEvent, withScope } from "./messages.ts";
import type { GatewayRegion } from "./regions.ts";
import type { AlexaSettings } from "./settings.ts";

export interface GatewayParts {
  readonly call: CallAmazon;
  readonly addresses: Pick<AmazonAddresses, "gateways">;
  readonly tokens: LoginTokens;
  readonly nowMs: () => number;
}

/** A token is renewed so long before it expires. */
const renewAheadMs = 300_000;

/** An operator must act: trying more often would not help. */
const untilOperatorActsMs = 15 * 60_000;

/** Sends one message to the event gateway of the user's region. */
export function deliverOn({ call, addresses, tokens, nowMs }: GatewayParts) {
  const send = ({ body }: AssistantMessage, region: GatewayRegion, token: string, signal: AbortSignal) => {
    const url = `${addresses.gateways[region]}/v3/events`;
    return call({ method: "POST", url, token, body: withScope(body as AlexaEvent, token) }, signal);
  };
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
  return async (message: AssistantMessage, to: Recipient<AlexaSettings>, signal: AbortSignal): Promise<Outcome> => {
    let credential = to.credential as AlexaCredential | undefined;
    // Without a grant Alexa accepts no message. The user gives it when the skill is enabled.
    if (!credential) return { result: "forget", status: null, text: "the user has given no grant for messages" };
    const region = to.region as GatewayRegion;
    let isRenewed = false;
    if (credential.expiresMs - nowMs() < renewAheadMs) {
      const renewed = await renew(credential, to, signal);
      if ("result" in renewed) return renewed;
      [credential, isRenewed] = [renewed, true];
    }
    let answer = await send(message, region, credential.accessToken, signal);
    if (answer.isAnswered && answer.status === 401 && !isRenewed) {
      const renewed = await renew(credential, to, signal);
      if ("result" in renewed) return renewed;
      answer = await send(message, region, renewed.accessToken, signal);
    }
    return outcomeOf(answer);
  };
}

function withoutTokens({ reason, text }: NoTokens): Outcome {
  if (reason === "ended") return { result: "forget", status: null, text };
  return { result: "retry", status: null, text, ...(reason === "wrongClient" && { afterMs: untilOperatorActsMs }) };
}

/** What an answer of the event gateway means. */
export function outcomeOf(answer: AmazonAnswer): Outcome {
  if (!answer.isAnswered) return { result: "retry", status: null, text: answer.detail };
  const { status } = answer;
  if (status >= 200 && status < 300) return { result: "taken", status };
  const code = codeIn(answer.document);
  const text = `answered ${status}${code === undefined ? "" : ` ${code}`}`;
  if (status === 400 || status === 413) return { result: "refused", status, text };
  if (code === "SKILL_DISABLED_EXCEPTION") return { result: "forget", status, text };
  // The user's enablement may not have reached this gateway yet. Wrong permissions or a missing skill are for operators.
  const isForOperator = status === 404 || (status === 403 && code !== "SKILL_NEVER_ENABLED_EXCEPTION");
  return { result: "retry", status, text, ...(isForOperator && { afterMs: untilOperatorActsMs }) };
}

/** Alexa's name of the error. Its description is not repeated: it may quote what was sent. */
function codeIn({ payload }: Readonly<Record<string, unknown>>): string | undefined {
  const code = (payload as Readonly<Record<string, unknown>> | null | undefined)?.code;
  return typeof code === "string" && /^[A-Z_]{1,60}$/.test(code) ? code : undefined;
}
