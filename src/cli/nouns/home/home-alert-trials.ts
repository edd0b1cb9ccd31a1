import type { Command } from "commander";
import type { DryRun } from "../../../alerts/alerts.ts";
import type { UserId } from "../../../model/ids.ts";
import type { AdminCommand, Answer } from "../../administration/admin-command.ts";
import { commandWords, inputSentence, namesFor } from "../../administration/homes/alert-answer.ts";
import { timeOption } from "../../devices/times.ts";
import { type Input, id, text } from "../../input.ts";
import { withDefinitionOptions } from "../alert/alert-definition.ts";
import { inputIn, inputWithin } from "../alert/alert-input.ts";
import { alertIdIn, withAlert, withUser } from "./home-alert-options.ts";

/** The firings of a dry run that the answer names. */
const mostFirings = 50;

const test: AdminCommand = {
  name: "home alert test",
  meaning: "show what an alert would do at a value, without doing it",
  examples: ["home alert test --user 3 --alert 7 --value alarm"],
  options: (command) => withAlert(command).requiredOption("--value <value>", "the value that is tried"),
  toText: ({ outcome, conditionIsTrue }) =>
    `The condition is ${conditionIsTrue ? "true" : "false"}. ${outcome === "fired" ? "It would fire." : `It would not fire: ${outcome}.`}`,
  async act({ identity, homeAlerts }, input) {
    const { userId } = await identity.findUser(id<UserId>(input, "user"));
    const value = text(input, "value");
    const tried = await homeAlerts.tryValue(userId, alertIdIn(input), value);
    const names = await homeAlerts.names(
      userId,
      [],
      tried.commands.map(({ thingId }) => thingId),
    );
    return {
      answer: {
        value,
        conditionIsTrue: tried.isTrue,
        outcome: tried.outcome,
        commands: tried.commands.map(({ thingId, command }) => commandWords({ ...command, thingId }, names)),
      },
    };
  },
};

const dryRun: AdminCommand = {
  name: "home alert dry-run",
  meaning: "show when an alert would have fired, had it existed as it is now",
  examples: ["home alert dry-run --user 3 --alert 7 --from 2d"],
  options: (command) => withPeriod(withAlert(command)),
  toText: runInWords,
  async act({ identity, homeAlerts }, input) {
    const { userId } = await identity.findUser(id<UserId>(input, "user"));
    const { trigger } = await homeAlerts.explain(userId, alertIdIn(input));
    const run = await homeAlerts.dryRun(userId, { ...inputWithin(trigger), isEnabled: true }, periodIn(input));
    return { answer: runAnswer(run) };
  },
};

const preview: AdminCommand = {
  name: "home alert preview",
  meaning: "check an alert, write its sentence, and show when it would have fired, without adding it",
  examples: ["home alert preview --user 3 --thing t_… --field smoke.state --value alarm --action notify --from 2d"],
  options: (command) => withPeriod(withDefinitionOptions(withUser(command))),
  toText: (answer) => `${answer.sentence}\n${runInWords(answer)}`,
  async act({ identity, homeAlerts }, input) {
    const { userId } = await identity.findUser(id<UserId>(input, "user"));
    const defined = inputIn(input);
    const run = await homeAlerts.dryRun(userId, defined, periodIn(input));
    const names = await namesFor(homeAlerts, userId, [defined]);
    return { answer: { sentence: inputSentence(defined, names), ...runAnswer(run) } };
  },
};

/** Commands that show what an alert would do, and do nothing. */
export const alertTrials: readonly AdminCommand[] = [test, dryRun, preview];

function withPeriod(command: Command): Command {
  return command
    .option("--from <time>", "begin with the events of this time: 15m, 2h, 2026-01-31T12:00Z")
    .option("--to <time>", "end before this time");
}

function periodIn(input: Input) {
  return {
    afterMs: timeOption(input, "from") ?? 0,
    untilMs: timeOption(input, "to") ?? Number.MAX_SAFE_INTEGER,
  };
}

function runAnswer({ events, firings, commands }: DryRun) {
  return {
    events,
    fired: firings.length,
    firings: firings.slice(-mostFirings).map(({ timeMs, value }) => ({ time: timeMs, value })),
    reaches: commands.length,
  };
}

function runInWords({ events, fired }: Answer): string {
  return `Of ${events} events it would have fired at ${fired}.`;
}
