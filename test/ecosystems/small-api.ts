import type { Action, CommandOutcome, Connector } from "../../src/ecosystems/connector.ts";
import { pauseMs } from "../../src/ecosystems/kit/back-off.ts";
import { readBody } from "../../src/ecosystems/kit/body.ts";
import { withDeadline } from "../../src/ecosystems/kit/deadline.ts";
import { WholeHome } from "../../src/ecosystems/kit/whole-home.ts";
import { EcosystemRefused, EcosystemUnreachable } from "../../src/model/errors.ts";
import { messageBounds, parseUntrusted } from "../../src/runtime/json/untrusted-json.ts";
import { type Outgoing, send } from "../../src/runtime/network/request.ts";
import { alarmThing, presence, thermostatThing } from "../home/home-parts.ts";
import { fanOf } from "./actions.ts";
import type { SmallAccount } from "./small-ecosystem.ts";

const answerLimitMs = 30_000;

/** What the connectors of the small ecosystem have in common: everything but `follow`. */
export function smallConnector(url: string): Omit<Connector, "follow"> {
  return {
    name: "small",
    displayName: "Small account",
    capabilities: { fanNeedsHome: false, planning: { endsEcoFirst: false } },
    read: (token, signal) =>
      withDeadline(signal, answerLimitMs, async (inTime) => {
        const whole = new WholeHome();
        list(whole, await readAccount(url, token, inTime));
        return whole.home()!;
      }),
    act: (token, action, signal) =>
      withDeadline(signal, answerLimitMs, (inTime) => sendFanCommand(url, token, action, inTime)),
    async revoke(token, signal) {
      const answer = await ask(url, token, { method: "DELETE" }, signal);
      return answer?.status === 200;
    },
    pauseMs,
  };
}

/** Reads the account. The errors never hold the token. */
export async function readAccount(url: string, token: string, signal: AbortSignal): Promise<SmallAccount> {
  const answer = await ask(url, token, { method: "GET" }, signal);
  if (answer?.status === 401) throw new EcosystemRefused("small refused the token.");
  const account = answer?.body === undefined ? undefined : parseUntrusted(String(answer.body));
  if (account === undefined) throw new EcosystemUnreachable("small gave no answer that can be read.");
  return account as SmallAccount;
}

/** Tells a home all objects of the account. */
export function list(whole: WholeHome, account: SmallAccount): void {
  for (const kind of ["structures", "thermostats", "alarms"] as const) {
    whole.beginListing(kind);
    for (const [id, object] of Object.entries(account[kind])) put(whole, kind, id, object);
    whole.endListing(kind);
  }
}

/** Tells a home one object. */
export function put(whole: WholeHome, kind: keyof SmallAccount, id: string, object: unknown): void {
  if (kind === "structures") {
    const { name, away } = object as SmallAccount["structures"][string];
    whole.set(kind, id, { name, presence: presence(away), listsDevices: true });
  } else if (kind === "thermostats") {
    const { structureId, fan } = object as SmallAccount["thermostats"][string];
    whole.set(kind, id, thermostatThing({ structureId, fanTimerActive: fan }));
  } else {
    const { structureId, smoke } = object as SmallAccount["alarms"][string];
    whole.set(kind, id, alarmThing({ structureId, smokeAlarmState: smoke }));
  }
}

async function sendFanCommand(
  url: string,
  token: string,
  action: Action,
  signal: AbortSignal,
): Promise<CommandOutcome> {
  const answer = await ask(url, token, { method: "PUT", body: JSON.stringify({ fan: fanOf(action).isOn }) }, signal);
  if (answer === undefined) return { state: "unanswered", detail: "no answer" };
  if (answer.status === 401) return { state: "unauthorized" };
  return answer.status === 200 ? { state: "accepted" } : { state: "rejected", message: `it answered ${answer.status}` };
}

async function ask(url: string, token: string, outgoing: Omit<Outgoing, "headers">, signal: AbortSignal) {
  try {
    const response = await send(new URL(url), { ...outgoing, headers: { Authorization: `Bearer ${token}` } }, signal);
    return { status: response.statusCode, body: await readBody(response, messageBounds.bytes, signal) };
  } catch {
    return undefined;
  }
}
