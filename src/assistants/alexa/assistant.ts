import type { Assistant, AssistantParts, CheckedFact } from "../assistant.ts";
import type { CallMaker } from "../maker-call.ts";
import { chosenDevice, discoveredHome } from "./discovery.ts";
import { deliverOn } from "./gateway.ts";
import { hasTokens, type LoginTokens, loginTokens } from "./login-tokens.ts";
import { type GatewayRegion, gatewayRegions } from "./regions.ts";
import { reportMessages } from "./reports.ts";
import {
  type AlexaSettings,
  readSettings,
  redirectUris,
  settingDefinitions,
  setUpEntries,
  shownSettings,
} from "./settings.ts";

export function alexa({ call, runtime: { nowMs }, newUuid }: AssistantParts): Assistant<AlexaSettings> {
  const tokens = loginTokens({ call, nowMs });
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
      ...(await Promise.all(gatewayRegions.map((region) => checkGateway(call, settings, region, signal)))),
    ],
    choose: (things, { alarms }) => {
      const { endpoints, omitted } = discoveredHome(things, alarms);
      return { offered: endpoints.map(chosenDevice), omitted: omitted.map(chosenDevice) };
    },
    messages: (due, { alarms }) => reportMessages(due, { alarms, nowMs: nowMs(), newMessageId: newUuid }),
    deliver: deliverOn({ call, tokens, nowMs, newMessageId: newUuid }),
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
      ? "Copy both again from Permissions > Alexa Skill Messaging, and add the outlet again."
      : "Check that this machine reaches it, and try again.";
  return { fact, isRight: false, text: `${result.text}. ${advice}` };
}

/** Without a token the gateway refuses the message, which shows that it is there. */
async function checkGateway(
  call: CallMaker,
  { gateways }: AlexaSettings,
  region: GatewayRegion,
  signal: AbortSignal,
): Promise<CheckedFact> {
  const answer = await call({ method: "POST", url: `${gateways[region]}/v3/events`, body: {} }, signal);
  const fact = `event gateway ${region}`;
  if (answer.isAnswered) return { fact, isRight: true, text: `${gateways[region]} answers` };
  return { fact, isRight: false, text: `${gateways[region]}: ${answer.detail}. Check that this machine reaches it.` };
}
