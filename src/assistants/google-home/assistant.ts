import type { Assistant, AssistantParts, Outcome } from "../assistant.ts";
import { HomeGraph, type HomeGraphMethod, tryAgain } from "./home-graph.ts";
import { googleMessages, unknownDevice } from "./reports.ts";
import {
  type GoogleSettings,
  readGoogleSettings,
  redirectUris,
  settingDefinitions,
  setUp,
  shownSettings,
} from "./settings.ts";

/** How long Google needs to ask for the list of devices, after it was told that the list has changed. */
const syncMs = 3_000;

const enableApi = "Enable the HomeGraph API in the project of the service account.";

export function googleHome({ call, runtime, newUuid }: AssistantParts): Assistant<GoogleSettings> {
  const homeGraph = new HomeGraph(call, runtime);
  return {
    kind: "google-home",
    title: "Google Home",
    settings: settingDefinitions,
    readSettings: readGoogleSettings,
    shownSettings,
    redirectUris,
    setUp,
    messages: (due) => googleMessages(due, newUuid),

    async deliver({ type, body, isAlone }, { settings, agentUserId }, signal) {
      const outcome = await homeGraph.post(settings, type as HomeGraphMethod, body, signal);
      if (outcome.result !== "forget" || type === "requestSync") return outcome;
      // Google answers 404 also for a device that it has not synced yet: only the answer to this call tells which it is.
      const syncOutcome = await homeGraph.post(settings, "requestSync", { agentUserId, async: true }, signal);
      if (syncOutcome.result !== "taken") return syncOutcome;
      const { status } = outcome;
      // All states are reported again when Google has read the list of devices.
      if (isAlone) return { result: "refused", status, text: "Google does not know this device; it was asked to sync" };
      return { result: "retry", status, text: unknownDevice, afterMs: syncMs } satisfies Outcome;
    },

    async check(settings, signal) {
      const issued = await homeGraph.newToken(settings, signal);
      if ("fault" in issued) {
        return [{ fact: "service account", isRight: false, text: `${issued.fault}. ${issued.remedy}` }];
      }
      const account = {
        fact: "service account",
        isRight: true,
        text: `Google accepts ${settings.serviceAccount.email}`,
      };
      // No user has this id: 404 shows that the service account may call Home Graph.
      const nobody = { requestId: newUuid(), agentUserId: "breezeway-check", inputs: [{ payload: { devices: [] } }] };
      const outcome = await homeGraph.post(settings, "query", nobody, signal);
      const isRight = outcome.result === "forget" || outcome.result === "taken" || outcome.status === 400;
      const text = isRight
        ? "the service account may call it"
        : `${"text" in outcome ? outcome.text : ""}. ${outcome.status === 403 ? enableApi : tryAgain}`;
      return [account, { fact: "Home Graph", isRight, text }];
    },
  };
}
