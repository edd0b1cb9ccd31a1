import type { Command } from "commander";
import type { Config } from "../../config.ts";
import { present } from "../output.ts";
import { withSettings } from "../settings-flags.ts";

/** What a restored folder holds. */
export interface Restored {
  readonly folder: string;
  readonly keyFile: string;
  readonly isKeyFromBackup: boolean;
  readonly version: string;
  readonly schema: number;
  readonly time: string;
}

/** `breezeway restore`: on a folder of its own, never through a running service. */
export function describeRestore(
  program: Command,
  configOf: (command: Command) => Config,
  restore: (config: Config, from: string) => Promise<Restored>,
): void {
  const command = program
    .command("restore")
    .description("bring a backup to a new data folder, wholly or not at all")
    .showHelpAfterError("(breezeway restore --help lists its options)")
    .requiredOption("--from <file>", "the backup");
  withSettings(command.option("--json", "print one JSON object"), { areOfService: false }).action(
    async (options: { from: string; json?: true }, described: Command) => {
      const config = configOf(described);
      const restored = await restore(config, options.from);
      present(restored, (shown) => tell(shown, config), options.json === true);
    },
  );
}

function tell({ folder, keyFile, time, version }: Restored, config: Config): string {
  const flags = `--data ${folder}${config.keyFile === undefined ? "" : ` --key-file ${keyFile}`}`;
  return `Restored what Breezeway ${version} held at ${time}, every digest checked. Start it with: breezeway serve ${flags}`;
}
