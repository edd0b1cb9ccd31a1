import type { Assistant, CheckedFact } from "../assistant.ts";
import type { AmazonAddresses, CallAmazon } from "./amazon-call.ts";
import { deliverOn } from "./gateway.ts";
import { hasTokens, type LoginTokens, loginTokens } from "./login-tokens.ts";
import { gatewayRegions } from "./regions.ts";
import { reportMessages } from "./reports.ts";
import {
  type AlexaSettings,
  readSettings,
  redirectUris,
  settingDefinitions,
  setUpEntries,
  shownSettings,
} from "./settings.ts";

export interface AlexaParts {
  readonly call: CallAmazon;
  readonly addresses: AmazonAddresses;
  readonly nowMs: () => number;
  readonly newMessageId: () => string;
}

/** Alexa with what its routes need beside the reporter. */
export interface Alexa extends Assistant<AlexaSettings> {
  readonly tokens: LoginTokens;
}

export function alexaAssistant({ call, addresses, nowMs, newMessageId }: AlexaParts): Alexa {
  const tokens = loginTokens({ call, addresses, nowMs });
  return {
    kind: "alexa",
    title: "Alexa",
    settings: settingDefinitions,
    readSettings,
    shownSettings,
    redirectUris,
    setUp: (_, facts) => setUpEntries(facts),
    check: async (settings, signal) => [
      await checkMessaging(tokens, settings, signal),
      ...(await Promise.all(gatewayRegions.map((region) => checkGateway(call, addresses, region, signal)))),
    ],
    groupingMs: 0,
    messages: (due, { alarms }) => reportMessages(due, { alarms, nowMs: nowMs(), newMessageId }),
    deliver: deliverOn({ call, addresses, tokens, nowMs }),
    tokens,
  };
}

/** Amazon checks the client before the refresh token: a right client is told that there is no such refresh token. */
async function checkMessaging(tokens: LoginTokens, settings: AlexaSettings, signal: AbortSignal): Promise<CheckedFact> {
  const fact = "messaging credentials";
  const result = await tokens.renew("Atzr|none", settings, signal);
  if (hasTokens(result) || result.reason === "ended") {
    return { fact, isRight: true, text: "Login with Amazon accepts the client id and its secret" };
  }
  const advice =
    result.reason === "wrongClient"
      ? "Copy both again from Permissions > Alexa Skill Messaging, and add the outlet again"
      : "Check that this machine reaches it, and try again";
  return { fact, isRight: false, text: `${result.text}. ${advice}` };
}

/** Without a token the gateway refuses the message, which shows that it is there. */
async function checkGateway(
  call: CallAmazon,
  { gateways }: AmazonAddresses,
  region: (typeof gatewayRegions)[number],
  signal: AbortSignal,
): Promise<CheckedFact> {
  const url = `${gateways[region]}/v3/events`;
  const answer = await call({ method: "POST", url, body: {} }, signal);
  const fact = `event gateway ${region}`;
  if (answer.isAnswered) return { fact, isRight: true, text: `${gateways[region]} answers` };
  return { fact, isRight: false, text: `${gateways[region]}: ${answer.detail}. Check that this machine reaches it` };
}
