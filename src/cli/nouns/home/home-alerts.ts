import type { AlertListFilter, AnyTriggerRow } from "../../../alerts/alerts.ts";
import { BadParameter } from "../../../model/errors.ts";
import type { DeviceId, UserId } from "../../../model/ids.ts";
import type { AdminCommand, AdministrationParts, Answer } from "../../administration/admin-command.ts";
import { alertAnswer, namesFor } from "../../administration/homes/alert-answer.ts";
import { afterId, wantedPage } from "../../administration/paging.ts";
import { type Input, id, optional } from "../../input.ts";
import { table } from "../../terminal/output.ts";
import { withDefinitionOptions, withRuleOptions } from "../alert/alert-definition.ts";
import { inputIn } from "../alert/alert-input.ts";
import { chosenTenant, withTenantOption } from "../tenant-option.ts";
import { alertIdIn, withAlert, withUser } from "./home-alert-options.ts";
import { alertTrials } from "./home-alert-trials.ts";

/** On a command line, where there are no pages. */
const mostListed = 1_000;
const states = ["armed", "waiting", "disabled", "stopped"] as const;

const list: AdminCommand = {
  name: "home alert list",
  meaning: "list the alerts of all users of a tenant or of all tenants, newest first",
  examples: ["home alert list --tenant Acme", "home alert list --user 3 --state stopped"],
  options: (command) =>
    withTenantOption(command)
      .option("--user <id>", "of one user only")
      .option("--device <id>", "on one device only, with its things")
      .option("--state <state>", `only of this state: ${states.join(", ")}`),
  toText({ alerts }, _typed, width) {
    if (alerts.length === 0) return "There is no such alert.";
    return table(
      ["ALERT", "USER", "STATE", "WHAT"],
      (alerts as Answer[]).map((one) => [one.alertId, one.userId, one.state, one.sentence]),
      width,
    );
  },
  async act({ identity, homeAlerts }, input) {
    const tenantId = await chosenTenant(identity, input);
    const page = wantedPage(input);
    const limit = page?.limit ?? mostListed;
    const found = await homeAlerts.list({
      tenantIds: tenantId === undefined ? undefined : [tenantId],
      userId: optional(input, "user") === undefined ? undefined : id<UserId>(input, "user"),
      deviceId: optional(input, "device") === undefined ? undefined : id<DeviceId>(input, "device"),
      state: stateIn(input),
      beforeId: page && afterId(page),
      // One more shows whether another page follows.
      limit: limit + 1,
    });
    const alerts = found.slice(0, limit);
    const last = found.length > limit ? alerts.at(-1) : undefined;
    const shown = await answersOf(homeAlerts, alerts);
    return { answer: { alerts: shown, ...(last && { cursor: String(last.id) }) } };
  },
};

function stateIn(input: Input): AlertListFilter["state"] {
  const typed = optional(input, "state");
  if (typed === undefined || states.some((state) => state === typed)) return typed as AlertListFilter["state"];
  throw new BadParameter("state", `--state must be one of: ${states.join(", ")}.`);
}

/** The names of each user's devices and things are read once. */
async function answersOf(homeAlerts: AdministrationParts["homeAlerts"], alerts: readonly AnyTriggerRow[]) {
  const byUser = Map.groupBy(alerts, ({ userId }) => userId);
  const names = new Map(
    await Promise.all(
      [...byUser].map(async ([userId, own]) => [userId, await namesFor(homeAlerts, userId, own)] as const),
    ),
  );
  return alerts.map((alert) => alertAnswer(alert, names.get(alert.userId)!));
}

