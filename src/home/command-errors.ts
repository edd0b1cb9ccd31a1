import type { Unit } from "./trait.ts";

/** Why a command was not carried out. The code is stable, for programs; `commandErrorText` explains it to people. */
export type CommandError =
  | { readonly code: "unknownThing" }
  /** `command`: trait and command, such as `fan.setMode`. `reason`: a clause, such as "the thing has no trait fan". */
  | { readonly code: "notSupported"; readonly command: string; readonly reason: string }
  /** `problem`: what the parameter must be, such as "must be a number". */
  | { readonly code: "badValue"; readonly parameter: string; readonly problem: string }
  | OutOfRange
  | { readonly code: "rangeTooClose"; readonly gap: number }
  | { readonly code: "modeNotSupported"; readonly mode: string; readonly modes: readonly string[] }
  | { readonly code: "notInMode"; readonly mode: string }
  | { readonly code: "offline" }
  | { readonly code: "stale" }
  | { readonly code: "notHome" }
  | { readonly code: "needsReauth" }
  | { readonly code: "busy" }
  | { readonly code: "rateLimited"; readonly retryAfterMs: number }
  | { readonly code: "forbidden" }
  /** `text`: the ecosystem's own words. */
  | { readonly code: "refused"; readonly text: string }
  | { readonly code: "noAnswer" }
  | { readonly code: "notSent" }
  | { readonly code: "superseded" };

/** Null: the range has no limit on this side. */
export interface OutOfRange {
  readonly code: "outOfRange";
  readonly parameter: string;
  readonly min: number | null;
  readonly max: number | null;
  readonly unit: Unit;
}

/** Commands and plans have no `code`, so that functions can return either of them or an error. */
export function isCommandError<Result extends object>(result: Result | CommandError): result is CommandError {
  return "code" in result;
}

/** What happened, why, and what to do. */
export function commandErrorText(error: CommandError): string {
  switch (error.code) {
    case "unknownThing":
      return "The thing does not exist. It may have been removed from the home. Read the list of things again.";
    case "notSupported":
      return `The thing does not accept ${error.command}: ${error.reason}. Its traits and capabilities show what it accepts.`;
    case "badValue":
      return `The parameter "${error.parameter}" ${error.problem}. Correct it and send the command again.`;
    case "outOfRange":
      return `The parameter "${error.parameter}" leads to a value outside the range of the thing. Choose ${rangeText(error)}.`;
    case "rangeTooClose":
      return `The targets are too close. Choose a cooling target at least ${error.gap} °C above the heating target.`;
    case "modeNotSupported":
      return `The thing does not have the mode ${error.mode}. Choose one of: ${error.modes.join(", ")}.`;
    case "notInMode":
      return `The thing is in mode ${error.mode}, in which this target has no effect. Set another mode first.`;
    case "offline":
      return "The thing is offline: it can't be reached. Check its power and its network, then try again.";
    case "stale":
      return "Breezeway does not know the current state of the thing, and the command depends on it. Try again when the thing shows its current state.";
    case "notHome":
      return "The ecosystem carries out this command only while somebody is home, and nobody is. Try again when somebody is home, or set the home's presence to home.";
    case "needsReauth":
      return "The ecosystem no longer accepts the credential of this account. The user must connect the account again.";
    case "busy":
      return "Too many commands for this thing are waiting. Try again when one of them has ended.";
    case "rateLimited":
      return `The ecosystem limits how many commands it accepts. Try again in ${secondsText(error.retryAfterMs)}.`;
    case "forbidden":
      return "The client has no permission to send this command. The user must grant it the scope devices:control.";
    case "refused":
      return `The ecosystem refused the command with this message: ${error.text}`;
    case "noAnswer":
      return "The thing did not answer in time. The command may have been carried out. Read the state of the thing before you send the command again.";
    case "notSent":
      return "Breezeway could not send the command in time. It was not carried out. Try again.";
    case "superseded":
      return "A newer command replaced this one before it was sent. It was not carried out.";
  }
}

const unitTexts: Readonly<Record<Unit, string>> = {
  celsius: " °C",
  percent: " %",
  minutes: " min",
  milliseconds: " ms",
};

function rangeText({ min, max, unit }: OutOfRange): string {
  const end = unitTexts[unit];
  if (min === null) return `at most ${max}${end}`;
  return max === null ? `at least ${min}${end}` : `from ${min}${end} to ${max}${end}`;
}

/** Rounded up: a client that waits as long as the text says must not come too early. */
function secondsText(durationMs: number): string {
  const seconds = Math.max(1, Math.ceil(durationMs / 1_000));
  return seconds === 1 ? "1 second" : `${seconds} seconds`;
}
