import { type Html, html } from "../../../web/html.ts";
import type { ConsolePage, PageContext } from "../console-page.ts";
import { type Ask, askLinks, openAsk, typed } from "../kit/ask.ts";
import { state } from "../kit/state.ts";
import { factsOf, tableOf } from "../kit/table.ts";
import { when } from "../kit/times.ts";

const path = "/system";

interface ShownKey {
  readonly keyId: string;
  readonly role: string;
  readonly values: number;
  readonly nodes?: number;
}

/** The service itself: links by state, keys, backups and the store. */
export const system: ConsolePage = {
  path,
  title: "System",
  rail: "System",
  subject: "deployment",
  async render(context) {
    const { call, nowMs, address } = context;
    const [status, keys, backups] = await Promise.all([
      call("status"),
      call("key list"),
      call("audit list", { act: "admin", "page-size": "200" }),
    ]);
    const asks = asksOf(context);
    const links = Object.entries(status.links as Readonly<Record<string, number>>);
    const missing = (keys.keys as readonly ShownKey[]).some(({ role }) => role === "missing");
    const last = (
      backups.entries as readonly { readonly time: string; readonly detail: { readonly command?: string } }[]
    ).find(({ detail: { command } }) => command === "backup" || command === "backed-up");
    return {
      ask: openAsk(context, path, [...asks.service, ...asks.keys]),
      service: html`<h2>Service</h2>
${factsOf([
  ["State", status.running ? state("good", "running") : state("bad", "no node runs")],
  ["Address for clients", html`<bdi dir="ltr">${status.baseUrl ?? "-"}</bdi>`],
  ["Tenants", status.tenants],
  ["Links", links.map(([known, count]) => `${count} ${known.replaceAll("_", " ")}`).join(", ") || "none"],
  ["Last backup", when(last?.time, nowMs, "none among the last acts of operators")],
])}
${askLinks(context, path, asks.service)}
<p class="small">Every node answers at <code>/readyz</code> whether it is well, and <code>breezeway doctor</code> examines a machine.
<a href="${address("/audit", { act: "admin" })}">Acts of operators</a></p>`,
      keys: html`<h2>Keys</h2>
<p>Tokens and secrets in the store are sealed with these keys. The keys themselves are in the key file, outside the store.</p>
${missing ? state("bad", "A key is missing from the key file: what is sealed with it can't be opened.") : undefined}
${keyTable(keys.keys)}
${askLinks(context, path, asks.keys)}`,
    };
  },
};

function keyTable(keys: readonly ShownKey[]): Html {
  if (keys.length === 0) return html`<p>None.</p>`;
  return tableOf<ShownKey>(
    "Keys",
    [
      { title: "Key", cell: ({ keyId }) => html`<span class="code">${keyId}</span>` },
      { title: "Role", cell: ({ role }) => (role === "missing" ? state("bad", role) : role) },
      { title: "Sealed values", cell: ({ values }) => values },
      { title: "Nodes", cell: ({ nodes }) => nodes ?? "-" },
    ],
    keys,
  );
}

function asksOf({ nowMs }: PageContext): { readonly service: readonly Ask[]; readonly keys: readonly Ask[] } {
  const file = `${new Date(nowMs).toISOString().slice(0, 10)}.backup`;
  return {
    service: [
      {
        name: "backup",
        act: "backup",
        link: "Back up",
        title: "Back up the store",
        words: "The copy goes into the folder backups of the data folder. The key is not in it. Only for SQLite.",
        fields: typed({ option: "to", label: "Name of the file", value: file, isRequired: true, isFirst: true }),
        example: { to: file },
        button: "Back up",
      },
      {
        name: "backed-up",
        act: "backed-up",
        link: "Record a backup",
        title: "Record a backup",
        words: "You have just taken a backup with other tools. The service then does not warn about its age.",
        button: "Record",
      },
      {
        name: "compact",
        act: "compact",
        link: "Compact",
        title: "Return free space",
        words: "Free space of the store returns to the file system. The service goes on meanwhile.",
        button: "Compact",
      },
    ],
    keys: [
      {
        name: "add-key",
        act: "key add",
        link: "Add a key",
        title: "Create the key for the next rotation",
        words: "With several nodes, copy the key file to all of them before you rotate.",
        button: "Add",
      },
      {
        name: "rotate-keys",
        act: "key rotate",
        link: "Rotate",
        title: "Seal all values with a new key",
        words: "It runs while the service goes on. The old key stays in the key file until you prune it.",
        button: "Rotate",
      },
      {
        name: "prune-keys",
        act: "key prune",
        link: "Prune",
        title: "Remove keys that nothing needs",
        words:
          "Keys with which nothing is sealed leave the key file. Backups that were made with them can't be opened then.",
        button: "Prune",
        isGrave: true,
      },
    ],
  };
}