const show: AdminCommand = {
  name: "home alert show",
  meaning: "show an alert, and explain why it fired or did not fire",
  examples: ["home alert show --user 3 --alert 7"],
  options: withAlert,
  toText: ({ alert, explanation, value }) =>
    `${alert.sentence}\n${explanation} The value is ${value === null ? "blank" : JSON.stringify(value)} now.`,
  async act({ identity, homeAlerts }, input) {
    const { userId } = await identity.findUser(id<UserId>(input, "user"));
    const { trigger, value, isTrue, sentence, evaluations } = await homeAlerts.explain(userId, alertIdIn(input));
    const [alert] = await answersOf(homeAlerts, [trigger]);
    return {
      answer: {
        alert,
        value,
        conditionIsTrue: isTrue,
        explanation: sentence,
        evaluations: evaluations.map(({ timeMs, note, ...more }) => ({ time: timeMs, ...more, note: note ?? null })),
      },
    };
  },
};

const add: AdminCommand = {
  name: "home alert add",
  meaning: "add an alert to a user's device or thing",
  examples: [
    "home alert add --user 3 --thing t_… --field smoke.state --value alarm --action notify --auto-disarm",
    'home alert add --user 3 --thing t_… --field presence.state --value away --command "light: onOff set on=false"',
  ],
  options: (command) => withDefinitionOptions(withUser(command)),
  toText: ({ alertId, sentence }) => `Added alert ${alertId}. ${sentence}`,
  async act({ identity, homeAlerts }, input) {
    const user = await identity.findUser(id<UserId>(input, "user"));
    const added = await homeAlerts.add(user.userId, inputIn(input));
    const [answer] = await answersOf(homeAlerts, [added]);
    return {
      answer: answer!,
      changed: { tenantId: user.tenantId, userId: user.userId, detail: { alert: added.id } },
    };
  },
};

const edit: AdminCommand = {
  name: "home alert edit",
  meaning: "replace what an alert compares and does; its id, its device or thing, and its history stay",
  examples: [
    "home alert edit --user 3 --alert 7 --thing t_… --field smoke.state --value warning --action notify --auto-disarm",
  ],
  options: (command) => withRuleOptions(withAlert(command)),
  toText: ({ alertId, state, sentence }) => `Changed alert ${alertId}; it is ${state}. ${sentence}`,
  async act({ identity, homeAlerts }, input) {
    const user = await identity.findUser(id<UserId>(input, "user"));
    const changed = await homeAlerts.edit(user.userId, alertIdIn(input), inputIn(input));
    const [answer] = await answersOf(homeAlerts, [changed]);
    return {
      answer: answer!,
      changed: { tenantId: user.tenantId, userId: user.userId, detail: { alert: changed.id } },
    };
  },
};

const [enable, disable] = ([true, false] as const).map(
  (isEnabled): AdminCommand => ({
    name: isEnabled ? "home alert enable" : "home alert disable",
    meaning: isEnabled ? "enable an alert, and arm it" : "disable an alert, so that it does not fire",
    examples: [`home alert ${isEnabled ? "enable" : "disable"} --user 3 --alert 7`],
    options: withAlert,
    toText: ({ alertId, state }) => `Alert ${alertId} is ${state}.`,
    async act({ identity, homeAlerts }, input) {
      const user = await identity.findUser(id<UserId>(input, "user"));
      const alertId = alertIdIn(input);
      await homeAlerts.setEnabled(user.userId, alertId, isEnabled);
      return {
        answer: { alertId, state: isEnabled ? "armed" : "disabled" },
        changed: { tenantId: user.tenantId, userId: user.userId, detail: { alert: alertId } },
      };
    },
  }),
);

const remove: AdminCommand = {
  name: "home alert remove",
  meaning: "remove an alert",
  examples: ["home alert remove --user 3 --alert 7"],
  options: withAlert,
  toText: ({ alertId }) => `Removed alert ${alertId}.`,
  async act({ identity, homeAlerts }, input) {
    const user = await identity.findUser(id<UserId>(input, "user"));
    const alertId = alertIdIn(input);
    await homeAlerts.remove(user.userId, alertId);
    const changed = { tenantId: user.tenantId, userId: user.userId, detail: { alert: alertId } };
    return { answer: { alertId }, changed };
  },
};

/** The commands about alerts, for the noun `home`. */
export const homeAlertCommands: readonly AdminCommand[] = [
  list,
  show,
  ...alertTrials,
  add,
  edit,
  enable!,
  disable!,
  remove,
];
