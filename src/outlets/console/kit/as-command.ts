import { type AdminCall, adminPath, memberName } from "../../../operators/admin-call.ts";
import { type Html, html } from "../../../web/html.ts";

export type ActInput = Readonly<Record<string, string | readonly string[]>>;

/** How the same is done on a command line and over HTTP. */
export function asCommand(call: AdminCall, input: ActInput, baseUrl: string): Html {
  return html`<details class="as"><summary>As CLI / curl</summary>
<pre tabindex="0">${commandLine(call, input)}</pre>
<pre tabindex="0">${curlOf(call, input, baseUrl)}</pre>
</details>`;
}

/** Options whose values a person types into a terminal or a file, never into a command line. */
const isSecret = (option: string) => /^password$|^settings\..*(secret|account)$/.test(option);

function commandLine({ act, fields = [] }: AdminCall, input: ActInput): string {
  const options = Object.entries(input).flatMap(([name, value]) => {
    if (isSecret(name)) return [];
    if (fields.some(({ option, isArgument }) => isArgument && option === name)) return [quoted(String(value))];
    // The members of `settings` are options of their own.
    const option = name.replace(/^settings\./, "");
    if (value === "true") return [`--${option}`];
    if (value === "false") return [`--no-${option}`];
    const values = typeof value === "string" ? [value] : value;
    return values.length === 0 ? [`--no-${option}`] : [`--${option} ${values.map(quoted).join(" ")}`];
  });
  return ["breezeway", act, ...options].join(" ");
}

function curlOf({ method, path, fields = [] }: AdminCall, input: ActInput, baseUrl: string): string {
  const inPath = new Set([...path.matchAll(/:(\w+)/g)].map(([, name]) => name!));
  const target = path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(input[name] ?? "")));
  const rest = Object.entries(input).filter(([option]) => !inPath.has(option));
  const findField = (option: string) => fields.find((field) => field.option === option) ?? { option };
  const lines = [`curl -s -X ${method}`, `-H "Authorization: Bearer $OPERATOR_TOKEN"`];
  let address = `${baseUrl}${adminPath}${target}`;
  if (rest.length > 0 && (method === "GET" || method === "DELETE")) {
    address += `?${new URLSearchParams(rest.map(([option, value]) => [memberName(findField(option)), String(value)]))}`;
  } else if (rest.length > 0) {
    const flat = rest.filter(([option]) => !option.startsWith("settings."));
    const nested = rest.filter(([option]) => option.startsWith("settings."));
    const members = flat.map(([option, value]): [string, unknown] => {
      const field = findField(option);
      const kind = "kind" in field ? field.kind : undefined;
      const sent = kind === "flag" ? value === "true" : kind === "number" ? Number(value) : value;
      return [memberName(field), isSecret(option) ? "…" : sent];
    });
    if (nested.length > 0) {
      const settings = nested.map(([option, value]) => [option.slice(9), isSecret(option) ? "…" : value]);
      members.push(["settings", Object.fromEntries(settings)]);
    }
    lines.push(`-H "Content-Type: application/json" -d ${quoted(JSON.stringify(Object.fromEntries(members)))}`);
  }
  return [...lines, quoted(address)].join(" ");
}

/** A word of a POSIX shell. */
function quoted(value: string): string {
  return /^[\w@%+=:,./-]+$/.test(value) ? value : `'${value.replaceAll("'", `'\\''`)}'`;
}
