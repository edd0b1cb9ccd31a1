import type { Config } from "../../../config/config.ts";
import type { OwnCommand } from "../../command.ts";
import { text } from "../../input.ts";
import type { Noun } from "../../noun.ts";
import type { Restored } from "../../programs.ts";

/** Works on a new folder, without a running service. */
const restore: OwnCommand = {
  name: "restore",
  meaning: "restore a backup to a new data folder, completely or not at all",
  examples: ["restore --from breezeway.backup --data ./restored"],
  options: (command) => command.requiredOption("--from <file>", "the backup"),
  async run({ typed, print, programs, ...call }) {
    const config = call.config();
    const restored = await print.during("restoring", programs.restore(config, text(typed, "from")));
    print.data(restored, (shown) => toText(shown, config));
  },
};

function toText({ folder, keyFile, time, version }: Restored, config: Config): string {
  const flags = `--data ${folder}${config.keyFile === undefined ? "" : ` --key-file ${keyFile}`}`;
  return `Restored the store of Breezeway ${version} as of ${time}; all digests are right. Start it with: breezeway serve ${flags}`;
}

export const restoreNoun: Noun = { name: "restore", meaning: restore.meaning, commands: [restore] };
