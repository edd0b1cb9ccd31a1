import { type ConfigSources, settings } from "./config.ts";
import { fromDefault, type ShownSetting } from "./shown-setting.ts";

export type { ShownSetting } from "./shown-setting.ts";

/** Every setting with its value and its source. */
export function shownSettings(sources: ConfigSources): readonly ShownSetting[] {
  return Object.values(settings).map((setting) => shownSetting(sources, setting));
}

export function shownSetting(
  sources: ConfigSources,
  { variable, flag, defaultText, isSecret }: (typeof settings)[keyof typeof settings],
): ShownSetting {
  const [flagged, direct] = [sources.flags[flag], sources.environment[variable]];
  const file = isSecret ? sources.environment[`${variable}_FILE`] : undefined;
  if (flagged) return { variable, value: masked(flagged, isSecret), from: `--${flag}` };
  if (direct) return { variable, value: masked(direct, isSecret), from: sources.origin?.(variable) ?? "environment" };
  if (file) return { variable, value: hidden, from: `${variable}_FILE (${file})` };
  return { variable, value: defaultText.replaceAll("`", ""), from: fromDefault };
}

const hidden = "(set)";

/** Masks a secret completely; a secret within a JSON value is removed from it. */
function masked(text: string, isSecret = false): string {
  if (isSecret) return hidden;
  return text.replaceAll(
    /("[^"]*(?:secret|password|private|credential)[^"]*"\s*:\s*)"(?:[^"\\]|\\.)*"/gi,
    `$1"${hidden}"`,
  );
}
