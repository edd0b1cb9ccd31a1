import { settings } from "./config.ts";

/** `docs/configuration.md`, from the one table in which every setting stands. */
export function configurationPage(): string {
  const rows = Object.values(settings).map(({ variable, flag, shown, meaning, isSecret }) => {
    const names = isSecret ? `\`${variable}\`, or a file of it in \`${variable}_FILE\`` : `\`${variable}\``;
    return `| ${names} | ${isSecret ? "none: a secret" : `\`--${flag}\``} | ${cell(shown)} | ${cell(meaning)} |`;
  });
  return `# Configuration

<!-- Written by docs/write-configuration.ts from the table in src/config.ts. Don't edit it here. -->

Every setting is a variable of the environment, also in a file \`.env\` in the folder in which the command runs, and a flag of \`breezeway serve\`. A flag goes before a variable, and a variable before the file; an empty one counts as not set. A secret is never a flag, since other users of the machine can read a command line: it is a variable, or stands in the file that its twin with \`_FILE\` names. Nothing has to be set to run on a laptop.

All that is wrong is told in one message, before anything is opened, with exit code 3; so is a variable that begins with \`BREEZEWAY_\` and is no setting.

| variable | flag | default | meaning |
|---|---|---|---|
${rows.join("\n")}

\`BREEZEWAY_PASSWORD\` is read by \`breezeway user add\` and \`user set-password\` alone.

## Ecosystems
\`BREEZEWAY_ECOSYSTEMS\` is JSON, or names a file of it. Each ecosystem has a name by which clients call it (\`anEcosystemName\`), the protocol that it speaks, where its interface is, and the hosts to which it may redirect (its own when left out):

\`\`\`json
{
  "nest": {
    "protocol": "nest",
    "apiUrl": "https://api.home.example",
    "allowedHosts": ["api.home.example:443", "node-1.home.example:443"]
  }
}
\`\`\`

## A service behind a proxy on the same machine
\`\`\`bash
cat > production.env <<'END'
BREEZEWAY_BASE_URL=https://home.example
BREEZEWAY_TRUSTED_PROXIES=127.0.0.1
BREEZEWAY_LOG_LEVEL=warn
END
\`\`\`
`;
}

/** What ends a cell of a table must not stand in one. */
function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}
