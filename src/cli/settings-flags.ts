import type { Command } from "commander";
import { settings } from "../config/config.ts";

/** The settings that every command shows: they choose and open the store. */
const ofEveryCommand: readonly unknown[] = [settings.dataFolder, settings.keyFile];

/**
 * Adds every setting of the service as a flag; without a flag the environment counts. Commands that do not run the service
 * accept all of them, so that one set of flags works everywhere, but their help lists only the relevant ones.
 */
export function withSettings(command: Command, { areOfService = true } = {}): Command {
  command.optionsGroup("Settings (each also as a variable, BREEZEWAY_…):");
  for (const setting of Object.values(settings)) {
    const { flag, meaning, defaultText, isSecret } = setting;
    // Secrets are never flags, because other users of the machine can read command lines.
    if (isSecret) continue;
    const option = command.createOption(`--${flag} <value>`, inPlainText(`${meaning} (default: ${defaultText})`));
    command.addOption(areOfService || ofEveryCommand.includes(setting) ? option : option.hideHelp());
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
