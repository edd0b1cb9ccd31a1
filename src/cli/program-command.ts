import { Command } from "commander";

/** Reports all missing options at once; commander reports the first one only. */
export class ProgramCommand extends Command {
  override createCommand(name?: string): ProgramCommand {
    return new ProgramCommand(name);
  }

  /** Commander calls it for the first missing option. */
  missingMandatoryOptionValue(): void {
    const missing = this.options.filter(
      (one) => one.mandatory && this.getOptionValue(one.attributeName()) === undefined,
    );
    const names = missing.map(({ flags }) => `'${flags}'`).join(", ");
    this.error(`error: required option${missing.length === 1 ? "" : "s"} ${names} not specified`, {
      code: "commander.missingMandatoryOptionValue",
    });
  }
}
