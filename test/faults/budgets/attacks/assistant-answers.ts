import { setTimeout as pause } from "node:timers/promises";
import type { Attack, Target } from "../attack.ts";
import { linkHome } from "../home-assistant-doses.ts";
import { type HostileCloud, hostileCloud } from "../hostile-cloud.ts";
import { hostileHomeAssistant, lightId } from "../hostile-home-assistant.ts";
import { hostileAnswers, type RawAnswer, shownFate } from "../raw-answers.ts";
import { sendRequest } from "../requests.ts";
import type { Note } from "../sightings.ts";
import { Tallied } from "../tally.ts";

const reportMs = 12_000;
const forMs = 45_000;
const reportPath = "/v1/devices:reportStateAndNotification";
const gatewayPath = "/amazon/na/v3/events";
const loginPath = "/amazon/auth/o2/token";

/** Answers of Google's Home Graph, Alexa's event gateway and Login with Amazon to what is reported to them. */
export const assistantAnswers: Attack = {
  name: "answers of assistants' makers",
  async prepare(target) {
    await linkHome(target);
    await syncGoogle(target);
    const accepted = await acceptGrant(target);
    if (!accepted.includes("AcceptGrant.Response")) throw new Error(`Alexa could not be linked: ${accepted}`);
  },
  async run(target, note) {
    const got = new Tallied();
    const cloud = await hostileCloud();
    const untilMs = performance.now() + forMs;
    const isOver = () => performance.now() > untilMs;
    for (const answer of hostileAnswers('{"access_token":@}')) {
      if (isOver()) break;
      await answerGrant(target, { cloud, answer, note });
      got.add("answers of Login with Amazon");
    }
    let isOn = true;
    for (const answer of hostileAnswers('{"error":@}', { status: 400 })) {
      if (isOver()) break;
      isOn = !isOn;
      const fates = Promise.all([
        cloud.answerOnce(reportPath, answer, reportMs),
        cloud.answerOnce(gatewayPath, answer, reportMs),
      ]);
      await switchLight(isOn);
      for (const [index, fate] of (await fates).entries()) {
        const message = index === 0 ? "answer of Home Graph" : "answer of Alexa's event gateway";
        const shown = fate ? shownFate(fate) : `no report came within ${reportMs / 1_000} s`;
        note({ message, size: answer.size, isTaken: fate !== undefined && !fate.wasCutOff, fate: shown });
        got.add(message);
      }
    }
    return got.tally;
  },
};

async function switchLight(isOn: boolean): Promise<void> {
  const { sessions } = await hostileHomeAssistant();
  for (const session of sessions) {
    if (session.subscription === undefined) continue;
    await session.event({ c: { [lightId(0)]: { "+": { s: isOn ? "on" : "off" } } } });
  }
}

async function syncGoogle({ url, googleToken: token }: Target): Promise<void> {
  const json = { requestId: "1", inputs: [{ intent: "action.devices.SYNC" }] };
  const { status, text } = await sendRequest(url, { path: "/google-home/fulfilment", token, json });
  if (status !== 200) throw new Error(`Google could not be linked: ${status} ${text}`);
}

async function acceptGrant({ url, alexaToken: token }: Target): Promise<string> {
  const header = {
    namespace: "Alexa.Authorization",
    name: "AcceptGrant",
    payloadVersion: "3",
    messageId: crypto.randomUUID(),
  };
  const payload = { grant: { type: "OAuth2.AuthorizationCode", code: "any" }, grantee: { type: "BearerToken", token } };
  const json = { directive: { header, payload } };
  const { status, text } = await sendRequest(url, { path: "/alexa/v3/directives?region=us-east-1", json });
  return `${status} ${text}`;
}

async function answerGrant(
  target: Target,
  { cloud, answer, note }: { readonly cloud: HostileCloud; readonly answer: RawAnswer; readonly note: Note },
): Promise<void> {
  const fate = cloud.answerOnce(loginPath, answer, reportMs);
  const said = await acceptGrant(target).catch((error: Error) => `no answer (${error.message})`);
  const [, why = said.slice(0, 100)] = /"message":"([^"]*)"/.exec(said) ?? [];
  const wire = await Promise.race([fate, pause(reportMs)]);
  const shown = `${wire ? shownFate(wire) : "not asked for"}: ${why}`;
  note({
    message: "answer of Login with Amazon",
    size: answer.size,
    isTaken: said.includes("AcceptGrant.Response"),
    fate: shown,
  });
}
