import { type Html, html } from "../../../web/html.ts";
import { iconOf } from "../../../web/icons.ts";
import type { PageContext } from "../console-page.ts";
import { state } from "../kit/state.ts";
import { factsOf, tableOf } from "../kit/table.ts";
import { when } from "../kit/times.ts";

/** A value, or why it could not be read. */
export interface Known<Value> {
  readonly value?: Value;
  readonly problem?: string;
}

interface ShownNode {
  readonly nodeName: string;
  readonly isThis: boolean;
  readonly silentMs: number | null;
  readonly links: number;
  readonly schemaVersion: number | null;
}

interface ShownSetting {
  readonly variable: string;
  readonly value: string;
  readonly from: string;
}

interface ShownSystem {
  readonly version: string;
  readonly store: Known<{
    readonly kind: string;
    readonly schemaVersion: number;
    readonly bytes: number | null;
    readonly waiting: number;
  }>;
  readonly disk: Known<{ readonly freeBytes: number; readonly totalBytes: number }>;
  readonly certificate: Known<{ readonly ends: string | null }>;
  readonly backup: Known<{ readonly time: string | null }>;
}

/** The value in words; otherwise that it is unknown, and why. */
export function knownOr<Value>(
  { value, problem }: Known<Value>,
  words: (value: Value) => Html | string,
): Html | string {
  return value === undefined
    ? html`${state("bad", "unknown")} <span class="small">${problem ?? "no answer"}</span>`
    : words(value);
}

export function serviceFacts(
  { nowMs, baseUrl, tenants }: PageContext,
  { version, store, disk, certificate, backup }: ShownSystem,
): Html {
  return factsOf([
    ["Version", version],
    ["Address for clients", html`<bdi dir="ltr">${baseUrl}</bdi>`],
    ["Tenants", tenants.length],
    [
      "Store",
      knownOr(store, ({ kind, bytes, schemaVersion, waiting }) =>
        [
          kind === "sqlite" ? "SQLite" : "PostgreSQL",
          ...(bytes === null ? [] : [gigabytes(bytes)]),
          `schema ${schemaVersion}`,
          waiting === 1 ? "1 transaction waits" : `${waiting} transactions wait`,
        ].join(", "),
      ),
    ],
    [
      "Disk of the data folder",
      knownOr(disk, ({ freeBytes, totalBytes }) => `${gigabytes(freeBytes)} of ${gigabytes(totalBytes)} free`),
    ],
    [
      "Certificate",
      knownOr(certificate, ({ ends }) =>
        ends === null ? "none of its own: a proxy ends TLS, or nothing does" : html`ends ${when(ends, nowMs)}`,
      ),
    ],
    ["Last backup", knownOr(backup, ({ time }) => when(time, nowMs, "none known"))],
  ]);
}

function gigabytes(bytes: number): string {
  return bytes < 1024 ** 3 ? `${Math.round(bytes / 1024 ** 2)} MB` : `${(bytes / 1024 ** 3).toFixed(1)} GB`;
}

export function nodeTable(nodes: readonly ShownNode[]): Html {
  return tableOf<ShownNode>(
    "Nodes",
    [
      {
        title: "Node",
        cell: ({ nodeName, isThis }) =>
          html`<span class="code">${nodeName}</span>${isThis ? " (answers this page)" : ""}`,
      },
      { title: "State", cell: ({ silentMs }) => nodeState(silentMs) },
      { title: "Links", cell: ({ links }) => links },
      { title: "Schema", cell: ({ schemaVersion }) => schemaVersion ?? "unknown" },
    ],
    nodes,
  );
}

/** Another node takes over the links of a node that is silent for longer. */
const leaseMs = 6_000;

function nodeState(silentMs: number | null): Html {
  if (silentMs === null || silentMs <= leaseMs) return state("good", "alive");
  return state("bad", `silent for ${Math.round(silentMs / 1_000)} s`);
}

interface Finding {
  readonly kind: string;
  readonly level: "bad" | "warn";
  readonly sentence: string;
  readonly fix: string;
}

/** Kinds of findings that are about tenants: the overview shows them. */
const ofTenants = /^(link|webhook|assistant)_/;

/** What the service has found out about itself. The doctor examines the machine below it. */
export function findingsPart(findings: readonly Finding[]): Html {
  const own = findings.filter(({ kind }) => !ofTenants.test(kind));
  return html`<h2>Findings</h2>
${
  own.length === 0
    ? html`<p>${state("good", "none")} Disk, certificate, keys, nodes and backup are as they should be.</p>`
    : html`<ul class="needs">${own.map(
        ({ level, sentence, fix }) =>
          html`<li class="${level}">${iconOf(level === "bad" ? "warning" : "clock")}<span><strong>${sentence}</strong> <span class="soft">${fix}</span></span></li>`,
      )}</ul>`
}
<p class="small">Every node answers at <code>/readyz</code> whether it is well.</p>`;
}

export function settingsPart(settings: readonly ShownSetting[]): Html {
  if (settings.length === 0)
    return html`<h2>Settings</h2>
<p>This node was started by a program that does not say where its settings come from. <code>breezeway config print</code> shows those of the command line.</p>`;
  const isChanged = ({ from }: ShownSetting) => from !== "default";
  return html`<h2>Settings of this node</h2>
${settingTable("Settings", settings.filter(isChanged))}
<details><summary>Defaults</summary>${settingTable(
    "Defaults",
    settings.filter((one) => !isChanged(one)),
  )}</details>`;
}

function settingTable(label: string, settings: readonly ShownSetting[]): Html {
  if (settings.length === 0) return html`<p>None is set.</p>`;
  return tableOf<ShownSetting>(
    label,
    [
      { title: "Setting", cell: ({ variable }) => html`<span class="code">${variable}</span>` },
      { title: "Value", cell: ({ value }) => html`<bdi dir="ltr">${value}</bdi>` },
      { title: "From", cell: ({ from }) => html`<bdi dir="ltr">${from}</bdi>` },
    ],
    settings,
  );
}
