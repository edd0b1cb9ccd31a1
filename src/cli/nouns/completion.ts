import type { OwnCommand } from "../command.ts";
import { text } from "../input.ts";
import type { Noun } from "../noun.ts";

const completion: OwnCommand = {
  name: "completion",
  meaning: "print the tab completion script of a shell",
  examples: [
    kept("bash", "~/.local/share/bash-completion/completions", "breezeway"),
    kept("zsh", "~/.zfunc", "_breezeway"),
    kept("fish", "~/.config/fish/completions", "breezeway.fish"),
  ],
  arguments: [{ name: "shell", isRequired: true, meaning: "bash, zsh or fish", choices: ["bash", "zsh", "fish"] }],
  async run({ typed, program, print, terminal }) {
    const { completionFor } = await import("../shell-completion.ts");
    const shell = text(typed, "shell") as "bash" | "zsh" | "fish";
    const script = completionFor(shell, program);
    // The script is printed as it is, also into a pipe; --json wraps it.
    if (typed.json === true) print.data({ shell, script }, () => script);
    else terminal.out.write(script);
  },
};

/** Creates the folder, which a new account lacks. */
function kept(shell: string, folder: string, file: string): string {
  return `breezeway completion ${shell} | (mkdir -p ${folder} && cat > ${folder}/${file})`;
}

export const completionNoun: Noun = { name: "completion", meaning: completion.meaning, commands: [completion] };
