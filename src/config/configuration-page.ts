import type { Protocol } from "../ecosystems/protocol.ts";
import { protocols } from "../ecosystems/registry.ts";
import { settings } from "./config.ts";

/** The text of `docs/configuration.md`, generated from the table of settings. */
export function configurationPage(): string {
  const rows = Object.values(settings).map(({ variable, flag, defaultText, meaning, isSecret }) => {
    const names = isSecret ? `\`${variable}\`, or a file of it in \`${variable}_FILE\`` : `\`${variable}\``;
    return `| ${names} | ${isSecret ? "none: a secret" : `\`--${flag}\``} | ${cell(defaultText)} | ${cell(meaning)} |`;
  });
  return `# Configuration

<!-- Written by docs/write-configuration.ts from the table in src/config/config.ts. Don't edit it here. -->

Nothing has to be set to run on a laptop. A setting can come from three places. If several have it, the first of them wins:

1. a flag of \`breezeway serve\`;
2. an environment variable;
3. a line in the file \`.env\` in the folder where the command runs or, without that file, in the folder of the program.

An empty value counts as not set. A secret is never a flag, since other users of the machine can read command lines: put it into the variable, or into a file that the variable with \`_FILE\` at its end names.

The service checks all settings before it opens anything. It reports all problems in one message and ends with exit code 3. A variable that begins with \`BREEZEWAY_\` and is not a setting is a problem too.

| variable | flag | default | meaning |
|---|---|---|---|
${rows.join("\n")}

\`BREEZEWAY_PASSWORD\` is not a setting of the service: only \`breezeway user add\`, \`user set-password\`, \`profile\` and \`verify\` read it.

## Ecosystems
\`BREEZEWAY_ECOSYSTEMS\` is a JSON object, or the path of a file that holds one. It has a member for each ecosystem. Keep a file with a \`clientSecret\` readable for the service's user alone.

| member | meaning |
|---|---|
| the name | what clients send as \`anEcosystemName\` |
| \`protocol\` | ${protocols.map(({ protocol }) => `\`${protocol}\``).join(", ")}${protocols.length === 1 ? ", the only protocol so far" : ""} |

The other members depend on the protocol.

${protocols.map(protocolSection).join("\n")}
## A service behind a proxy on the same machine
Write the settings into \`.env\`, in a folder for the service, and run \`breezeway serve\` there. \`breezeway config print\` shows the settings that it would run with:

\`\`\`bash
export PATH="$PWD/bin:$PATH"
mkdir -p production
cat > production/.env <<'END'
BREEZEWAY_BASE_URL=https://home.example
BREEZEWAY_TRUSTED_PROXIES=127.0.0.1
BREEZEWAY_LOG_LEVEL=warn
END
(cd production && breezeway config print)
\`\`\`
`;
}

/** An example of an ecosystem with this protocol, and the meaning of its members. */
function protocolSection({ protocol, consent, page: { example, members } }: Protocol): string {
  const rows = members.map(([names, meaning]) => `| ${names} | ${cell(meaning)} |`);
  return `### The protocol \`${protocol}\`
${consents[consent]}

\`\`\`json
${indentedJson({ [example.name]: example.settings })}
\`\`\`

| member | meaning |
|---|---|
${rows.join("\n")}
`;
}

const consents = {
  token: "A client brings a token of the account along.",
  code: "A client brings a token of the account along, or an operator asks the account's owner in a browser (`breezeway link add --consent`).",
} as const satisfies Record<Protocol["consent"], string>;

/** JSON with a line for each member; a list stays on one line. */
function indentedJson(value: object): string {
  return JSON.stringify(value, null, 2).replaceAll(/\[\s+([^\]]*?)\s+\]/g, (_, items: string) => {
    return `[${items.replaceAll(/\s*\n\s*/g, " ")}]`;
  });
}

/** Escapes text for a cell of a Markdown table. */
function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}
