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
3. a line in the file \`.env\` in the folder where the command runs.

An empty value counts as not set. A secret is never a flag, since other users of the machine can read command lines: put it into the variable, or into a file that the variable with \`_FILE\` at its end names.

The service checks all settings before it opens anything. It reports all problems in one message and ends with exit code 3. A variable that begins with \`BREEZEWAY_\` and is not a setting is a problem too.

| variable | flag | default | meaning |
|---|---|---|---|
${rows.join("\n")}

\`BREEZEWAY_PASSWORD\` is not a setting of the service: only \`breezeway user add\`, \`user set-password\`, \`profile\` and \`verify\` read it.

## Ecosystems
\`BREEZEWAY_ECOSYSTEMS\` is a JSON object, or the path of a file that holds one. Keep a file with a \`clientSecret\` readable for the service's user alone.

\`\`\`json
{
  "nest": {
    "protocol": "nest",
    "apiUrl": "https://api.home.example",
    "allowedHosts": ["api.home.example:443", "node-1.home.example:443"],
    "authUrl": "https://home.example/login/oauth2",
    "tokenUrl": "https://api.home.example/oauth2/access_token",
    "clientId": "<client id in the ecosystem>",
    "clientSecret": "<client secret in the ecosystem>"
  }
}
\`\`\`

| member | meaning |
|---|---|
| the name, here \`nest\` | what clients send as \`anEcosystemName\` |
| \`protocol\` | \`nest\`, the only protocol so far |
| \`apiUrl\` | the address of the ecosystem's interface |
| \`allowedHosts\` | the hosts to which the ecosystem may redirect. Default: the host of \`apiUrl\` |
| \`authUrl\`, \`tokenUrl\`, \`clientId\`, \`clientSecret\` | all or none: needed only for \`breezeway link add --consent\`, with which an operator asks an account's owner in a browser |

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

/** Escapes text for a cell of a Markdown table. */
function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}
