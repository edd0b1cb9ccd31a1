import type { Command } from "commander";
import { settings } from "../config/config.ts";

/** The settings that a command of an administrator needs: which store it is about, and how that is opened. */
const ofEveryCommand: readonly unknown[] = [settings.dataFolder, settings.keyFile];

/**
 * Every setting of the service as a flag; what isn't given comes from the environment. A command that doesn't run the
 * service takes them all, so that one set of flags fits everywhere, and shows those that matter to it.
 */
export function withSettings(command: Command, { areOfService = true } = {}): Command {
  command.optionsGroup("Settings (each also as a variable, BREEZEWAY_…):");
  for (const setting of Object.values(settings)) {
    const { flag, meaning, shown, isSecret } = setting;
    // A secret never travels in a command line, where other users of the machine can read it.
    if (isSecret) continue;
    const option = command.createOption(`--${flag} <value>`, inPlainText(`${meaning} (default: ${shown})`));
    command.addOption(areOfService || ofEveryCommand.includes(setting) ? option : option.hideHelp());
  }
  return command;
}

/** Settings are described in Markdown, for their page. A terminal shows its marks as they are. */
export function inPlainText(markdown: string): string {
  return markdown.replaceAll("`", "");
}

/** What was given of them, by flag. */
export function flagsOf(options: Readonly<Record<string, unknown>>): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.values(settings).map(({ flag }) => {
      const value = options[flag.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase())];
      return [flag, typeof value === "string" ? value : undefined];
    }),
  );
}
