import type { AnyAlert } from "../../../../sdk/src/index.ts";
import type { DeviceId, TriggerId } from "../../../model/ids.ts";
import type { Answer } from "../../administration/admin-command.ts";
import type { Argument, Call, OwnCommand } from "../../command.ts";
import { ago, dateAndTime, timeOption } from "../../devices/times.ts";
import { hasFlag, type Input, id, optional } from "../../input.ts";
import type { Noun } from "../../noun.ts";
import type { Api } from "../../remote/api.ts";
import { isRemote, serviceOf, withOwnerOptions } from "../../remote/chosen-service.ts";
import { counted, main, rows, shownAs, table, whole } from "../../terminal/output.ts";
import { progressOn } from "../../terminal/progress.ts";
import { alertCommandInWords } from "./alert-commands.ts";
import { alertInWords, definitionOf, definitionWithin, withDefinitionOptions } from "./alert-definition.ts";
import { nameDevice } from "./alert-refusals.ts";

const alertArgument: Argument = {
  name: "alert",
  isRequired: true,
  meaning: "the alert's id; see: breezeway alert list",
};

/** A dry run reads up to 100,000 changes. */
const dryRunMs = 300_000;

const list: OwnCommand = {
  name: "alert list",
  meaning: "list alerts",
  examples: ["alert list", "alert list --device 1", "alert list --things", "alert list --thing t_…"],
  options: (command) =>
    withOwnerOptions(command)
      .option("--device <id>", "of one device only")
      .option("--things", "also the alerts on things")
      .option("--thing <id>", "of one thing only"),
  async run(call) {
    const { print } = call;
    print.data({ alerts: await listed(call) }, ({ alerts }) => {
      if (alerts.length === 0) return "There are no alerts. See: breezeway alert add --help";
      return table(
        [whole("ALERT"), "STATE", "FIRED", main("WHAT")],
        alerts.map((one) => [
          one.alertId,
          stateOf(one),
          one.firedTime ? ago(one.firedTime) : "never",
          alertInWords(one),
        ]),
        print.width,
      );
    });
  },
};

/** An administrator's token is for a whole tenant, whose alerts can only be listed device by device. */
async function listed(call: Call): Promise<readonly AnyAlert[]> {
  const { typed, print, programs, config, terminal } = call;
  const device = optional(typed, "device");
  const thingId = optional(typed, "thing");
  const api = await serviceOf(call, device === undefined ? {} : { device });
  const withThings = hasFlag(typed, "things") || thingId !== undefined;
  const alertsOf = (filter: { readonly deviceId?: number }) =>
    api.read<readonly AnyAlert[]>((sdk) =>
      withThings ? sdk.alerts.list({ ...filter, things: true, thingId }) : sdk.alerts.list(filter),
    );
  if (thingId !== undefined) return print.during("reading the alerts", alertsOf({}));
  if (device !== undefined) {
    return print.during("reading the alerts", alertsOf({ deviceId: id<DeviceId>(typed, "device", "The device's id") }));
  }
  if (isRemote(call)) return print.during("reading the alerts", alertsOf({}));
  const { devices } = (await programs.administer(config(), "device owners", typed)) as Answer;
  return progressOn(terminal).inSteps("reading the alerts of each device", devices.length, async (step) => {
    const found: AnyAlert[] = [];
    for (const { deviceId } of devices) {
      found.push(...(await alertsOf({ deviceId })));
      step();
    }
    return found;
  });
}

const show: OwnCommand = {
  name: "alert show",
  meaning: "show one alert",
  examples: ["alert show 7"],
  arguments: [alertArgument],
  options: withOwnerOptions,
  async run(call) {
    const [api, alertId] = await chosenAlert(call);
    call.print.data(await readAlert(call, api, alertId), inWords);
  },
};

const add: OwnCommand = {
  name: "alert add",
  meaning: "add an alert, which fires when an attribute or a field of a thing meets its condition",
  examples: [
    "alert add --device 1 --attribute d.structures[1].a.away --value home --set 2,power=on --auto-disarm",
    'alert add --device 1 --attribute d.structures[1].a.away --when regex --value "(auto-)?away" --set 2,power=off --auto-disarm',
    "alert add --device 1 --attribute o.structures[1].emergencies.all --value true --action notify",
    "alert add --thing t_… --field smoke.state --value alarm --action notify --auto-disarm",
    'alert add --thing t_… --field smoke.state --value alarm --command "light: onOff set on=true" --auto-disarm',
  ],
  options: (command) => withOwnerOptions(withDefinitionOptions(command)),
  async run(call) {
    const definition = definitionOf(call.typed);
    const api = await serviceOf(call, concernedBy(call));
    const adding = api.write((sdk) => sdk.alerts.create(definition));
    const added = await call.print
      .during("adding the alert", adding)
      .catch((error) => nameDevice(error, api, definition));
    call.print.data(added, (one) => `Added alert ${one.alertId}. ${alertInWords(one)}`);
  },
};

const remove: OwnCommand = {
  name: "alert remove",
  meaning: "remove an alert",
  examples: ["alert remove 7"],
  arguments: [alertArgument],
  options: withOwnerOptions,
  async run(call) {
    const [api, alertId] = await chosenAlert(call);
    const removing = api.write((sdk) => sdk.alerts.remove(alertId));
    await call.print.during("removing", removing);
    call.print.data({ alertId }, () => `Removed alert ${alertId}.`);
  },
};

