import type { ThingTriggerInput } from "../../src/alerts/alerts.ts";
import type { ThingAlertBody } from "../../src/devices/log-entries.ts";
import type { ThingWrite } from "../../src/devices/thing-writes.ts";
import type { Thing } from "../../src/home/thing.ts";
import { printOf } from "../../src/home/thing-print.ts";
import type { TriggerId } from "../../src/model/ids.ts";
import type { OpenStore } from "../../src/store/seam.ts";
import { type AlarmFields, alarmThing } from "../home/home-parts.ts";
import { type MadeAlerts, madeAlerts, target } from "./made-alerts.ts";

export const alarmId = "t_alarm";

/** What a snapshot says of a thing. */
export function reportOf(thingId: string, thing: Thing): ThingWrite {
  const reported = { key: `key of ${thingId}`, thing, homeName: "Maple Street" };
  return { thingId, source: "nest", reported, print: printOf(reported) };
}

/** A user with a linked account that reports a smoke alarm, and the alert engine on a real store. */
export async function madeThingAlerts(store: OpenStore, made: MadeAlerts = {}) {
  const home = await madeAlerts(store, made);
  const { account, commit, userId, lamp, alerts, accessScope } = home;
  /** Commits things as the ecosystem, without any attribute. */
  const showThings = (things: readonly ThingWrite[]) =>
    commit({ userId, cause: { by: "ecosystem" }, updates: [{ deviceId: account, changes: [], things }] });
  /** The ecosystem's own words for the state: ok, warning, emergency. */
  const showAlarm = (fields: Partial<AlarmFields>) => showThings([reportOf(alarmId, alarmThing(fields))]);
  const showGone = () => showThings([{ thingId: alarmId, isGone: true }]);
  await showAlarm({});

  /** An alert on the alarm's smoke that switches the first lamp; each test says what is different. */
  const givenOnThing = (change: Partial<ThingTriggerInput> = {}): ThingTriggerInput => ({
    thingId: alarmId,
    field: "smoke.state",
    action: "attribute",
    operation: "equals",
    threshold: "",
    stringThreshold: "alarm",
    address: "",
    message: "",
    autoDisarm: true,
    autoDelete: false,
    autoDisable: false,
    isEnabled: true,
    targets: [target(lamp, "power", "on")],
    ...change,
  });
  const addOnThing = async (change: Partial<ThingTriggerInput> = {}): Promise<TriggerId> =>
    (await alerts.onThings.add(accessScope, givenOnThing(change))).id;
  /** Every firing of alerts on things, oldest first. */
  const thingFirings = async (): Promise<readonly ThingAlertBody[]> =>
    (await home.logOf(account)).filter(({ kind }) => kind === "thingAlert").map(({ body }) => JSON.parse(body));
  const evaluations = async (id: TriggerId) => {
    const explained = await alerts.onThings.explain(accessScope, id);
    return explained.evaluations.map(({ value, outcome }) => `${value} ${outcome}`).toReversed();
  };
  return { ...home, showThings, showAlarm, showGone, givenOnThing, addOnThing, thingFirings, evaluations };
}
