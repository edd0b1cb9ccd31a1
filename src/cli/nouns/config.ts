import { ConfigurationError, settings } from "../../config/config.ts";
import type { Call, OwnCommand } from "../command.ts";
import type { Noun } from "../noun.ts";
import { inPlainText } from "../settings-flags.ts";
import { table, whole } from "../terminal/output.ts";

const check: OwnCommand = {
  name: "config check",
  meaning: "check the settings, and list every problem",
  examples: ["config check", "BREEZEWAY_PORT=eighty breezeway config check"],
  async run({ print, config }) {
    try {
      config();
    } catch (error) {
      // As JSON too, for programs that read standard output.
      if (error instanceof ConfigurationError && print.isJson)
        print.data({ ok: false, problems: error.problems }, () => "");
      throw error;
    }
    print.data({ ok: true, problems: [] }, () => "The settings are valid. See them with: breezeway config print");
  },
};

const show: OwnCommand = {
  name: "config print",
  alias: "list",
  meaning: "print every setting with its value and its source; secrets are masked",
  examples: ["config print", "config print --json"],
  async run(call) {
    call.config();
    const shown = Object.values(settings).map((setting) => ({
      ...sourceOf(call, setting),
      meaning: inPlainText(setting.meaning),
    }));
    call.print.data({ settings: shown }, () =>
      table(
        [whole("SETTING"), "VALUE", "FROM"],
        shown.map((one) => [one.variable, one.value, one.from]),
        call.print.width,
      ),
    );
  },
};

function sourceOf({ sources }: Call, setting: (typeof settings)[keyof typeof settings]) {
  const { variable, flag, defaultText, isSecret } = setting;
  const [flagged, direct] = [sources.flags[flag], sources.environment[variable]];
  const file = isSecret ? sources.environment[`${variable}_FILE`] : undefined;
  if (flagged) return { variable, value: masked(flagged, isSecret), from: `--${flag}` };
  if (direct) return { variable, value: masked(direct, isSecret), from: sources.origin?.(variable) ?? "environment" };
  if (file) return { variable, value: hidden, from: `${variable}_FILE (${file})` };
  return { variable, value: inPlainText(defaultText), from: "default" };
}

const hidden = "(set)";

/** Masks a secret completely; a secret within a JSON value is removed from it. */
function masked(text: string, isSecret = false): string {
  if (isSecret) return hidden;
  return text.replaceAll(/("[^"]*secret[^"]*"\s*:\s*)"(?:[^"\\]|\\.)*"/gi, `$1"${hidden}"`);
}

export const config: Noun = { name: "config", meaning: "the settings", commands: [check, show] };
