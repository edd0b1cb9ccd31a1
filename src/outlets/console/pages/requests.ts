import { nodeName } from "../../../model/node-name.ts";
import { type Html, html } from "../../../web/html.ts";
import type { ConsolePage, PageContext } from "../console-page.ts";
import { asCommand } from "../kit/as-command.ts";
import { clientOf, inOneLine, type Names, namesOf, tenantOf, userOf } from "../kit/names.ts";
import { attempt, refusal } from "../kit/refused.ts";
import { type StatusLevel, state } from "../kit/state.ts";
import { filterForm, kept, pageInput, pager, tableOf } from "../kit/table.ts";
import { ago } from "../times.ts";

/** A request as the calls of /admin/v1 show it. */
export interface ShownRequest {
  readonly time: string;
  readonly requestId: string;
  readonly method: string;
  readonly route: string;
  readonly operation: string | null;
  readonly status: number;
  readonly code: string | null;
  readonly tookMs: number;
  readonly bytes: number;
  readonly tenantId: number | null;
  readonly userId: number | null;
  readonly clientId: string | null;
  readonly source: string;
  readonly nodeName: string;
}

interface Found {
  readonly requests: readonly ShownRequest[];
  readonly silentNodes: readonly string[];
  readonly cursor?: string;
}

const path = "/requests";
const filters = ["only", "client", "user", "route", "status", "min-ms"];
/** The console reads its own pages all the time, so its requests are left out unless they are asked for. */
const callers = [
  ["clients", "clients and users"],
  ["operators", "operators and the console"],
  ["all", "all"],
] as const;
const statuses = ["2xx", "3xx", "4xx", "5xx", "401", "403", "404", "429", "503"].map((one) => [one, one] as const);

/** The last requests that all nodes remember. */
export const requests: ConsolePage = {
  path,
  title: "Requests",
  navigationLabel: "Requests",
  subject: "tenants",
  query: [...filters, "cursor"],
  async render(context) {
    const tried = await attempt<Found>(
      context.call("request list", { ...pageInput(context, filters), ...only(context) }),
    );
    return {
      filter: html`${filterForm(context, path, [
        { name: "only", label: "Of", choices: callers, otherwise: "clients" },
        { name: "client", label: "Client id" },
        { name: "user", label: "Home, user or user id" },
        { name: "route", label: "Route" },
        { name: "status", label: "Status", choices: statuses },
        { name: "min-ms", label: "Took at least, ms" },
      ])}${tried.refused && refusal(tried.refused)}`,
      silent: tried.refused ? undefined : silence(tried.answer.silentNodes),
      requests: tried.refused ? undefined : await list(context, tried.answer),
    };
  },
};

function only({ parameter }: PageContext): { readonly only: string | undefined } {
  const chosen = parameter("only") || "clients";
  return { only: chosen === "all" ? undefined : chosen };
}

/** Requests of a node that does not answer are missing from the list: that is said, and not left to be guessed. */
function silence(nodes: readonly string[]): Html | undefined {
  if (nodes.length === 0) return undefined;
  return html`<p>${state("warn", "Incomplete")} These nodes did not answer, so their requests are missing: <span class="code">${nodes.map(nodeName).join(", ")}</span>.</p>`;
}

async function list(context: PageContext, { requests: found, cursor }: Found): Promise<Html> {
  const { address, nowMs, callOf, baseUrl, tenant } = context;
  const names = await namesOf(context, found);
  const call = callOf("request list");
  const { only: of } = only(context);
  const input = {
    ...kept(context, filters.slice(1)),
    ...(of !== undefined && { only: of }),
    ...(tenant && { tenant: String(tenant.tenantId) }),
  };
  const shown =
    found.length === 0
      ? html`<p>No remembered request fits. Each node remembers the last requests since its start.</p>`
      : tableOf<ShownRequest>(
          "Requests",
          [
            {
              title: "Request",
              cell: (request) =>
                html`<a class="code" href="${address(`${path}/${encodeURIComponent(request.requestId)}`)}">${nameOf(request)}</a>`,
            },
            { title: "Status", cell: statusOf },
            { title: "Took", cell: ({ tookMs }) => tookWords(tookMs) },
            { title: "Who", cell: (request) => whoOf(request, names, tenant === undefined) },
            { title: "When", cell: ({ time }) => ago(Date.parse(time), nowMs) },
          ],
          found,
        );
  return html`${shown}
${pager(context, path, filters, cursor)}
${call && asCommand(call, input, baseUrl)}`;
}

function nameOf({ method, route, operation }: ShownRequest): string {
  return addressInWords({ method, route: operation ?? route });
}

/** Bytes that were no request have neither a method nor a route; a request to an unknown path has no route. */
export function addressInWords({ method, route }: Pick<ShownRequest, "method" | "route">): string {
  if (method === "-") return "unreadable request";
  return `${method} ${route === "-" ? "unknown path" : route}`;
}

/** The status with the code of the error. */
export function statusOf({ status, code }: ShownRequest): Html {
  const mood: StatusLevel = status >= 500 ? "bad" : status >= 400 ? "warn" : "good";
  return html`${state(mood, String(status))}${code === null ? undefined : html` <span class="small">${code.replaceAll("_", " ")}</span>`}`;
}

export function tookWords(tookMs: number): string {
  if (tookMs < 10) return `${tookMs.toFixed(1)} ms`;
  return tookMs < 1_000 ? `${Math.round(tookMs)} ms` : `${(tookMs / 1_000).toFixed(1)} s`;
}

/** The client and the user of a request; a request without either was refused before its caller was known. */
function whoOf({ clientId, userId, tenantId, route }: ShownRequest, names: Names, isTenantShown: boolean): Html {
  const parts = [
    ...(clientId === null ? [] : [clientOf(clientId, names)]),
    ...(userId === null ? [] : [userOf(userId, names)]),
    ...(tenantId === null || !isTenantShown ? [] : [tenantOf(tenantId, names)]),
  ];
  if (parts.length === 0) {
    return html`<span class="soft">${/^\/(console|admin)(\/|$)/.test(route) ? "an operator" : "nobody who is known"}</span>`;
  }
  return inOneLine(parts);
}
