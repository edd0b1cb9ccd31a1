import { type Html, html } from "../../../web/html.ts";
import type { ConsolePage, PageContext } from "../console-page.ts";
import { type Ask, askLinks, openAsk, typed } from "../kit/ask.ts";
import { state } from "../kit/state.ts";
import { tableOf } from "../kit/table.ts";
import { readOnce, when } from "../kit/times.ts";
import { doctorPart } from "./doctor.ts";
import { findingsPart, knownOr, nodeTable, serviceFacts, settingsPart } from "./system-facts.ts";
import { type ShownVerification, verificationBy, verificationState, verificationWords } from "./verification-state.ts";

const path = "/system";

interface ShownKey {
  readonly keyId: string;
  readonly role: string;
  readonly values: number;
  readonly nodes?: number;
}

/** The service itself: nodes, store, keys, backups, settings. What can't be read is shown as unknown. */
export const system: ConsolePage = {
  path,
  title: "System",
  navigationLabel: "System",
  subject: "deployment",
  // All sealed values are counted for them.
  partsNotRefreshed: ["keys"],
  async render(context) {
    const { call, address, nowMs, wants } = context;
    const [shown, keys, needed, verified] = await Promise.all([
      call("system"),
      wants("keys") ? call("key list") : undefined,
      call("attention"),
      call("verification list"),
    ]);
    const asks = asksOf(context);
    return {
      ask: openAsk(context, path, [...asks.service, ...asks.verification, ...asks.keys]),
      service: html`<h2>Service</h2>
${serviceFacts(context, shown)}
${askLinks(context, path, asks.service)}
<p class="small"><a href="${address("/audit", { act: "admin" })}">Acts of operators</a></p>`,
      findings: findingsPart(needed.findings),
      doctor: doctorPart(context),
      verifications: html`<h2>Verification</h2>
<p>The service calls itself at its public address, as a client, a browser and an SDK would, with a temporary tenant. The last ten reports are stored.</p>
${verificationTable(context, verified.verifications)}
${askLinks(context, path, asks.verification)}`,
      nodes: html`<h2>Nodes</h2>
${knownOr<Parameters<typeof nodeTable>[0]>(shown.nodes, nodeTable)}`,
      keys:
        keys &&
        html`<h2>Keys</h2>
<p>Tokens and secrets in the store are sealed with these keys. The keys themselves are in the key file, outside the store.</p>
${keyTable(keys.keys)}
${readOnce(nowMs)}
${askLinks(context, path, asks.keys)}`,
      settings: settingsPart(shown.settings),
    };
  },
};

function verificationTable({ address, nowMs }: PageContext, verifications: readonly ShownVerification[]): Html {
  if (verifications.length === 0) return html`<p>${state("off", "not verified yet")}</p>`;
  return tableOf<ShownVerification>(
    "Verifications",
    [
      {
        title: "Started",
        cell: ({ verificationId, startedTime }) =>
          html`<a href="${address(`/verifications/${verificationId}`)}">${when(startedTime, nowMs)}</a>`,
      },
      { title: "Grade", cell: verificationState },
      { title: "Result", cell: verificationWords },
      { title: "By", cell: verificationBy },
    ],
    verifications,
  );
}

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

function asksOf({ nowMs }: PageContext): Readonly<Record<"service" | "verification" | "keys", readonly Ask[]>> {
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
    verification: [
      {
        name: "verify",
        act: "verification start",
        link: "Verify",
        title: "Verify this deployment",
        words:
          "It runs in the background and takes less than a minute. It adds a temporary tenant and removes it again.",
        button: "Verify",
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