const [enable, disable] = ([true, false] as const).map(
  (isOn): OwnCommand => ({
    name: isOn ? "alert enable" : "alert disable",
    meaning: isOn ? "enable an alert, and arm it" : "disable an alert, so that it does not fire",
    examples: [`alert ${isOn ? "enable" : "disable"} 7`],
    arguments: [alertArgument],
    options: withOwnerOptions,
    async run(call) {
      const [api, alertId] = await chosenAlert(call);
      const definition = { ...definitionWithin(await readAlert(call, api, alertId)), enable: isOn };
      const changed = await api.write((sdk) => sdk.alerts.change(alertId, definition));
      call.print.data(changed, (one) => {
        return `Alert ${one.alertId} is ${stateOf(one)}. ${alertInWords(one)}`;
      });
    },
  }),
);

const explain: OwnCommand = {
  name: "alert explain",
  meaning: "explain why an alert fired or did not fire",
  examples: ["alert explain 7"],
  arguments: [alertArgument],
  options: withOwnerOptions,
  async run(call) {
    const [api, alertId] = await chosenAlert(call);
    const explaining = api.read((sdk) => sdk.alerts.explain<AnyAlert>(alertId));
    call.print.data(await call.print.during("asking", explaining), (one: Answer) => {
      const watched = "thingId" in one.alert ? "field" : "attribute";
      const now = `The ${watched} is ${one.value === null ? "blank" : JSON.stringify(one.value)} now, so the condition is ${one.conditionIsTrue ?? "unknown"}.`;
      const head = `${alertInWords(one.alert)}\n${one.explanation} ${now}`;
      if (one.evaluations.length === 0) return `${head}\n\nIt has evaluated no event yet.`;
      const [first] = one.evaluations;
      const columns = Object.keys(first).filter((name) => name !== "time");
      const seen = one.evaluations.map((event: Answer) => [
        ago(event.time),
        ...columns.map((name) => shownAs(typeof event[name] === "object" ? JSON.stringify(event[name]) : event[name])),
      ]);
      return `${head}\n\n${table([whole("TIME"), ...columns.map((name) => name.toUpperCase())], seen, call.print.width)}`;
    });
  },
};

const dryRun: OwnCommand = {
  name: "alert dry-run",
  meaning: "show when an alert would have fired, without adding it",
  examples: ["alert dry-run --device 1 --attribute d.structures[1].a.away --value home --action notify --from 2d"],
  options: (command) =>
    withOwnerOptions(withDefinitionOptions(command))
      .option("--from <time>", "begin with the events of this time: 15m, 2h, 2026-01-31T12:00Z")
      .option("--to <time>", "end before this time"),
  async run(call) {
    const { typed, print } = call;
    const [from, to] = [timeOption(typed, "from"), timeOption(typed, "to")];
    const definition = definitionOf(typed);
    const api = await serviceOf(call, concernedBy(call));
    const running = api.read((sdk) => sdk.alerts.dryRun(definition, { from, to }), { withinMs: dryRunMs });
    const result = await print.during("trying it out", running).catch((error) => nameDevice(error, api, definition));
    print.data(result, ({ events, firings, commands = [] }) => {
      const fired = `Of ${counted(events, "event")} it would have fired at ${counted(firings.length, "event")}.`;
      const sent = commands.map((one) => `\nEach firing would ${alertCommandInWords(one)}.`);
      const head = [fired, ...sent].join("");
      if (firings.length === 0) return head;
      const shown = firings.map((one) => [ago(one.time), one.value]);
      return `${head}\n\n${table(["TIME", "VALUE"], shown, print.width)}`;
    });
  },
};

async function chosenAlert(call: Call): Promise<readonly [api: Api, alertId: TriggerId]> {
  const alertId = id<TriggerId>(call.typed, "alert", "The alert's id");
  return [await serviceOf(call, { alert: String(alertId) }), alertId];
}

/** The device, whose owner is the one to act for. The owner of a thing must be named if there are several tenants. */
function concernedBy({ typed: { device } }: Call): Input {
  return device === undefined ? {} : { device };
}

function readAlert({ print }: Call, api: Api, alertId: TriggerId): Promise<AnyAlert> {
  const reading = api.read((sdk) => sdk.alerts.get<AnyAlert>(alertId));
  return print.during("reading the alert", reading);
}

function inWords(alert: AnyAlert): string {
  const after = alert.autoDelete ? "it is deleted" : alert.autoDisable ? "it is disabled" : "";
  const afterFiring = [alert.autoDisarm ? "it waits for a false condition" : "", after].filter(Boolean).join(", ");
  return `${alertInWords(alert)}\n\n${rows([
    ["alert", alert.alertId],
    ["state", stateOf(alert)],
    ["after firing", afterFiring || "it fires again at the next event"],
    ["message", alert.msg || "-"],
    ["fired", alert.firedTime ? `${dateAndTime(alert.firedTime)} (${alert.firings} in all)` : "never"],
    ["since", dateAndTime(alert.createdTime)],
  ])}`;
}

function stateOf(alert: AnyAlert): string {
  if (!alert.enable) return alert.disabledReason ? `disabled: ${alert.disabledReason}` : "disabled";
  return alert.disarmed ? "disarmed" : "armed";
}

export const alert: Noun = {
  name: "alert",
  alias: "alerts",
  meaning: "rules that act when an attribute or a field of a thing meets a condition",
  commands: [list, show, add, remove, enable!, disable!, explain, dryRun],
};
