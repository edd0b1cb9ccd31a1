import { ConfigurationError, settings } from "../../config/config.ts";
import { lackOfEcosystems, lacksEcosystems } from "../../config/ecosystem-settings.ts";
import { shownSetting, shownSettings } from "../../config/shown-settings.ts";
import type { Call, OwnCommand } from "../command.ts";
import type { Noun } from "../noun.ts";
import { inPlainText } from "../settings-flags.ts";
import { table, whole } from "../terminal/output.ts";

const check: OwnCommand = {
  name: "config check",
  meaning: "check the settings, and list every problem",
  examples: ["config check", "BREEZEWAY_PORT=eighty breezeway config check"],
  async run(call) {
    const { print, config } = call;
    try {
      config();
    } catch (error) {
      // As JSON too, for programs that read standard output.
      if (error instanceof ConfigurationError && print.isJson)
        print.data({ ok: false, problems: error.problems }, () => "");
      throw error;
    }
    warn(call);
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
    warn(call);
    const shown = Object.values(settings).map((setting) => ({
      ...shownSetting(call.sources, setting),
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

/** Settings that are valid, and hardly meant. */
function warn({ config, sources, print }: Call): void {
  const hasLinkPages = config().ecosystems.some(({ consent }) => consent !== undefined);
  if (lacksEcosystems(shownSettings(sources), hasLinkPages)) {
    print.words(`${lackOfEcosystems.sentence} ${lackOfEcosystems.fix}`);
  }
}

export const config: Noun = { name: "config", meaning: "the settings", commands: [check, show] };
