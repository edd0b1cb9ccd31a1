import type { Command } from "commander";
import { settings } from "../config/config.ts";

/** The settings that every command shows: they choose and open the store. */
const ofEveryCommand: readonly unknown[] = [settings.dataFolder, settings.keyFile];

/**
 * Adds the settings of the service as flags; without a flag the environment counts. Every command accepts all of them, so
 * that one set of flags works everywhere. Commands that do not run the service hide most of them from their help.
 */
export function withSettings(command: Command): Command {
  return withFlags(command, () => true);
}

/** Adds the settings that the help of every command lists. */
export function withListedSettings(command: Command): Command {
  return withFlags(command, (setting) => ofEveryCommand.includes(setting));
}

/** Adds the settings that only `withSettings` lists. */
export function withHiddenSettings(command: Command): Command {
  return withFlags(command, (setting) => !ofEveryCommand.includes(setting), { isHidden: true });
}

function withFlags(command: Command, isAdded: (setting: unknown) => boolean, { isHidden = false } = {}): Command {
  command.optionsGroup("Settings (each also as a variable, BREEZEWAY_…):");
  for (const setting of Object.values(settings)) {
    const { flag, meaning, defaultText, isSecret } = setting;
    // Secrets are never flags, because other users of the machine can read command lines.
    if (isSecret || !isAdded(setting)) continue;
    const option = command.createOption(`--${flag} <value>`, inPlainText(`${meaning} (default: ${defaultText})`));
    command.addOption(option.hideHelp(isHidden));
  }
  return command;
}

/** Removes the Markdown of a setting's description, for terminals. */
export function inPlainText(markdown: string): string {
  return markdown.replaceAll("`", "");
}

/** The values of the given flags. */
export function flagsOf(options: Readonly<Record<string, unknown>>): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.values(settings).map(({ flag }) => {
      const value = options[flag.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase())];
      return [flag, typeof value === "string" ? value : undefined];
    }),
  );
}
