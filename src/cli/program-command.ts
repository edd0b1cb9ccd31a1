import { Command } from "commander";

/**
 * A command of commander that reports all missing options at once, not only the first one, and that can add options when
 * the command line names it.
 */
export class ProgramCommand extends Command {
  #addOptions: ((command: this) => unknown) | undefined;

  constructor(name?: string) {
    super(name);
    this.hook("preSubcommand", (_, chosen) => {
      if (chosen instanceof ProgramCommand) chosen.#addOptions?.(chosen);
    });
  }

  /** Adding the options that help hides to each of 170 commands took two thirds of the time to describe them all. */
  whenChosen(addOptions: (command: this) => unknown): void {
    this.#addOptions = addOptions;
  }

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
