import type { Command } from "commander";

export type Shell = "bash" | "zsh" | "fish";

/** The words that can follow a path of words. */
interface Completions {
  readonly path: string;
  readonly words: readonly { readonly word: string; readonly meaning: string; readonly choices?: readonly string[] }[];
}

/** Generates the completion script of a shell from the commands. */
export function completionFor(shell: Shell, program: Command): string {
  const completions = completionsOf(program);
  switch (shell) {
    case "bash":
      return bash(completions);
    case "zsh":
      return zsh(completions);
    case "fish":
      return fish(completions);
  }
}

function completionsOf(program: Command): readonly Completions[] {
  const completions: Completions[] = [];
  const visit = (command: Command, path: string) => {
    const help = command.createHelp();
    const verbs = help
      .visibleCommands(command)
      .filter((one) => one.name() !== "help")
      .flatMap((one) => [one.name(), ...one.aliases()].map((word) => ({ word, meaning: one.description() })));
    const options = help
      .visibleOptions(command)
      .map(({ long, description, argChoices }) => ({ word: long!, meaning: description, choices: argChoices ?? [] }));
    const choices = command.registeredArguments
      .flatMap(({ argChoices }) => argChoices ?? [])
      .map((word) => ({ word, meaning: "" }));
    completions.push({ path, words: [...verbs, ...choices, ...options] });
    for (const one of command.commands) {
      for (const name of [one.name(), ...one.aliases()]) visit(one, `${path} ${name}`.trim());
    }
  };
  visit(program, "");
  return completions;
}

/** The options that take one of a few values. */
function valuesIn(completions: readonly Completions[]) {
  return completions.flatMap(({ path, words }) =>
    words.flatMap(({ word, choices = [] }) => (choices.length > 0 ? [{ path, option: word, choices }] : [])),
  );
}

/** Only the first two words that are not options determine the command. */
function bash(completions: readonly Completions[]): string {
  const cases = completions.map(
    ({ path, words }) => `    "${path}") words="${words.map(({ word }) => word).join(" ")}" ;;`,
  );
  const valueCases = valuesIn(completions).map(
    ({ path, option, choices }) => `    "${path} ${option}") words="${choices.join(" ")}" ;;`,
  );
  return `# bash completion for breezeway
_breezeway() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path="" words="" i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "\${COMP_WORDS[i]}" in
      -*) break ;;
      *) if _breezeway_words "\${path:+$path }\${COMP_WORDS[i]}"; then path="\${path:+$path }\${COMP_WORDS[i]}"; else break; fi ;;
    esac
  done
  _breezeway_words "$path"
  _breezeway_values "$path \${COMP_WORDS[COMP_CWORD - 1]}"
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
_breezeway_words() {
  case "$1" in
${cases.join("\n")}
    *) return 1 ;;
  esac
}
_breezeway_values() {
  case "$1" in
${valueCases.join("\n")}
  esac
}
complete -o default -F _breezeway breezeway
`;
}

function zsh(completions: readonly Completions[]): string {
  const plain = (text: string) => text.replaceAll(/['\\]/g, "").replaceAll(":", "\\:");
  const cases = completions.map(({ path, words }) => {
    const shown = words.map(({ word, meaning }) => `'${plain(word)}:${plain(meaning)}'`);
    return `    '${path}') words_here=(${shown.join(" ")}) ;;`;
  });
  const valueCases = valuesIn(completions).map(
    ({ path, option, choices }) => `    '${path} ${option}') words_here=(${choices.join(" ")}) ;;`,
  );
  return `#compdef breezeway
_breezeway_words() {
  case "$1" in
${cases.join("\n")}
    *) return 1 ;;
  esac
}
_breezeway_values() {
  case "$1" in
${valueCases.join("\n")}
  esac
}
_breezeway() {
  local -a words_here
  local at="" i
  for ((i = 2; i < CURRENT; i++)); do
    [[ "\${words[i]}" == -* ]] && break
    _breezeway_words "\${at:+$at }\${words[i]}" || break
    at="\${at:+$at }\${words[i]}"
  done
  _breezeway_words "$at"
  _breezeway_values "$at \${words[CURRENT-1]}"
  _describe 'breezeway' words_here || _files
}
if [ "$funcstack[1]" = "_breezeway" ]; then _breezeway "$@"; else compdef _breezeway breezeway; fi
`;
}

function fish(completions: readonly Completions[]): string {
  const quoted = (text: string) => `'${text.replaceAll(/[\\']/g, "\\$&")}'`;
  const lines = completions.flatMap(({ path, words }) =>
    words.map(({ word, meaning, choices = [] }) => {
      const values = choices.length > 0 ? ` -x -a ${quoted(choices.join(" "))}` : "";
      const what = word.startsWith("--") ? `-l ${word.slice(2)}${values}` : `-a ${quoted(word)}`;
      return `complete -c breezeway -n ${quoted(`__breezeway_at ${quoted(path)}`)} ${what} -d ${quoted(meaning)}`;
    }),
  );
  const paths = completions.map(({ path }) => quoted(path)).join(" ");
  return `# fish completion for breezeway
function __breezeway_at
    set -l at ''
    for word in (commandline -opc)[2..]
        string match -q -- '-*' $word; and break
        set -l next (string trim -- "$at $word")
        contains -- $next ${paths}; or break
        set at $next
    end
    test "$at" = "$argv[1]"
end
complete -c breezeway -f
${lines.join("\n")}
`;
}
