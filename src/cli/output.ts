/** Data goes to standard output: as a table on a terminal, as one JSON object when piped or asked for. */
export function present(command: string, result: object, asJson: boolean): void {
  if (asJson || !process.stdout.isTTY) process.stdout.write(`${JSON.stringify(result)}\n`);
  else process.stdout.write(`${(sentences[command] ?? table)(result as Record<string, unknown>)}\n`);
}

type Fields = Readonly<Record<string, unknown>>;

const sentences: Readonly<Record<string, (result: Fields) => string>> = {
  "tenant add": ({ tenantId, name }) => `Added tenant ${name} with app id ${tenantId}.`,
  "user add": ({ userId }) => `Added user ${userId}.`,
  "device add": ({ deviceId }) => `Added device ${deviceId}.`,
  "tenant list": ({ tenants }) =>
    rows(
      ["APP ID", "NAME"],
      (tenants as Fields[]).map(({ tenantId, name }) => [String(tenantId), String(name)]),
    ),
  "sim accounts": ({ accounts }) =>
    rows(
      ["ACCOUNT", "STRUCTURES", "THERMOSTATS", "ALARMS"],
      (accounts as Fields[]).map(({ accountId, structures, thermostats, alarms }) => [
        String(accountId),
        (structures as Fields[]).map(({ name }) => name).join(", "),
        String(thermostats),
        String(alarms),
      ]),
    ),
  "sim scenes": ({ scenes }) =>
    rows(
      ["SCENE", "WHAT HAPPENS"],
      (scenes as Fields[]).map(({ name, meaning }) => [String(name), String(meaning)]),
    ),
  "sim faults": ({ kinds, active }) => {
    const broken = (active as Fields[]).map(({ fault }) => fault).join(", ");
    const table = (kinds as Fields[]).map(({ fault, meaning }) => [String(fault), String(meaning)]);
    return `${rows(["FAULT", "WHAT BREAKS"], table)}\n\n${broken ? `Broken now: ${broken}.` : "Nothing is broken now."}`;
  },
  "sim trigger": ({ scene, revision }) => `Played ${scene}; the account is at revision ${revision}.`,
  "sim fault": ({ fault }) => `Broke it: ${fault}. Mend it with: breezeway sim fault --clear`,
  status: ({ running, baseUrl, tenants, links }) =>
    rows(
      [],
      [
        ["service", running ? `running at ${baseUrl}` : "not running"],
        ["tenants", String(tenants)],
        [
          "links",
          Object.entries(links as Fields)
            .map(([state, count]) => `${count} ${state}`)
            .join(", ") || "none",
        ],
      ],
    ),
};

function table(result: Fields): string {
  return rows(
    [],
    Object.entries(result).map(([name, value]) => [name, String(value)]),
  );
}

function rows(head: readonly string[], body: readonly (readonly string[])[]): string {
  const lines = head.length > 0 ? [head, ...body] : body;
  const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map((line) => (line[column] ?? "").length)));
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
